package builtin

import (
	"context"
	"math"
	"slices"

	"quarry/internal/clip"
	"quarry/internal/llm"
	"quarry/internal/provider/builtin/confidence"
)

// judged is the features of the best candidates for a part of the question, best first.
func (f *findings) judged(ranked []*candidate, part int) []confidence.Features {
	sentences := make([]confidence.Sentence, len(f.candidates))
	place := map[*candidate]int{}
	for i, c := range f.candidates {
		m := &c.parts[part]
		sentences[i] = confidence.Sentence{
			Text: c.text, About: c.Term, Passage: c.passage, Cover: m.cover, Context: m.context, Around: m.around, Cosine: m.cosine,
			Standing: c.standing / standingWeight, Kind: m.kind, Score: f.score(c, part),
		}
		place[c] = i
	}
	order := make([]int, len(ranked))
	for i, c := range ranked {
		order[i] = place[c]
	}
	r := confidence.Read(clip.Head(f.question.Parts[part].Text, askedBytes), f.question.Language, f.question.Language == "eng", sentences)
	out := make([]confidence.Features, min(len(ranked), mostSentences))
	lacking := 0.0
	if f.question.Parts[part].Kind.Value() && !slices.ContainsFunc(ranked[:len(out)], func(c *candidate) bool { return c.parts[part].kind > 0 }) {
		lacking = 1
	}
	for i := range out {
		out[i] = r.Features(order, i)
		out[i].Lacking = lacking
	}
	return out
}

// held reports whether the passages are likely to hold what a part of the question asks for.
func (f *findings) held(ranked []*candidate, part int) bool {
	if len(f.candidates) < enough && f.found(ranked, part) >= f.least() {
		return true
	}
	return confidence.Held(f.judged(ranked, part), f.question.Language)
}

// enough is among how many sentences it is known what is rare. Among fewer, evidence alone is enough, too.
const enough = 8

// certain returns how likely the first of the chosen sentences is to answer the part of the question for which it was chosen, with the
// three digits that it is worth.
func (f *findings) certain(chosen []*candidate) float64 {
	best := 0.0
	for i := range f.question.Parts {
		if ranked := f.ranked(func(c *candidate) float64 { return f.score(c, i) }); len(ranked) > 0 && ranked[0] == chosen[0] {
			best = max(best, confidence.Right(f.judged(ranked, i)[0]))
		}
	}
	return math.Round(best*1000) / 1000
}

// Judgement is the sentence that would be quoted first for a question, however unlikely it is to answer, with the features of the
// best three.
type Judgement struct {
	Quotation
	Language string // of the question
	Best     []confidence.Features
}

// Judge returns the judgement of a request, without sentences if there are none. bench/answer fits the weights by it.
func (p *Provider) Judge(ctx context.Context, r llm.Request) (Judgement, error) {
	a := answering{provider: p, request: r, conversation: parse(r)}
	f, err := a.search(ctx)
	if err != nil || len(f.candidates) == 0 {
		return Judgement{}, err
	}
	ranked := f.ranked(func(c *candidate) float64 { return f.score(c, 0) })
	if len(ranked) == 0 {
		return Judgement{}, nil
	}
	first := quotations(ranked[:1])[0]
	return Judgement{Quotation{first.quoted, a.conversation.passages[first.passage].N}, f.question.Language, f.judged(ranked, 0)}, nil
}
