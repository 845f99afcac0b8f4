package retrieve

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"quarry/internal/query/rerank"
	"quarry/internal/search"
)

// candidate is a part that was found.
type candidate struct {
	hit     search.Hit
	source  int
	score   float64
	heading bool // it leads to text, and stands behind all passages
}

// lexical returns the lexical score of a BM25 score.
func lexical(bm25 float64) float64 { return rerank.LexicalScale * bm25 / (bm25 + rerank.LexicalHalf) }

// fuse returns the retrieval score S = λ·lexical + (1−λ)·cosine + Σ dimensions.
func (s *source) fuse(cosine, bm25, dims float64) float64 {
	return s.lambda*lexical(bm25) + (1-s.lambda)*cosine + dims
}

// retrieve returns exactly the best `need` candidates over all sources: the depth of each search grows until no part that
// it left out could be among them (threshold algorithm; Fagin 2001), so the order never depends on the depth. Headings
// that lead to text follow behind all passages, and are searched only when there are fewer passages than needed.
func (s *Service) retrieve(ctx context.Context, q Query, sources []source, need int) ([]candidate, error) {
	seen := documents{}
	passages, err := s.best(ctx, q, sources, false, need, seen)
	if err != nil {
		return nil, err
	}
	var headings []candidate
	if n := need - len(passages); n > 0 {
		if headings, err = s.best(ctx, q, sources, true, n, seen); err != nil {
			return nil, err
		}
	}
	for i := range sources {
		for j := range sources {
			if sources[j].lambda == sources[i].lambda { // one scale for one λ
				sources[i].full = max(sources[i].full, sources[j].full)
			}
		}
	}
	return append(passages, headings...), nil
}

// best returns the best passages of all sources, or the best headings behind them. With max_by it returns none of a document
// in seen, to which it adds the others.
func (s *Service) best(ctx context.Context, q Query, sources []source, headings bool, need int, seen documents) ([]candidate, error) {
	var all []candidate
	for i := range sources {
		src := &sources[i]
		if src.empty || headings && !src.behind {
			continue
		}
		kept := func(all []candidate) []candidate { return all }
		if q.BestPerDocument {
			kept = func(all []candidate) []candidate { return maps.Clone(seen).first(all, sources) }
		}
		some, err := s.deepen(ctx, src, i, src.side(headings), need, kept)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	sortCandidates(all)
	if q.BestPerDocument {
		all = seen.first(all, sources)
	}
	for i := range all {
		all[i].heading = headings
	}
	return all[:min(need, len(all))], nil
}

// side returns what to do with headings in the search for the passages of s, or for the headings behind them.
func (s *source) side(headings bool) search.Headings {
	switch {
	case headings:
		return search.OnlyHeadings
	case s.behind:
		return search.NoHeadings
	}
	return search.WithHeadings
}

// deepen searches source number i with growing depth. What counts of a ranking is what kept leaves of it.
func (s *Service) deepen(
	ctx context.Context, src *source, i int, headings search.Headings, need int, kept func([]candidate) []candidate,
) ([]candidate, error) {
	for k := max(100, 2*need); ; k *= 4 {
		search := src.search
		search.K, search.Headings = k, headings
		found, err := s.engine.Search(ctx, src.corpus, search)
		if err != nil {
			return nil, err
		}
		all := make([]candidate, len(found.Hits))
		for j, h := range found.Hits {
			src.full = max(src.full, h.Full)
			all[j] = candidate{hit: h, source: i, score: src.fuse(h.Cosine, h.BM25, h.Dims)}
		}
		sortCandidates(all)
		bound, more := src.unseen(&found)
		best := kept(all)
		if !more || len(best) >= need && best[need-1].score > bound {
			return best[:min(need, len(best))], nil
		}
	}
}

// unseen returns a bound on the score of every part that a search looked at and left out, and whether there may be any. Such a
// part is above the floor of no side; where the lexical side has all parts with a score, it has none.
func (s *source) unseen(f *search.Found) (bound float64, more bool) {
	if f.Dense.All || f.Dimensions.All || f.Lexical.All && s.search.Vector == nil {
		return 0, false
	}
	bm25 := f.Lexical.Floor
	if f.Lexical.All {
		bm25 = 0
	}
	return s.fuse(f.Dense.Floor, bm25, f.Dimensions.Floor), true
}

// sortCandidates orders by score, ties by source, document id and part order, so that paging is stable.
func sortCandidates(all []candidate) {
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(
			cmp.Compare(b.score, a.score), cmp.Compare(a.source, b.source),
			cmp.Compare(a.hit.ID, b.hit.ID), cmp.Compare(a.hit.Ord, b.hit.Ord),
		)
	})
}

// documents is a set of documents. Two sources over one corpus count as one.
type documents map[place]bool

type place struct{ corpus, document int64 }

// first returns the first candidate of each document that is not in d, and adds these. all is sorted.
func (d documents) first(all []candidate, sources []source) []candidate {
	return slices.DeleteFunc(slices.Clone(all), func(c candidate) bool {
		p := place{sources[c.source].corpus.No, c.hit.No}
		was := d[p]
		d[p] = true
		return was
	})
}
