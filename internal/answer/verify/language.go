package verify

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/internal/answer/verify/markup"
	"quarry/internal/text/lang"
)

// Languages are those that the score serves, by their ISO 639-3 codes (contract: generation-and-citations, section 6).
var Languages = []string{"eng", "deu", "fra", "spa", "por", "ara", "kor", "zho", "rus", "jpn", "hin"}

// certain is the length in characters from which a text alone shows that its language is not served.
const certain = 200

// Serves reports whether the score is made for a language.
func Serves(code string) bool { return slices.Contains(Languages, canonical(code)) }

// canonical returns the code that the contract uses for a language, from its code of two letters or another one of three.
func canonical(code string) string { return cmp.Or(otherCodes[code], code) }

var otherCodes = map[string]string{
	"en": "eng", "de": "deu", "fr": "fra", "es": "spa", "pt": "por", "ar": "ara", "ko": "kor", "zh": "zho", "ru": "rus", "ja": "jpn", "hi": "hin",
	"ger": "deu", "fre": "fra", "chi": "zho", "cmn": "zho", "arb": "ara",
}

// Language returns the language of a claim: that of its text, else that of the question, else that of the sources.
func Language(c Claim) (string, error) {
	text := markup.StripCode(c.Text)
	code, confidence := lang.Detect(text)
	if Serves(code) && lang.Sure(confidence) {
		return code, nil
	}
	alone := code != "" && lang.Sure(confidence) && utf8.RuneCountInString(text) >= certain
	if !alone || c.Any {
		for _, hint := range hints(c) {
			if Serves(hint) && lang.Fits(text, canonical(hint)) {
				return canonical(hint), nil
			}
		}
		if Serves(code) || code == "" && c.Any {
			return code, nil
		}
	}
	if c.Any {
		return code, nil
	}
	return "", ErrLanguage
}

// hints returns the languages of a claim, its question and its sources, in the order in which they count.
func hints(c Claim) []string {
	out := []string{c.Language}
	if code, confidence := lang.Detect(c.Question); lang.Sure(confidence) {
		out = append(out, code)
	}
	var b strings.Builder
	for _, s := range c.Sources {
		b.WriteString(s)
		b.WriteByte('\n')
		if b.Len() > 4096 {
			break
		}
	}
	code, _ := lang.Detect(b.String())
	return append(out, code)
}
