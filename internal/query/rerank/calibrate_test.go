package rerank_test

import (
	"testing"

	"quarry/internal/query/rerank"
)

// TestCalibrated proves that scores are within 0 and 1, rise with the retrieval score at every λ, change smoothly with
// λ, and stay as fitted.
func TestCalibrated(t *testing.T) {
	t.Parallel()
	at := func(lambda, unit float64) float64 {
		return rerank.Calibrated(rerank.Signals{Lambda: lambda, Full: 1e15, Score: unit * (rerank.LexicalScale*lambda + 1 - lambda)})
	}
	for lambda := 0.0; lambda <= 1; lambda += 1.0 / 256 {
		last := 0.0
		for unit := -1.0; unit <= 1.0; unit += 1.0 / 64 {
			p := at(lambda, unit)
			if p <= last || p >= 1 {
				t.Fatalf("λ %v, share of the highest score %v: %v after %v", lambda, unit, p, last)
			}
			if d := at(min(1, lambda+1e-6), unit) - p; d > 1e-3 || d < -1e-3 {
				t.Fatalf("λ %v: a millionth more changes the score by %v", lambda, d)
			}
			last = p
		}
	}
	for _, signals := range []rerank.Signals{{Score: 1e300}, {Score: -1e300}, {Lambda: 1, Score: 1e9}, {Score: 3}} {
		if p := rerank.Calibrated(signals); !(p >= 0 && p <= 1) {
			t.Errorf("%+v: %v", signals, p)
		}
	}
	// A weak, a middling and a strong match at the default λ.
	for _, tc := range []struct{ unit, low, high float64 }{{0.3, 0, 0.1}, {0.6, 0.4, 0.6}, {0.9, 0.9, 1}} {
		if p := at(0.025, tc.unit); p < tc.low || p > tc.high {
			t.Errorf("a score of %v of the highest scores %v, want %v to %v", tc.unit, p, tc.low, tc.high)
		}
	}
}
