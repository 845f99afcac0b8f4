package index

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"quarry/internal/index/postings"
)

// BM25 as Lucene computes it, with the factor k1+1 kept (contract: queries section 3).
const (
	k1 = 1.2
	b  = 0.75
)

// term is one summand of the lexical score.
type term struct {
	phrase bool
	lists  []list // per view
	weight float64
}

// list is where a term is in one view: a stem of its field, or rows and frequencies that were worked out.
type list struct {
	stem  int // -1 = not there, or worked out
	rows  []uint32
	freqs []uint32
}

// scorer computes BM25 of any row of a state. Terms are summed in the order of the query, so that a score is the same
// whatever way it is reached.
type scorer struct {
	st    *state
	terms []*term
	norm  [256]float64 // k1·(1-b+b·length/average), by length byte
	part  [partFreqs][256]float64
	order [][]int // per view: terms that are stems there, by ordinal
}

// partFreqs is the number of frequencies whose share of the score is tabulated.
const partFreqs = 8

func newScorer(st *state, q *Query) *scorer {
	s := &scorer{st: st}
	average := float64(st.length) / float64(max(1, st.rows))
	if average == 0 {
		average = 1 // nothing to score
	}
	for i := range s.norm {
		s.norm[i] = k1 * (1 - b + float64(b*float64(postings.ByteLength(byte(i))))/average)
		for f := range partFreqs {
			s.part[f][i] = saturate(float64(f), s.norm[i])
		}
	}
	s.addStems(q.Terms)
	for _, p := range q.Phrases {
		s.addLists(phraseLists(st, p), true)
	}
	for _, p := range q.Prefixes {
		s.addLists(prefixLists(st, p), false)
	}
	s.order = make([][]int, len(st.views))
	for i := range st.views {
		for n, t := range s.terms {
			if t.lists[i].stem >= 0 {
				s.order[i] = append(s.order[i], n)
			}
		}
		slices.SortFunc(s.order[i], func(a, b int) int { return cmp.Compare(s.terms[a].lists[i].stem, s.terms[b].lists[i].stem) })
	}
	return s
}

func saturate(freq, norm float64) float64 { return freq * (k1 + 1) / (freq + norm) }

// idf is Lucene's, of a term in df of the live rows.
func (s *scorer) idf(df int) float64 {
	return math.Log(1 + (float64(s.st.rows-df)+0.5)/(float64(df)+0.5))
}

// addStems adds each stem once, weighted by how often the query has it.
func (s *scorer) addStems(stems []string) {
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
		t, df := &term{lists: make([]list, len(s.st.views))}, 0
		for i, v := range s.st.views {
			t.lists[i].stem = -1
			if stem, ok := v.seg.stems.Find(name); ok {
				t.lists[i].stem = stem
				df += v.df(stem)
			}
		}
		if df > 0 {
			t.weight = float64(n) * s.idf(df)
			s.terms = append(s.terms, t)
		}
	}
}

// addLists adds a term that was worked out for live rows.
func (s *scorer) addLists(lists []list, phrase bool) {
	df := 0
	for _, l := range lists {
		df += len(l.rows)
	}
	if df > 0 || phrase {
		s.terms = append(s.terms, &term{phrase: phrase, lists: lists, weight: s.idf(df)})
	}
}

// phrases lists the terms that are phrases.
func (s *scorer) phrases() []*term {
	var out []*term
	for _, t := range s.terms {
		if t.phrase {
			out = append(out, t)
		}
	}
	return out
}

// share is what a term of weight 1 adds to the score of a row.
func (s *scorer) share(freq uint32, norm byte) float64 {
	if freq < partFreqs {
		return s.part[freq][norm]
	}
	return saturate(float64(freq), s.norm[norm])
}

