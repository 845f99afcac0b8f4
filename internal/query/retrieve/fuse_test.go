package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/search"
	"quarry/internal/text/lang"
)

// fixed searches a list of parts whose scores are given, as an Engine must. None of them is a heading.
type fixed []search.Hit

func (fixed) Languages(context.Context, corpus.Corpus) ([]lang.Count, error) { return nil, nil }

func (f fixed) Search(_ context.Context, _ corpus.Corpus, q search.Query) (out search.Found, err error) {
	if q, err = q.Known(); err != nil {
		return out, err
	}
	if q.Headings == search.OnlyHeadings {
		return nothing, nil
	}
	pick := map[string]search.Hit{}
	take := func(score func(search.Hit) float64, may func(search.Hit) bool) search.Side {
		all := slices.DeleteFunc(slices.Clone(f), func(h search.Hit) bool { return may != nil && !may(h) })
		slices.SortFunc(all, func(a, b search.Hit) int { return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(a.ID, b.ID)) })
		for _, h := range all[:min(q.K, len(all))] {
			pick[h.ID] = h
		}
		if len(all) <= q.K {
			return search.Side{All: true, Exact: true}
		}
		return search.Side{Floor: score(all[q.K-1]), Exact: true}
	}
	if q.Vector != nil {
		out.Dense = take(func(h search.Hit) float64 { return h.Cosine }, nil)
	}
	out.Lexical = take(func(h search.Hit) float64 { return h.BM25 }, func(h search.Hit) bool { return h.BM25 > 0 })
	if q.Dimensions != nil {
		out.Dimensions = take(func(h search.Hit) float64 { return h.Dims }, func(h search.Hit) bool { return q.Vector != nil || h.BM25 > 0 })
	}
	for _, h := range pick {
		out.Hits = append(out.Hits, h)
	}
	return out, nil
}

// nothing is the answer of an engine that has nothing.
var nothing = search.Found{
	Dense: search.Side{All: true, Exact: true}, Lexical: search.Side{All: true, Exact: true}, Dimensions: search.Side{All: true, Exact: true},
}

func (fixed) Vectors(_ context.Context, _ corpus.Corpus, parts []search.Hit) ([][]float32, error) {
	return make([][]float32, len(parts)), nil
}

// TestExactOrder proves that a page shows the true ranking whatever its depth: every page is a slice of one order, which
// is that of the fused scores of all parts.
func TestExactOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 12))
	var all fixed
	for i := range 3000 {
		h := search.Hit{No: int64(i / 3), ID: fmt.Sprintf("d%04d", i), Cosine: r.NormFloat64() * 0.2}
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
			want[i] = candidate{hit: h, score: src.mix().Score(h.Cosine, h.BM25, 0)}
		}
		sortCandidates(want)
		s := &Service{engine: all}
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

// TestExactDimensions proves that custom dimensions of any sign and size are part of the exact order: few parts with a
// large value, however badly they match, and many with none.
func TestExactDimensions(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(13, 14))
	for round := range 60 {
		weight := []float64{1, -1, 0.01, -0.1, 50}[round%5]
		var all fixed
		for i := range 600 + r.IntN(1500) {
			h := search.Hit{No: int64(i), ID: fmt.Sprintf("d%04d", i), Cosine: r.NormFloat64() * 0.2}
			if r.IntN(3) == 0 {
				h.BM25 = r.ExpFloat64() * 5
			}
			switch r.IntN(20) {
			case 0:
				h.Dims = weight * r.NormFloat64() * 10
			case 1, 2, 3:
				h.Dims = weight * float64(r.IntN(3)-1)
			}
			all = append(all, h)
		}
		src := source{lambda: []float64{0, 0.025, 0.5, 1}[round%4]}
		src.search.Dimensions = []float64{weight}
		if src.lambda < 1 {
			src.search.Vector = []float32{1}
		}
		var want []candidate
		for _, h := range all {
			if src.lambda < 1 || h.BM25 > 0 {
				want = append(want, candidate{hit: h, score: src.mix().Score(h.Cosine, h.BM25, h.Dims)})
			}
		}
		sortCandidates(want)
		for _, need := range []int{1, 10, 120, 900} {
			got, err := (&Service{engine: all}).retrieve(t.Context(), Query{}, []source{src}, need)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != min(need, len(want)) {
				t.Fatalf("λ %v, weight %v: %d candidates, want %d", src.lambda, weight, len(got), min(need, len(want)))
			}
			for i := range got {
				if got[i].hit.ID != want[i].hit.ID {
					t.Fatalf("λ %v, weight %v, need %d: rank %d is %s, want %s", src.lambda, weight, need, i, got[i].hit.ID, want[i].hit.ID)
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
		all = append(all, search.Hit{No: int64(i / 30), ID: fmt.Sprintf("d%03d", i/30), Ord: i % 30, Cosine: 1 - float64(i)/1000})
	}
	for i := range all {
		all[i].ID = fmt.Sprintf("d%03d-%03d", i/30, i)
	}
	src := source{lambda: 0}
	src.search.Vector = []float32{1}
	got, err := (&Service{engine: all}).retrieve(t.Context(), Query{BestPerDocument: true}, []source{src}, 20)
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
