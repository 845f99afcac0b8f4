// Package fuzzy scores how well the values of a metadata object match what was asked of some of its fields: typing
// errors, beginnings of words and inflected forms still match. It works on stored JSON text without building values,
// so that a pass over every document of a corpus is quick. It is not the exact filter language (package filter) and
// not the search over texts (package index). Package metaquery calls it.
package fuzzy

import (
	"strings"
	"unicode/utf8"
)

// Field is what is asked of one field.
type Field struct {
	Name   string // key of the metadata object; dots lead into nested objects
	Text   string
	Weight float64 // above 0
	Fuzzy  bool    // typing errors and inflected forms match
	Prefix int     // shortest word that also matches as the beginning of a longer one; 0 switches that off
}

// Query is a compiled question. It is immutable and safe for concurrent use.
type Query struct {
	fields []field
	weight float64 // of all fields
}

type field struct {
	Field
	words []word
}

// word is a token of the question.
type word struct {
	text  string
	runes []rune
	stems []string // by stemmers; nil when only exact matches count
	edits int      // most typing errors that still match
}

// Compile prepares a question.
func Compile(fields []Field) *Query {
	q := &Query{}
	for _, f := range fields {
		c := field{Field: f}
		for _, t := range askedTokens(f.Text) {
			w := word{text: t, runes: []rune(t)}
			if f.Fuzzy {
				w.edits, w.stems = tolerated(len(w.runes)), stemsOf(t)
			}
			c.words = append(c.words, w)
		}
		q.fields = append(q.fields, c)
		q.weight += f.Weight
	}
	return q
}

// Words counts the tokens of the question, which is what a match costs.
func (q *Query) Words() int {
	n := 0
	for _, f := range q.fields {
		n += len(f.words)
	}
	return n
}

// tolerated is how many typing errors a word of n characters may have (contract: metadata-filters.md section 10).
func tolerated(n int) int {
	switch {
	case n < 3:
		return 0
	case n <= 5:
		return 1
	}
	return 2
}

// Scores of a word that is not the same (contract: metadata-filters.md section 10; that of inflected forms is ours).
const (
	prefixScore = 0.9
	stemScore   = 0.9
)

// maxRunes bounds the words that typing errors are looked for in: longer ones are codes or noise.
const maxRunes = 64

// Scorer applies a query to one object after another. It is for one goroutine.
type Scorer struct {
	query *Query
	known []map[string][]float64 // by field: word of a value → score of each word of the field
	best  []float64              // of the value at hand
	score []float64              // by field
	walk  walker
	text  textBuffer
	table distances
	fresh []float64
}

// maxKnown bounds the words that a scorer remembers for each field.
const maxKnown = 1 << 15

// Scorer gives a scorer of q.
func (q *Query) Scorer() *Scorer {
	s := &Scorer{query: q, score: make([]float64, len(q.fields))}
	for range q.fields {
		s.known = append(s.known, map[string][]float64{})
	}
	s.walk.visit = s.value
	return s
}

// Score gives how well a JSON object matches, 0..1: the weighted mean over the fields of the best value of each, and
// of a value the mean over the words asked of the best word in it.
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

// value takes a value found for a field: a JSON string without its quotes, or the text of a number or boolean.
func (s *Scorer) value(at int, raw []byte, quoted bool) {
	words := s.query.fields[at].words
	if len(words) == 0 {
		return
	}
	s.best = append(s.best[:0], make([]float64, len(words))...)
	for token := range s.text.tokens(raw, quoted) {
		scores, ok := s.known[at][string(token)]
		if !ok {
			scores = s.compare(at, token)
		}
		for i, x := range scores {
			s.best[i] = max(s.best[i], x)
		}
	}
	var sum float64
	for _, x := range s.best {
		sum += x
	}
	s.score[at] = max(s.score[at], sum/float64(len(words)))
}

// compare gives the score of a value's word for each word of a field, and remembers it.
func (s *Scorer) compare(at int, token []byte) []float64 {
	f := &s.query.fields[at]
	text := string(token)
	v := candidate{text: text, length: utf8.RuneCountInString(text)}
	s.fresh = s.fresh[:0]
	for i := range f.words {
		s.fresh = append(s.fresh, s.similarity(f, &f.words[i], &v))
	}
	if len(s.known[at]) >= maxKnown {
		return s.fresh
	}
	kept := append([]float64(nil), s.fresh...)
	s.known[at][text] = kept
	return kept
}

// candidate is a word of a value.
type candidate struct {
	text   string
	length int // in characters
	runes  []rune
	stems  []string
}

// similarity gives the score of a value's word for a word asked.
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
	longest := max(len(w.runes), v.length)
	gap := longest - min(len(w.runes), v.length)
	if w.edits < max(gap, 1) || longest > maxRunes || best >= 1-float64(max(gap, 1))/float64(longest) {
		return best
	}
	if v.runes == nil {
		v.runes = []rune(v.text)
	}
	if d := s.table.within(w.runes, v.runes, w.edits); d <= w.edits {
		best = max(best, 1-float64(d)/float64(longest))
	}
	return best
}
