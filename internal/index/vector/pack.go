// Package vector holds the vectors of a segment as 16-bit rows in two byte planes and finds the rows most similar to a
// query: a scan of the high plane alone, whose error has a proven bound, then the exact scores, from both planes, of
// the rows that the bound leaves open. It knows nothing of files, documents and filters beyond a bitmap of rows;
// package index calls it. Pack is also the form in which vectors are stored in SQL.
//
// Sums are integers on every kernel path and in the final score, so hits and scores are equal bit for bit on every CPU.
package vector

import (
	"encoding/binary"
	"fmt"
	"math"
)

// packHead is the size of the scale that stands in front of a packed vector.
const packHead = 4

// levels is the largest 16-bit magnitude in use.
const levels = 32767

// Pack returns the stored form of v: a float32 scale and one int16 per dimension, little-endian, 4 + 2·len(v) bytes.
// Vectors that have no direction (empty, zero, infinite or not a number) are an error.
func Pack(v []float32) ([]byte, error) {
	var top float32
	for i, x := range v {
		if y := float64(x); math.IsNaN(y) || math.IsInf(y, 0) {
			return nil, fmt.Errorf("pack vector: dimension %d is %v", i, x)
		}
		top = max(top, x, -x)
	}
	scale := float32(float64(top) / levels)
	if scale < math.SmallestNonzeroFloat32*(1<<24) {
		return nil, fmt.Errorf("pack vector: no direction in %d dimensions, the largest magnitude is %v", len(v), top)
	}
	out := make([]byte, packHead+2*len(v))
	binary.LittleEndian.PutUint32(out, math.Float32bits(scale))
	for i, x := range v {
		n := math.RoundToEven(float64(x) / float64(scale))
		binary.LittleEndian.PutUint16(out[packHead+2*i:], uint16(int16(min(levels, max(-levels, n)))))
	}
	return out, nil
}

// Unpack returns the vector that Pack stored, up to its rounding.
func Unpack(b []byte) ([]float32, error) {
	out := make([]float32, max(0, len(b)-packHead)/2)
	return out, unpackTo(out, b)
}

// unpackTo writes the vector that Pack stored to out, up to its rounding.
func unpackTo(out []float32, b []byte) error {
	if len(b) != packHead+2*len(out) {
		return fmt.Errorf("unpack vector: %d bytes, want %d for %d dimensions", len(b), packHead+2*len(out), len(out))
	}
	scale := float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	if !(scale > 0) || math.IsInf(scale, 0) {
		return fmt.Errorf("unpack vector: scale %v", scale)
	}
	for i := range out {
		out[i] = float32(scale * float64(int16(binary.LittleEndian.Uint16(b[packHead+2*i:]))))
	}
	return nil
}
