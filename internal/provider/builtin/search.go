package builtin

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"quarry/internal/embed"
	"quarry/internal/llm"
)

// The weights in the score of a sentence, fitted on English XQuAD (docs/benchmarks.md, Answers): the cosine to the question, the
// share of the question's terms in the sentence, the share in it and the one before, the standing of the passage, and whether
// the sentence holds what is asked for, such as a number for "how many".
const (
	cosineWeight   = 0.6
	coverWeight    = 0.5
	contextWeight  = 0.3
	standingWeight = 0.35
	kindWeight     = 0.1
)

// ownWeight is what a statement of the user has more where the question is about the user. It is about what a statement loses
// to a passage by its standing.
const ownWeight = 0.2

// foreignCosine is the weight of the cosine in languages that the embedded encoder was not trained on: it still recognizes
// names and numbers.
const foreignCosine = 0.3

// Bounds of one search: bytes of a question that are encoded, and tokens of all encoded sentences, which take about 30 ms of a
// core without AVX-512.
const (
	askedBytes = 400
	budget     = 145
)

// guessed is the share of the cosine of its passage that is assumed for a sentence that is not encoded.
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

// follow raises the match of a sentence after a question or a heading to that of the question: it is likely the answer.
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

// headingShare is the share of a heading's match that counts for the sentence after it.
const headingShare = 0.9

// cover sets the share of the terms of each part that each candidate holds. A term weighs more the fewer candidates hold it:
// measured, that works better here than how rare it is in the language.
func (f *findings) cover() {
	for _, c := range f.candidates {
		c.parts = make([]match, len(f.question.parts))
	}
	for i, p := range f.question.parts {
		total := 0.0
		for _, term := range slices.Sorted(maps.Keys(p.terms)) { // sums of floats must not depend on the order of a map
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

// encode sets the cosines of the candidates that rank best without them, as many as the budget admits: the same ones whether or
// not their vectors are cached.
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
		left -= countTokens(e, wanted[n].text)
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

// countTokens returns the number of the encoder's tokens, or of four bytes each if it does not split texts.
func countTokens(e embed.Encoder, text string) int {
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

// evidence returns how much a candidate has to do with a part of the question, regardless of its passage.
func (f *findings) evidence(c *candidate, part int) float64 {
	m := c.parts[part]
	return f.cosine*m.cosine + coverWeight*m.cover + contextWeight*m.context
}

// score returns the score by which candidates are ranked.
func (f *findings) score(c *candidate, part int) float64 {
	s := f.evidence(c, part) + c.standing
	if c.parts[part].kind {
		s += kindWeight
	}
	if c.own && f.question.parts[part].own && f.evidence(c, part) >= f.least() {
		s += ownWeight
	}
	return s
}

// best returns the score for the part that a candidate answers best.
func (f *findings) best(c *candidate) float64 {
	best := math.Inf(-1)
	for i := range f.question.parts {
		best = max(best, f.score(c, i))
	}
	return best
}

// cosine returns the cosine of two vectors of unit length, 0 if one is missing.
func cosine(a, b []float32) float64 {
	sum := float32(0)
	for i := range min(len(a), len(b)) {
		sum += a[i] * b[i]
	}
	return float64(sum)
}
