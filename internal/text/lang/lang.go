// Package lang names the language of a text by its ISO 639-3 code, as part
// metadata and the analysis chain want it ("eng", "deu", "zho").
//
// It is made for passages and questions, so it has to cope with texts of a few
// words: scripts that serve one language decide at once, common function words
// come next, letter trigrams last. It does not mark the parts of a text that
// mixes languages. Callers are ingest and retrieve. All functions are safe for
// concurrent use.
package lang

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
)

const (
	// maxBytes bounds what is looked at: a passage tells its language early.
	maxBytes = 2048
	// floor is the confidence that a guess needs to stand on its own, and
	// strong what it needs to overrule the language of the text around.
	floor  = 0.5
	strong = 0.7
)

// Detect returns the ISO 639-3 code of the language of text and a confidence
// from 0 to 1. The code is empty when the text has no letters.
func Detect(text string) (code string, confidence float64) {
	text = head(text)
	s := dominant(text)
	if s == nil {
		return "", 0
	}
	if s.code != "" {
		return s.code, 1
	}
	code, confidence = vote(text)
	if code != "" && !s.writes(code) {
		code, confidence = "", 0 // quotes from another script
	}
	if confidence >= strong {
		return code, confidence
	}
	info := whatlanggo.DetectWithOptions(text, whatlanggo.Options{Whitelist: s.candidates})
	if info.Lang < 0 {
		return "", 0
	}
	confidence = info.Confidence
	// Trigrams of a few words say little, whatever the distance to the second.
	if n := utf8.RuneCountInString(text); n < 40 {
		confidence *= float64(n) / 40
	}
	guess := standard(info.Lang.Iso6393())
	switch {
	case guess == code:
		return code, max(confidence, strong)
	case code != "":
		return code, floor
	case s.table == unicode.Latin:
		// Not one telling function word: likely names, code or a heading.
		confidence *= 0.65
	}
	return guess, confidence
}

// Sure reports whether a text of some length with this confidence needs no
// other to tell its language.
func Sure(confidence float64) bool { return confidence >= strong }

// Fits reports whether text is in a script of the language, or in none.
func Fits(text, code string) bool {
	s := dominant(head(text))
	return s == nil || s.writes(code)
}

// Of returns the language of text. Where the text is too short or too mixed to
// tell, it returns fallback, the language of what stands around, provided that
// it is written in the script of the text. An empty fallback means English for
// texts in Latin script and the best guess for others.
func Of(text, fallback string) string {
	code, confidence := Detect(text)
	s := dominant(head(text))
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

// Count is a language with the number of texts in it.
type Count struct {
	Code  string
	Texts int
}

const (
	// likely is the confidence at which a detected language that the documents
	// have is taken for the query's. Measured on questions over collections of
	// seven, three and two languages, .55 and .7 were within .0003 nDCG@10 of
	// knowing it; .8 lost .004.
	likely = 0.55
	// certain is the same for a language that is rare among the documents,
	// which may owe it to a passage of names.
	certain = 0.8
	// rare is the share of the most frequent language below which one is.
	rare = 0.05
	// most bounds how many languages a query is analysed in.
	most = 4
)

// Among returns the languages of documents that a query may be meant for: of
// those in have, most frequent first, the detected one if the detection can be
// trusted, else all that are written in a script that the query has and are
// not rare, at most four. Where there are none, it is the detected one, English
// in doubt. Codes that are not known count as written in every script.
func Among(text string, have []Count) []string {
	text = head(text)
	main := dominant(text)
	code, confidence := Detect(text)
	detected := Count{}
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
			settled := s == main && detected.Code != "" &&
				(confidence >= certain || float64(detected.Texts) >= rare*float64(frequent))
			switch {
			case slices.Contains(out, h.Code):
			case h == detected && s == main, !settled && !scarce:
				out = append(out, h.Code)
			}
		}
	}
	if len(out) == 0 {
		return []string{Of(text, "eng")}
	}
	return out[:min(most, len(out))]
}

// scriptsOf lists the scripts of the letters of text, the dominant one first.
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

// known reports whether the scripts of a language are known.
func known(code string) bool {
	return slices.ContainsFunc(scripts, func(s *script) bool { return s.writes(code) })
}

// head cuts text to maxBytes at a character.
func head(text string) string {
	if len(text) <= maxBytes {
		return text
	}
	cut := maxBytes
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}

// standard maps the detector's codes of single varieties to the codes that
// the contract lists.
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

// vote counts function words; the fewer languages share a word, the more it
// counts. Another word counts for the language that alone has one of its
// letters. It answers with confidence only when one language leads clearly.
func vote(text string) (code string, confidence float64) {
	var votes [len(functionWords)]int
	words := 0
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r)
	}) {
		if r, _ := utf8.DecodeRuneInString(w); words > 0 && unicode.IsUpper(r) {
			continue // of names: Los Angeles, The Hague, De Gaulle
		}
		w = strings.ToLower(w)
		words++
		set := speakers[w]
		weight := max(1, 4-bits.OnesCount32(set))
		if utf8.RuneCountInString(w) == 1 {
			weight = 1 // letters stand for much else
		}
		if set == 0 {
			set, weight = spellers(w), 1
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
	// One telling word is enough for a short question, not for a paragraph.
	if lead < 2 || first*5 < words {
		return "", 0
	}
	return functionWords[best].code, floor + (1-floor)*float64(lead)/float64(first+1)
}
