package sketch_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/internal/metric/sketch"
)

// TestBounds proves that every number has one bucket, whose value is off by at most one percent at both ends, and that the bounds
// are those of all rows that were ever written.
func TestBounds(t *testing.T) {
	t.Parallel()
	if n := len(sketch.Bounds); n != 1393 || sketch.Bounds[0] != 0 || sketch.Bounds[50] != 50 || sketch.Bounds[200] != 1509 {
		t.Errorf("%d buckets, the 50th begins at %d and the 200th at %d: rows that exist would mean other numbers", n, sketch.Bounds[50], sketch.Bounds[200])
	}
	for i, lo := range sketch.Bounds {
		hi := uint64(sketch.Max)
		if i+1 < len(sketch.Bounds) {
			hi = sketch.Bounds[i+1] - 1
		}
		for _, n := range []uint64{lo, hi, lo + (hi-lo)/2} {
			if got := sketch.Bucket(sketch.Bounds, n); got != i {
				t.Fatalf("%d is in bucket %d, want %d", n, got, i)
			}
			if off := math.Abs(sketch.Value(i) - float64(n)); off > float64(n)*0.01*(1+1e-12) {
				t.Errorf("%d stands as %v, which is off by more than a percent", n, sketch.Value(i))
			}
		}
	}
	if got := sketch.Bucket(sketch.Bounds, math.MaxUint64); got != len(sketch.Bounds)-1 {
		t.Errorf("the largest number is in bucket %d, want the last", got)
	}
}

// TestPercentile proves that percentiles of several distributions differ from the exact ones by at most one percent.
func TestPercentile(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() float64{
		"uniform":     func() float64 { return random.Float64() * 1e7 },
		"exponential": func() float64 { return random.ExpFloat64() * 40_000 },
		"log-normal":  func() float64 { return math.Exp(8 + 3*random.NormFloat64()) },
		"pareto":      func() float64 { return 100 / math.Pow(1-random.Float64(), 2) },
		"two humps": func() float64 {
			if random.IntN(20) == 0 {
				return 9e6 + 1e5*random.NormFloat64()
			}
			return 2000 + 100*random.NormFloat64()
		},
		"small":    func() float64 { return float64(random.IntN(4)) },
		"constant": func() float64 { return 123_456 },
	} {
		for _, size := range []int{1, 2, 3, 20, 100, 9_999} {
			counts := make([]uint64, len(sketch.Bounds))
			var all []uint64
			for range size {
				n := uint64(max(0, min(draw(), sketch.Max)))
				all = append(all, n)
				counts[sketch.Bucket(sketch.Bounds, n)]++
			}
			slices.Sort(all)
			for _, percent := range []int{1, 50, 90, 95, 99, 100} {
				want := float64(all[max(1, (percent*size+99)/100)-1]) // in integers, which don't round
				got := sketch.Value(sketch.Percentile(counts, float64(percent)/100))
				if math.Abs(got-want) > 0.01*want*(1+1e-12) {
					t.Errorf("%s, %d numbers: p%d is %v, want %v", name, size, percent, got, want)
				}
			}
		}
	}
}
