package builtin

import (
	"slices"
	"strings"

	"quarry/internal/llm"
	"quarry/internal/provider/builtin/question"
	"quarry/internal/text/sentence"
)

// said returns evidence in which the texts without a number hold the statements alone: what the user has asked is no answer.
func said(all []llm.Evidence) []llm.Evidence {
	if !slices.ContainsFunc(all, func(e llm.Evidence) bool { return e.N == 0 }) {
		return all
	}
	out := make([]llm.Evidence, 0, len(all))
	for _, e := range all {
		if e.N > 0 {
			out = append(out, e)
			continue
		}
		for _, text := range statements(e.Text) {
			s := e
			s.Text = text
			out = append(out, s)
		}
	}
	return out
}

// setAside marks the candidates that come from before the question, and among them those that the user said.
func (t *conversation) setAside(f *findings) {
	for _, c := range f.candidates {
		if t.given {
			c.aside = t.passages[c.passage].N == 0
			c.own = c.aside
		} else {
			c.aside = c.passage >= t.past
			c.own = c.aside && c.passage < t.found
		}
	}
}

// statements returns the sentences of a message of the user that state something.
func statements(text string) []string {
	var out []string
	for _, s := range sentence.Split(text) {
		if one := strings.TrimSpace(text[s.Start:s.End]); question.States(one) {
			out = append(out, one)
		}
	}
	return out
}
