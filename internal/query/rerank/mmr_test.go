package rerank_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/internal/query/rerank"
)

// random implements rerank.Candidates over random results.
type random struct {
	vectors  []rerank.Vector
	passages []rerank.Passage
	scores   []float64
}

func (m *random) Signals(i int) rerank.Signals { return rerank.Signals{Score: m.scores[i]} }

func (m *random) Passages(_ context.Context, indexes []int) ([]rerank.Passage, error) {
	var out []rerank.Passage
	for _, i := range indexes {
		out = append(out, m.passages[i])
	}
	return out, nil
}

func (m *random) Vectors(_ context.Context, indexes []int) ([]rerank.Vector, error) {
	var out []rerank.Vector
	for _, i := range indexes {
		out = append(out, m.vectors[i])
	}
	return out, nil
}

// draw returns n results, best first, in one space of vectors.
func draw(r *rand.Rand, n int) (*random, []rerank.Item) {
	m := &random{}
	items := make([]rerank.Item, n)
	for i := range n {
		v, square := make([]float32, 6), 0.0
		for j := range v {
			v[j] = float32(r.NormFloat64() + 0.5)
			square += float64(v[j]) * float64(v[j])
		}
		for j := range v {
			v[j] = float32(float64(v[j]) / math.Sqrt(square))
		}
		m.vectors = append(m.vectors, rerank.Vector{Space: "a", Values: v})
		m.passages = append(m.passages, rerank.Passage{
			DocumentID: fmt.Sprint(i), Part: fmt.Sprintf("word%d word%d", r.IntN(5), r.IntN(5)),
			PartMetadata: json.RawMessage(fmt.Sprintf(`{"n":%d}`, r.IntN(4))),
		})
		m.scores = append(m.scores, r.Float64()*1.4-0.2)
		items[i] = rerank.Item{Index: i, Score: math.Round(r.NormFloat64()*8) / 4}
	}
	slices.SortStableFunc(items, func(a, b rerank.Item) int { return cmp.Compare(b.Score, a.Score) })
	return m, items
}

