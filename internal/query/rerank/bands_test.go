package rerank_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/internal/query/rerank"
)

// leaves are stages of every type, with limits and cutoffs that end before, in and behind the first band.
func leaves(r *rand.Rand) rerank.Spec {
	spec := []rerank.Spec{
		{}, {Type: "none"}, {Type: "mmr"}, {Type: "mmr", DiversityBias: ptr(r.Float64())}, {Type: "mmr", Cutoff: ptr(r.NormFloat64() / 2)},
		{Type: "customer_reranker", Cutoff: ptr(0.1)}, {Type: "userfn", UserFunction: "get('$.part_metadata.n') * 3 - get('$.score')"},
		{Type: "userfn", UserFunction: "if (get('$.part_metadata.n') == 2) null else get('$.index') % 7 + get('$.all_scores[3]', 1)"},
		{Type: "userfn", UserFunction: "knee(0.95)"}, {Type: "userfn", UserFunction: "get('$.score') / 2", Cutoff: ptr(0)},
	}[r.IntN(10)]
	if r.IntN(3) == 0 {
		spec.Limit = 1 + r.IntN(300)
	}
	return spec
}

// positions returns where each item stands, by index.
func positions(items []rerank.Item) map[int]int {
	out := map[int]int{}
	for i, x := range items {
		out[x.Index] = i
	}
	return out
}

// page returns a page as a query finds it: with no more candidates than the page needs.
func page(t *testing.T, p rerank.Pipeline, m *random, items []rerank.Item, offset, limit int) []rerank.Item {
	t.Helper()
	band := p.Band(limit)
	pool := items[:min(len(items), rerank.Pool(band, offset+limit))]
	got, _, err := p.Run(t.Context(), pool, band, m, false)
	if err != nil {
		t.Fatal(err)
	}
	got = got[min(offset, len(got)):]
	return got[:min(limit, len(got))]
}

// TestPagesAreSlices proves that pages of any size are slices of one order, with the scores of that order, for 200 random
// pools and chains with mmr in any place, and that scores never rise along the order.
func TestPagesAreSlices(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(20, 10))
	for round := range 200 {
		m, items := draw(r, 90+r.IntN([]int{60, 400, 1300}[round%3]))
		position := positions(items)
		spec := rerank.Spec{Type: "chain"}
		for range r.IntN(3) {
			spec.Rerankers = append(spec.Rerankers, leaves(r))
		}
		spec.Rerankers = slices.Insert(spec.Rerankers, r.IntN(len(spec.Rerankers)+1), rerank.Spec{Type: "mmr", DiversityBias: ptr(r.Float64())})
		p, err := rerank.Check(spec)
		if err != nil {
			t.Fatal(err)
		}
		deep := page(t, p, m, items, 0, len(items))
		if !slices.IsSortedFunc(deep, func(a, b rerank.Item) int { return cmp.Compare(b.Score, a.Score) }) {
			t.Fatalf("%+v: scores rise", spec.Rerankers)
		}
		for offset, limit := 0, 0; offset < len(items); offset += limit {
			limit = 1 + r.IntN([]int{20, 150, 700}[r.IntN(3)])
			// Nulls and cutoffs leave less than there are candidates, which a page does not make up for.
			found := rerank.Pool(rerank.FirstBand, offset+limit)
			behind := slices.IndexFunc(deep, func(x rerank.Item) bool { return position[x.Index] >= found })
			if behind < 0 {
				behind = len(deep)
			}
			want := deep[min(offset, behind):min(offset+limit, behind)]
			if got := page(t, p, m, items, offset, limit); !slices.Equal(got, want) {
				t.Fatalf("%d results, %+v: the page of %d at %d differs from the deep query", len(items), spec.Rerankers, limit, offset)
			}
		}
	}
}

// TestPagesOfOneSize proves that pages of one size share no result where no stage compares results, and that the first of
// them is in the order of the user function as a whole, whatever its size.
func TestPagesOfOneSize(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(20, 11))
	m, items := draw(r, 700)
	p, err := rerank.Check(rerank.Spec{Type: "userfn", UserFunction: "0 - get('$.score')"})
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{7, 50, 100, 101, 300, 700} {
		seen := map[int]bool{}
		for offset := 0; offset < len(items); offset += limit {
			for _, x := range page(t, p, m, items, offset, limit) {
				if seen[x.Index] {
					t.Fatalf("pages of %d: %d stands on two", limit, x.Index)
				}
				seen[x.Index] = true
			}
		}
		if len(seen) != len(items) {
			t.Errorf("pages of %d: %d of %d results", limit, len(seen), len(items))
		}
		first, want := page(t, p, m, items, 0, limit), items[min(len(items), rerank.Pool(rerank.FirstBand, limit))-1].Score
		if first[0].Score != -want {
			t.Errorf("page of %d: the first score is %v, want %v", limit, first[0].Score, -want)
		}
	}
}

