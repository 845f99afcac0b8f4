package tokenizer

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Classes of ASCII bytes; the zero class is dropped.
const (
	classSpace = iota + 1
	classPunct
	classWord
)

var asciiClass, asciiLower = asciiTables()

func asciiTables() (class, lower [utf8.RuneSelf]byte) {
	for i := range class {
		r := rune(i)
		switch {
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			class[i] = classSpace
		case isControl(r):
		case isPunct(r):
			class[i] = classPunct
		default:
			class[i] = classWord
		}
		lower[i] = byte(unicode.ToLower(r))
	}
	return class, lower
}

func isCJK(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}

func isPunct(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 33 && r <= 47 || r >= 58 && r <= 64 || r >= 91 && r <= 96 || r >= 123 && r <= 126
	}
	if r == 0x166D || r == 0x111C9 { // punctuation in the published tokenizer's Unicode edition, reclassified since
		return true
	}
	return unicode.Is(unicode.P, r) && !unicode.Is(lateWord, r)
}

func isMark(r rune) bool {
	return r >= 0x300 && (r == 0x1734 || unicode.Is(unicode.Mn, r) && !unicode.Is(lateWord, r))
}

func isControl(r rune) bool {
	if r == '\t' || r == '\n' || r == '\r' {
		return false
	}
	if r < utf8.RuneSelf {
		return r < 32 || r == 127
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs) && !unicode.Is(lateWord, r)
}

// rune takes in one character beyond ASCII.
func (e *Words) rune(dst []int32, r rune) []int32 {
	if r == utf8.RuneError || isControl(r) {
		return dst
	}
	if unicode.IsSpace(r) || unicode.Is(unicode.Zs, r) {
		return e.flush(dst)
	}
	var tmp [utf8.UTFMax]byte
	encoded := tmp[:utf8.EncodeRune(tmp[:], r)]
	if isCJK(r) { // compatibility ideographs decompose to the plain one
		dst = e.flush(dst)
		e.word = norm.NFD.Append(e.word, encoded...)
		return e.flush(dst)
	}
	var buf [64]byte
	for d := norm.NFD.Append(buf[:0], encoded...); len(d) > 0; {
		q, n := utf8.DecodeRune(d)
		if d = d[n:]; !isMark(q) {
			dst = e.letter(dst, q)
		}
	}
	return dst
}

// letter takes in one decomposed character that is no mark.
func (e *Words) letter(dst []int32, r rune) []int32 {
	if r = unicode.ToLower(r); !isPunct(r) {
		e.word = utf8.AppendRune(e.word, r)
		return dst
	}
	dst = e.flush(dst)
	e.word = utf8.AppendRune(e.word, r)
	return e.flush(dst)
}
