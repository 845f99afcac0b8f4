package measure_test

import (
	"math"
	"testing"
	"time"

	"quarry/internal/query/measure"
)

// TestRanking proves the metrics on rankings small enough to work out by hand.
func TestRanking(t *testing.T) {
	t.Parallel()
	j := measure.Judgements{"a": 2, "b": 1, "c": 0}
	log3 := math.Log2(3)
	for _, tc := range []struct {
		name              string
		ranked            []string
		ndcg, recall, mrr float64
	}{
		{"ideal", []string{"a", "b", "c"}, 1, 1, 1},
		{"swapped", []string{"b", "a"}, (1 + 2/log3) / (2 + 1/log3), 1, 1},
		{"late", []string{"c", "x", "a"}, (2 / 2.0) / (2 + 1/log3), 0.5, 1.0 / 3},
		{"nothing found", []string{"c", "x"}, 0, 0, 0},
		{"empty", nil, 0, 0, 0},
	} {
		got := []float64{measure.NDCG(tc.ranked, j, 10), measure.Recall(tc.ranked, j, 100), measure.ReciprocalRank(tc.ranked, j, 10)}
		want := []float64{tc.ndcg, tc.recall, tc.mrr}
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-12 {
				t.Errorf("%s: metric %d is %v, want %v", tc.name, i, got[i], want[i])
			}
		}
	}
}

// TestCutoff proves that nothing beyond rank k counts.
func TestCutoff(t *testing.T) {
	t.Parallel()
	j := measure.Judgements{"a": 1}
	if got := measure.NDCG([]string{"x", "a"}, j, 1); got != 0 {
		t.Errorf("NDCG at 1 is %v, want 0", got)
	}
	if got := measure.ReciprocalRank([]string{"x", "a"}, j, 1); got != 0 {
		t.Errorf("reciprocal rank at 1 is %v, want 0", got)
	}
}

// TestPercentile proves nearest-rank percentiles.
func TestPercentile(t *testing.T) {
	t.Parallel()
	d := []time.Duration{1, 2, 3, 4}
	if p50, p99 := measure.Percentile(d, 0.5), measure.Percentile(d, 0.99); p50 != 2 || p99 != 4 {
		t.Errorf("p50 %d, p99 %d; want 2 and 4", p50, p99)
	}
}
