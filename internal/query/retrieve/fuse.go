package retrieve

import (
	"cmp"
	"context"
	"slices"

	"quarry/internal/query/rerank"
	"quarry/internal/search"
)

// candidate is a part that was found.
type candidate struct {
	hit    search.Hit
	source int
	score  float64
}

// lexical returns the lexical score of a BM25 score.
func lexical(bm25 float64) float64 { return rerank.LexicalScale * bm25 / (bm25 + rerank.LexicalHalf) }

// fuse returns the retrieval score S = λ·lexical + (1−λ)·cosine + Σ dimensions.
func (s *source) fuse(cosine, bm25, dims float64) float64 {
	return s.lambda*lexical(bm25) + (1-s.lambda)*cosine + dims
}

// retrieve returns exactly the best `need` candidates over all sources: the depth of each search grows until no part that
// it left out could be among them (threshold algorithm; Fagin 2001), so the order never depends on the depth.
func (s *Service) retrieve(ctx context.Context, q Query, sources []source, need int) ([]candidate, error) {
	var all []candidate
	for i := range sources {
		part, err := s.deepen(ctx, &sources[i], need, q.BestPerDocument)
		if err != nil {
			return nil, err
		}
		for j := range part {
			part[j].source = i
		}
		all = append(all, part...)
	}
	for i := range sources {
		for j := range sources {
			if sources[j].lambda == sources[i].lambda { // one scale for one λ
				sources[i].full = max(sources[i].full, sources[j].full)
			}
		}
	}
	sortCandidates(all)
	if q.BestPerDocument {
		all = bestPerDocument(all, sources)
	}
	return all[:min(need, len(all))], nil
}

// deepen searches one source with growing depth.
func (s *Service) deepen(ctx context.Context, src *source, need int, perDocument bool) ([]candidate, error) {
	if src.empty {
		return nil, nil
	}
	for k := max(100, 2*need); ; k *= 4 {
		search := src.search
		search.K = k
		hits, err := s.engine.Search(ctx, src.corpus, search)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			src.full = max(src.full, h.Full)
		}
		all := make([]candidate, len(hits))
		for i, h := range hits {
			all[i] = candidate{hit: h, score: src.fuse(h.Cosine, h.BM25, h.Dims)}
		}
		sortCandidates(all)
		bound, more := src.unseen(hits, k)
		kept := all
		if perDocument {
			kept = bestPerDocument(all, nil)
		}
		if !more || len(kept) >= need && kept[need-1].score > bound {
			return kept[:min(need, len(kept))], nil
		}
	}
}

// unseen returns a bound on the score of every part that a search of depth k did not return, and whether there may be any.
// The search returned the k best of each side, so a missing part is no better there than the k-th.
func (s *source) unseen(hits []search.Hit, k int) (bound float64, more bool) {
	if len(hits) < k {
		return 0, false
	}
	cosines, scores, dims := make([]float64, len(hits)), make([]float64, len(hits)), make([]float64, len(hits))
	matching := 0
	for i, h := range hits {
		cosines[i], scores[i], dims[i] = h.Cosine, h.BM25, h.Dims
		if h.BM25 > 0 {
			matching++
		}
	}
	if s.search.Vector == nil && matching < k {
		return 0, false
	}
	cosine, bm25 := 0.0, 0.0
	if s.search.Vector != nil {
		cosine = kth(cosines, k)
	}
	if s.lambda > 0 {
		bm25 = max(0, kth(scores, k))
	}
	return s.fuse(cosine, bm25, kth(dims, k)), true
}

// kth returns the k-th largest value. It reorders v.
func kth(v []float64, k int) float64 {
	slices.SortFunc(v, func(a, b float64) int { return cmp.Compare(b, a) })
	return v[k-1]
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

// bestPerDocument returns the first candidate of each document of each corpus. all is sorted. Two sources over one corpus
// count as one.
func bestPerDocument(all []candidate, sources []source) []candidate {
	type key struct{ corpus, document int64 }
	seen := map[key]bool{}
	return slices.DeleteFunc(slices.Clone(all), func(c candidate) bool {
		k := key{document: c.hit.No}
		if sources != nil {
			k.corpus = sources[c.source].corpus.No
		}
		was := seen[k]
		seen[k] = true
		return was
	})
}
