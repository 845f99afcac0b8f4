package builtin

import (
	"cmp"
	"context"
	"slices"

	"quarry/internal/embed"
	"quarry/internal/llm"
)

// Weights of the score of a sentence: its cosine to the question counts 1. They were looked for on the sets of
// docs/benchmarks.md, section Answers.
const (
	coverWeight   = 0.5
	passageWeight = 0.5
)

// Bounds of one search.
const (
	askedBytes   = 600 // of the question that is encoded
	budgetBytes  = 700 // of the sentences that are encoded: about 160 tokens of English
	mostSentence = 3
)

// findings are the candidates of an answer.
type findings struct {
	question   question
	candidates []*candidate // in order of the passages
	ranked     []*candidate // those worth a look, best first
	cut        bool         // a chosen sentence had to go for want of room
}

// search ranks the sentences of the passages by how well they answer.
func (p *Provider) search(ctx context.Context, q question, passages []llm.Evidence) (*findings, error) {
	f := &findings{question: q, candidates: cutPassages(passages, q.lang)}
	if len(f.candidates) == 0 {
		return f, ctx.Err()
	}
	for _, c := range f.candidates {
		for s, w := range q.parts[0].terms {
			if _, ok := c.stems[s]; ok {
				c.covers += w
			}
		}
	}
	standing := standings(passages)
	for _, c := range f.candidates {
		c.rough = coverWeight*c.covers + passageWeight*standing[c.passage]
	}
	if err := p.encode(ctx, f, passages); err != nil {
		return nil, err
	}
	for _, c := range f.candidates {
		c.score = c.cosine + c.rough
	}
	f.ranked = slices.Clone(f.candidates)
	slices.SortStableFunc(f.ranked, func(a, b *candidate) int { return cmp.Compare(b.score, a.score) })
	return f, nil
}

// standings gives each passage's score as a share of the best, whatever scale the scores have.
func standings(passages []llm.Evidence) []float64 {
	out := make([]float64, len(passages))
	low, high := 0.0, 0.0
	for i, e := range passages {
		low, high = min(low, e.Score), max(high, e.Score)
		out[i] = 1 / float64(1+i)
	}
	if low < 0 || high <= 0 {
		return out
	}
	for i, e := range passages {
		out[i] = e.Score / high
	}
	return out
}

// encode finds the cosines of the candidates that look best without, as many as the budget admits.
func (p *Provider) encode(ctx context.Context, f *findings, passages []llm.Evidence) error {
	e, ok := p.encoders.Find("")
	if !ok {
		return nil
	}
	asked, err := p.kept.of(ctx, e, embed.Question, []string{head(f.question.text, askedBytes)})
	if err != nil {
		return err
	}
	var wanted []*candidate
	for _, c := range f.candidates {
		if v := passages[c.passage].Vector; c.alone && len(v) == e.Dim() {
			c.vector = v
		} else {
			wanted = append(wanted, c)
		}
	}
	slices.SortStableFunc(wanted, func(a, b *candidate) int { return cmp.Compare(b.rough, a.rough) })
	left, n := budgetBytes, 0
	for ; n < len(wanted) && (n == 0 || len(wanted[n].text) <= left); n++ {
		left -= len(wanted[n].text)
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
	}
	for _, c := range f.candidates {
		c.cosine = cosine(asked[0], c.vector)
	}
	return nil
}

// cosine is that of two vectors of unit length, 0 if one is missing.
func cosine(a, b []float32) float64 {
	sum := float32(0)
	for i := range min(len(a), len(b)) {
		sum += a[i] * b[i]
	}
	return float64(sum)
}
