package builtin

import (
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/internal/llm"
	"quarry/internal/text/lang"
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

// statements returns the sentences of a message of the user that state something. Many people write questions without a
// question mark, so those that begin with a word of questions, requests or follow-ups are left out, too.
func statements(text string) []string {
	var out []string
	ask := askers[lang.Of(text, "eng")]
	for _, s := range sentence.Split(text) {
		one := strings.TrimSpace(text[s.Start:s.End])
		last, _ := utf8.DecodeLastRuneInString(one)
		words := strings.Fields(one)
		if len(words) == 0 || strings.ContainsRune("?？؟", last) || ask.begins(words) || starts(ask.and, words) || starts(requests, words) {
			continue
		}
		out = append(out, one)
	}
	return out
}

// requests are the words that requests and follow-ups begin with, in the languages of askers.
var requests = append(words(`
	tell show give explain describe list summarize summarise compare find please let write translate name define help or but also then so only any
	sag sage sagen zeig zeige zeigen gib nenne nennen erkläre erklären beschreibe liste vergleiche finde bitte oder aber auch dann nur
	dis dites donne donnez explique expliquez montre montrez décris cite résume compare ou mais aussi alors
	dime dame explica muestra describe resume compara enumera pero también entonces
	diga mostre explique descreva liste resuma ou mas também
	dimmi mostra spiega descrivi elenca riassumi oppure ma anche
	vertel geef toon noem leg beschrijf of maar ook
	расскажи расскажите покажи покажите объясни объясните опиши назови или но а также`),
	"i want", "i would", "i'd like")
