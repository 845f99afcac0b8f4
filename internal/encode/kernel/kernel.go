// Package kernel implements the arithmetic of a BERT encoder: fp32 and int8 matrix products, attention, GELU, LayerNorm and
// the quantisation of rows.
//
// Three paths compute bitwise identical values: generated assembly for AVX-512 VNNI and for AVX2+FMA (see gen), and plain
// Go. int8 products are exact integers and share one layout of the weights; fp32 operations and the order of their sums are
// those of the AVX-512 code. Identity matters, since a different last bit can change a quantised level, and such changes
// grow from layer to layer (measured: cosines down to 0.9989 between paths that differed only there). The tests compare
// AVX2 with plain Go wherever there is AVX2. The AVX-512 instructions are those of the measured prototype; see
// docs/benchmarks.md. Functions are safe for concurrent use on distinct outputs.
//
//go:generate go run ./gen
package kernel

import (
	"math"

	"quarry/internal/cpu"
)

// panel is the number of output columns in a panel of packed weights, a multiple of every path's tile width.
const panel = 32

// maxRows returns the number of rows per call of a micro-kernel: as many as have their accumulators in registers.
func maxRows(p cpu.Path) int {
	if p == cpu.AVX512 {
		return 14
	}
	return 6
}

// rowBlock returns the size, at most most, of blocks that divide rows nearly equally, so that the last one is not tiny.
func rowBlock(rows, most int) int {
	blocks := (rows + most - 1) / most
	return (rows + blocks - 1) / max(1, blocks)
}

// Dot returns the inner product of two vectors of equal length.
func Dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a) && i+4 <= len(b); i += 4 {
		x, y := a[i:i+4:i+4], b[i:i+4:i+4]
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

// Normalize scales v to unit length. It reports false, and leaves v as it is, if v is (nearly) zero or not finite.
func Normalize(v []float32) bool {
	norm := math.Sqrt(float64(Dot(v, v)))
	if !(norm > 1e-20) || math.IsInf(norm, 0) {
		return false
	}
	k := float32(1 / norm)
	for i := range v {
		v[i] *= k
	}
	return true
}