func dot(a, b []float32) float64 {
	s := 0.0
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

// greedy is maximal marginal relevance as it is defined: every candidate is compared to every pick.
func greedy(m *random, items []rerank.Item, bias float64) []int {
	lowest, highest := items[len(items)-1].Score, items[0].Score
	picked := []int{0}
	for len(picked) < len(items) {
		best, worth := -1, math.Inf(-1)
		for i, x := range items {
			if slices.Contains(picked, i) {
				continue
			}
			rel, near := 1.0, math.Inf(-1)
			if highest > lowest {
				rel = (x.Score - lowest) / (highest - lowest)
			}
			for _, j := range picked {
				near = max(near, dot(m.vectors[x.Index].Values, m.vectors[items[j].Index].Values))
			}
			if w := (1-bias)*rel - bias*near; w > worth+1e-6 {
				best, worth = i, w
			}
		}
		picked = append(picked, best)
	}
	out := make([]int, len(picked))
	for i, p := range picked {
		out[i] = items[p].Index
	}
	return out
}

// TestMMR proves that the lazy choice is that of the definition, and that scores fall along it.
func TestMMR(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 200 {
		m, items := draw(r, 1+r.IntN(60))
		bias := []float64{0, 0.05, 0.3, 0.7, 1}[round%5]
		stages, err := rerank.Check(rerank.Spec{Type: "mmr", DiversityBias: &bias})
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := stages.Run(t.Context(), items, 100, m, false)
		if err != nil {
			t.Fatal(err)
		}
		want := greedy(m, items, bias)
		for i := range want {
			if got[i].Index != want[i] {
				t.Fatalf("bias %v, %d results: pick %d is %d, want %d", bias, len(items), i, got[i].Index, want[i])
			}
			if i > 0 && got[i].Score > got[i-1].Score {
				t.Fatalf("bias %v: score rises from %v to %v", bias, got[i-1].Score, got[i].Score)
			}
		}
		if bias == 0 && !slices.EqualFunc(items, got, func(a, b rerank.Item) bool { return a.Index == b.Index }) {
			t.Fatalf("bias 0 changes the order: %v, want %v", got, items)
		}
	}
}

// TestMMRWithoutVectors proves that words in common stand in for vectors that are missing or of another encoder.
func TestMMRWithoutVectors(t *testing.T) {
	t.Parallel()
	m := &random{scores: make([]float64, 4), passages: []rerank.Passage{{Part: "the red pump"}, {Part: "the red pump"}, {Part: "blue fans, 机器学习"}, {Part: "the red pump!"}}}
	m.vectors = []rerank.Vector{{}, {}, {Space: "b", Values: []float32{1}}, {}}
	items := []rerank.Item{{Index: 0, Score: 1}, {Index: 1, Score: 0.9}, {Index: 2, Score: 0.5}, {Index: 3, Score: 0.4}}
	stages, err := rerank.Check(rerank.Spec{Type: "mmr", DiversityBias: ptr(0.7)})
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := stages.Run(t.Context(), items, 100, m, false)
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Index != 0 || got[1].Index != 2 || got[2].Index != 1 {
		t.Errorf("got %v, want the different one second", got)
	}
}

// TestMMRDeep proves that what lies behind the results that are compared keeps its order and stays behind.
func TestMMRDeep(t *testing.T) {
	t.Parallel()
	m, items := draw(rand.New(rand.NewPCG(5, 6)), 1200)
	stages, err := rerank.Check(rerank.Spec{Type: "mmr"})
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := stages.Run(t.Context(), items, 100, m, false)
	if err != nil {
		t.Fatal(err)
	}
	for i := range items[1000:] {
		if got[1000+i].Index != items[1000+i].Index {
			t.Fatalf("rank %d is %d, want %d", 1000+i, got[1000+i].Index, items[1000+i].Index)
		}
	}
}

// TestPartsSum proves that the parts of a score add up to it, for random chains of every type.
func TestPartsSum(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	leaves := []rerank.Spec{
		{}, {Type: "none"}, {Type: "none", Limit: 7}, {Type: "mmr"}, {Type: "mmr", DiversityBias: ptr(1), Cutoff: ptr(-0.5)},
		{Type: "customer_reranker", Cutoff: ptr(0.2), Limit: 20}, {Type: "userfn", UserFunction: "get('$.score') * 3 - get('$.part_metadata.n')"},
		{Type: "userfn", UserFunction: "if (get('$.part_metadata.n') == 2) null else 1000 * get('$.index')"}, {Type: "userfn", UserFunction: "knee(0.9)"},
	}
	for range 300 {
		m, items := draw(r, r.IntN(40))
		spec := rerank.Spec{Type: "chain"}
		for range 1 + r.IntN(4) {
			spec.Rerankers = append(spec.Rerankers, leaves[r.IntN(len(leaves))])
		}
		stages, err := rerank.Check(spec)
		if err != nil {
			t.Fatal(err)
		}
		got, steps, err := stages.Run(t.Context(), items, 100, m, true)
		if err != nil {
			t.Fatal(err)
		}
		plain, _, err := stages.Run(t.Context(), items, 100, m, false)
		if err != nil || !slices.Equal(got, plain) {
			t.Fatalf("recording changes the results: %v, want %v (%v)", got, plain, err)
		}
		before := map[int]float64{}
		for _, x := range items {
			before[x.Index] = x.Score
		}
		for _, s := range steps {
			if len(s.Out)+len(s.Removed) != len(s.In) {
				t.Fatalf("%s: %d in, %d out, %d removed", s.Name, len(s.In), len(s.Out), len(s.Removed))
			}
			for _, x := range s.Out {
				for _, p := range s.Parts[x.Index] {
					before[x.Index] += p.Value
				}
				if math.Abs(before[x.Index]-x.Score) > 1e-6 {
					t.Fatalf("%s: parts give %v, score is %v", s.Name, before[x.Index], x.Score)
				}
			}
		}
	}
}

func BenchmarkMMR(b *testing.B) {
	for _, n := range []int{100, 1000} {
		m, items := draw(rand.New(rand.NewPCG(9, 9)), n)
		for i := range m.vectors {
			m.vectors[i].Values = slices.Repeat(m.vectors[i].Values, 64)
			for j := range m.vectors[i].Values {
				m.vectors[i].Values[j] /= 8
			}
		}
		stages, err := rerank.Check(rerank.Spec{Type: "mmr"})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := stages.Run(b.Context(), items, 100, m, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
