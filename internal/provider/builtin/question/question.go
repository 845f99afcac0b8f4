// Package question reads what a question asks: the questions in it, their terms, the type of answer that each wants, and
// whether a sentence is of that type. The types are distinguished in the languages of asking; questions in others ask for
// anything.
package question

import (
	"slices"
	"strings"

	"quarry/internal/provider/builtin/span"
	"quarry/internal/text/analysis"
	"quarry/internal/text/lang"
)

// Question is what is asked.
type Question struct {
	Text     string
	Language string // ISO 639-3
	Parts    []Part // the questions in it, one at the least
}

// Part is one question. Its terms are the stems that an answer should hold, with their weights: 1, and less for those that it
// takes from the first question because it depends on that, such as "and when did it open?".
type Part struct {
	Text   string
	Kind   Kind
	OfUser bool // it asks about the user: "my pump"
	Terms  map[string]float64

	lower    string
	language string
	subject  []string // the terms of what a definition is asked of
	also     Kind     // of the value whose default is asked for
	noun     string   // behind "which": its stem; "" for none
	unset    bool     // it asks what holds unless something is set
	measure  measure  // of a number
}

// A part with at most fewTerms terms depends on the first one, whose terms then have the weight leanWeight. Of a long question the
// first mostTerms count: each is looked for in every sentence.
const (
	fewTerms   = 2
	leanWeight = 0.5
	mostTerms  = 64
)

// Parse reads a question; around is the language of the passages, which decides if its own is in doubt.
func Parse(text, around string) Question {
	q := Question{Text: text, Language: lang.Of(text, around)}
	for i, s := range split(text, q.Language) {
		p := Part{Text: s, OfUser: ofUser(s, q.Language), Terms: terms(s, q.Language), lower: strings.ToLower(s), language: q.Language}
		p.Kind, p.subject = kindOf(s, q.Language)
		p.also, p.noun, p.unset, p.measure = valueOf(s, q.Language), nounOf(s, q.Language), unset(s, q.Language), measureOf(s, q.Language)
		if i > 0 && len(p.Terms) <= fewTerms {
			if len(p.Terms) == 0 {
				p.Text = text
			}
			for stem := range q.Parts[0].Terms {
				p.Terms[stem] = max(p.Terms[stem], leanWeight)
			}
		}
		q.Parts = append(q.Parts, p)
	}
	return q
}

func terms(text, language string) map[string]float64 {
	out := map[string]float64{}
	for _, stem := range analysis.Query(text, language).Stems {
		if out[stem] = 1; len(out) == mostTerms {
			break
		}
	}
	return out
}

// States reports whether a sentence of a user states something. Many people write questions without a question mark, so
// sentences that begin with a word of questions, requests or follow-ups do not.
func States(text string) bool {
	fields := strings.Fields(text)
	ask := askers[lang.Of(text, "eng")]
	return len(fields) > 0 && !ends(text) && !ask.begins(fields) && !starts(ask.and, fields) && !starts(requests, fields) && !starts(followUps, fields)
}

// users are the words by which people mean themselves and what is theirs. "Me" is not one: it asks, as in "tell me".
var users = map[string][]string{
	"eng": words("i my mine we our ours"), "deu": words("ich mein meine meinen meinem meiner meines wir unser unsere unseren unserem unserer"),
	"fra": words("je mon ma mes nous notre nos"), "spa": words("yo mi mis nosotros nuestro nuestra nuestros nuestras"),
	"por": words("eu meu minha meus minhas nosso nossa"), "ita": words("io mio mia miei mie nostro nostra"),
	"nld": words("ik mijn wij we onze ons"), "rus": words("я мой моя моё мое мои моей моего моём меня мы наш наша наше наши"),
}

// ofUser reports whether a question is about the user or what is theirs.
func ofUser(text, language string) bool {
	return slices.ContainsFunc(strings.Fields(text), func(w string) bool { return slices.Contains(users[language], span.Plain(w)) })
}

func words(list string) []string { return strings.Fields(list) }