// score computes the score of one row from the row's own terms.
func (s *scorer) score(view, row int) float64 {
	sg := s.st.views[view].seg
	var room [32]uint32
	freqs := room[:0]
	if len(s.terms) > len(room) {
		freqs = make([]uint32, 0, len(s.terms))
	}
	freqs = freqs[:len(s.terms)]
	order := s.order[view]
	for w := sg.forward.Row(row); len(order) > 0 && w.Next(); {
		for len(order) > 0 && s.terms[order[0]].lists[view].stem < int(w.Ordinal) {
			order = order[1:]
		}
		if len(order) > 0 && s.terms[order[0]].lists[view].stem == int(w.Ordinal) {
			freqs[order[0]] = w.Freq
		}
	}
	sum, norm := 0.0, sg.norm[row]
	for n, t := range s.terms {
		f := freqs[n]
		if l := t.lists[view]; l.stem < 0 {
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

// lexical adds the K best by BM25.
func (r *run) lexical(found map[place]bool) error {
	t := newTop(r.st, r.q.K)
	var w window
	for i, v := range r.st.views {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if allow := r.allow[i]; allow != nil && sparse*countBits(allow) < v.seg.rows {
			r.scoreFew(i, t)
			continue
		}
		w.start(r.lex, i)
		for from := 0; from < v.seg.rows; from += windowRows {
			w.fill(uint32(from), uint32(min(from+windowRows, v.seg.rows)))
			w.collect(uint32(from), r.allow[i], t)
		}
	}
	t.each(func(it item) { found[it.place] = true })
	return nil
}

// sparse is the share of rows, one in so many, below which rows are scored one by one instead of list by list.
const sparse = 32

// scoreFew offers the allowed rows of view i one by one.
func (r *run) scoreFew(i int, t *top) {
	for w, set := range r.allow[i] {
		for ; set != 0; set &= set - 1 {
			row := w<<6 + bits.TrailingZeros64(set)
			if score := r.lex.score(i, row); score > 0 && score >= t.floor() {
				t.offer(item{score, place{int32(i), uint32(row)}})
			}
		}
	}
}

// windowRows is the number of rows that are scored together; their sums stay in the first-level cache.
const windowRows = 4096

// window sums the scores of a run of rows, list by list.
type window struct {
	s     *scorer
	view  int
	norms []byte
	walks []walk
	sums  [windowRows]float64
	set   [windowRows / 64]uint64
}

// walk is a position in the list of one term.
type walk struct {
	cursor *postings.Cursor // nil for a list that was worked out
	rows   []uint32         // not yet summed, of the block or the list
	freqs  []uint32
	weight float64
}

// start turns to a view.
func (w *window) start(s *scorer, view int) {
	w.s, w.view, w.norms = s, view, s.st.views[view].seg.norm
	w.walks = w.walks[:0]
	for _, t := range s.terms {
		l := t.lists[view]
		k := walk{weight: t.weight, rows: l.rows, freqs: l.freqs}
		if l.stem >= 0 {
			k.cursor = &postings.Cursor{}
			k.cursor.Reset(s.st.views[view].seg.stems, l.stem)
			k.next()
		}
		if len(k.rows) > 0 {
			w.walks = append(w.walks, k)
		}
	}
}

// next takes the next block of the list.
func (k *walk) next() {
	k.rows = nil
	if k.cursor != nil && k.cursor.Next() {
		k.rows, k.freqs = k.cursor.Rows, k.cursor.Freqs()
	}
}

// fill sums rows from … end-1.
func (w *window) fill(from, end uint32) {
	for i := range w.walks {
		k := &w.walks[i]
		for len(k.rows) > 0 && k.rows[0] < end {
			n := len(k.rows)
			if k.rows[n-1] >= end {
				n, _ = slices.BinarySearch(k.rows, end)
			}
			w.add(k.rows[:n], k.freqs[:n], k.weight, from)
			k.rows, k.freqs = k.rows[n:], k.freqs[n:]
			if len(k.rows) == 0 {
				k.next()
			}
		}
	}
}

func (w *window) add(rows, freqs []uint32, weight float64, from uint32) {
	freqs = freqs[:len(rows)]
	for i, row := range rows {
		o := (row - from) & (windowRows - 1)
		w.sums[o] += float64(weight * w.s.share(freqs[i], w.norms[row]))
		w.set[o>>6] |= 1 << (o & 63)
	}
}

// collect offers what was summed and clears it.
func (w *window) collect(from uint32, allow []uint64, t *top) {
	floor := t.floor()
	for i, set := range w.set {
		w.set[i] = 0
		for b := set; b != 0; b &= b - 1 {
			o := uint32(i<<6 + bits.TrailingZeros64(b))
			score, row := w.sums[o], from+o
			w.sums[o] = 0
			if score >= floor && (allow == nil || allow[row>>6]>>(row&63)&1 == 1) {
				t.offer(item{score, place{int32(w.view), row}})
				floor = t.floor()
			}
		}
	}
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
