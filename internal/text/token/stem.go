package token

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

// rules are what the chain does differently for one language.
type rules struct {
	name        string
	stem        func(*snowballstem.Env) bool
	stopWords   map[string]struct{}
	plainLatin  bool // accents are dropped before stemming
	apostrophes bool // "'s" and contractions end a word instead of joining two
	elisions    bool // "l'" and "d'" stand before a word
}

var noRules = &rules{}

var languages = map[string]*rules{
	"ara": {name: "ara", stem: arabic.Stem},
	"dan": {name: "dan", stem: danish.Stem},
	"nld": {name: "nld", stem: dutch.Stem},
	"eng": {name: "eng", stem: english.Stem, stopWords: englishStops, plainLatin: true, apostrophes: true},
	"fin": {name: "fin", stem: finnish.Stem},
	"fra": {name: "fra", stem: french.Stem, elisions: true},
	"deu": {name: "deu", stem: german.Stem},
	"hun": {name: "hun", stem: hungarian.Stem},
	"gle": {name: "gle", stem: irish.Stem},
	"ita": {name: "ita", stem: italian.Stem, elisions: true},
	"nor": {name: "nor", stem: norwegian.Stem},
	"nob": {name: "nob", stem: norwegian.Stem},
	"nno": {name: "nno", stem: norwegian.Stem},
	"por": {name: "por", stem: portuguese.Stem},
	"ron": {name: "ron", stem: romanian.Stem},
	"rus": {name: "rus", stem: russian.Stem},
	"spa": {name: "spa", stem: spanish.Stem},
	"swe": {name: "swe", stem: swedish.Stem},
	"tam": {name: "tam", stem: tamil.Stem},
	"tur": {name: "tur", stem: turkish.Stem},
}

func rulesOf(lang string) *rules {
	if r, ok := languages[lang]; ok {
		return r
	}
	return noRules
}

func (r *rules) stops(w string) bool {
	_, ok := r.stopWords[w]
	return ok
}

// contraction returns what stands before the apostrophe of an English
// contraction or possessive, or "" when it is a stop word.
func (r *rules) contraction(w string) (string, bool) {
	if !r.apostrophes {
		return "", false
	}
	base, tail, ok := strings.Cut(w, "'")
	if !ok || strings.ContainsAny(base, "-._") {
		return "", false
	}
	switch tail {
	case "t":
		// Negated auxiliaries: stop words all, some with a letter changed.
		return "", strings.HasSuffix(base, "n")
	case "s", "m", "d", "re", "ve", "ll":
		return base, true
	}
	return "", false
}

// elided reports whether w is an article or pronoun before an apostrophe.
func (r *rules) elided(w, joint string) bool {
	return r.elisions && len(w) <= 4 && (joint == "'" || joint == "’")
}

// maxStemBytes bounds what is handed to a stemmer; longer words are names,
// numbers or noise.
const maxStemBytes = 64

// stemming remembers the stems of one text, in which most words come again.
type stemming struct {
	env  *snowballstem.Env
	seen map[string]string
}

func (s *stemming) of(r *rules, w string) string {
	if r.stem == nil || len(w) > maxStemBytes {
		return limit(w)
	}
	if stem, ok := s.seen[w]; ok {
		return stem
	}
	if s.env == nil {
		s.env = snowballstem.NewEnv("")
		s.seen = make(map[string]string, 64)
	}
	in := w
	if r.plainLatin {
		in = unaccent(w)
	}
	s.env.SetCurrent(in)
	r.stem(s.env)
	stem := s.env.Current()
	if stem == "" {
		stem = in
	}
	s.seen[w] = stem
	return stem
}
