package index

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"quarry/internal/expr/filter"
	"quarry/internal/index/condition"
	"quarry/internal/index/dimension"
	"quarry/internal/index/lexical"
	"quarry/internal/index/rowset"
	"quarry/internal/index/topk"
	"quarry/internal/index/vector"
	shown "quarry/internal/index/view"
	"quarry/internal/search"
)

// Search returns the union of the K parts best by cosine, the K best by BM25 (above 0) and, where a dimension has a
// weight, the K best by dimensions, in no order, each scored on all sides. Without a dense side only parts with a BM25
// score are found. Ties go to the lower id, then the lower part. The result depends on the live documents alone, not on
// segments, merges or the CPU. A damaged file is an error that is ErrCorrupt.
//
// A query with a Pool that does not say Exact may be searched by inverted lists in segments that have them: then Pool
// stands in the place of K, and the parts best by cosine are nearly all of those. What is found has the score that it always has.
func (s *Snapshot) Search(ctx context.Context, q search.Query) (out search.Found, err error) {
	defer s.guard(&err)()
	s.x.cfg.Merges.Begin()
	defer s.x.cfg.Merges.End()
	r, err := s.begin(ctx, &q)
	if err == nil {
		err = r.prepare()
	}
	if err != nil {
		return search.Found{}, err
	}
	var found, words, weighed []placed
	// The words are searched beside the vectors: they share nothing that changes, and take about as long. Each side scores what it
	// has found on the others.
	wait := shown.Beside(s.st.views, func() (err error) {
		if r.lex != nil {
			words, out.Lexical, err = r.side(byWords)
		}
		return err
	})
	defer func() { _ = wait() }() // before files may go that are read, also after an error
	if r.vector != nil {
		found, out.Dense, err = r.side(byVectors)
	}
	if err = cmp.Or(err, wait()); err != nil {
		return search.Found{}, err
	}
	if !r.exact() {
		// Fewer than were asked for need not be all: lists that were not read may have more.
		all := len(found) == r.passing
		out.Dense.All, out.Dense.Exact = all, all
		r.check(found)
	}
	if r.weights != nil {
		if weighed, out.Dimensions, err = r.side(byDimensions); err != nil {
			return search.Found{}, err
		}
	}
	out.Hits, out.Plan = union(found, words, weighed), r.plan
	return out, nil
}

// union returns the hits of all sides, each once.
func union(sides ...[]placed) []search.Hit {
	all := slices.Concat(sides...)
	out, seen := make([]search.Hit, 0, len(all)), make(map[place]bool, len(all))
	for _, h := range all {
		if !seen[h.place] {
			seen[h.place] = true
			out = append(out, h.Hit)
		}
	}
	return out
}

// begin returns the search for q if that can be answered.
func (s *Snapshot) begin(ctx context.Context, q *search.Query) (*run, error) {
	switch {
	case q.K < 1:
		return nil, fmt.Errorf("search: pool of %d", q.K)
	case q.Dimensions != nil && len(q.Dimensions) != s.x.cfg.Dimensions:
		return nil, fmt.Errorf("search: %d dimension weights, want %d", len(q.Dimensions), s.x.cfg.Dimensions)
	case q.Vector != nil && s.x.rotation == nil:
		return nil, fmt.Errorf("search: a vector of %d dimensions, the index has none", len(q.Vector))
	case (q.Filter != "" || q.Headings != search.WithHeadings) && q.Schema != s.st.of.Version:
		return nil, fmt.Errorf("search: planned for version %d of the attributes, index has %d: %w", q.Schema, s.st.of.Version, search.ErrSchema)
	}
	r := &run{ctx: ctx, x: s.x, st: s.st, q: q, kept: s.x.cfg.Conditions}
	if w := dimension.Weights(q.Dimensions); w.Count() {
		r.weights = w
	}
	var err error
	if r.filter, err = s.st.of.Filter(q.Filter); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	if q.Vector != nil {
		r.vector, err = vector.NewQuery(s.x.rotation, q.Vector)
	}
	return r, err
}

// run is one search.
type run struct {
	ctx     context.Context
	x       *Index
	st      *state
	q       *search.Query
	vector  *vector.Query
	lex     *lexical.Scorer   // nil = no lexical side
	weights dimension.Weights // nil = every dimension has weight 0
	filter  *filter.Filter    // nil = none
	kept    *condition.Cache
	allow   [][]uint64    // per view: rows that may be hits; nil = all
	passing int           // number of those rows
	plan    []search.Step // per view
	ways    []approach    // per view: how its vectors are searched
	k       int           // best parts per side
}

// place is a row of a view.
type place struct {
	view int32
	row  uint32
}

// placed is a hit and where it is.
type placed struct {
	place
	search.Hit
}

// after orders rows of one score by document id and part, so that the choice among them does not depend on where they
// lie.
func (st *state) after(a, b place) bool {
	s, u := st.views[a.view], st.views[b.view]
	i, j := int(a.row), int(b.row)
	return cmp.Or(bytes.Compare(s.ID(s.DocOf(i)), u.ID(u.DocOf(j))), cmp.Compare(s.OrdOf(i), u.OrdOf(j))) > 0
}

