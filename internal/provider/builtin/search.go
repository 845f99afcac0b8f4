package builtin

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"quarry/internal/clip"
	"quarry/internal/embed"
	"quarry/internal/llm"
	"quarry/internal/provider/builtin/passage"
	"quarry/internal/provider/builtin/question"
	"quarry/internal/text/analysis"
)

// The weights in the score of a sentence, fitted on English XQuAD and our own questions (docs/benchmarks.md, Answers): the cosine
// to the question, the share of the question's terms in the sentence, the share in it and the one before, the standing of
// the passage, and the share in it, before it in the passage or in the headings. Code has less where no way to do something is
// asked for, and a sentence that is quoted with another one. Package question has the weights of the type that is asked for.
const (
	cosineWeight   = 0.6
	coverWeight    = 0.5
	contextWeight  = 0.3
	standingWeight = 0.35
	aroundWeight   = 0.1
	codeWeight     = 0.15
	leansWeight    = 0.1
)

// ownWeight is what a statement of the user has more where the question is about the user. It is about what a statement loses
// to a passage by its standing.
const ownWeight = 0.2

// foreignCosine is the weight of the cosine in languages that the embedded encoder was not trained on: it still recognizes
// names and numbers. In these the sentence before counts in the score too; in others the cosine does better.
const foreignCosine = 0.3

// Bounds of one search: bytes of a question that are encoded, and tokens of all encoded sentences, which take about 30 ms of a
// core without AVX-512.
const (
	askedBytes = 400
	budget     = 145
)

// guessed is the share of the cosine of its passage that is assumed for a sentence that is not encoded, and underHeadings the same
// for a sentence that is all of its passage but for the headings in its vector.
const (
	guessed       = 0.6
	underHeadings = 0.8
)

// findings are the candidates of an answer with their scores.
type findings struct {
	question   question.Question
	candidates []*candidate          // in order of the passages
	above      []map[string]struct{} // the terms of the title and the headings of each passage
	terms      [][]term              // of each part of the question
	cosine     float64               // its weight
	context    float64               // the weight of the share that counts the sentence before, in the score
	cut        bool                  // a chosen sentence had to go for want of room
}

// term is a stem of a question with its share of the weight of all.
type term struct {
	stem  string
	share float64
}

// search scores the sentences of the passages by how well they answer each part of the question.
func (p *Provider) search(ctx context.Context, q question.Question, passages []llm.Evidence) (*findings, error) {
	f := &findings{question: q, candidates: cutPassages(passages, q.Language), above: above(passages, q.Language), cosine: cosineWeight}
	if q.Language != "eng" {
		f.cosine, f.context = foreignCosine, contextWeight
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
		c.parts = make([]match, len(f.question.Parts))
	}
	f.terms = make([][]term, len(f.question.Parts))
	for i, p := range f.question.Parts {
		f.terms[i] = f.weigh(p)
		for _, t := range f.terms[i] {
			earlier := false
			for j, c := range f.candidates {
				here := c.holds(t.stem)
				if here {
					c.parts[i].cover += t.share
				}
				if j == 0 || f.candidates[j-1].passage != c.passage {
					_, earlier = f.above[c.passage][t.stem]
				}
				if earlier = earlier || here; earlier {
					c.parts[i].around += t.share
				}
				if here || j > 0 && f.candidates[j-1].passage == c.passage && f.candidates[j-1].holds(t.stem) {
					c.parts[i].context += t.share
				}
			}
		}
		for _, c := range f.candidates {
			c.parts[i].kind = p.Fit(c.text)
		}
	}
}

// above returns the terms of the title and the headings of each passage.
func above(passages []llm.Evidence, language string) []map[string]struct{} {
	out := make([]map[string]struct{}, len(passages))
	for i, e := range passages {
		out[i] = map[string]struct{}{}
		for _, stem := range analysis.Analyze(clip.Head(strings.Join(append(e.Headings, e.Title), "\n"), aboveBytes), language).Stems {
			out[i][stem] = struct{}{}
		}
	}
	return out
}

// aboveBytes bounds what is read of headings.
const aboveBytes = 1000

// weigh returns the terms of a part, in the order of their stems: sums of floats must not depend on the order of a map.
func (f *findings) weigh(p question.Part) []term {
	var out []term
	total := 0.0
	for _, stem := range slices.Sorted(maps.Keys(p.Terms)) {
		holders := 0.0
		for _, c := range f.candidates {
			if c.holds(stem) {
				holders++
			}
		}
		w := p.Terms[stem] * math.Log(1+(float64(len(f.candidates))-holders+0.5)/(holders+0.5))
		total += w
		out = append(out, term{stem, w})
	}
	for i := range out {
		out[i].share /= total // no weight is 0
	}
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

// encode sets the cosines of the candidates that rank best without them, as many as the budget admits: the same ones whether or
// not their vectors are cached.
func (p *Provider) encode(ctx context.Context, f *findings, passages []llm.Evidence) error {
	e, ok := p.encoders.Find("")
	if !ok {
		return nil
	}
	asked := make([]string, len(f.question.Parts))
	for i, part := range f.question.Parts {
		asked[i] = clip.Head(part.Text, askedBytes)
	}
	questions, err := p.kept.of(ctx, e, embed.Question, asked)
	if err != nil {
		return err
	}
	var wanted []*candidate
	for _, c := range f.candidates {
		from := &passages[c.passage]
		v := from.Vector
		if len(v) != e.Dim() {
			v = nil
		}
		bare := c.alone && from.Title == "" && len(from.Headings) == 0 // these are in the vector of a passage
		share := guessed
		switch {
		case bare:
			share, c.vector = 1, v
		case c.alone:
			share = underHeadings
		}
		for i, q := range questions {
			c.parts[i].cosine = share * cosine(q, v)
		}
		if !bare || v == nil {
			wanted = append(wanted, c)
		}
	}
	slices.SortStableFunc(wanted, func(a, b *candidate) int { return cmp.Compare(f.best(b), f.best(a)) })
	left, n := budget, 0
	for ; n < len(wanted); n++ {
		left -= countTokens(e, wanted[n].judged)
		if n > 0 && left < 0 {
			break
		}
	}
	texts := make([]string, n)
	for i := range texts {
		texts[i] = wanted[i].judged
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

// evidence returns how much a candidate has to do with a part of the question, regardless of its passage and its type.
func (f *findings) evidence(c *candidate, part int) float64 {
	m := c.parts[part]
	return f.cosine*m.cosine + coverWeight*m.cover + contextWeight*m.context
}

// score returns the score by which candidates are ranked. Code never tells a number: those in it are examples.
func (f *findings) score(c *candidate, part int) float64 {
	if c.Kind == passage.Code && f.question.Parts[part].Kind == question.Number {
		return math.Inf(-1)
	}
	m := c.parts[part]
	s := f.cosine*m.cosine + coverWeight*m.cover + f.context*m.context + c.standing + m.kind + aroundWeight*m.around
	if c.Kind == passage.Code && f.question.Parts[part].Kind != question.Manner {
		s -= codeWeight
	}
	if c.Leans {
		s -= leansWeight
	}
	if c.own && f.question.Parts[part].OfUser && f.evidence(c, part) >= f.least() {
		s += ownWeight
	}
	return s
}

// best returns the score for the part that a candidate answers best.
func (f *findings) best(c *candidate) float64 {
	best := math.Inf(-1)
	for i := range f.question.Parts {
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
