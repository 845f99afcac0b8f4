package analysis

import (
	"unicode"
	"unicode/utf8"
)

// class says how a character takes part in terms.
type class uint8

const (
	classNone   class = iota // separates words
	classWord                // belongs to a word
	classHan                 // belongs to a run cut into pairs, and is a term of its own
	classPair                // belongs to a run cut into pairs
	classTriple              // belongs to a run cut into triples
)

// gram is how many characters of the class make a term; 0 for whole words.
func (c class) gram() int {
	switch c {
	case classHan, classPair:
		return 2
	case classTriple:
		return 3
	}
	return 0
}

// asciiWord holds true for letters and digits.
var asciiWord = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	return t
}()

// pairs are the scripts cut into pairs: those without spaces whose words are
// mostly of one or two characters, and Hangul, whose words carry particles
// that only grams get past. triples are those without spaces whose words are
// longer (measured: Thai nDCG@10 .974 with triples, .941 with pairs; Chinese
// .967 with pairs).
var (
	pairs   = []*unicode.RangeTable{unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul}
	triples = []*unicode.RangeTable{
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
		unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham, unicode.Balinese,
	}
)

// classAt returns the class of the character at offset i and its size in
// bytes. Bytes that are not UTF-8 separate words.
func classAt(s string, i int) (class, int) {
	if c := s[i]; c < utf8.RuneSelf {
		if asciiWord[c] {
			return classWord, 1
		}
		return classNone, 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	return classOf(r), size
}

func classOf(r rune) class {
	switch {
	case r == utf8.RuneError:
		return classNone
	case r < 0x0E00:
		return wordClass(r)
	case 0x1100 <= r && r < 0x1200:
		return classPair // Hangul in pieces, which fold puts together
	case r < 0x2000 && unicode.In(r, triples...):
		return tripleClass(r)
	case r < 0x2E80:
		return wordClass(r)
	case r == '々' || r == '〆':
		return classHan
	case r == 'ー' || 0xFF66 <= r && r <= 0xFF9F:
		// The length mark and half-width kana are of the common script, but
		// stand inside Japanese words.
		return classPair
	case unicode.Is(unicode.Han, r):
		return letterClass(r, classHan)
	case unicode.In(r, pairs...):
		return letterClass(r, classPair)
	}
	return wordClass(r)
}

func letterClass(r rune, c class) class {
	if unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) {
		return c
	}
	return classNone
}

func tripleClass(r rune) class {
	switch {
	case unicode.IsDigit(r):
		return classWord
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return classTriple
	}
	return classNone
}

func wordClass(r rune) class {
	if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || invisible(r) || subscript(r) {
		return classWord
	}
	return classNone
}

// invisible reports whether r stands inside words without being part of their
// spelling: soft hyphen, joiner, non-joiner, word joiner.
func invisible(r rune) bool {
	return r == 0x00AD || r == 0x200C || r == 0x200D || r == 0x2060
}

// subscript digits belong to formulas (H₂O); superscript ones are footnotes as
// often as exponents and separate.
func subscript(r rune) bool { return 0x2080 <= r && r <= 0x2089 }

// wordEnd returns the offset behind the run of word characters at i.
func wordEnd(s string, i int) int {
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if !asciiWord[c] {
				return i
			}
			i++
			continue
		}
		c, size := classAt(s, i)
		if c != classWord {
			return i
		}
		i += size
	}
	return i
}

// joinAt reports whether a joint of a compound stands at i: a run of low
// lines, or one hyphen, point or apostrophe. It returns the offset behind.
func joinAt(s string, i int) (int, bool) {
	if i >= len(s) {
		return i, false
	}
	switch s[i] {
	case '_':
		for i < len(s) && s[i] == '_' {
			i++
		}
		return i, i < len(s)
	case '-', '.', '\'':
		return i + 1, i+1 < len(s)
	}
	if s[i] < utf8.RuneSelf {
		return i, false
	}
	switch r, size := utf8.DecodeRuneInString(s[i:]); r {
	case '’', '‐', '‑':
		return i + size, i+size < len(s)
	}
	return i, false
}
