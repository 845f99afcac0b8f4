// Package fuzzy scores how well the values of a metadata object match what was asked of some of its fields: typing
// errors, beginnings of words and inflected forms still match. It works on stored JSON text without building values,
// so that a pass over every document of a corpus is quick. It is not the exact filter language (package filter) and
// not the search over texts (package index). Package metaquery calls it.
package fuzzy

import (
	"math/bits"
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
	signs signs
	stems []string // nil when only exact matches count
	edits int      // most typing errors that still match
}

// signs is the set of a word's characters, folded into 64 bits.
type signs uint64

func signsOf(text []byte) (s signs, length int) {
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

// lacks counts the characters of s that t does not have, at least: some fold together.
func (s signs) lacks(t signs) int { return bits.OnesCount64(uint64(s &^ t)) }

// Compile prepares a question.
func Compile(fields []Field) *Query {
	q := &Query{}
	for _, f := range fields {
		c := field{Field: f}
		for _, t := range askedTokens(f.Text) {
			w := word{text: t, runes: []rune(t)}
			w.signs, _ = signsOf([]byte(t))
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
	known [][]map[string]float64 // by field and word of the field: word of a value → score
	best  []float64              // of the value at hand, by word of the field
	zeros []float64
	score []float64 // by field
	at    int       // the field at hand
	each  func(token []byte)
	walk  walker
	text  textBuffer
	table distances
}

// maxKnown bounds what a scorer remembers for each word asked.
const maxKnown = 1 << 12

// Scorer gives a scorer of q.
func (q *Query) Scorer() *Scorer {
	s := &Scorer{query: q, score: make([]float64, len(q.fields))}
	for _, f := range q.fields {
		known := make([]map[string]float64, len(f.words))
		for i := range known {
			known[i] = map[string]float64{}
		}
		s.known = append(s.known, known)
		s.zeros = make([]float64, max(len(s.zeros), len(f.words)))
	}
	s.walk.visit, s.each = s.value, s.token
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
	s.best = append(s.best[:0], s.zeros[:len(words)]...)
	s.at = at
	s.text.tokens(raw, quoted, s.each)
	var sum float64
	for _, x := range s.best {
		sum += x
	}
	s.score[at] = max(s.score[at], sum/float64(len(words)))
}

// token takes a word of a value into account. Nearly every word has nothing to do with what is asked; that it may have
// is told from its length and its characters before anything is computed or looked up.
func (s *Scorer) token(token []byte) {
	f := &s.query.fields[s.at]
	signs, length := signsOf(token)
	for i := range f.words {
		if s.best[i] < 1 && near(&f.words[i], token, signs, length) {
			s.best[i] = max(s.best[i], s.compare(i, token, length))
		}
	}
}

// near reports whether a word of a value may match a word asked. An error adds or takes away one character at most; a
// longer form of the word begins as it does.
func near(w *word, token []byte, t signs, length int) bool {
	head := min(len(w.text), shared)
	if len(token) >= head && string(token[:head]) == w.text[:head] {
		return true
	}
	gap := length - len(w.runes)
	return gap <= w.edits && -gap <= w.edits && w.signs.lacks(t) <= w.edits && t.lacks(w.signs) <= w.edits
}

// compare gives the score of a value's word for a word asked, and remembers it.
func (s *Scorer) compare(i int, token []byte, length int) float64 {
	known := s.known[s.at][i]
	if score, ok := known[string(token)]; ok {
		return score
	}
	f := &s.query.fields[s.at]
	text := string(token)
	score := s.similarity(f, &f.words[i], &candidate{text: text, length: length})
	if len(known) < maxKnown {
		known[text] = score
	}
	return score
}

// candidate is a word of a value.
type candidate struct {
	text   string
	length int // in characters
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
	if d := s.table.within(w.runes, []rune(v.text), w.edits); d <= w.edits {
		best = max(best, 1-float64(d)/float64(longest))
	}
	return best
}
