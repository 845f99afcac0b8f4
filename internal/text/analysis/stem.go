package analysis

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

	"quarry/internal/text/lang"
	"quarry/internal/text/snowball"
)

// rules are the language-specific steps of the analysis chain.
type rules struct {
	stem        func(*snowballstem.Env) bool // a Snowball stemmer (Porter, snowballstem.org)
	light       func(string) string          // another stemmer, used instead of stem
	stopWords   map[string]struct{}          // not scored
	plainLatin  bool                         // drop accents before stemming
	apostrophes bool                         // "'s" and contractions are endings, not words joined to another
	elisions    bool                         // "l'" and "d'" before a word are not scored
}

var noRules = &rules{}

// languages holds the rules by ISO 639-3 code.
var languages = withStopWords(map[string]*rules{
	"ara": {stem: arabic.Stem},
	"dan": {stem: danish.Stem},
	"nld": {stem: dutch.Stem},
	"eng": {stem: english.Stem, stopWords: englishStops, plainLatin: true, apostrophes: true},
	"fin": {stem: finnish.Stem},
	"fra": {stem: french.Stem, elisions: true},
	"deu": {stem: german.Stem},
	"hin": {light: hindiStem},
	"hun": {stem: hungarian.Stem},
	"gle": {stem: irish.Stem},
	"ita": {stem: italian.Stem, elisions: true},
	"nor": {stem: norwegian.Stem},
	"nob": {stem: norwegian.Stem},
	"nno": {stem: norwegian.Stem},
	"por": {stem: portuguese.Stem},
	"ron": {stem: romanian.Stem},
	"rus": {stem: russian.Stem},
	"spa": {stem: spanish.Stem},
	"swe": {stem: swedish.Stem},
	"tam": {stem: tamil.Stem},
	"tur": {stem: turkish.Stem},

	// Languages that the generated stemmers lack.
	"hye": {light: program("armenian")},
	"eus": {light: program("basque")},
	"cat": {light: program("catalan"), elisions: true},
	"ces": {light: program("czech")},
	"epo": {light: program("esperanto")},
	"est": {light: program("estonian")},
	"ell": {light: program("greek")},
	"ind": {light: program("indonesian")},
	"lit": {light: program("lithuanian")},
	"nep": {light: program("nepali")},
	"fas": {light: program("persian")},
	"pol": {light: program("polish")},
	"srp": {light: program("serbian")},
	"sot": {light: program("sesotho")},
	"yid": {light: program("yiddish")},
})

// program returns the stemmer by a Snowball program. It is compiled when it is first used.
func program(name string) func(string) string {
	return func(w string) string { return snowball.Algorithm(name).Stem(w) }
}

// stopWordLanguages are the languages, besides English, whose function words are not scored. The gain in nDCG@10 was
// measured: German .946 to .951, Spanish .964 to .969, Russian .952 to .954, Arabic .934 to .939. Hindi, with its
// stemmer, lost, so it and related languages score them.
var stopWordLanguages = []string{
	"ara", "bel", "bul", "ces", "dan", "deu", "fin", "fra", "hun", "ind", "ita", "nld", "nob", "pol", "por", "ron",
	"rus", "spa", "srp", "swe", "tur", "ukr", "vie",
}

// withStopWords sets the stop words of stopWordLanguages in all, adding languages that it lacks, and returns it.
func withStopWords(all map[string]*rules) map[string]*rules {
	for _, code := range stopWordLanguages {
		r := all[code]
		if r == nil {
			r = &rules{}
			all[code] = r
		}
		r.stopWords = wordSet(lang.FunctionWords(code))
	}
	return all
}

func rulesOf(code string) *rules {
	if r, ok := languages[code]; ok {
		return r
	}
	return noRules
}

func (r *rules) stops(w string) bool {
	_, ok := r.stopWords[w]
	return ok
}

// contraction reports whether w is an English contraction or possessive, and returns the word before its apostrophe, or
// "" if that is a stop word.
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
		// Negated auxiliaries. All are stop words, but the base may not be one, as in "won't".
		return "", strings.HasSuffix(base, "n")
	case "s", "m", "d", "re", "ve", "ll":
		return base, true
	}
	return "", false
}

// elided reports whether w is an elided article or pronoun, as "l" in "l'eau"; joint is what follows it.
func (r *rules) elided(w, joint string) bool {
	return r.elisions && len(w) <= 4 && (joint == "'" || joint == "’")
}

// maxStemBytes is the length of the longest word that is stemmed; longer ones are names, numbers or noise.
const maxStemBytes = 64

// stemmer stems the words of one text. It caches the stems, since most words of a text occur more than once.
type stemmer struct {
	env   *snowballstem.Env
	seen  map[string]string // by word
	rules *rules            // that made the stems in seen
}

// stem returns the stem of the folded word w.
func (s *stemmer) stem(r *rules, w string) string {
	if len(w) > maxStemBytes || r.light == nil && r.stem == nil {
		return limit(w)
	}
	if s.rules != r {
		s.rules, s.seen = r, make(map[string]string, 64)
	}
	stem, ok := s.seen[w]
	if !ok {
		stem = s.make(w)
		s.seen[w] = stem
	}
	return stem
}

// make returns the stem of a word that has not been seen.
func (s *stemmer) make(w string) string {
	if s.rules.plainLatin {
		w = unaccent(w)
	}
	stem := ""
	if s.rules.light != nil {
		stem = s.rules.light(w)
	} else {
		if s.env == nil {
			s.env = snowballstem.NewEnv("")
		}
		s.env.SetCurrent(w)
		s.rules.stem(s.env)
		stem = s.env.Current()
	}
	if stem == "" {
		return w
	}
	return stem
}
