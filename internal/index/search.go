package index

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"quarry/internal/filter"
	"quarry/internal/index/vector"
)

// Query says what to find. Terms are as the analysis of the documents makes them.
type Query struct {
	Vector          []float32  // nil = no dense side
	Terms           []string   // scoring stems; one given twice counts twice
	Phrases         [][]string // surface words that must stand one behind the other; each phrase scores as one term
	Prefixes        []string   // beginnings of surface words; each scores as one term over the words it stands for
	Exclude         []string   // surface words whose parts are left out
	ExcludePrefixes []string
	PhrasesRequired bool // parts without every phrase are left out
	Filter          *filter.Filter
	Dimensions      []float64 // weights of the custom dimensions; nil = none
	K               int       // best parts per side
}

// lexical reports whether there is a lexical side.
func (q *Query) lexical() bool { return len(q.Terms)+len(q.Phrases)+len(q.Prefixes) > 0 }

// Hit is a part that was found, with its score on each side that the query has.
type Hit struct {
	No     int64
	ID     string
	Ord    int
	Cosine float64
	BM25   float64
	Dims   float64 // weights · custom dimensions
}

// Search gives the union of the K parts best by cosine and the K best by BM25 (above 0), in no order, each scored on
// both sides. Ties go to the lower id, then the lower part. The result depends on the live documents alone, not on
// segments, merges or the CPU. A damaged file is an error that is ErrCorrupt.
func (s *Snapshot) Search(ctx context.Context, q Query) (hits []Hit, err error) {
	defer guard(&err, s.st.views)()
	if q.K < 1 {
		return nil, fmt.Errorf("search: pool of %d", q.K)
	}
	if q.Dimensions != nil && len(q.Dimensions) != s.x.cfg.Dimensions {
		return nil, fmt.Errorf("search: %d dimension weights, want %d", len(q.Dimensions), s.x.cfg.Dimensions)
	}
	r := &run{ctx: ctx, st: s.st, q: &q, weights: q.Dimensions}
	if q.Vector != nil && s.x.rotation != nil {
		if r.vector, err = vector.NewQuery(s.x.rotation, q.Vector); err != nil {
			return nil, err
		}
	}
	if err := r.prepare(s.x); err != nil {
		return nil, err
	}
	found := map[place]bool{}
	if r.vector != nil {
		if err := r.dense(found); err != nil {
			return nil, err
		}
	}
	if r.lex != nil {
		if err := r.lexical(found); err != nil {
			return nil, err
		}
	}
	hits = make([]Hit, 0, len(found))
	for p := range found {
		hits = append(hits, r.hit(p))
	}
	return hits, nil
}

// Passing counts the live parts that pass f, and the documents that have one.
func (s *Snapshot) Passing(f *filter.Filter) (parts, documents int, err error) {
	defer guard(&err, s.st.views)()
	for _, v := range s.st.views {
		allow := s.x.passing(v, f)
		if allow == nil {
			parts, documents = parts+v.rows, documents+v.docs
			continue
		}
		parts += countBits(allow)
		for d := range v.seg.docs {
			if from, to := v.seg.run(d); anyBit(allow, from, to) {
				documents++
			}
		}
	}
	return parts, documents, nil
}

func anyBit(set []uint64, from, to int) bool {
	for i := from; i < to; i++ {
		if set[i>>6]>>(i&63)&1 == 1 {
			return true
		}
	}
	return false
}

// run is one search.
type run struct {
	ctx     context.Context
	st      *state
	q       *Query
	vector  *vector.Query
	lex     *scorer // nil = no lexical side
	weights []float64
	allow   [][]uint64 // per view: rows that may be hits; nil = all
}

// place is a row of a view.
type place struct {
	view int32
	row  uint32
}

// prepare resolves terms and finds the rows that may be hits.
func (r *run) prepare(x *Index) error {
	if r.q.lexical() {
		r.lex = newScorer(r.st, r.q)
	}
	r.allow = make([][]uint64, len(r.st.views))
	for i, v := range r.st.views {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		r.allow[i] = x.passing(v, r.q.Filter)
		r.exclude(i)
		if r.q.PhrasesRequired && r.lex != nil {
			for _, t := range r.lex.phrases() {
				r.require(i, t)
			}
		}
	}
	return nil
}

// own gives a bitmap of view i that may be changed.
func (r *run) own(i int) []uint64 {
	v := r.st.views[i]
	switch {
	case r.allow[i] == nil:
		r.allow[i] = allBits(v.seg.rows)
	case v.live != nil && &r.allow[i][0] == &v.live[0]:
		r.allow[i] = append([]uint64(nil), v.live...)
	}
	return r.allow[i]
}

// exclude takes the rows out of view i whose text has an excluded word.
func (r *run) exclude(i int) {
	words := r.st.views[i].seg.words
	drop := func(term int) {
		allow := r.own(i)
		eachPosting(words, term, func(row, _ uint32) { allow[row>>6] &^= 1 << (row & 63) })
	}
	for _, w := range r.q.Exclude {
		if term, ok := words.Find(w); ok {
			drop(term)
		}
	}
	for _, p := range r.q.ExcludePrefixes {
		for w := words.Prefix(p); w.Next(); {
			drop(w.Ordinal)
		}
	}
}

// require leaves the rows of view i that term t has.
func (r *run) require(i int, t *term) {
	allow := r.own(i)
	has := make([]uint64, len(allow))
	for _, row := range t.lists[i].rows {
		has[row>>6] |= 1 << (row & 63)
	}
	for w := range allow {
		allow[w] &= has[w]
	}
}

// dense adds the K best by cosine.
func (r *run) dense(found map[place]bool) error {
	t := newTop(r.st, r.q.K)
	for i, v := range r.st.views {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		v.seg.vectors.Search(r.vector, r.allow[i], t.floor(), func(row int, score float64) float64 {
			t.offer(item{score, place{int32(i), uint32(row)}})
			return t.floor()
		})
	}
	t.each(func(it item) { found[it.place] = true })
	return nil
}

// hit scores a row on both sides.
func (r *run) hit(p place) Hit {
	v := r.st.views[p.view]
	s, row := v.seg, int(p.row)
	d := s.docOf(row)
	h := Hit{No: s.docNo(d), ID: string(s.id(d)), Ord: s.ordOf(row)}
	if r.vector != nil {
		h.Cosine = s.vectors.Score(r.vector, row)
	}
	if r.lex != nil {
		h.BM25 = r.lex.score(int(p.view), row)
	}
	for i, w := range r.weights {
		f := math.Float32frombits(binary.LittleEndian.Uint32(s.dims[4*(row*len(r.weights)+i):]))
		h.Dims += float64(w * float64(f))
	}
	return h
}
