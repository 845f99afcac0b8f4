package fuzzy

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Tokens are runs of letters and digits in lower case without accents. A full stop between two digits and a minus sign in
// front of a number belong to it, so that a number is one token. Scripts without spaces, and Hangul, are cut into
// bigrams; values also into single characters, so that a query of one character finds them.

// textBuffer splits the texts of values into tokens. It keeps its buffer between calls and is not safe for concurrent
// use.
type textBuffer struct {
	lower []byte
}

// tokens yields the tokens of a value. Each is valid only during its call of yield. If quoted, raw is the inside of a
// JSON string, with its escapes.
func (t *textBuffer) tokens(raw []byte, quoted bool, yield func([]byte)) {
	plain := true
	for _, c := range raw {
		if c >= utf8.RuneSelf || c == '\\' && quoted {
			plain = false
			break
		}
	}
	if !plain {
		text := string(raw)
		if quoted {
			text = unquote(raw)
		}
		raw = []byte(fold(text))
	}
	t.lower = append(t.lower[:0], raw...)
	for i, c := range t.lower {
		if 'A' <= c && c <= 'Z' {
			t.lower[i] = c + 'a' - 'A'
		}
	}
	cut(t.lower, true, yield)
}

// queryTokens returns the distinct tokens of a query.
func queryTokens(text string) []string {
	var out []string
	seen := map[string]bool{}
	cut([]byte(strings.ToLower(fold(text))), false, func(token []byte) {
		if !seen[string(token)] {
			seen[string(token)] = true
			out = append(out, string(token))
		}
	})
	return out
}

// cut yields the tokens of a folded text. Runs of scripts without spaces become bigrams, and also single characters if
// singles is set or the run has only one.
func cut(text []byte, singles bool, yield func([]byte)) {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			if !plainWord[text[i]] && !signed(text, i) {
				i++
				continue
			}
			end := wordEnd(text, i+1)
			yield(text[i:end])
			i = end
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		end := i + size
		switch {
		case unspaced(r):
			end = bigrams(text, i, singles, yield)
		case wordRune(r):
			end = wordEnd(text, end)
			yield(text[i:end])
		}
		i = end
	}
}

// plainWord reports for each ASCII character whether it is part of words.
var plainWord = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = wordRune(rune(c))
	}
	return t
}()

// wordEnd returns the offset after the word that continues at i.
func wordEnd(text []byte, i int) int {
	for i < len(text) {
		if c := text[i]; c < utf8.RuneSelf {
			if !plainWord[c] && !(c == '.' && digitAt(text, i-1) && digitAt(text, i+1)) {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if unspaced(r) || !wordRune(r) {
			return i
		}
		i += size
	}
	return i
}

func digitAt(text []byte, i int) bool {
	return i >= 0 && i < len(text) && '0' <= text[i] && text[i] <= '9'
}

// signed reports whether a minus sign at i begins a number rather than joining two words.
func signed(text []byte, i int) bool {
	return text[i] == '-' && digitAt(text, i+1) && (i == 0 || text[i-1] <= ' ')
}

// bigrams yields the tokens of the run of unspaced characters at i and returns the offset after it.
func bigrams(text []byte, i int, singles bool, yield func([]byte)) (end int) {
	start := i
	for {
		_, size := utf8.DecodeRune(text[i:])
		next := i + size
		r, following := utf8.DecodeRune(text[next:])
		paired := following > 0 && unspaced(r)
		if singles || !paired && i == start {
			yield(text[i:next])
		}
		if !paired {
			return next
		}
		yield(text[i : next+following])
		i = next
	}
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// unspaced reports whether r belongs to a script without spaces between words, or to Hangul, whose particles are attached
// to words.
func unspaced(r rune) bool {
	if r < 0x0E00 {
		return false
	}
	return r <= 0x0EFF || 0x1000 <= r && r <= 0x109F || 0x1780 <= r && r <= 0x17FF || // Thai, Lao, Burmese, Khmer
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー'
}

// fold normalises a text for comparison: NFKC, lower case, without the accents of Latin, Greek and Cyrillic letters.
// ASCII text is returned as it is; its callers lower-case it.
func fold(text string) string {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return foldUnicode(text)
		}
	}
	return text
}

func foldUnicode(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case 0x0300 <= r && r <= 0x036F:
			return -1
		case r == 'ς':
			return 'σ'
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(strings.ToLower(text)))
	return norm.NFC.String(strings.ReplaceAll(text, "ß", "ss"))
}

// unquote decodes the inside of a JSON string. Text that is not valid JSON is returned as it is.
func unquote(raw []byte) string {
	quoted := make([]byte, 0, len(raw)+2)
	quoted = append(append(append(quoted, '"'), raw...), '"')
	var out string
	if json.Unmarshal(quoted, &out) != nil {
		return string(raw)
	}
	return out
}
