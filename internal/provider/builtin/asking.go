package builtin

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/provider/builtin/span"
	"quarry/internal/text/sentence"
)

// kind is what an answer must hold to be one.
type kind int

const (
	anything kind = iota
	number
	moment
	name
)

// asking holds the question words of a language by what they ask for, and the words for "and", which join two questions.
type asking struct {
	and, others             []string
	numbers, moments, names []string
}

// askers holds the languages whose questions are distinguished. Questions in other languages ask for anything, and end only at
// question marks.
var askers = map[string]asking{
	"eng": {
		and: words("and"), names: words("who whom whose"), moments: words("when"),
		numbers: []string{"how many", "how much", "how long", "how old", "how far", "how big", "how large", "how tall", "how high", "how often", "what percent", "what percentage", "what number"},
		others:  words("what which where why how does did is are was were can could should will would has have do"),
	},
	"deu": {
		and: words("und sowie"), names: words("wer wen wem wessen"), moments: words("wann"),
		numbers: []string{"wie viele", "wie viel", "wieviel", "wieviele", "wie lange", "wie alt", "wie hoch", "wie weit", "wie groß", "wie oft"},
		others:  words("was wo wohin woher warum wieso weshalb wie welche welcher welches welchen womit wodurch"),
	},
	"fra": {
		and: words("et"), names: words("qui"), moments: words("quand"),
		numbers: words("combien"), others: words("que quoi quel quelle quels quelles où pourquoi comment"),
	},
	"spa": {
		and: words("y e"), names: words("quién quiénes"), moments: words("cuándo"),
		numbers: words("cuánto cuánta cuántos cuántas"), others: words("qué cuál cuáles dónde adónde cómo"),
	},
	"por": {
		and: words("e"), names: words("quem"), moments: words("quando"),
		numbers: words("quanto quanta quantos quantas"), others: words("qual quais onde como"),
	},
	"ita": {
		and: words("e ed"), names: words("chi"), moments: words("quando"),
		numbers: words("quanto quanta quanti quante"), others: words("quale quali dove come perché"),
	},
	"nld": {
		and: words("en"), names: words("wie wiens"), moments: words("wanneer"),
		numbers: []string{"hoeveel", "hoe lang", "hoe oud", "hoe groot", "hoe ver", "hoe vaak"}, others: words("wat waar waarom hoe welke welk"),
	},
	"rus": {
		and: words("и"), names: words("кто кого кому кем"), moments: words("когда"),
		numbers: words("сколько"), others: words("что где куда откуда почему зачем как какой какая какие каком"),
	},
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

// split returns the questions in a text, in order. It cuts after question marks, and before a word for "and" that is followed by
// a question word: "cats and dogs" is one subject. Statements before a question stay with it.
func split(text, language string) []string {
	var out []string
	start := 0
	spans := sentence.Split(text)
	for i, s := range spans {
		if last, _ := utf8.DecodeLastRuneInString(text[s.Start:s.End]); !strings.ContainsRune("?？؟", last) && i < len(spans)-1 {
			continue
		}
		out = append(out, splitAnd(text[start:s.End], language)...)
		start = s.End
	}
	if n := len(out); n > 1 && !strings.ContainsAny(out[n-1], "?？؟") { // what follows the last question goes with it
		out = append(out[:n-2], out[n-2]+" "+out[n-1])
	}
	if len(out) == 0 {
		return []string{strings.TrimSpace(text)}
	}
	return out[:min(len(out), mostParts)]
}

// mostParts is how many questions of a text are answered.
const mostParts = 4

// splitAnd cuts one sentence.
func splitAnd(text, language string) []string {
	ask, ok := askers[language]
	if !ok {
		return addPart(nil, text)
	}
	var out []string
	fields := strings.Fields(text)
	start := 0
	for i := 2; i+1 < len(fields); i++ { // a question has two words at the least
		joint := slices.Contains(ask.and, strings.ToLower(fields[i])) || strings.HasSuffix(fields[i], ";")
		if !joint || !ask.begins(fields[i+1:]) || i-start < 2 && start > 0 {
			continue
		}
		end := i
		if strings.HasSuffix(fields[i], ";") {
			end = i + 1
		}
		out = addPart(out, strings.Join(fields[start:end], " "))
		start = i + 1
	}
	return addPart(out, strings.Join(fields[start:], " "))
}

// begins reports whether the words begin with one that asks. An auxiliary does so only in front of a subject.
func (a asking) begins(rest []string) bool {
	return starts(slices.Concat(a.names, a.moments, a.numbers, a.others), rest)
}

// starts reports whether the words begin with one of list, which may be of two words.
func starts(list, rest []string) bool {
	one := span.Plain(rest[0])
	two := one
	if len(rest) > 1 {
		two += " " + span.Plain(rest[1])
	}
	return slices.Contains(list, one) || slices.Contains(list, two)
}

func addPart(out []string, text string) []string {
	if text = strings.TrimSpace(text); text == "" {
		return out
	}
	return append(out, text)
}

// findKind returns what a question asks for, by its first word that shows it.
func findKind(text, language string) kind {
	ask, ok := askers[language]
	if !ok {
		return anything
	}
	fields := strings.Fields(text)
	for i := range fields {
		switch rest := fields[i:]; {
		case starts(ask.numbers, rest):
			return number
		case starts(ask.moments, rest), language == "eng" && what(rest, "year", "date", "day", "month", "century", "decade"):
			return moment
		case starts(ask.names, rest):
			return name
		}
	}
	return anything
}

// what reports whether the words are "what" or "which" with one of the nouns.
func what(rest []string, nouns ...string) bool {
	if first := span.Plain(rest[0]); len(rest) < 2 || first != "what" && first != "which" {
		return false
	}
	return slices.Contains(nouns, span.Plain(rest[1]))
}

var (
	numerals = regexp.MustCompile(`\d|(?i)\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|billion|half|third|quarter|twice|several|many|few)\b`)
	moments  = regexp.MustCompile(`\b\d{3,4}\b|\b\d{1,2}(?:\.|st|nd|rd|th)\b|(?i)\b(?:january|february|march|april|may|june|july|august|september|october|november|december|century|decade|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b`)
)

// holds reports whether text has what a question of kind k asks for. asked is the question in lower case.
func (k kind) holds(text, asked string) bool {
	switch k {
	case number:
		return numerals.MatchString(text)
	case moment:
		return moments.MatchString(text)
	case name:
		for i, w := range strings.Fields(text) {
			if r, _ := utf8.DecodeRuneInString(w); i > 0 && unicode.IsUpper(r) && !strings.Contains(asked, span.Plain(w)) {
				return true
			}
		}
	}
	return false
}
