// Package fuzzy scores how well the values of a metadata object match a query on some of its fields, tolerating typing
// errors, matching prefixes and inflected forms. It works on stored JSON text without decoding it, so that a scan over
// every document of a corpus is fast. It is neither the exact filter language (package filter) nor the search over texts
// (package index). Package metaquery calls it.
package fuzzy

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// Field is the query on one field.
type Field struct {
	Name   string // key of the metadata object; dots lead into nested objects
	Text   string
	Weight float64 // must be positive
	Fuzzy  bool    // typing errors and inflected forms match
	Prefix int     // length of the shortest word that also matches as a prefix; 0 disables prefix matching
}

// Query is a compiled query. It is immutable and safe for concurrent use.
type Query struct {
	fields []field
	weight float64 // sum over the fields
}

type field struct {
	Field
	words []word
}

// word is a token of the query.
type word struct {
	text  string
	runes []rune
	chars charSet
	stems []string // nil unless inflected forms match
	edits int      // the most typing errors that still match
}

// charSet is the set of a word's characters, hashed into 64 bits as in a Bloom filter.
type charSet uint64

// charSetOf returns the set of the characters of text and their number.
func charSetOf(text []byte) (s charSet, length int) {
	for i := 0; i < len(text); length++ {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		s |= 1 << (r & 63)
		i += size
	}
	return s, length
}

// missing returns a lower bound of the number of characters in s that are not in t; characters with the same hash count
// as one.
func (s charSet) missing(t charSet) int { return bits.OnesCount64(uint64(s &^ t)) }

// Compile prepares a query for matching.
func Compile(fields []Field) *Query {
	q := &Query{}
	for _, f := range fields {
		c := field{Field: f}
		for _, t := range queryTokens(f.Text) {
			w := word{text: t, runes: []rune(t)}
			w.chars, _ = charSetOf([]byte(t))
			if f.Fuzzy {
				w.edits, w.stems = maxEdits(len(w.runes)), stemsOf(t)
			}
			c.words = append(c.words, w)
		}
		q.fields = append(q.fields, c)
		q.weight += f.Weight
	}
	return q
}

// Words returns the number of tokens of the query, to which the cost of scoring an object is proportional.
func (q *Query) Words() int {
	n := 0
	for _, f := range q.fields {
		n += len(f.words)
	}
	return n
}

// maxEdits returns the number of typing errors that a word of n characters may have (contract: metadata-filters.md
// section 10).
func maxEdits(n int) int {
	switch {
	case n < 3:
		return 0
	case n <= 5:
		return 1
	}
	return 2
}

// Scores of words that match by prefix or by stem. The first is set by the contract (metadata-filters.md section 10); the
// second is ours.
const (
	prefixScore = 0.9
	stemScore   = 0.9
)

// maxRunes is the length of the longest word that is compared with typing errors; longer ones are codes or noise.
const maxRunes = 64

// Scorer applies a query to one object after another. It is not safe for concurrent use.
type Scorer struct {
	query *Query
	cache [][]map[string]float64 // by field and word of the field: word of a value → score
	best  []float64              // for the current value, by word of the field
	zeros []float64
	score []float64 // of the current object, by field
	at    int       // the current field
	each  func(token []byte)
	walk  walker
	text  textBuffer
	table distances
}

// maxCached bounds the cache of a scorer for each word of the query.
const maxCached = 1 << 12

// Scorer returns a scorer for q.
func (q *Query) Scorer() *Scorer {
	s := &Scorer{query: q, score: make([]float64, len(q.fields))}
	for _, f := range q.fields {
		cache := make([]map[string]float64, len(f.words))
		for i := range cache {
			cache[i] = map[string]float64{}
		}
		s.cache = append(s.cache, cache)
		s.zeros = make([]float64, max(len(s.zeros), len(f.words)))
	}
	s.walk.visit, s.each = s.value, s.token
	return s
}

// Score returns how well a JSON object matches, from 0 to 1. It is the weighted mean over the fields of the score of the
// field's best value. The score of a value is the mean over the words of the query of the best score of a word in it.
func (s *Scorer) Score(object []byte) float64 {
	clear(s.score)
	s.walk.object(object, s.query.fields)
	var sum float64
	for i, f := range s.query.fields {
		sum += s.score[i] * f.Weight
	}
	if s.query.weight == 0 {
		return 0
	}
	return min(1, sum/s.query.weight)
}

// value scores a value of the field at: a JSON string without its quotes, or the text of a number or boolean.
func (s *Scorer) value(at int, raw []byte, quoted bool) {
	words := s.query.fields[at].words
	if len(words) == 0 {
		return
	}
	s.best = append(s.best[:0], s.zeros[:len(words)]...)
	s.at = at
	s.text.tokens(raw, quoted, s.each)
	var sum float64
	for _, x := range s.best {
		sum += x
	}
	s.score[at] = max(s.score[at], sum/float64(len(words)))
}

// token scores a word of the current value. Nearly no word resembles one of the query, so mayMatch rejects most of them
// by their length and characters before anything is computed or looked up.
func (s *Scorer) token(token []byte) {
	f := &s.query.fields[s.at]
	chars, length := charSetOf(token)
	for i := range f.words {
		if s.best[i] < 1 && mayMatch(&f.words[i], token, chars, length) {
			s.best[i] = max(s.best[i], s.compare(i, token, length))
		}
	}
}

// mayMatch reports whether a word of a value can match w. By prefix or stem it can only if both begin alike; by typing
// errors only if it is not much longer or shorter and has nearly the same characters, since an edit adds or removes at
// most one.
func mayMatch(w *word, token []byte, t charSet, length int) bool {
	head := min(len(w.text), stemPrefix)
	if len(token) >= head && string(token[:head]) == w.text[:head] {
		return true
	}
	gap := length - len(w.runes)
	return gap <= w.edits && -gap <= w.edits && w.chars.missing(t) <= w.edits && t.missing(w.chars) <= w.edits
}

// compare is similarity for word i of the current field, with a cache.
func (s *Scorer) compare(i int, token []byte, length int) float64 {
	cache := s.cache[s.at][i]
	if score, ok := cache[string(token)]; ok {
		return score
	}
	f := &s.query.fields[s.at]
	text := string(token)
	score := s.similarity(f, &f.words[i], &candidate{text: text, length: length})
	if len(cache) < maxCached {
		cache[text] = score
	}
	return score
}

// candidate is a word of a value.
type candidate struct {
	text   string
	length int // in characters
}

// similarity returns the score, from 0 to 1, of a word of a value for a word of the query.
func (s *Scorer) similarity(f *field, w *word, v *candidate) float64 {
	if w.text == v.text {
		return 1
	}
	var best float64
	if f.Prefix > 0 && len(w.runes) >= f.Prefix && strings.HasPrefix(v.text, w.text) {
		best = prefixScore
	}
	if best < stemScore && sameStem(w, v) {
		best = stemScore
	}
	// The distance is at least the difference in length, and at least 1 for different words. It is not computed where
	// even that would be too many edits or would not improve the score.
	longest := max(len(w.runes), v.length)
	gap := longest - min(len(w.runes), v.length)
	if w.edits < max(gap, 1) || longest > maxRunes || best >= 1-float64(max(gap, 1))/float64(longest) {
		return best
	}
	if d := s.table.within(w.runes, []rune(v.text), w.edits); d <= w.edits {
		best = max(best, 1-float64(d)/float64(longest))
	}
	return best
}
