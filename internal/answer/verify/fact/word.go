// Package fact finds the facts in a sentence that can be compared word by word: numbers, names and negations, each with its place.
// It needs no model. Package verify calls it, and so does the benchmark of consistency, which falsifies sentences with it.
package fact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Word is a run of letters and digits, or one character of a script that writes without spaces.
type Word struct {
	Start, End int    // bytes of the text
	Text       string // lower case
	Upper      bool   // begins with a capital
	Caps       bool   // two capitals or more
	First      bool   // it begins a sentence, quotes and brackets aside
	key        string // by which forms of the same word are recognized
}

// Words returns the words of text in order.
func Words(text string) []Word {
	var out []Word
	first := true
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case dense(r):
			out = append(out, Word{Start: i, End: i + size, Text: text[i : i+size], First: first, key: text[i : i+size]})
			i, first = i+size, false
		case wordly(r):
			end := wordEnd(text, i)
			out = append(out, word(text, i, end, first))
			i, first = end, false
		default:
			if strings.ContainsRune(".!?:;\n…•。！？", r) && next(text, i+size) {
				first = true
			}
			i += size
		}
	}
	return out
}

// next reports whether a full stop before text[i:] ends a sentence, rather than being inside a number or a name.
func next(text string, i int) bool {
	r, _ := utf8.DecodeRuneInString(text[i:])
	return i >= len(text) || !wordly(r)
}

func word(text string, start, end int, first bool) Word {
	raw := text[start:end]
	r, _ := utf8.DecodeRuneInString(raw)
	capitals := 0
	for _, c := range raw {
		if unicode.IsUpper(c) {
			capitals++
		}
	}
	lower := strings.ReplaceAll(strings.ToLower(raw), "’", "'")
	return Word{Start: start, End: end, Text: lower, Upper: unicode.IsUpper(r), Caps: capitals > 1, First: first, key: Key(lower)}
}

func wordEnd(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if wordly(r) && !dense(r) {
			i += size
			continue
		}
		after, _ := utf8.DecodeRuneInString(text[min(i+size, len(text)):])
		if (r == '\'' || r == '’') && unicode.IsLetter(after) {
			i += size
			continue
		}
		break
	}
	return i
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// dense reports whether r is of a script without spaces, where each character counts as a word.
func dense(r rune) bool {
	return r >= 0x2E80 && (unicode.Is(unicode.Han, r) || unicode.Is(unicode.Hiragana, r) || unicode.Is(unicode.Katakana, r) || r == 'ー')
}

// zeros are the digits 0 of the scripts of the languages served.
var zeros = []rune{'0', '٠', '۰', '०', '０'}

// digit returns the value of a decimal digit.
func digit(r rune) (int, bool) {
	for _, z := range zeros {
		if r >= z && r <= z+9 {
			return int(r - z), true
		}
	}
	return 0, false
}
