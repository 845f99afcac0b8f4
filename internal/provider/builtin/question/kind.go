package question

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/provider/builtin/span"
	"quarry/internal/text/analysis"
)

// Kind is the type of answer that a question wants.
type Kind int

// The kinds. Anything is that of questions whose type is not known.
const (
	Anything   Kind = iota
	Number          // "how many"
	Moment          // "when"
	Name            // "who"
	Place           // "where"
	Default         // "what is the default of"
	Manner          // "how to"
	Reason          // "why"
	Definition      // "what is a pump"
	Verdict         // "is it", answered by yes or no
	Account         // as much as there is to tell: "describe the pump"
)

// Value reports whether the answer is a value that can be told from its form.
func (k Kind) Value() bool { return k >= Number && k <= Place }

// kindOf returns the kind of a question, by its first word that shows it, and the terms of what a definition is asked of.
func kindOf(text, language string) (Kind, []string) {
	ask, ok := askers[language]
	fields := strings.Fields(text)
	if !ok || len(fields) == 0 {
		return Anything, nil
	}
	if defaults.MatchString(text) {
		return Default, nil
	}
	if subject := definedBy(text, ask, language); len(subject) > 0 {
		return Definition, subject
	}
	if slices.Contains(ask.verdicts, span.Plain(fields[0])) {
		return Verdict, nil
	}
	for i := range fields {
		if k := ask.kindAt(fields[i:]); k != Anything {
			return k, nil
		}
	}
	if starts(requests, fields) && !slices.ContainsFunc(fields, func(w string) bool { return slices.Contains(ask.others, span.Plain(w)) }) {
		return Account, nil
	}
	return Anything, nil
}

// kindAt returns the kind that the first of the words shows.
func (a asking) kindAt(rest []string) Kind {
	switch {
	case starts(a.numbers, rest), a.noun(rest, a.numberNouns):
		return Number
	case starts(a.moments, rest), a.noun(rest, a.momentNouns):
		return Moment
	case starts(a.places, rest), a.noun(rest, a.placeNouns):
		return Place
	case starts(a.names, rest), a.noun(rest, a.nameNouns):
		return Name
	case starts(a.manners, rest), a.noun(rest, a.mannerNouns):
		if a.denies(rest) {
			return Anything
		}
		return Manner
	case starts(a.reasons, rest):
		return Reason
	}
	return Anything
}

// nounReach is how many words behind "what" its noun may stand: "what was the mean annual temperature".
const nounReach = 5

// noun reports whether the words are "what" or its like with one of the nouns behind it.
func (a asking) noun(rest []string, nouns []string) bool {
	if !slices.Contains(a.whats, span.Plain(rest[0])) {
		return false
	}
	for _, w := range rest[1:min(len(rest), 1+nounReach)] {
		w = span.Plain(w)
		if slices.Contains(nouns, w) {
			return true
		}
		if slices.Contains(a.preps, w) { // what follows is not what is asked for
			return false
		}
	}
	return false
}

// denies reports whether what is asked is how or what not to do: "which commands must I not run".
func (a asking) denies(rest []string) bool {
	return slices.ContainsFunc(rest[:min(len(rest), 1+nounReach)], func(w string) bool { return slices.Contains(a.nots, span.Plain(w)) })
}

// defaults matches a question for the value that something has unless it is set.
var defaults = regexp.MustCompile(`(?i)\bdefaults?\b|standardwert|voreinstellung|voreingestellt|par défaut|por defecto|predeterminad|predefinit|por padrão|standaardwaarde|по умолчанию`)

// definedBy returns the terms of what a question asks to define, none if it asks something else. "What is the purpose of a pump?"
// asks for a property.
func definedBy(text string, ask asking, language string) []string {
	if ask.defines == nil {
		return nil
	}
	m := ask.defines.FindStringSubmatch(strings.TrimRight(strings.TrimSpace(text), "?？ ."))
	if m == nil {
		return nil
	}
	subject := strings.Fields(strings.Join(m[1:], " "))
	for i, w := range subject {
		if i > 0 && slices.Contains(ask.preps, strings.ToLower(w)) {
			if slices.Contains(ask.of, strings.ToLower(w)) {
				return nil
			}
			subject = subject[:i]
			break
		}
	}
	if len(subject) > longSubject {
		return nil
	}
	return analysis.Query(strings.Join(subject, " "), language).Stems
}

// longSubject is how many words a subject has at the most; what is longer is a description.
const longSubject = 4

// Of a sentence of the kind that is asked for the score is higher by so much (docs/benchmarks.md, Answers). A path is hardly ever
// named by chance.
const (
	plainWeight      = 0.1
	numberWeight     = 0.25
	pathWeight       = 0.45
	valueWeight      = 0.15
	unsetWeight      = 0.25
	nounWeight       = 0.2
	mannerWeight     = 0.25
	definitionWeight = 0.2
	verdictWeight    = 0.12
)

// Fit returns what the type of a sentence adds to its score. What is asked for, that it is a default and that the noun behind
// "which" is in it add up.
func (p *Part) Fit(text string) float64 {
	fit := p.fit(p.Kind, text)
	if p.Kind == Default {
		fit = max(fit, p.fit(p.also, text))
	}
	if p.unset {
		fit += given(unsetWeight, Defaults(text))
	}
	if p.noun != "" && slices.Contains(analysis.Analyze(text, p.language).Stems, p.noun) {
		fit += nounWeight
	}
	return fit
}

