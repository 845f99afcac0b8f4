package analysis

import (
	"fmt"
	"hash/fnv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold returns the surface form of a word or compound: NFKC, lower case,
// without invisible characters and optional vowel points, joints in their
// ASCII form.
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
	// Lower case of composed forms may decompose and the other way round.
	if !norm.NFKC.IsNormalString(lower) {
		lower = norm.NFKC.String(lower)
	}
	return lower
}

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
	case invisible(r) || point(r) || classOf(r) == classNone:
		return -1
	}
	return unicode.ToLower(r)
}

// point reports whether r is a vowel sign that most writers leave out: Arabic
// short vowels and the stretching line, Hebrew points.
func point(r rune) bool {
	return 0x064B <= r && r <= 0x0652 || r == 0x0670 || r == 0x0640 ||
		0x0591 <= r && r <= 0x05BD || r == 0x05BF || r == 0x05C1 || r == 0x05C2
}

// limit cuts a term over MaxBytes to a prefix and a hash of the whole.
func limit(w string) string {
	if len(w) <= MaxBytes {
		return w
	}
	const digits = 16
	h := fnv.New64a()
	_, _ = h.Write([]byte(w)) // a hash never fails to take bytes
	cut := MaxBytes - digits
	for !utf8.RuneStart(w[cut]) {
		cut--
	}
	return fmt.Sprintf("%s%0*x", w[:cut], digits, h.Sum64())
}

// unaccent drops the marks of Latin letters: English writers do without them.
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
