package question

import (
	"regexp"
	"strings"
)

// measure is what a number is of.
type measure int

// The measures. Of a count nothing is known.
const (
	count    measure = iota
	often            // how often
	duration         // how long, in time
	extent           // how large, how much, how long
)

// measureOf returns the measure that a question asks for.
func measureOf(text, language string) measure {
	if language != "eng" {
		return count
	}
	switch m := measures.FindStringSubmatch(text); {
	case m == nil:
		return count
	case m[1] != "":
		return often
	case m[2] != "":
		return duration
	}
	return extent
}

var measures = regexp.MustCompile(`(?i)\b(?:(how (?:often|frequently))|(how (?:soon|quickly|fast)|(?:after|for|every) how (?:long|many (?:seconds|minutes|hours|days))|how long (?:does|do|did|is|are|was|were|will|should)|how much time)|(how (?:much|large|big|long|high|far|tall|deep|wide|heavy|small)|what (?:size|length)))\b`)

// valueOf returns the kind of the value that a question for a default asks for.
func valueOf(text, language string) Kind {
	ask, fields := askers[language], strings.Fields(text)
	for i := range fields {
		if k := ask.kindAt(fields[i:]); k == Number || k == Place {
			return k
		}
	}
	return Anything
}

// Defaults reports whether a text speaks of a default.
func Defaults(text string) bool { return defaults.MatchString(text) }

// unset reports whether a question asks what holds unless something is set: "how verbose is it unless I change it".
func unset(text, language string) bool {
	return Defaults(text) || language == "eng" && leftAlone.MatchString(text)
}

var leftAlone = regexp.MustCompile(`(?i)\b(?:unless|otherwise|out of the box|without (?:changing|setting|configuring|choosing|being (?:asked|told|set)|any (?:setting|option|configuration))|` +
	`(?:if|when) (?:(?:i|you|we|it) (?:\w+ )?(?:set|say|name|choose|give|specify|configure|change|pass|do|don't|do not|is|are)\b|(?:nothing|none|not|left)\b))`)

// A number that stands by itself counts as an amount, and one with a unit of the measure that is asked for as more. Numbers of items,
// versions, sections and years do not count, nor digits in names.
const (
	plainNumber = 0.6
	someNumber  = 0.3
)

// amount returns how well the text gives an amount as the question asks for it.
func (p *Part) amount(text string, ask asking) float64 {
	if p.language == "eng" {
		switch {
		case p.measure == often && frequencies.MatchString(text):
			return 1
		case p.measure == duration && durations.MatchString(text), p.measure == extent && extents.MatchString(text):
			return 1
		}
	}
	for _, m := range numbers.FindAllStringSubmatchIndex(text, -1) {
		number := text[m[2]:m[3]]
		if m[2] == 0 && enumerated.MatchString(text) || strings.Count(number, ".") > 1 || yearBefore.MatchString(text[:m[2]]) && len(number) == 4 {
			continue
		}
		if p.measure == count {
			return 1
		}
		return plainNumber
	}
	if has(ask.figures, text) {
		return plainNumber
	}
	return 0
}

var (
	enumerated  = regexp.MustCompile(`^\(?\d+(?:\.\d+)*[.)]\s`)
	numbers     = regexp.MustCompile(`(?:^|[\s("'` + "`" + `=:~<>≥≤$€£+–-])(\d[\d.,]*)`)
	yearBefore  = regexp.MustCompile(`(?i)(?:\b(?:in|since|from|until|by|of|version|versions|section|chapter|rfc|page|january|february|march|april|may|june|july|august|september|october|november|december)|,) \(?$`)
	frequencies = regexp.MustCompile(`(?i)\b(?:once|twice|hourly|daily|weekly|monthly|yearly|annually|constantly|per (?:second|minute|hour|day|week|month|year)|every (?:\w+ )?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|time)|(?:a|each) (?:second|minute|hour|day|week|month|year)|\d+ times|(?:\d+|one|two|three|five|ten) ?(?:ms|milliseconds?|s|seconds?|minutes?|hours?|days?|weeks?|months?|years?))\b`)
	durations   = regexp.MustCompile(`(?i)\b(?:\d[\d.,]*|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|sixty|hundred|several|few|half an) ?-?(?:ms|msec|milliseconds?|s|secs?|seconds?|mins?|minutes?|h|hours?|days?|weeks?|months?|years?|decades?|centuries)\b`)
	extents     = regexp.MustCompile(`(?i)(?:\b\d[\d.,]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|million|billion|trillion|half|twice|dozen)) ?-?(?:%|percent|per cent|bytes?|bits?|[kmgt]i?b|k|m|g|characters?|pages?|lines?|columns?|rows?|pixels?|px|entries|items?|metres?|meters?|km|kilomet\w+|miles?|feet|foot|ft|inches|cm|mm|acres?|square|kg|kilograms?|tons?|tonnes?|pounds?|dollars?|euros?|thousand|million|billion|trillion|times|as much|degrees|°|years?|months?|weeks?|days?|hours?|minutes?|seconds?|people)(?:\b|$|\W)|[$€£]\d`)
)
