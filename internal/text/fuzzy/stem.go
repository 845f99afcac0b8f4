package fuzzy

import (
	"slices"
	"strings"
	"unicode"

	"quarry/internal/text/analysis"
)

// shared is how many bytes two words must begin with in common before their stems are compared.
const shared = 3

// stemsOf gives the stem of a word, or nothing for words that have none here. Metadata seldom says its language, so the
// script chooses: English for Latin letters, Russian for Cyrillic ones.
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

// sameStem reports whether two words are forms of one.
func sameStem(w *word, v *candidate) bool {
	if len(w.stems) == 0 || len(v.text) < shared || len(w.text) < shared || !strings.HasPrefix(v.text, w.text[:shared]) {
		return false
	}
	return slices.Equal(w.stems, stemsOf(v.text))
}
