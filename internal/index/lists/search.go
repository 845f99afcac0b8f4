package lists

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"quarry/internal/index/rowset"
	"quarry/internal/index/vector"
)

func trailing(b uint64) int { return bits.TrailingZeros64(b) }

// deviation is that of the sum of the bits of a code, with the query's signs, from what it stands for, as a share of the
// query's length: with Gaussian values the root of 1 - 2/π (RaBitQ, theorem 3.2). Text vectors have 0.62, and so do
// rotated ones.
const deviation = 0.62

// Slack is how many deviations an estimate may be too low for its row to be settled still. Of hits far fewer are lost than
// of the normal distribution's tail, since most lie well above the floor, which lies below the k-th best by the bound of the high plane.
type Slack float32

// The slacks: for a share of the lists, where what the lists miss matters more, and for all of them.
const (
	Usual Slack = 1.2
	Wide  Slack = 3.5
)

// Counts is what a search has read.
type Counts struct {
	Lists int // of which codes were read
	Codes int
}

// Want is what a search asks for: the rows that may be found (nil for all), how many of the best, and the score below which a row
// is of no use.
type Want struct {
	Allow []uint64
	K     int
	Floor float64
	Slack Slack
}

// Search is one search of lists. Not safe for concurrent use.
type Search struct {
	l      *Lists
	q      *vector.Query
	w      Want
	reach  float32
	Counts Counts

	order      order
	done       int               // lists of the order that were read or left out
	seen       []uint64          // the candidates; empty between searches, so that it need not be cleared
	found      []uint32          // those rows
	candidates vector.Candidates // what was found
	table      table
	x          []float32
	dots       []float32
	sums       [blockCall * perBlock]uint16
	mask       [blockCall]uint32
}

var searches = sync.Pool{New: func() any { return new(Search) }}

// Search begins a search, whose Best or All finds Candidates. It must be closed.
func (l *Lists) Search(q *vector.Query, w Want) *Search {
	s := searches.Get().(*Search)
	s.l, s.q, s.w, s.Counts, s.done = l, q, w, Counts{}, 0
	s.candidates.Reset(l.rows, q, w.K, w.Floor)
	s.reach = float32(l.reach(w.K))
	s.x = grow(s.x, l.centroids.Width)
	q.Values(s.x)
	s.table.set(s.x)
	s.dots = grow(s.dots, l.Lists())
	l.centroids.Scan(q, 0, s.dots)
	s.order.reset(s.dots, l.spread)
	s.seen = grow(s.seen, rowset.Words(l.rows.Len()))
	return s
}

