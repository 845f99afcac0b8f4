// Package sides answers one query over the segments of a state. Each side of the query, vectors, words and custom dimensions, chooses the
// rows that are best by it, and what one has chosen is scored on the others. It knows nothing of how states come to be and of
// files. Package index calls it.
package sides

import (
	"context"

	"quarry/internal/expr/filter"
	"quarry/internal/index/condition"
	"quarry/internal/index/dimension"
	"quarry/internal/index/lexical"
	"quarry/internal/index/rowset"
	"quarry/internal/index/vector"
	"quarry/internal/index/view"
	"quarry/internal/search"
)

// State is what is searched.
type State struct {
	Rotation *vector.Rotation // of the vectors; nil = there are none
	Views    []*view.View
	Lexical  *lexical.Corpus
	Kept     *condition.Cache
	ScanMost int // passing rows up to which a segment with lists is scanned; 0 = as package plan says
}

// Search is one search of a state. Not safe for concurrent use.
type Search struct {
	State
	ctx     context.Context
	q       *search.Query
	meant   bool          // q has a vector
	vector  *vector.Query // of q, once ready is closed
	ready   chan struct{}
	filter  *filter.Filter
	lex     *lexical.Scorer   // nil = no lexical side
	weights dimension.Weights // nil = every dimension has weight 0
	allow   [][]uint64        // per view: rows that may be hits; nil = all
	passing int               // number of those rows
	plan    []search.Step     // per view
	ways    []approach        // per view: how its vectors are searched
	k       int               // best parts per side
}

// New resolves the terms of q and finds the rows that may be hits: those that pass f (nil for all).
func New(ctx context.Context, st State, q *search.Query, f *filter.Filter) (*Search, error) {
	s := &Search{State: st, ctx: ctx, q: q, meant: q.HasVector(), ready: make(chan struct{}), filter: f}
	if w := dimension.Weights(q.Dimensions); w.Count() {
		s.weights = w
	}
	if q.HasLexical() {
		s.lex = lexical.NewScorer(st.Lexical, lexical.Query{Terms: q.Terms, Phrases: q.Phrases, Prefixes: q.Prefixes})
	}
	s.allow = make([][]uint64, len(st.Views))
	for i, v := range st.Views {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.allow[i] = v.Headings(q.Headings, v.Matching(f, st.Kept), st.Kept)
		s.exclude(i)
		if q.PhrasesRequired && s.lex != nil {
			s.lex.RequirePhrases(i, s.own(i))
		}
		s.count(i)
	}
	s.decide()
	return s, nil
}

// count notes how many rows of view i may be hits.
func (s *Search) count(i int) {
	v := s.Views[i]
	step := search.Step{Segment: v.Home.Number, Rows: v.Rows, Passing: v.Rows}
	switch {
	case s.allow[i] == nil:
	case v.Live != nil && &s.allow[i][0] == &v.Live[0]:
		step.Passing = v.LiveRows
	default:
		step.Passing = rowset.Count(s.allow[i])
	}
	s.passing += step.Passing
	s.plan = append(s.plan, step)
}

// own returns the bitmap of view i, as a copy that may be changed.
func (s *Search) own(i int) []uint64 {
	v := s.Views[i]
	switch {
	case s.allow[i] == nil:
		s.allow[i] = rowset.All(v.Rows)
	case v.Live != nil && &s.allow[i][0] == &v.Live[0]:
		s.allow[i] = append([]uint64(nil), v.Live...)
	}
	return s.allow[i]
}

// exclude removes the rows of view i whose text has an excluded word or phrase.
func (s *Search) exclude(i int) {
	drop := func(row int) { rowset.Remove(s.own(i), row) }
	segment := &s.Lexical.Segments[i]
	segment.EachWith(s.q.Exclude, s.q.ExcludePrefixes, drop)
	for _, p := range s.q.ExcludePhrases {
		segment.EachWithPhrase(p, drop)
	}
}

// know sets the vector of the query, which may take a while, and in any case says that no more is to come.
func (s *Search) know() error {
	defer close(s.ready)
	if !s.meant {
		return nil
	}
	q, err := s.q.Known()
	if err == nil {
		s.vector, err = vector.NewQuery(s.Rotation, q.Vector)
	}
	return err
}

// Run answers the query. With a Mix it leaves out what that allows, and with whole it does not: then the second value is what the dense
// side has chosen.
func (s *Search) Run(whole bool) (out search.Found, dense []Place, err error) {
	var words, near, weighed chosen
	mixes := !whole && s.mixes()
	wait := func() error { return nil }
	if s.lex != nil {
		// The words are searched beside the vectors, and while the vector of the query is not known yet: they share nothing that changes,
		// and take about as long. Each side scores what it has found on the others.
		wait = view.Beside(s.Views, func() (err error) {
			if words, err = s.choose(byWords); err == nil {
				<-s.ready
				s.score(&words, byWords, mixes)
			}
			return err
		})
		defer func() { _ = wait() }() // before files may go that are read, also after an error
	}
	err = s.know()
	switch {
	case err != nil:
	case mixes:
		return s.mix(&words, wait)
	case s.meant:
		if near, err = s.choose(byVectors); err == nil {
			s.score(&near, byVectors, false)
		}
	}
	if waited := wait(); err == nil {
		err = waited
	}
	if err == nil && s.weights != nil {
		if weighed, err = s.choose(byDimensions); err == nil {
			s.score(&weighed, byDimensions, false)
		}
	}
	if err != nil {
		return search.Found{}, nil, err
	}
	if !s.Exact() {
		// Fewer than were asked for need not be all: lists that were not read may have more.
		all := len(near.hits) == s.passing
		near.All, near.Exact = all, all
	}
	out = search.Found{Hits: union(near, words, weighed), Dense: near.Side, Lexical: words.Side, Dimensions: weighed.Side, Plan: s.plan}
	return out, near.places(), nil
}
