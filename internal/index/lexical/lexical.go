// Package lexical scores the rows of a corpus by BM25 over several segments at once, with statistics of the live rows
// of all of them, and finds phrases, prefixes and excluded words. It knows nothing of documents, filters and files.
// Package index calls it.
//
// Rows are scored term at a time within windows of rows. Lists that cannot lift a row of the window to the floor by
// themselves are not read for it (MaxScore: Turtle and Flood, "Query evaluation", 1995), nor are blocks that cannot by
// their bounds (Ding and Suel, "Faster top-k document retrieval using block-max indexes", 2011). Bounds only skip: what
// is offered is scored from all of its terms.
//
// Terms are summed in float64 in the order of the query, so that a score is the same bit for bit whatever way it is
// reached and however rows are spread over segments.
package lexical

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"quarry/internal/index/postings"
	"quarry/internal/index/rowset"
)

// Corpus is the segments that are searched together.
type Corpus struct {
	Segments []Segment
	Rows     int   // live ones
	Length   int64 // sum of the numbers of scoring terms of live rows

	once   sync.Once
	shares *shares // by once
}

// shares is the part of BM25 that depends on the frequency in a row and on the row's length, for an average length.
type shares struct {
	norm [256]float64             // k1·(1-b+b·length/average), by length byte
	part *[partFreqs][256]float64 // by frequency, then length byte; nil in a corpus that has too few rows for it
}

// share returns the shares for the rows of c.
func (c *Corpus) share() *shares {
	c.once.Do(func() {
		average := float64(c.Length) / float64(max(1, c.Rows))
		if average == 0 {
			average = 1 // nothing to score
		}
		c.shares = &shares{}
		if c.Rows >= tabulated {
			c.shares.part = &[partFreqs][256]float64{}
		}
		for i := range c.shares.norm {
			c.shares.norm[i] = k1 * (1 - b + float64(b*float64(postings.ByteLength(byte(i))))/average)
			for f := 0; f < partFreqs && c.shares.part != nil; f++ {
				c.shares.part[f][i] = saturate(float64(f), c.shares.norm[i])
			}
		}
	})
	return c.shares
}

// Segment is the lexical part of a segment.
type Segment struct {
	Rows    int
	Stems   *postings.Field
	Words   *postings.Field // with positions
	Forward *postings.Forward
	Norms   []byte   // per row: postings.LengthByte
	Live    []uint64 // set of rows, nil = all
	Dead    []uint32 // per stem: rows that are not live; nil = none
}

// DF returns the number of live rows with a stem.
func (s *Segment) DF(stem int) int {
	n := s.Stems.DF(stem)
	if s.Dead != nil {
		n -= int(s.Dead[stem])
	}
	return n
}

// Query is what is looked for.
type Query struct {
	Terms    []string   // scoring stems; one given twice counts twice
	Phrases  [][]string // surface words that must stand one behind the other; each phrase scores as one term. Its last may end in Beginning
	Prefixes []string   // beginnings of surface words; each scores as one term over the words it stands for
}

// The parameters of BM25 (Robertson and Zaragoza, "The probabilistic relevance framework: BM25 and beyond", 2009), as
// Lucene computes it, with the factor k1+1 kept (contract: queries section 3): k1 is how soon more of a term counts no
// more, b how much the length of a row matters.
const (
	k1 = 1.2
	b  = 0.75
)

// term is one summand of the lexical score.
type term struct {
	phrase bool
	lists  []list // per segment
	weight float64
}

// list is where a term is in one segment: a stem of its field, or the rows and frequencies of a phrase or prefix.
type list struct {
	stem  int // -1 = not there, or a phrase or prefix
	rows  []uint32
	freqs []uint32
}

// Scorer computes BM25 of any row of a corpus. One search may run at a time, and Score beside it.
type Scorer struct {
	c     *Corpus
	terms []*term
	*shares
	order [][]int // per segment: terms that are stems there, by ordinal
	w     window

	window int // rows of a window in tests; 0 = windowRows
}

const (
	// partFreqs is the number of frequencies whose share of the score is tabulated.
	partFreqs = 8
	// tabulated is the number of rows from which it is: a table takes 16 kB, and as long as the scores of 2,048 postings.
	tabulated = 4096
)

// NewScorer returns a scorer for the terms of q.
func NewScorer(c *Corpus, q Query) *Scorer {
	s := &Scorer{c: c, shares: c.share()}
	s.addStems(q.Terms)
	for _, p := range q.Phrases {
		s.addLists(c.phrase(p), true)
	}
	for _, p := range q.Prefixes {
		s.addLists(c.prefix(p), false)
	}
	s.order = make([][]int, len(c.Segments))
	for i := range c.Segments {
		for n, t := range s.terms {
			if t.lists[i].stem >= 0 {
				s.order[i] = append(s.order[i], n)
			}
		}
		slices.SortFunc(s.order[i], func(a, b int) int { return cmp.Compare(s.terms[a].lists[i].stem, s.terms[b].lists[i].stem) })
	}
	return s
}

// saturate returns the share of BM25 that depends on the frequency in a row and on the row's length.
func saturate(freq, norm float64) float64 { return freq * (k1 + 1) / (freq + norm) }

