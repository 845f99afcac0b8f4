package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"quarry/internal/clip"
	"quarry/internal/embed"
	"quarry/internal/llm"
	"quarry/internal/provider/builtin/form"
	"quarry/internal/text/analysis"
)

// mostEncoded bounds the members of a schema that are searched for by meaning, not only by words.
const mostEncoded = 12

// fill answers with a JSON value of the form asked for.
func (a *answering) fill(ctx context.Context) error {
	a.conversation.alone()
	passages := a.conversation.passages
	found, err := a.search(ctx)
	if err != nil {
		return err
	}
	m := members{ctx: ctx, provider: a.provider, found: found, passages: passages}
	answer := m.sentences(found.readable(found.choose(a.room)))
	var value any
	if format := a.request.Format; format.Type == "json_schema" && form.Readable(format.Schema) {
		value, err = form.Fill(format.Schema, format.Name, format.Description, form.Source{Question: a.conversation.question, Answer: answer, About: m.about})
		if err != nil {
			return err
		}
	} else {
		text := llm.NoAnswer(a.request.Language, found.question.Language)
		if len(answer) > 0 {
			text = form.Join(answer)
		}
		value = map[string]any{"answer": text}
	}
	out, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return a.say(string(out))
}

// members finds what the passages say about the members of a schema.
type members struct {
	ctx      context.Context
	provider *Provider
	found    *findings
	passages []llm.Evidence
	encoded  int // members that were searched for by meaning
}

// sentences returns candidates as sentences of package form.
func (m *members) sentences(all []*candidate) []form.Sentence {
	out := make([]form.Sentence, len(all))
	for i, c := range all {
		out[i] = form.Sentence{Text: c.text, Passage: c.passage, N: m.passages[c.passage].N}
	}
	return out
}

// The weights of the cosine and of the match with the question in the score of a sentence for a member, where the share of the
// member's words that it holds has the weight 1. Below leastMember a sentence says nothing about the member.
const (
	memberCosine   = 0.8
	memberQuestion = 0.4
	leastMember    = 0.45
)

// about implements form.Source.About.
func (m *members) about(words string, passage int) ([]form.Sentence, error) {
	stems := analysis.Query(words, m.found.question.Language).Stems
	var about []float32
	if e, ok := m.provider.encoders.Find(""); ok && m.encoded < mostEncoded {
		m.encoded++
		vectors, err := m.provider.kept.of(m.ctx, e, embed.Question, []string{clip.Head(words, askedBytes)})
		if err != nil {
			return nil, err
		}
		about = vectors[0]
	}
	scores := map[*candidate]float64{}
	var out []*candidate
	for _, c := range m.found.candidates {
		if passage >= 0 && c.passage != passage {
			continue
		}
		s := memberCosine*cosine(about, c.vector) + memberQuestion*m.found.evidence(c, 0)
		for _, stem := range stems {
			if c.holds(stem) {
				s += 1 / float64(len(stems))
			}
		}
		if scores[c] = s; s >= leastMember || passage >= 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *candidate) int { return cmp.Compare(scores[b], scores[a]) })
	return m.sentences(out), nil
}
