package analysis

import (
	"strings"
	"unicode/utf8"
)

// hindiEndings are endings of number, case, gender, person and tense, longest
// first, after the list of Ramanathan and Rao (2003) for a lightweight Hindi
// stemmer. Nuktas and nasal signs are normalised before.
var hindiEndings = endings(`ाएंगी ाएंगे ाऊंगी ाऊंगा ाइयों ाइयां ाएगी ाएगा ाओगी ाओगे एंगी एंगे ूंगी ूंगा ेंगी ेंगे
	एगी एगा ेगी ेगा ोगी ोगे ऊंगी ऊंगा ाती ाते ाता ाना ाने ानी ियों ियां ाओं ाएं ुओं ुएं ुआं ाकर ाइए
	ाईं ाया ती ते ता ना ने नी कर ीं ाव ों ें ां ाई ाए ाओ ो े ू ु ी ि ा`)

func endings(list string) []string { return strings.Fields(list) }

// hindiSpelling evens out what writers leave out or write either way: nuktas,
// and the two signs of a nasal vowel.
var hindiSpelling = strings.NewReplacer("\u093c", "", "\u0901", "\u0902")

// hindiStem takes one ending off, as long as two characters stay.
func hindiStem(w string) string {
	w = hindiSpelling.Replace(w)
	for _, e := range hindiEndings {
		if base, ok := strings.CutSuffix(w, e); ok && utf8.RuneCountInString(base) >= 2 {
			return base
		}
	}
	return w
}
