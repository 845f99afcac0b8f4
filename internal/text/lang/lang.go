// Package lang detects the language of a text, as the ISO 639-3 code that part metadata and the analysis chain use
// ("eng", "deu", "zho").
//
// It is made for passages and queries, so it has to cope with texts of a few words: a script that is used for one
// language decides at once, then function words, then letter trigrams (package whatlanggo). A text that mixes languages
// is not divided. All functions are safe for concurrent use.
package lang

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"

	"quarry/internal/clip"
)

const (
	// maxBytes bounds how much of a text is examined.
	maxBytes = 2048
	// floor is the confidence below which a guess is not used at all, and strong the one from which it overrules the
	// language of the surrounding text.
	floor  = 0.5
	strong = 0.7
)

// Detect returns the ISO 639-3 code of the language of text and a confidence from 0 to 1. The code is empty if the text
// has no letters.
func Detect(text string) (code string, confidence float64) {
	text = clip.Head(text, maxBytes)
	s := dominant(text)
	if s == nil {
		return "", 0
	}
	if s.code != "" {
		return s.code, 1
	}
	code, confidence = vote(text)
	if code != "" && !s.writes(code) {
		code, confidence = "", 0 // words quoted from a language in another script
	}
	if confidence >= strong {
		return code, confidence
	}
	info := whatlanggo.DetectWithOptions(text, whatlanggo.Options{Whitelist: s.candidates})
	if info.Lang < 0 {
		return "", 0
	}
	confidence = info.Confidence
	// The trigrams of a few words are weak evidence, however far ahead the best language is.
	if n := utf8.RuneCountInString(text); n < 40 {
		confidence *= float64(n) / 40
	}
	guess := codes()[info.Lang]
	switch {
	case guess == code:
		return code, max(confidence, strong)
	case code != "":
		return code, floor
	case s.table == unicode.Latin:
		// Without any characteristic function word it is likely to be names, code or a heading.
		confidence *= 0.65
	}
	return guess, confidence
}

// Sure reports whether a confidence of Detect suffices to use the language without looking at the surrounding text.
func Sure(confidence float64) bool { return confidence >= strong }

// Fits reports whether text is written in a script of the language with this code, or has no letters.
func Fits(text, code string) bool {
	s := dominant(clip.Head(text, maxBytes))
	return s == nil || s.writes(code)
}

// Of returns the language of text. If the text is too short or too mixed to tell, it returns fallback, the language of
// the surrounding text, provided that this is written in the script of text. Failing that, it returns the best guess, or
// English for a text in Latin script whose guess is weak.
func Of(text, fallback string) string {
	code, confidence := Detect(text)
	s := dominant(clip.Head(text, maxBytes))
	if s == nil {
		return fallback
	}
	switch {
	case s.code != "", confidence >= strong:
		return code
	case s.writes(fallback):
		return fallback
	case confidence < floor && s.table == unicode.Latin:
		return "eng"
	}
	return code
}

// Count is a language and the number of texts in it.
type Count struct {
	Code  string
	Texts int
}

const (
	// likely is the confidence from which a detected language that documents are in is taken for the query's. Measured
	// on questions over collections in seven, three and two languages, .55 and .7 were within .0003 nDCG@10 of knowing
	// the language; .8 lost .004.
	likely = 0.55
	// certain is the same for a language that is rare among the documents, where it may come from a misdetected passage
	// of names.
	certain = 0.8
	// rare is the fraction of the most frequent language's texts below which a language is rare.
	rare = 0.05
	// most is the largest number of languages that a query is analysed in.
	most = 4
)

// Among returns the languages of documents that a query may be about, at most four. have are the languages of the
// documents, most frequent first. If the detected language is among them and the detection can be trusted, only that one
// is returned for its script; otherwise all languages in have that are written in a script of the query and are not rare.
// If there are none, the result is the detected language, in doubt English. Unknown codes count as written in every
// script.
func Among(text string, have []Count) []string {
	text = clip.Head(text, maxBytes)
	main := dominant(text)
	code, confidence, detected := "", 0.0, Count{}
	if len(have) > 1 { // the only one is right or none is
		code, confidence = Detect(text)
	}
	for _, h := range have {
		if h.Code == code && confidence >= likely {
			detected = h
		}
	}
	var out []string
	for _, s := range scriptsOf(text) {
		frequent := 0
		for _, h := range have {
			if !s.writes(h.Code) && known(h.Code) {
				continue
			}
			frequent = max(frequent, h.Texts)
			scarce := float64(h.Texts) < rare*float64(frequent)
			trusted := s == main && detected.Code != "" &&
				(confidence >= certain || float64(detected.Texts) >= rare*float64(frequent))
			switch {
			case slices.Contains(out, h.Code):
			case h == detected && s == main, !trusted && !scarce:
				out = append(out, h.Code)
			}
		}
	}
	if len(out) == 0 {
		return []string{Of(text, "eng")}
	}
	return out[:min(most, len(out))]
}

// scriptsOf returns the scripts of the letters of text, the dominant one first.
func scriptsOf(text string) []*script {
	var out []*script
	if s := dominant(text); s != nil {
		out = append(out, s)
	}
	for _, s := range scripts {
		if !slices.Contains(out, s) && strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(s.table, r) }) {
			out = append(out, s)
		}
	}
	return out
}

// known reports whether the language is one of some script's.
func known(code string) bool {
	return slices.ContainsFunc(scripts, func(s *script) bool { return s.writes(code) })
}

// standard maps the detector's codes of individual languages (Mandarin, Standard Arabic, Iranian Persian) to those of the
// macrolanguages that the contract lists.
func standard(code string) string {
	switch code {
	case "cmn":
		return "zho"
	case "arb":
		return "ara"
	case "pes":
		return "fas"
	}
	return code
}

// vote detects the language by function words; the fewer languages share a word, the more it counts. Any other word
// counts for the languages that one of its letters is characteristic of. The code is empty unless one language clearly
// leads.
func vote(text string) (code string, confidence float64) {
	var votes [len(functionWords)]int
	words := 0
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r)
	}) {
		if r, _ := utf8.DecodeRuneInString(w); words > 0 && unicode.IsUpper(r) {
			continue // part of a name: Los Angeles, The Hague, De Gaulle
		}
		w = strings.ToLower(w)
		words++
		set := languagesWith[w]
		weight := max(1, 4-bits.OnesCount32(set))
		if utf8.RuneCountInString(w) == 1 {
			weight = 1 // a single letter is often something else
		}
		if set == 0 {
			set, weight = languagesSpelling(w), 1
		}
		for ; set != 0; set &= set - 1 {
			votes[bits.TrailingZeros32(set)] += weight
		}
	}
	first, second, best := 0, 0, 0
	for i, n := range votes {
		switch {
		case n > first:
			first, second, best = n, first, i
		case n > second:
			second = n
		}
	}
	lead := first - second
	// One characteristic word is enough for a short question, but not for a paragraph.
	if lead < 2 || first*5 < words {
		return "", 0
	}
	return functionWords[best].code, floor + (1-floor)*float64(lead)/float64(first+1)
}
