package query

import (
	"io"
	"strings"
	"unicode"

	"quarry/internal/cli/command"
	"quarry/internal/text/analysis"
)

// span is a piece of a text, in runes.
type span struct{ from, to int }

// matches returns the words of a text, in the language lang, that a question asks for, whatever their inflection.
func matches(question string, text []rune, lang string) []span {
	asked := map[string]bool{}
	for _, stem := range analysis.Query(question, lang).Stems {
		asked[stem] = true
	}
	var out []span
	for i := 0; i < len(text); i++ {
		if !inWord(text[i]) {
			continue
		}
		n := gram(text[i])
		end := i + n
		if n == 0 {
			for end = i; end < len(text) && inWord(text[end]) && gram(text[end]) == 0; {
				end++
			}
		}
		if end <= len(text) && (n > 0 && asked[string(text[i:end])] || n == 0 && asksFor(asked, string(text[i:end]), lang)) {
			if last := len(out) - 1; n > 0 && last >= 0 && out[last].to >= i {
				out[last].to = end
			} else {
				out = append(out, span{i, end})
			}
		}
		if n == 0 {
			i = end - 1
		}
	}
	return out
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// gram returns how many characters a term has in a script without spaces, 0 for other scripts.
func gram(r rune) int {
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return 2
	case unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return 3
	}
	return 0
}

func asksFor(asked map[string]bool, word, lang string) bool {
	for _, stem := range analysis.Query(word, lang).Stems {
		if asked[stem] {
			return true
		}
	}
	return false
}

// Lengths of an excerpt, in characters.
const (
	longest = 300
	before  = 60 // at most, of the sentence before the first match
)

// excerpt returns the stretch of a text that has the most matches, and the matches inside it.
func excerpt(text []rune, found []span) ([]rune, []span) {
	if len(text) <= longest {
		return text, found
	}
	best, most := 0, 0
	for i, first := range found {
		distinct := map[string]bool{}
		for _, m := range found[i:] {
			if m.to > first.from+longest-before {
				break
			}
			distinct[strings.ToLower(string(text[m.from:m.to]))] = true
		}
		if len(distinct) > most {
			best, most = i, len(distinct)
		}
	}
	from := 0
	if len(found) > 0 && found[best].to > longest-before { // the beginning says most if it has the match
		from = begin(text, found[best].from)
	}
	to := min(from+longest, len(text))
	if to < len(text) {
		for end := to; end > from+longest/2; end-- {
			if text[end] == ' ' {
				to = end
				break
			}
		}
	}
	return cutOut(text, found, span{from, to})
}

// begin returns where an excerpt that shows the character at begins: with its sentence, or else with a word.
func begin(text []rune, at int) int {
	from := max(0, at-before)
	word := at
	for i := at; i > from; i-- {
		if text[i-1] != ' ' {
			continue
		}
		word = i
		if i > 1 && strings.ContainsRune(".!?", text[i-2]) {
			break
		}
	}
	return word
}

func cutOut(text []rune, found []span, of span) ([]rune, []span) {
	out := append([]rune(nil), text[of.from:of.to]...)
	shift := -of.from
	if of.from > 0 {
		out = append([]rune("… "), out...)
		shift += 2
	}
	if of.to < len(text) {
		out = append(out, '…')
	}
	var inside []span
	for _, m := range found {
		if m.from >= of.from && m.to <= of.to {
			inside = append(inside, span{m.from + shift, m.to + shift})
		}
	}
	return out, inside
}

// printExcerpt prints the stretch of a passage that a question asks for, its words in bold on a terminal.
func printExcerpt(w io.Writer, question, passage, lang string) {
	text := []rune(strings.Join(strings.Fields(command.Prose(passage)), " "))
	text, found := excerpt(text, matches(question, text, lang))
	var b strings.Builder
	at := 0
	for _, m := range found {
		b.WriteString(string(text[at:m.from]) + command.Bold(w, string(text[m.from:m.to])))
		at = m.to
	}
	command.Wrap(w, "    ", b.String()+string(text[at:]))
}
