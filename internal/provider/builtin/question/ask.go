package question

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/internal/provider/builtin/span"
	"quarry/internal/text/analysis"
	"quarry/internal/text/sentence"
)

// split returns the questions in a text, in order. It cuts after question marks, and before a word for "and" that is followed by
// a question word: "cats and dogs" is one subject. Statements before a question stay with it.
func split(text, language string) []string {
	var out []string
	start := 0
	spans := sentence.Split(text)
	for i, s := range spans {
		if !ends(text[s.Start:s.End]) && i < len(spans)-1 {
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

// ends reports whether text ends in a question mark.
func ends(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(text))
	return strings.ContainsRune("?？؟", last)
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

// requests are the words that begin a request to tell something, and followUps those that begin a message about an earlier one,
// in the languages of askers.
var (
	requests = words(`tell show give explain describe list summarize summarise compare
		sag sage sagen zeig zeige zeigen gib nenne nennen erkläre erklären beschreibe liste vergleiche
		dis dites donne donnez explique expliquez montre montrez décris cite résume compare
		dime dame explica muestra describe resume compara enumera diga mostre explique descreva liste resuma
		dimmi mostra spiega descrivi elenca riassumi vertel geef toon noem leg beschrijf
		расскажи расскажите покажи покажите объясни объясните опиши назови`)
	followUps = append(words(`find please let write translate name define help or but also then so only any
		finde bitte oder aber auch dann nur ou mais aussi alors pero también entonces mas também oppure ma anche of maar ook или но а также`),
		"i want", "i would", "i'd like")
)

// nounOf returns the stem of the word behind "which" or "what", which an answer often repeats: "Which counter tells me that the
// cache is too small?". It knows English alone.
func nounOf(text, language string) string {
	if language != "eng" {
		return ""
	}
	m := asked.FindStringSubmatch(text)
	if m == nil || slices.Contains(askers[language].closed, strings.ToLower(m[1])) {
		return ""
	}
	stems := analysis.Analyze(m[1], language).Stems
	if len(stems) != 1 {
		return ""
	}
	return stems[0]
}

var asked = regexp.MustCompile(`(?i)^(?:\w+ )?(?:which|what) (?:(?:types?|kinds?|sorts?) of )?([\w-]+)`)
