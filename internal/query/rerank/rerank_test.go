package rerank_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/fault"
	"quarry/internal/query/rerank"
)

func ptr(f float64) *float64 { return &f }

// signalsOnly implements rerank.Candidates with nothing but scores.
type signalsOnly []float64

func (m signalsOnly) Signals(i int) rerank.Signals { return rerank.Signals{Score: m[i]} }

func (signalsOnly) Passages(_ context.Context, i []int) ([]rerank.Passage, error) {
	return make([]rerank.Passage, len(i)), nil
}

func (signalsOnly) Vectors(_ context.Context, i []int) ([]rerank.Vector, error) {
	return make([]rerank.Vector, len(i)), nil
}

// TestSteps proves the order of a stage's steps: score, cutoff, sort with ties kept, limit; and that a chain hands on
// what a stage leaves.
func TestSteps(t *testing.T) {
	t.Parallel()
	p := func(score float64) float64 { return rerank.Calibrated(rerank.Signals{Score: score}) }
	candidates := signalsOnly{0.4, 0.9, 0.4, -0.2, 1.7}
	items := []rerank.Item{{Index: 4, Score: 50}, {Index: 0, Score: 9}, {Index: 1, Score: 8}, {Index: 2, Score: 7}, {Index: 3, Score: -1}}
	customer := rerank.Spec{Type: "customer_reranker"}
	for _, tc := range []struct {
		name string
		spec rerank.Spec
		want []rerank.Item
	}{
		{"none keeps scores", rerank.Spec{Type: "none", Limit: 2, Cutoff: ptr(60)}, []rerank.Item{{4, 50}, {0, 9}}},
		{"default maps to 0..1", rerank.Spec{}, []rerank.Item{{4, p(1.7)}, {1, p(0.9)}, {0, p(0.4)}, {2, p(0.4)}, {3, p(-0.2)}}},
		{"cutoff is inclusive and comes before the limit", rerank.Spec{Type: "customer_reranker", Cutoff: ptr(p(0.4)), Limit: 3}, []rerank.Item{{4, p(1.7)}, {1, p(0.9)}, {0, p(0.4)}}},
		{"a chain hands on, and its own limit means nothing", rerank.Spec{
			Type: "chain", Limit: 1, Cutoff: ptr(5), Rerankers: []rerank.Spec{{Type: "none", Limit: 3}, {Type: "chain", Rerankers: []rerank.Spec{customer}}},
		}, []rerank.Item{{4, p(1.7)}, {1, p(0.9)}, {0, p(0.4)}}},
	} {
		stages, err := rerank.Check(tc.spec)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := stages.Run(t.Context(), items, 100, candidates, false)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s:\n%s", tc.name, d)
		}
	}
}

// chain returns a chain of n equal stages.
func chain(n int, of ...rerank.Spec) rerank.Spec {
	out := rerank.Spec{Type: "chain"}
	for range n {
		out.Rerankers = append(out.Rerankers, of...)
	}
	return out
}

// nested returns a stage inside n chains.
func nested(n int) rerank.Spec {
	out := rerank.Spec{Type: "none"}
	for range n {
		out = chain(1, out)
	}
	return out
}

// TestCheck proves which rerankers are refused, how, and on which field.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		spec  rerank.Spec
		kind  fault.Kind
		field string
	}{
		{rerank.Spec{Type: "best"}, fault.KindInvalid, "type"},
		{rerank.Spec{Type: "mmr", DiversityBias: ptr(1.1)}, fault.KindInvalid, "diversity_bias"},
		{rerank.Spec{Type: "mmr", DiversityBias: ptr(-0.1)}, fault.KindInvalid, "diversity_bias"},
		{rerank.Spec{Type: "userfn"}, fault.KindInvalid, "user_function"},
		{rerank.Spec{Type: "userfn", UserFunction: "1 +"}, fault.KindInvalid, "user_function"},
		{rerank.Spec{Type: "chain"}, fault.KindInvalid, "rerankers"},
		{chain(1, chain(0)), fault.KindInvalid, "rerankers[0].rerankers"},
		{chain(51, rerank.Spec{Type: "none"}), fault.KindInvalid, ""},
		{chain(2, chain(26, rerank.Spec{Type: "none"})), fault.KindInvalid, ""},
		{chain(1, chain(1, rerank.Spec{Type: "userfn", UserFunction: "foo()"})), fault.KindInvalid, "rerankers[0].rerankers[0].user_function"},
		{nested(51), fault.KindInvalid, ""},
		{rerank.Spec{Type: "customer_reranker", Name: "unknown"}, fault.KindInvalid, "reranker_name"},
		{rerank.Spec{Type: "customer_reranker", ID: "rnk_272725718"}, fault.KindInvalid, "reranker_id"},
		{rerank.Spec{Type: "customer_reranker", ID: "rnk_1"}, fault.KindInvalid, "reranker_id"},
		{rerank.Spec{Type: "customer_reranker", Cutoff: ptr(1.1)}, fault.KindInvalid, "cutoff"},
	} {
		_, err := rerank.Check(tc.spec)
		f, ok := fault.As(err)
		if !ok || f.Kind != tc.kind || f.Fields[tc.field] == "" {
			t.Errorf("%+v: got %v, want kind %d at %q", tc.spec, err, tc.kind, tc.field)
		}
	}
	for _, spec := range []rerank.Spec{
		{Type: "customer_reranker", ID: "rnk_272725719"}, {Type: "customer_reranker", Name: "rerank-default", ID: "rnk_1"}, {Type: "none", Cutoff: ptr(7)},
		chain(50, rerank.Spec{Type: "none"}), chain(2, chain(25, rerank.Spec{})), nested(50), {Type: "mmr", DiversityBias: ptr(1), Cutoff: ptr(-3), UserFunction: "not looked at ("},
		{Type: "userfn", UserFunction: "1", Cutoff: ptr(1e9)},
	} {
		if _, err := rerank.Check(spec); err != nil {
			t.Errorf("%+v: %v", spec, err)
		}
	}
}
