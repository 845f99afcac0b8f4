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

// isCJK reports whether r is in a block of CJK ideographs as the reference implementation of BERT defines them
// (_is_chinese_char): each is a word of its own. Kana and Hangul are not among them.
func isCJK(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}

// isPunct reports whether r is punctuation. As in the reference implementation, all ASCII symbols are, "$" and "^" too,
// which Unicode does not class as punctuation.
func isPunct(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 33 && r <= 47 || r >= 58 && r <= 64 || r >= 91 && r <= 96 || r >= 123 && r <= 126
	}
	if r == 0x166D || r == 0x111C9 { // punctuation in the Unicode version of the published tokenizer, reclassified since
		return true
	}
	return unicode.Is(unicode.P, r) && !unicode.Is(lateWord, r)
}

// isMark reports whether r is a nonspacing mark (Mn), which is what stripping accents removes. U+1734 was one in the
// Unicode version of the published tokenizer.
func isMark(r rune) bool {
	return r >= 0x300 && (r == 0x1734 || unicode.Is(unicode.Mn, r) && !unicode.Is(lateWord, r))
}

// isControl reports whether r is dropped as a control character.
func isControl(r rune) bool {
	if r == '\t' || r == '\n' || r == '\r' {
		return false
	}
	if r < utf8.RuneSelf {
		return r < 32 || r == 127
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs) && !unicode.Is(lateWord, r)
}

// addRune adds a character beyond ASCII to the current word, or ends the word with it.
func (e *Words) addRune(dst []int32, r rune) []int32 {
	if r == utf8.RuneError || isControl(r) {
		return dst
	}
	if unicode.IsSpace(r) || unicode.Is(unicode.Zs, r) {
		return e.flush(dst)
	}
	var tmp [utf8.UTFMax]byte
	encoded := tmp[:utf8.EncodeRune(tmp[:], r)]
	if isCJK(r) { // compatibility ideographs decompose to unified ones
		dst = e.flush(dst)
		e.word = norm.NFD.Append(e.word, encoded...)
		return e.flush(dst)
	}
	var buf [64]byte
	for d := norm.NFD.Append(buf[:0], encoded...); len(d) > 0; {
		q, n := utf8.DecodeRune(d)
		if d = d[n:]; !isMark(q) {
			dst = e.addDecomposed(dst, q)
		}
	}
	return dst
}

// addDecomposed is addRune for a character of a decomposition that is not a mark.
func (e *Words) addDecomposed(dst []int32, r rune) []int32 {
	if r = unicode.ToLower(r); !isPunct(r) {
		e.word = utf8.AppendRune(e.word, r)
		return dst
	}
	dst = e.flush(dst)
	e.word = utf8.AppendRune(e.word, r)
	return e.flush(dst)
}