// prepare resolves terms and finds the rows that may be hits.
func (r *run) prepare() error {
	if r.q.HasLexical() {
		r.lex = lexical.NewScorer(&r.st.lexical, lexical.Query{Terms: r.q.Terms, Phrases: r.q.Phrases, Prefixes: r.q.Prefixes})
	}
	r.allow = make([][]uint64, len(r.st.views))
	for i, v := range r.st.views {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		r.allow[i] = v.Headings(r.q.Headings, v.Matching(r.filter, r.kept), r.kept)
		r.exclude(i)
		if r.q.PhrasesRequired && r.lex != nil {
			r.lex.RequirePhrases(i, r.own(i))
		}
		r.count(i)
	}
	r.decide()
	return nil
}

// count notes how many rows of view i may be hits.
func (r *run) count(i int) {
	v := r.st.views[i]
	step := search.Step{Segment: v.Home.Number, Rows: v.Rows, Passing: v.Rows}
	switch {
	case r.allow[i] == nil:
	case v.Live != nil && &r.allow[i][0] == &v.Live[0]:
		step.Passing = v.LiveRows
	default:
		step.Passing = rowset.Count(r.allow[i])
	}
	r.passing += step.Passing
	r.plan = append(r.plan, step)
}

// own returns the bitmap of view i, as a copy that may be changed.
func (r *run) own(i int) []uint64 {
	v := r.st.views[i]
	switch {
	case r.allow[i] == nil:
		r.allow[i] = rowset.All(v.Rows)
	case v.Live != nil && &r.allow[i][0] == &v.Live[0]:
		r.allow[i] = append([]uint64(nil), v.Live...)
	}
	return r.allow[i]
}

// exclude removes the rows of view i whose text has an excluded word or phrase.
func (r *run) exclude(i int) {
	drop := func(row int) { rowset.Remove(r.own(i), row) }
	segment := &r.st.lexical.Segments[i]
	segment.EachWith(r.q.Exclude, r.q.ExcludePrefixes, drop)
	for _, p := range r.q.ExcludePhrases {
		segment.EachWithPhrase(p, drop)
	}
}

// The sides of a search.
const (
	byVectors = iota
	byWords
	byDimensions
)

// side returns the K best rows of one side.
func (r *run) side(by int) ([]placed, search.Side, error) {
	scan := [...]func(i int, floor float64, offer func(row int, score float64) float64){r.dense, r.lexical, r.dimensions}[by]
	t := topk.Top[place]{K: r.k, After: r.st.after}
	for i := range r.st.views {
		if err := r.ctx.Err(); err != nil {
			return nil, search.Side{}, err
		}
		scan(i, t.Floor(), func(row int, score float64) float64 {
			t.Offer(topk.Item[place]{Score: score, Place: place{int32(i), uint32(row)}})
			return t.Floor()
		})
	}
	found := make([]placed, len(t.Items))
	for i, it := range t.Items {
		found[i] = placed{it.Place, r.hit(it.Place, by, it.Score)}
	}
	if len(t.Items) < t.K || len(t.Items) == r.passing {
		return found, search.Side{All: true, Exact: true}, nil
	}
	return found, search.Side{Floor: t.Floor(), Exact: true}, nil
}

func (r *run) lexical(i int, floor float64, offer func(row int, score float64) float64) {
	work := r.lex.Search(i, r.allow[i], floor, offer)
	r.plan[i].Postings, r.plan[i].Skipped = work.Postings, work.Skipped
}

// dimensions offers the rows of view i by their dimensions. Without a dense side they need a lexical score.
func (r *run) dimensions(i int, floor float64, offer func(row int, score float64) float64) {
	r.weights.Search(r.st.views[i].Dims, r.allow[i], floor, func(row int, score float64) float64 {
		if r.vector != nil || r.lex != nil && r.lex.Score(i, row) > 0 {
			floor = offer(row, score)
		}
		return floor
	})
}

// hit returns a row as a hit, scored on all sides. The score on the side by which it was found is known.
func (r *run) hit(p place, by int, score float64) search.Hit {
	v, row := r.st.views[p.view], int(p.row)
	d := v.DocOf(row)
	h := search.Hit{No: v.No(d), ID: string(v.ID(d)), Ord: v.OrdOf(row)}
	switch {
	case by == byVectors:
		h.Cosine = score
	case r.vector != nil:
		h.Cosine = v.Vectors.Score(r.vector, row)
	}
	switch {
	case by == byWords:
		h.BM25, h.Full = score, r.lex.Full()
	case r.lex != nil:
		h.BM25, h.Full = r.lex.Score(int(p.view), row), r.lex.Full()
	}
	if r.weights != nil {
		h.Dims = r.weights.Score(v.Dims, row)
	}
	return h
}
