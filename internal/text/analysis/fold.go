package analysis

import (
	"fmt"
	"hash/fnv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"quarry/internal/clip"
)

// fold returns the surface form of a word or compound: NFKC (UAX 15), lower case, without invisible characters and
// optional vowel points, with joints in their ASCII form.
func fold(w string) string {
	upper := false
	for i := 0; i < len(w); i++ {
		if w[i] >= utf8.RuneSelf {
			return foldUnicode(w)
		}
		upper = upper || 'A' <= w[i] && w[i] <= 'Z'
	}
	if !upper {
		return w
	}
	return strings.ToLower(w)
}

func foldUnicode(w string) string {
	if !norm.NFKC.IsNormalString(w) {
		w = norm.NFKC.String(w)
	}
	lower := strings.Map(foldRune, w)
	// Mapping character by character can undo the normal form, for example by dropping what separated a letter and a mark.
	if !norm.NFKC.IsNormalString(lower) {
		lower = norm.NFKC.String(lower)
	}
	return lower
}

// foldRune returns the folded form of a character, -1 to drop it.
func foldRune(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if r == '_' || r == '-' || r == '.' || r == '\'' || asciiWord[r] {
			return unicode.ToLower(r)
		}
		return -1
	case r == '’':
		return '\''
	case r == '‐' || r == '‑':
		return '-'
	case r == 'ς':
		return 'σ'
	case invisible(r) || vowelPoint(r) || classOf(r) == classNone:
		return -1
	}
	return unicode.ToLower(r)
}

// vowelPoint reports whether r is a mark that most writers leave out: Arabic short vowels (harakat), the superscript
// alef and the elongation (tatweel), and Hebrew points (niqqud).
func vowelPoint(r rune) bool {
	return 0x064B <= r && r <= 0x0652 || r == 0x0670 || r == 0x0640 ||
		0x0591 <= r && r <= 0x05BD || r == 0x05BF || r == 0x05C1 || r == 0x05C2
}

// limit shortens a term longer than MaxBytes to a prefix followed by a hash of the whole term (FNV-1a, 64 bits, in hex).
func limit(w string) string {
	if len(w) <= MaxBytes {
		return w
	}
	const digits = 16
	h := fnv.New64a()
	_, _ = h.Write([]byte(w)) // never fails
	return fmt.Sprintf("%s%0*x", clip.Head(w, MaxBytes-digits), digits, h.Sum64())
}

// unaccent drops the combining diacritical marks of w (U+0300 to U+036F), which English writers often leave out.
func unaccent(w string) string {
	for i := 0; i < len(w); i++ {
		if w[i] >= utf8.RuneSelf {
			return norm.NFC.String(strings.Map(func(r rune) rune {
				if 0x0300 <= r && r <= 0x036F {
					return -1
				}
				return r
			}, norm.NFD.String(w)))
		}
	}
	return w
}
