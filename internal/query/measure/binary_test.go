package measure_test

import (
	"math"
	"testing"

	"quarry/internal/query/measure"
)

// Proves the values of small cases counted by hand, ties and one-sided sets included.
func TestBinary(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		scores         []float64
		positive       []bool
		area, balanced float64
	}{
		"in order":      {[]float64{0.9, 0.8, 0.2, 0.1}, []bool{true, true, false, false}, 1, 1},
		"reversed":      {[]float64{0.1, 0.9}, []bool{true, false}, 0, 0},
		"one pair lost": {[]float64{0.9, 0.3, 0.6, 0.1}, []bool{true, true, false, false}, 0.75, 0.5},
		"all equal":     {[]float64{0.7, 0.7, 0.7}, []bool{true, false, false}, 0.5, 0.5},
		"one class":     {[]float64{0.7, 0.2}, []bool{true, true}, 0.5, 0.5},
		"none":          {nil, nil, 0.5, 0.5},
	} {
		if got := measure.AUROC(test.scores, test.positive); math.Abs(got-test.area) > 1e-12 {
			t.Errorf("%s: AUROC is %g, want %g", name, got, test.area)
		}
		if got := measure.BalancedAccuracy(test.scores, test.positive, 0.5); math.Abs(got-test.balanced) > 1e-12 {
			t.Errorf("%s: balanced accuracy is %g, want %g", name, got, test.balanced)
		}
	}
}
