package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/index"
)

// fixed searches a list of parts whose scores are given, as a Searcher must.
type fixed []index.Hit

func (fixed) Languages(context.Context, corpus.Corpus) ([]index.Language, error) { return nil, nil }

func (f fixed) Search(_ context.Context, _ corpus.Corpus, q index.Query) ([]index.Hit, error) {
	pick := map[string]index.Hit{}
	take := func(score func(index.Hit) float64, positive bool) {
		all := slices.Clone(f)
		slices.SortFunc(all, func(a, b index.Hit) int { return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(a.ID, b.ID)) })
		for _, h := range all[:min(q.K, len(all))] {
			if !positive || score(h) > 0 {
				pick[h.ID] = h
			}
		}
	}
	take(func(h index.Hit) float64 { return h.Cosine }, false)
	take(func(h index.Hit) float64 { return h.BM25 }, true)
	var out []index.Hit
	for _, h := range pick {
		out = append(out, h)
	}
	return out, nil
}

// TestExactOrder proves that a page shows the true ranking whatever its depth: every page is a slice of one order, which
// is that of the fused scores of all parts.
func TestExactOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 12))
	var all fixed
	for i := range 3000 {
		h := index.Hit{No: int64(i / 3), ID: fmt.Sprintf("d%04d", i), Cosine: r.NormFloat64() * 0.2}
		if r.IntN(3) == 0 {
			h.BM25 = r.ExpFloat64() * 5
		}
		all = append(all, h)
	}
	for _, lambda := range []float64{0.025, 0.5} {
		src := source{lambda: lambda}
		src.search.Vector = []float32{1}
		want := make([]candidate, len(all))
		for i, h := range all {
			want[i] = candidate{hit: h, score: src.fuse(h.Cosine, h.BM25, 0)}
		}
		sortCandidates(want)
		s := &Service{searcher: all}
		for _, need := range []int{1, 10, 55, 400, 5000} {
			got, err := s.retrieve(t.Context(), Query{}, []source{src}, need)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != min(need, len(all)) {
				t.Fatalf("λ %v: %d candidates, want %d", lambda, len(got), min(need, len(all)))
			}
			for i := range got {
				if got[i].hit.ID != want[i].hit.ID {
					t.Fatalf("λ %v, need %d: rank %d is %s, want %s", lambda, need, i, got[i].hit.ID, want[i].hit.ID)
				}
			}
		}
	}
}

// TestBestPerDocument proves that max_by keeps the best part of each document and still fills the page.
func TestBestPerDocument(t *testing.T) {
	t.Parallel()
	var all fixed
	for i := range 900 { // 30 documents of 30 parts; the parts of the first fill any shallow pool
		all = append(all, index.Hit{No: int64(i / 30), ID: fmt.Sprintf("d%03d", i/30), Ord: i % 30, Cosine: 1 - float64(i)/1000})
	}
	for i := range all {
		all[i].ID = fmt.Sprintf("d%03d-%03d", i/30, i)
	}
	src := source{lambda: 0}
	src.search.Vector = []float32{1}
	got, err := (&Service{searcher: all}).retrieve(t.Context(), Query{BestPerDocument: true}, []source{src}, 20)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 20 {
		t.Fatalf("%d documents, want 20", len(got))
	}
	for i, c := range got {
		if c.hit.No != int64(i) || c.hit.Ord != 0 {
			t.Errorf("rank %d is part %d of document %d, want the first of document %d", i, c.hit.Ord, c.hit.No, i)
		}
	}
}