// idf returns the inverse document frequency of a term in df of the live rows, by Lucene's formula, which is never
// below 0.
func (s *Scorer) idf(df int) float64 {
	return math.Log(1 + (float64(s.c.Rows-df)+0.5)/(float64(df)+0.5))
}

// addStems adds each stem once, weighted by how often the query has it.
func (s *Scorer) addStems(stems []string) {
	times := map[string]int{}
	for _, t := range stems {
		times[t]++
	}
	for _, name := range stems {
		n := times[name]
		if n == 0 {
			continue
		}
		times[name] = 0
		t, df := &term{lists: make([]list, len(s.c.Segments))}, 0
		for i := range s.c.Segments {
			sg := &s.c.Segments[i]
			t.lists[i].stem = -1
			if stem, ok := sg.Stems.Find(name); ok {
				t.lists[i].stem = stem
				df += sg.DF(stem)
			}
		}
		if df > 0 {
			t.weight = float64(n) * s.idf(df)
			s.terms = append(s.terms, t)
		}
	}
}

// addLists adds a phrase or prefix as a term, with the live rows that have it.
func (s *Scorer) addLists(lists []list, phrase bool) {
	df := 0
	for _, l := range lists {
		df += len(l.rows)
	}
	if df > 0 || phrase {
		s.terms = append(s.terms, &term{phrase: phrase, lists: lists, weight: s.idf(df)})
	}
}

// Full returns the score of a row of mean length that has every term once.
func (s *Scorer) Full() float64 {
	sum := 0.0
	for _, t := range s.terms {
		sum += t.weight
	}
	return sum
}

// RequirePhrases removes the rows of a segment from set that lack a phrase.
func (s *Scorer) RequirePhrases(segment int, set []uint64) {
	for _, t := range s.terms {
		if !t.phrase {
			continue
		}
		has := make([]uint64, len(set))
		for _, row := range t.lists[segment].rows {
			rowset.Add(has, int(row))
		}
		for w := range set {
			set[w] &= has[w]
		}
	}
}

// share returns what a term of weight 1 adds to the score of a row.
func (s *Scorer) share(freq uint32, norm byte) float64 {
	if freq < partFreqs && s.part != nil {
		return s.part[freq][norm]
	}
	return saturate(float64(freq), s.norm[norm])
}

// Score returns the score of one row, from the row's own terms.
func (s *Scorer) Score(segment, row int) float64 {
	sg := &s.c.Segments[segment]
	var room [32]uint32
	freqs := room[:0]
	if len(s.terms) > len(room) {
		freqs = make([]uint32, 0, len(s.terms))
	}
	freqs = freqs[:len(s.terms)]
	order := s.order[segment]
	for w := sg.Forward.Row(row); len(order) > 0 && w.Next(); {
		for len(order) > 0 && s.terms[order[0]].lists[segment].stem < int(w.Ordinal) {
			order = order[1:]
		}
		if len(order) > 0 && s.terms[order[0]].lists[segment].stem == int(w.Ordinal) {
			freqs[order[0]] = w.Freq
		}
	}
	sum, norm := 0.0, sg.Norms[row]
	for n, t := range s.terms {
		f := freqs[n]
		if l := t.lists[segment]; l.stem < 0 {
			if i, ok := slices.BinarySearch(l.rows, uint32(row)); ok {
				f = l.freqs[i]
			}
		}
		if f > 0 {
			sum += float64(t.weight * s.share(f, norm))
		}
	}
	return sum
}

// sparse is the share of rows, one in so many, below which rows are scored one by one instead of list by list.
const sparse = 32

// Work is what a search of a segment read.
type Work struct {
	Postings int
	Skipped  int // blocks of postings that were not unpacked
}

// Search offers the rows of a segment in allow (nil for all) that score more than 0 and reach the floor. offer returns
// the floor from then on, which never falls. Rows that are scored one by one have no postings read.
func (s *Scorer) Search(segment int, allow []uint64, floor float64, offer func(row int, score float64) float64) Work {
	rows := s.c.Segments[segment].Rows
	if allow != nil && sparse*rowset.Count(allow) < rows {
		rowset.Each(allow, func(row int) {
			if score := s.Score(segment, row); score > 0 && score >= floor {
				floor = offer(row, score)
			}
		})
		return Work{Skipped: s.blocks(segment)}
	}
	size := windowRows
	if s.window > 0 {
		size = s.window
	}
	if s.w.start(s, segment)*slack >= floor {
		for from := 0; from < rows; from += size {
			floor = s.w.search(uint32(from), uint32(min(from+size, rows)), allow, floor, offer)
		}
	}
	return Work{s.w.read, s.blocks(segment) - s.w.unpacked()}
}

// blocks returns the number of blocks in the lists of a segment.
func (s *Scorer) blocks(segment int) int {
	n := 0
	for _, t := range s.terms {
		if l := t.lists[segment]; l.stem >= 0 {
			from, to := s.c.Segments[segment].Stems.Blocks(l.stem)
			n += to - from
		}
	}
	return n
}

// eachPosting calls f for every row of a term.
func eachPosting(f *postings.Field, term int, each func(row, freq uint32)) {
	var c postings.Cursor
	c.Reset(f, term)
	for c.Next() {
		freqs := c.Freqs()
		for i, row := range c.Rows {
			each(row, freqs[i])
		}
	}
}
