package builtin

import (
	"quarry/internal/llm"
	"quarry/internal/text/lang"
	"quarry/internal/text/rarity"
	"quarry/internal/text/token"
)

// question is what is asked, with the terms that an answer should hold.
type question struct {
	text  string
	lang  string // ISO 639-3
	parts []part // one at the least
}

// part is a question within the question.
type part struct {
	text  string
	terms map[string]float64 // stem → weight, summing to 1; empty when all of its words are stop words
}

// ask analyses a question over passages, whose language counts where its own is in doubt.
func ask(text string, passages []llm.Evidence) question {
	around := ""
	if len(passages) > 0 {
		around, _ = lang.Detect(passages[0].Text)
	}
	q := question{text: text, lang: lang.Of(text, around)}
	for _, p := range split(text) {
		q.parts = append(q.parts, part{p, terms(p, q.lang)})
	}
	return q
}

// terms gives the weights of the stems of a text.
func terms(text, language string) map[string]float64 {
	out := map[string]float64{}
	sum := 0.0
	for _, s := range token.Query(text, language).Stems {
		if _, ok := out[s]; !ok {
			out[s] = rarity.In(s, language)
			sum += out[s]
		}
	}
	for s := range out {
		out[s] /= sum
	}
	return out
}
