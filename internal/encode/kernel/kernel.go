// Package kernel holds the arithmetic of a BERT-family encoder: fp32 and int8 matrix products, attention, GELU,
// LayerNorm and row quantisation. It knows nothing of models, files and texts. Package encode calls it.
//
// Three paths compute the same values bit by bit: generated assembly for AVX-512 VNNI and for AVX2+FMA (see gen), and
// plain Go. int8 products are exact integers and read one weight layout; fp32 operations and the order of their sums
// are those of the AVX-512 code. Equality matters: a last bit flips a quantised level, and flips grow from layer to
// layer (measured: cosines down to 0.9989 between paths that differed only there). AVX2 against plain Go is tested
// wherever there is AVX2. The AVX-512 instructions are those of the measured prototype; see docs/benchmarks.md.
// Functions are safe for concurrent use on distinct outputs.
//
//go:generate go run ./gen
package kernel

import (
	"math"

	"quarry/internal/cpu"
)

// panel is the number of output columns that weights are packed by. A multiple of every path's tile width.
const panel = 32

// maxRows is the number of rows per micro-kernel call: as many as leave their accumulators in registers.
func maxRows(p cpu.Path) int {
	if p == cpu.AVX512 {
		return 14
	}
	return 6
}

// rowBlock cuts rows into blocks of nearly equal size ≤ most, so that the last block is not tiny.
func rowBlock(rows, most int) int {
	blocks := (rows + most - 1) / most
	return (rows + blocks - 1) / max(1, blocks)
}

// Dot is the inner product of two vectors of equal length.
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

// Normalize scales v to length 1 and says whether it could: a vector that is zero or not finite stays as it is.
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
