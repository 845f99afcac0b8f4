package postings

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Proves that values of every width come back, in runs of every length.
func TestPack(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 8))
	for b := range uint(33) {
		for n := range BlockSize + 1 {
			values := make([]uint32, n)
			for i := range values {
				values[i] = uint32(rng.Uint64() & (1<<b - 1))
			}
			packed := append(pack(nil, values, b), make([]byte, spare)...)
			if len(packed) != packedLen(n, b)+spare {
				t.Fatalf("%d values of %d bits: %d bytes", n, b, len(packed))
			}
			got := make([]uint32, n)
			unpack(got, packed, b)
			for i := range values {
				if got[i] != values[i] {
					t.Fatalf("%d values of %d bits: value %d is %d, want %d", n, b, i, got[i], values[i])
				}
			}
		}
	}
}

// BenchmarkUnpack measures blocks of several widths.
func BenchmarkUnpack(b *testing.B) {
	for _, width := range []uint{1, 3, 6, 10, 16} {
		b.Run(fmt.Sprint(width), func(b *testing.B) {
			p, out := make([]byte, 8*BlockSize), make([]uint32, BlockSize)
			for b.Loop() {
				unpack(out, p, width)
			}
		})
	}
}
