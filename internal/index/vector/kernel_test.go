package vector

import (
	"math/rand/v2"
	"testing"

	"quarry/internal/cpu"
)

// TestFineKernel proves that exact scores have equal sums on every kernel path, at the ends of all ranges, too. It does
// not run in parallel: the path is one of the whole process.
func TestFineKernel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	kinds := map[string]func() (q int32, hi, lo byte){
		"random": func() (int32, byte, byte) {
			return rng.Int32N(2*fineLevels+1) - fineLevels, byte(rng.Uint32()), byte(rng.Uint32())
		},
		"highest":  func() (int32, byte, byte) { return fineLevels, 255, 255 },
		"lowest":   func() (int32, byte, byte) { return -fineLevels, 0, 0 },
		"opposite": func() (int32, byte, byte) { return -fineLevels, 255, 255 },
	}
	t.Cleanup(func() {
		if err := cpu.Use("auto"); err != nil {
			t.Error(err)
		}
	})
	for name, kind := range kinds {
		for _, width := range []int{64, 128, 384, 1536} {
			q, hi, lo := make([]int32, width), make([]byte, width), make([]byte, width)
			for i := range q {
				q[i], hi[i], lo[i] = kind()
			}
			want := dot16Go(q, hi, lo)
			for _, p := range cpu.Available() {
				if err := cpu.Use(p.String()); err != nil {
					t.Fatal(err)
				}
				if got := dot16(q, hi, lo); got != want {
					t.Errorf("%v, %s, width %d: %d, want %d", p, name, width, got, want)
				}
			}
		}
	}
}

// BenchmarkFine measures the exact score of a row that stays in the cache.
func BenchmarkFine(b *testing.B) {
	q, hi, lo := make([]int32, 384), make([]byte, 384), make([]byte, 384)
	for i := range q {
		q[i], hi[i], lo[i] = int32(i*7919), byte(i), byte(i*31)
	}
	for _, p := range []string{"portable", "auto"} {
		if err := cpu.Use(p); err != nil {
			b.Fatal(err)
		}
		b.Run(p, func(b *testing.B) {
			for b.Loop() {
				dot16(q, hi, lo)
			}
		})
	}
}
