package fuzzy

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Tokens are runs of letters and digits in lower case without accents. A point between two digits and a minus sign in
// front of a number belong to it, so that a number is one token. Scripts that write no spaces, and Hangul, are cut
// into pairs of characters that follow each other; values also into single ones, so that a question of one character
// finds them.

// textBuffer cuts the texts of values into tokens; it keeps its buffers between calls. It is for one goroutine.
type textBuffer struct {
	lower []byte
}

// tokens gives the tokens of a value; each is valid until the next. A quoted text may hold JSON's escapes.
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

// askedTokens gives the tokens of a question, each once.
func askedTokens(text string) []string {
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

// cut gives the tokens of a folded text. Runs of scripts without spaces are given as pairs, and as single characters
// where singles is set or the run has but one.
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
		case dense(r):
			end = run(text, i, singles, yield)
		case wordRune(r):
			end = wordEnd(text, end)
			yield(text[i:end])
		}
		i = end
	}
}

// plainWord says which ASCII characters stand in words.
var plainWord = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = wordRune(rune(c))
	}
	return t
}()

// wordEnd gives where the word ends that goes on at i.
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
		if dense(r) || !wordRune(r) {
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

// run gives the tokens of a run of dense characters and where it ends.
func run(text []byte, i int, singles bool, yield func([]byte)) (end int) {
	start := i
	for {
		_, size := utf8.DecodeRune(text[i:])
		next := i + size
		r, following := utf8.DecodeRune(text[next:])
		paired := following > 0 && dense(r)
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

// dense reports whether r belongs to a script whose words are not told apart by spaces, or to Hangul, whose words carry
// endings.
func dense(r rune) bool {
	if r < 0x0E00 {
		return false
	}
	return r <= 0x0EFF || 0x1000 <= r && r <= 0x109F || 0x1780 <= r && r <= 0x17FF || // Thai, Lao, Burmese, Khmer
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー'
}

// fold brings a text to one form for comparing: compatibility forms, case and the accents of Latin, Greek and Cyrillic
// are gone.
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

// unquote gives the text of a JSON string from between its quotes.
func unquote(raw []byte) string {
	quoted := make([]byte, 0, len(raw)+2)
	quoted = append(append(append(quoted, '"'), raw...), '"')
	var out string
	if json.Unmarshal(quoted, &out) != nil {
		return string(raw)
	}
	return out
}
