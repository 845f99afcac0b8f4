package analysis

import (
	"strings"
	"unicode/utf8"
)

// hindiEndings are the endings of number, case, gender, person and tense, longest first, after Ramanathan and Rao,
// "A Lightweight Stemmer for Hindi" (2003). They are spelled as hindiSpelling leaves them.
var hindiEndings = endings(`ाएंगी ाएंगे ाऊंगी ाऊंगा ाइयों ाइयां ाएगी ाएगा ाओगी ाओगे एंगी एंगे ूंगी ूंगा ेंगी ेंगे
	एगी एगा ेगी ेगा ोगी ोगे ऊंगी ऊंगा ाती ाते ाता ाना ाने ानी ियों ियां ाओं ाएं ुओं ुएं ुआं ाकर ाइए
	ाईं ाया ती ते ता ना ने नी कर ीं ाव ों ें ां ाई ाए ाओ ो े ू ु ी ि ा`)

func endings(list string) []string { return strings.Fields(list) }

// hindiSpelling removes variation in spelling: it drops nuktas, which are often left out, and replaces candrabindu by
// anusvara, since both are used for nasal vowels.
var hindiSpelling = strings.NewReplacer("\u093c", "", "\u0901", "\u0902")

// hindiStem removes the longest ending that leaves at least two characters.
func hindiStem(w string) string {
	w = hindiSpelling.Replace(w)
	for _, e := range hindiEndings {
		if base, ok := strings.CutSuffix(w, e); ok && utf8.RuneCountInString(base) >= 2 {
			return base
		}
	}
	return w
}
