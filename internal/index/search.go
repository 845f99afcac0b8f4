package index

import (
	"context"
	"errors"
	"fmt"

	"quarry/internal/index/sides"
	"quarry/internal/search"
)

// Search returns the union of the K parts best by cosine, the K best by BM25 (above 0) and, where a dimension has a
// weight, the K best by dimensions, in no order, each scored on all sides. Without a dense side only parts with a BM25
// score are found. Ties go to the lower id, then the lower part. The result depends on the live documents alone, not on
// segments, merges or the CPU. A damaged file is an error that is ErrCorrupt.
//
// A query with a Pool that does not say Exact may be searched by inverted lists in segments that have them: then Pool
// stands in the place of K, and the parts best by cosine are nearly all of those. What is found has the score that it always has.
// There, a query with a Mix gets the parts that may be among the best by it, and few others.
func (s *Snapshot) Search(ctx context.Context, q search.Query) (out search.Found, err error) {
	defer s.guard(&err)()
	s.x.cfg.Merges.Begin()
	defer s.x.cfg.Merges.End()
	r, err := s.begin(ctx, &q)
	if err != nil {
		return search.Found{}, err
	}
	again := !r.Exact() && s.x.recall.Due()
	out, dense, err := r.Run(again)
	if again && err == nil {
		s.check(r, dense)
	}
	return out, err
}

// begin returns the search for q if that can be answered.
func (s *Snapshot) begin(ctx context.Context, q *search.Query) (*sides.Search, error) {
	switch {
	case q.K < 1:
		return nil, fmt.Errorf("search: pool of %d", q.K)
	case q.Dimensions != nil && len(q.Dimensions) != s.x.cfg.Dimensions:
		return nil, fmt.Errorf("search: %d dimension weights, want %d", len(q.Dimensions), s.x.cfg.Dimensions)
	case q.HasVector() && s.x.rotation == nil:
		return nil, errors.New("search: a vector, and the index has none")
	case (q.Filter != "" || q.Headings != search.WithHeadings) && q.Schema != s.st.of.Version:
		return nil, fmt.Errorf("search: planned for version %d of the attributes, index has %d: %w", q.Schema, s.st.of.Version, search.ErrSchema)
	}
	f, err := s.st.of.Filter(q.Filter)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	st := sides.State{Rotation: s.x.rotation, Views: s.st.views, Lexical: &s.st.lexical, Kept: s.x.cfg.Conditions, ScanMost: s.x.scanMost}
	return sides.New(ctx, st, q, f)
}