func (p *Part) fit(kind Kind, text string) float64 {
	ask := askers[p.language]
	switch kind {
	case Number:
		return numberWeight * p.amount(text, ask)
	case Moment:
		return given(plainWeight, moments.MatchString(text))
	case Name:
		return given(plainWeight, p.newName(text))
	case Place:
		if paths.MatchString(text) {
			return pathWeight
		}
		return given(plainWeight, p.newPlace(text, ask))
	case Default:
		return given(valueWeight, defaults.MatchString(text) && values.MatchString(text))
	case Manner:
		return mannerWeight * instructs(text, ask)
	case Reason:
		return given(plainWeight, has(ask.causes, text))
	case Definition:
		return definitionWeight * p.defines(text, ask)
	case Verdict:
		return given(verdictWeight, has(ask.judges, text))
	}
	return 0
}

func given(weight float64, ok bool) float64 {
	if !ok {
		return 0
	}
	return weight
}

var (
	moments = regexp.MustCompile(`(?:^|[^\w.,-])\d{3,4}(?:$|[^\w.,]|[.,]\D|[.,]$)|\b\d{1,2}(?:\.|st|nd|rd|th)\b|(?i)\b(?:january|february|march|april|may|june|july|august|september|october|november|december|century|decade|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b`)
	paths   = regexp.MustCompile("(?:^|[\\s\"'`(])(?:~|\\.{1,2}|[A-Za-z]:)?[/\\\\][\\w.-]+|\\bhttps?://|\\b\\w+/\\w+/\\w")
	values  = regexp.MustCompile("\\d|[`\"“]|(?i)\\b(?:true|false|null|none|nil|on|off|yes|no|enabled|disabled|empty|unlimited|infinite|undefined)\\b")
)

// has reports whether text holds one of the words, which may be several with blanks between.
func has(list []string, text string) bool {
	fields := strings.Fields(text)
	for i := range fields {
		if starts(list, fields[i:]) {
			return true
		}
	}
	return false
}

// newName reports whether text has a word with a capital that does not begin it and is not in the question.
func (p *Part) newName(text string) bool {
	for i, w := range strings.Fields(text) {
		if i > 0 && capital(w) && !strings.Contains(p.lower, span.Plain(w)) {
			return true
		}
	}
	return false
}

// newPlace reports whether text has a name that is not in the question behind a preposition.
func (p *Part) newPlace(text string, ask asking) bool {
	fields := strings.Fields(text)
	for i, w := range fields {
		if !slices.Contains(ask.preps, strings.ToLower(w)) {
			continue
		}
		for _, next := range fields[i+1 : min(len(fields), i+4)] {
			if capital(next) && !strings.Contains(p.lower, span.Plain(next)) {
				return true
			}
		}
	}
	return false
}

func capital(w string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(w, "\"'“‘„«("))
	return unicode.IsUpper(r)
}

// opening matches what may stand before the verb of an instruction.
var opening = regexp.MustCompile(`(?i)^(?:(?:\d+[.)]|step \d+:?|please|then|first|next|now|finally|just|simply|always|also|to [^,.;]{3,80},|if [^,.;]{3,80},|when [^,.;]{3,80},|for [^,.;]{3,60},)\s+)*`)

// adviceShare is what a sentence that says what can be done has of the weight of an instruction.
const adviceShare = 0.4

// instructs returns how well a text tells what to do: it begins with a verb in the imperative, or it says what can be done or has
// code in it. What must not be done is no way to do it.
func instructs(text string, ask asking) float64 {
	fields := strings.Fields(text[len(opening.FindString(text)):])
	if len(fields) < 2 {
		return 0
	}
	first, second := span.Plain(fields[0]), span.Plain(fields[1])
	switch {
	case starts(ask.nots, fields):
		return 0
	case slices.Contains(ask.orders, first), slices.Contains(ask.orderMarks, second) && !slices.Contains(ask.closed, first):
		return 1
	case ask.ordering != nil && ask.ordering.MatchString(text):
		return 1
	case strings.Contains(text, "`"), has(ask.advice, text):
		return adviceShare
	}
	return 0
}

// defines returns how well a sentence defines the subject of the question: it begins with it and goes on "is a".
func (p *Part) defines(text string, ask asking) float64 {
	fields := strings.Fields(text)
	for i, w := range fields[:min(len(fields), farthestVerb)] {
		if w = span.Plain(w); !slices.Contains(ask.copulas, w) || i == 0 {
			continue
		}
		if !p.about(strings.Join(fields[:i], " ")) {
			return 0
		}
		if i+1 < len(fields) && slices.Contains(ask.articles, span.Plain(fields[i+1])) {
			return 1
		}
		return isShare
	}
	return 0
}

// A sentence that defines has its verb among so many words, and few words beside its subject before it. One without an article
// behind the verb, as in "pumps are used", has the share isShare.
const (
	farthestVerb = 14
	besides      = 2
	isShare      = 0.6
)

// about reports whether the words before a verb are the subject and little else. What stands in brackets does not count.
func (p *Part) about(before string) bool {
	stems := analysis.Analyze(brackets.ReplaceAllString(before, " "), p.language).Stems
	for _, s := range p.subject {
		if !slices.Contains(stems, s) {
			return false
		}
	}
	return len(stems) <= len(p.subject)+besides
}

var brackets = regexp.MustCompile(`\([^)]*\)?`)