// TestBandsOfMMR proves the order of the bands by the definition: the first hundred among themselves, the next nine hundred
// behind them, compared to what stands before, and the rest in its old order. The parts of the scores add up.
func TestBandsOfMMR(t *testing.T) {
	t.Parallel()
	m, items := draw(rand.New(rand.NewPCG(20, 12)), 1100)
	position := positions(items)
	const bias = 0.4
	p, err := rerank.Check(rerank.Spec{Type: "mmr", DiversityBias: ptr(bias)})
	if err != nil {
		t.Fatal(err)
	}
	got, steps, err := p.Run(t.Context(), items, p.Band(10), m, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(items) || len(steps) != 1 || len(steps[0].In) != len(items) || !slices.Equal(steps[0].Out, got) {
		t.Fatalf("%d results of %d, steps %+v", len(got), len(items), steps)
	}
	nearest := slices.Repeat([]float64{math.Inf(-1)}, len(items))
	picked := make([]bool, len(items))
	for _, band := range [][2]int{{0, 100}, {100, 1000}} {
		highest, lowest := items[band[0]].Score, items[band[1]-1].Score
		for rank := band[0]; rank < band[1]; rank++ {
			pick := position[got[rank].Index]
			worth := func(i int) float64 {
				return (1-bias)*(items[i].Score-lowest)/(highest-lowest) - bias*nearest[i]
			}
			for i := band[0]; i < band[1] && rank > 0; i++ {
				if pick < band[0] || pick >= band[1] || !picked[i] && worth(i) > worth(pick)+1e-6 {
					t.Fatalf("rank %d is the item at %d, the one at %d is worth more", rank, pick, i)
				}
			}
			picked[pick] = true
			for i := range items {
				nearest[i] = max(nearest[i], dot(m.vectors[items[i].Index].Values, m.vectors[got[rank].Index].Values))
			}
		}
	}
	before := map[int]float64{}
	for _, x := range items {
		before[x.Index] = x.Score
	}
	for i, x := range got {
		if i >= 1000 && x != (rerank.Item{Index: items[i].Index, Score: x.Score}) {
			t.Fatalf("rank %d is %d, want %d", i, x.Index, items[i].Index)
		}
		sum := before[x.Index]
		for _, part := range steps[0].Parts[x.Index] {
			sum += part.Value
		}
		if d := sum - x.Score; d > 1e-9 || d < -1e-9 {
			t.Errorf("rank %d: parts give %v, the score is %v", i, sum, x.Score)
		}
	}
}

// TestLimitOverBands proves that a limit counts the results of all bands, that a cutoff of mmr ends the list for good, and
// that a knee found in one band stands for those behind it.
func TestLimitOverBands(t *testing.T) {
	t.Parallel()
	m, items := draw(rand.New(rand.NewPCG(20, 13)), 400)
	for i := range items {
		items[i].Score = float64(500 - i)
		if i >= 30 {
			items[i].Score = float64(100-i) / 10
		}
	}
	for _, c := range []struct {
		spec rerank.Spec
		want int
	}{
		{rerank.Spec{Type: "mmr", Limit: 130}, 130},
		{rerank.Spec{Type: "mmr", DiversityBias: ptr(0), Cutoff: ptr(0.5)}, 30},
		{rerank.Spec{Type: "chain", Rerankers: []rerank.Spec{{Type: "userfn", UserFunction: "knee()"}, {Type: "mmr"}}}, 30},
		{rerank.Spec{Type: "chain", Rerankers: []rerank.Spec{{Type: "mmr", Limit: 70}, {Type: "none", Limit: 90}}}, 70},
	} {
		p, err := rerank.Check(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		got, steps, err := p.Run(t.Context(), items, p.Band(10), m, true)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != c.want {
			t.Errorf("%+v: %d results, want %d", c.spec, len(got), c.want)
		}
		for _, s := range steps {
			if len(s.Out)+len(s.Removed) != len(s.In) {
				t.Errorf("%+v: %s: %d in, %d out, %d removed", c.spec, s.Name, len(s.In), len(s.Out), len(s.Removed))
			}
		}
	}
}