func grow[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// Close ends the search.
func (s *Search) Close() {
	for _, row := range s.found {
		rowset.Remove(s.seen, int(row))
	}
	s.found, s.l, s.q, s.w = s.found[:0], nil, nil, Want{}
	searches.Put(s)
}

// Within counts the rows that have one of the n best lists as their first, and those of them that may be found.
func (s *Search) Within(n int) (rows, passing int) {
	s.order.best(n)
	for _, o := range s.order.all[:n] {
		r := s.l.runs[o.list]
		rows += r.first
		for e := r.block * perBlock; e < r.block*perBlock+r.first; e++ {
			if rowset.Has(s.w.Allow, int(le32(s.l.Row, e))) {
				passing++
			}
		}
	}
	return rows, passing
}

// near reports whether a list may have a row of use.
func (s *Search) near(list int32) bool {
	return s.dots[list]+float32(s.reach*s.l.spread[list]) >= float32(s.candidates.Expected())
}

// First is the number of lists that are read whatever their centroids are: they show where the floor is.
const First = 32

// Best reads those of the n best lists that may have a row of use, and while there is no floor, as fewer rows are held than are
// wanted, of twice as many, up to all.
func (s *Search) Best(n int) {
	for n = min(n, s.l.Lists()); s.done < n; {
		s.order.best(n)
		for ; s.done < n; s.done++ {
			if list := s.order.all[s.done].list; s.done < First || s.near(list) {
				s.read(list, s.l.runs[list].all, nil)
			}
		}
		if math.IsInf(s.candidates.Floor(), -1) {
			n = min(2*n, s.l.Lists())
		}
	}
}

// All reads the first entries of every list: each row once. With marks, those of Mark for the allowed rows, it leaves out
// the blocks that have none.
func (s *Search) All(marks []uint32) {
	s.order.best(First)
	for _, o := range s.order.all {
		s.read(o.list, s.l.runs[o.list].first, marks)
	}
}

// read reads the first n entries of a list.
func (s *Search) read(list int32, n int, marks []uint32) {
	r := s.l.runs[list]
	score := s.l.centroids.Score(s.q, int(list))
	last := r.block + (n+perBlock-1)/perBlock
	begun := false
	for b := r.block; b < last; {
		if marks != nil && marks[b] == 0 {
			b++
			continue
		}
		begun = true
		end := min(last, b+blockCall)
		if math.IsInf(s.candidates.Floor(), -1) {
			end = b + 1 // everything reaches no floor, so look at little at a time
		}
		if marks != nil {
			end = b + stretch(marks[b:end])
		}
		s.blocks(b, end, score)
		for i := range s.mask[:end-b] {
			m := &s.mask[i]
			if left := n - (b-r.block+i)*perBlock; left < perBlock {
				*m &= 1<<left - 1
			}
			if marks != nil {
				*m &= marks[b+i]
			}
			s.ahead(*m, (b+i)*perBlock)
		}
		for i, m := range s.mask[:end-b] {
			s.gather(m, (b+i)*perBlock)
		}
		b = end
	}
	if begun {
		s.Counts.Lists++
	}
}

// stretch returns the number of blocks up to two without marks.
func stretch(marks []uint32) int {
	n := 1
	for n < len(marks) && (marks[n] != 0 || n+1 < len(marks) && marks[n+1] != 0) {
		n++
	}
	return n
}

// blocks sets the mask of the entries in blocks b … end-1 that may reach the floor.
func (s *Search) blocks(b, end int, score float64) {
	n := (end - b) * perBlock
	s.Counts.Codes += n
	size := blockBytes(s.l.centroids.Width)
	sums(&s.table, s.l.Code[b*size:end*size], s.sums[:n])
	at := bar{float32(s.table.step), float32(s.table.shift + float64(float64(s.w.Slack)*deviation)), float32(s.candidates.Floor() - score)}
	reach(s.sums[:n], s.l.Factor[4*b*perBlock:4*end*perBlock], at, s.mask[:end-b])
}

// ahead has the processor fetch what gather will read.
func (s *Search) ahead(m uint32, entry int) {
	for ; m != 0; m &= m - 1 {
		s.l.rows.Ahead(int(le32(s.l.Row, entry+bits.TrailingZeros32(m))))
	}
}

// gather takes the rows of the entries whose bits are set in m for candidates.
func (s *Search) gather(m uint32, entry int) {
	for ; m != 0; m &= m - 1 {
		row := int(le32(s.l.Row, entry+bits.TrailingZeros32(m)))
		if rowset.Has(s.w.Allow, row) && !rowset.Has(s.seen, row) && s.candidates.Add(s.l.rows, s.q, row) {
			rowset.Add(s.seen, row)
			s.found = append(s.found, uint32(row))
		}
	}
}

// Candidates returns what was found, until Close. The search must not go on behind it.
func (s *Search) Candidates() *vector.Candidates { return &s.candidates }

// Settle offers those of what was found that may reach the floor, as vector.Candidates.Settle does. The search must not go on behind it.
func (s *Search) Settle(offer func(row int, score float64) float64) {
	s.candidates.Settle(s.l.rows, s.q, s.w.Floor, offer)
}
