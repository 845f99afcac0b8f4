package rerank_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/fault"
	"quarry/internal/rerank"
)

func ptr(f float64) *float64 { return &f }

// TestApply proves the order of a stage's steps: score, cutoff, sort with ties kept, limit.
func TestApply(t *testing.T) {
	t.Parallel()
	items := func() []rerank.Item {
		return []rerank.Item{{Index: 0, Score: 9, Unit: 0.4}, {Index: 1, Score: 8, Unit: 0.9}, {Index: 2, Score: 7, Unit: 0.4}, {Index: 3, Score: -1, Unit: -0.2}, {Index: 4, Score: 50, Unit: 1.7}}
	}
	for _, tc := range []struct {
		name string
		spec rerank.Spec
		want []rerank.Item
	}{
		{"none keeps scores", rerank.Spec{Type: "none", Limit: 2}, []rerank.Item{{Index: 4, Score: 50, Unit: 1.7}, {Index: 0, Score: 9, Unit: 0.4}}},
		{"default maps to 0..1", rerank.Spec{}, []rerank.Item{
			{Index: 4, Score: 1, Unit: 1.7}, {Index: 1, Score: 0.9, Unit: 0.9}, {Index: 0, Score: 0.4, Unit: 0.4}, {Index: 2, Score: 0.4, Unit: 0.4}, {Index: 3, Score: 0, Unit: -0.2},
		}},
		{"cutoff is inclusive and comes before the limit", rerank.Spec{Type: "customer_reranker", Cutoff: ptr(0.4), Limit: 3}, []rerank.Item{
			{Index: 4, Score: 1, Unit: 1.7}, {Index: 1, Score: 0.9, Unit: 0.9}, {Index: 0, Score: 0.4, Unit: 0.4},
		}},
	} {
		stage, err := rerank.Check(tc.spec, "p")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tc.want, stage.Apply(items())); d != "" {
			t.Errorf("%s:\n%s", tc.name, d)
		}
	}
}

// TestCheck proves which rerankers are refused, how, and on which field.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		spec  rerank.Spec
		kind  fault.Kind
		field string
	}{
		{rerank.Spec{Type: "best"}, fault.KindInvalid, "p.type"},
		{rerank.Spec{Type: "mmr"}, fault.KindNotBuilt, ""},
		{rerank.Spec{Type: "customer_reranker", Name: "unknown"}, fault.KindInvalid, "p.reranker_name"},
		{rerank.Spec{Type: "customer_reranker", ID: "rnk_272725718"}, fault.KindInvalid, "p.reranker_id"},
		{rerank.Spec{Type: "customer_reranker", ID: "rnk_1"}, fault.KindInvalid, "p.reranker_id"},
		{rerank.Spec{Type: "customer_reranker", Cutoff: ptr(1.1)}, fault.KindInvalid, "p.cutoff"},
	} {
		_, err := rerank.Check(tc.spec, "p")
		f, ok := fault.As(err)
		if !ok || f.Kind != tc.kind || tc.field != "" && f.Fields[tc.field] == "" {
			t.Errorf("%+v: got %v, want kind %d at %q", tc.spec, err, tc.kind, tc.field)
		}
	}
	for _, spec := range []rerank.Spec{
		{Type: "customer_reranker", ID: "rnk_272725719"}, {Type: "customer_reranker", Name: "rerank-default", ID: "rnk_1"}, {Type: "none", Cutoff: ptr(7)},
	} {
		if _, err := rerank.Check(spec, "p"); err != nil {
			t.Errorf("%+v: %v", spec, err)
		}
	}
}
