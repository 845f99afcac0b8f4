package fuzzy

import (
	"slices"
	"strings"
	"unicode"

	"quarry/internal/text/analysis"
)

// stemPrefix is the number of bytes that two words must have in common at their beginning for their stems to be compared.
const stemPrefix = 3

// stemsOf returns the stem of a word, or nil if the word is not stemmed. The language of metadata is rarely known, so it
// is chosen by script: English for Latin letters, Russian for Cyrillic ones.
func stemsOf(w string) []string {
	language := ""
	for _, r := range w {
		switch {
		case unicode.Is(unicode.Latin, r):
			language = "eng"
		case unicode.Is(unicode.Cyrillic, r):
			language = "rus"
		default:
			return nil
		}
	}
	if language == "" {
		return nil
	}
	return analysis.Analyze(w, language).Stems
}

// sameStem reports whether w and v are inflected forms of one word.
func sameStem(w *word, v *candidate) bool {
	if len(w.stems) == 0 || len(v.text) < stemPrefix || len(w.text) < stemPrefix || !strings.HasPrefix(v.text, w.text[:stemPrefix]) {
		return false
	}
	return slices.Equal(w.stems, stemsOf(v.text))
}
