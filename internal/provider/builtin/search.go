package builtin

import (
	"cmp"
	"context"
	"math"
	"slices"

	"quarry/internal/embed"
	"quarry/internal/llm"
)

// Weights of what makes the score of a sentence, looked for on English XQuAD (docs/benchmarks.md, Answers): the cosine to
// the question, the share of the question's terms in the sentence, the share in it and the one before, the standing
// of the passage, and whether what is asked for is there: a number for "how many".
const (
	cosineWeight   = 0.6
	coverWeight    = 0.5
	contextWeight  = 0.3
	standingWeight = 0.35
	kindWeight     = 0.1
)

// foreignCosine is the weight of the cosine in languages that the embedded encoder has not learned: it still knows
// names and numbers.
const foreignCosine = 0.3

// Bounds of one search: bytes of a question that is encoded, and tokens of all sentences that are, which take about 30 ms
// of a core without AVX-512.
const (
	askedBytes = 400
	budget     = 145
)

// guessed is the share of the cosine of its passage that a sentence is taken to have while it is not encoded.
const guessed = 0.6

// findings are the candidates of an answer with their scores.
type findings struct {
	question   question
	candidates []*candidate // in order of the passages
	cosine     float64      // its weight
	cut        bool         // a chosen sentence had to go for want of room
}

// search scores the sentences of the passages by how well they answer each part of the question.
func (p *Provider) search(ctx context.Context, q question, passages []llm.Evidence) (*findings, error) {
	f := &findings{question: q, candidates: cutPassages(passages, q.lang), cosine: cosineWeight}
	if q.lang != "eng" {
		f.cosine = foreignCosine
	}
	if len(f.candidates) == 0 {
		return f, ctx.Err()
	}
	f.cover()
	standing := standings(passages)
	for _, c := range f.candidates {
		c.standing = standingWeight * standing[c.passage]
	}
	if err := p.encode(ctx, f, passages); err != nil {
		return nil, err
	}
	f.follow()
	return f, nil
}

// follow gives a sentence behind a question or a heading the match of that: it is the answer to it.
func (f *findings) follow() {
	for i, c := range f.candidates[1:] {
		before := f.candidates[i]
		if !before.asks || c.asks || before.passage != c.passage {
			continue
		}
		for j := range c.parts {
			m := &c.parts[j]
			m.cosine, m.cover = max(m.cosine, headingShare*before.parts[j].cosine), max(m.cover, headingShare*before.parts[j].cover)
		}
	}
}

// headingShare is what of a heading's match counts for the sentence behind it.
const headingShare = 0.9

// cover writes for each candidate and part what share of the part's terms it holds. A term weighs by how few of the
// candidates hold it: here, that says more than how rare it is in the language (measured).
func (f *findings) cover() {
	for _, c := range f.candidates {
		c.parts = make([]match, len(f.question.parts))
	}
	for i, p := range f.question.parts {
		total := 0.0
		for _, term := range sortedKeys(p.terms) {
			holders := 0.0
			for _, c := range f.candidates {
				if c.holds(term) {
					holders++
				}
			}
			w := p.terms[term] * math.Log(1+(float64(len(f.candidates))-holders+0.5)/(holders+0.5))
			total += w
			for j, c := range f.candidates {
				here := c.holds(term)
				if here {
					c.parts[i].cover += w
				}
				if here || j > 0 && f.candidates[j-1].passage == c.passage && f.candidates[j-1].holds(term) {
					c.parts[i].context += w
				}
			}
		}
		for _, c := range f.candidates {
			if total > 0 {
				c.parts[i].cover /= total
				c.parts[i].context /= total
			}
			c.parts[i].kind = p.kind.holds(c.text, p.lower)
		}
	}
}

func sortedKeys(m map[string]float64) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out) // sums of floats must not depend on the order of a map
	return out
}

// standings returns each passage's score as a share of the best, whatever scale the scores have.
func standings(passages []llm.Evidence) []float64 {
	out := make([]float64, len(passages))
	low, high := 0.0, 0.0
	for i, e := range passages {
		low, high = min(low, e.Score), max(high, e.Score)
		out[i] = 1 / float64(1+i)
	}
	if low < 0 || high <= 0 || math.IsInf(high, 0) {
		return out
	}
	for i, e := range passages {
		out[i] = e.Score / high
	}
	return out
}

// encode finds the cosines of the candidates that look best without, as many as the budget admits: the same whether
// their vectors are kept or not.
func (p *Provider) encode(ctx context.Context, f *findings, passages []llm.Evidence) error {
	e, ok := p.encoders.Find("")
	if !ok {
		return nil
	}
	asked := make([]string, len(f.question.parts))
	for i, part := range f.question.parts {
		asked[i] = head(part.text, askedBytes)
	}
	questions, err := p.kept.of(ctx, e, embed.Question, asked)
	if err != nil {
		return err
	}
	var wanted []*candidate
	for _, c := range f.candidates {
		v := passages[c.passage].Vector
		if len(v) != e.Dim() {
			v = nil
		}
		for i, q := range questions {
			c.parts[i].cosine = cosine(q, v)
			if !c.alone {
				c.parts[i].cosine *= guessed
			} else {
				c.vector = v
			}
		}
		if !c.alone || v == nil {
			wanted = append(wanted, c)
		}
	}
	slices.SortStableFunc(wanted, func(a, b *candidate) int { return cmp.Compare(f.best(b), f.best(a)) })
	left, n := budget, 0
	for ; n < len(wanted); n++ {
		left -= tokensOf(e, wanted[n].text)
		if n > 0 && left < 0 {
			break
		}
	}
	texts := make([]string, n)
	for i := range texts {
		texts[i] = wanted[i].text
	}
	vectors, err := p.kept.of(ctx, e, embed.Answer, texts)
	if err != nil {
		return err
	}
	for i, v := range vectors {
		wanted[i].vector = v
		for j, q := range questions {
			wanted[i].parts[j].cosine = cosine(q, v)
		}
	}
	return nil
}

// tokensOf counts the encoder's tokens, or takes four bytes for one where it has none to tell.
func tokensOf(e embed.Encoder, text string) int {
	s, ok := e.(embed.Splitter)
	if !ok {
		return (len(text) + 3) / 4
	}
	n := 0
	_, counts := s.Split(text)
	for _, c := range counts {
		n += c
	}
	return n
}

// evidence is how much a candidate has to do with a part of the question, whatever its passage is.
func (f *findings) evidence(c *candidate, part int) float64 {
	m := c.parts[part]
	return f.cosine*m.cosine + coverWeight*m.cover + contextWeight*m.context
}

// score is what candidates are ranked by.
func (f *findings) score(c *candidate, part int) float64 {
	s := f.evidence(c, part) + c.standing
	if c.parts[part].kind {
		s += kindWeight
	}
	return s
}

// best is the score at the part that a candidate answers best.
func (f *findings) best(c *candidate) float64 {
	best := f.score(c, 0)
	for i := range f.question.parts[1:] {
		best = max(best, f.score(c, i+1))
	}
	return best
}

// cosine is that of two vectors of unit length, 0 if one is missing.
func cosine(a, b []float32) float64 {
	sum := float32(0)
	for i := range min(len(a), len(b)) {
		sum += a[i] * b[i]
	}
	return float64(sum)
}
