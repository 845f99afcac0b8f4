package builtin

import (
	"strings"

	"quarry/internal/llm"
	"quarry/internal/text/analysis"
	"quarry/internal/text/lang"
)

// question is what is asked.
type question struct {
	text  string
	lang  string // ISO 639-3
	parts []part // the questions in it, one at the least
}

// part is one question. Its terms are the stems that an answer should hold, with their weights: 1, and less for those that it
// takes from the first question because it depends on that, such as "and when did it open?".
type part struct {
	text  string
	lower string
	kind  kind
	own   bool // it asks about the user: "my pump"
	terms map[string]float64
}

// A part with at most fewTerms terms depends on the first one, whose terms then have the weight leanWeight.
const (
	fewTerms   = 2
	leanWeight = 0.5
)

// ask analyses a question over passages, whose language decides if its own is in doubt.
func ask(text string, passages []llm.Evidence) question {
	around := ""
	if len(passages) > 0 {
		around, _ = lang.Detect(passages[0].Text)
	}
	q := question{text: text, lang: lang.Of(text, around)}
	for i, s := range split(text, q.lang) {
		p := part{text: s, lower: strings.ToLower(s), kind: findKind(s, q.lang), own: ofUser(s, q.lang), terms: map[string]float64{}}
		for _, stem := range analysis.Query(s, q.lang).Stems {
			p.terms[stem] = 1
		}
		if i > 0 && len(p.terms) <= fewTerms {
			if len(p.terms) == 0 {
				p.text = text
			}
			for stem := range q.parts[0].terms {
				p.terms[stem] = max(p.terms[stem], leanWeight)
			}
		}
		q.parts = append(q.parts, p)
	}
	return q
}
