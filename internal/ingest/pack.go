package ingest

import (
	"encoding/binary"
	"fmt"
	"math"
)

// pack is the stored form of a vector, here only until package index/vector has landed, whose Pack gives the same
// bytes: a float32 scale and one int16 per dimension, little-endian.
func pack(v []float32) ([]byte, error) {
	var top float32
	for _, x := range v {
		top = max(top, x, -x)
	}
	if !(top > 0) || math.IsInf(float64(top), 0) {
		return nil, fmt.Errorf("pack vector: no direction, the largest magnitude is %v", top)
	}
	const levels = 32767
	scale := float32(float64(top) / levels)
	out := make([]byte, 4+2*len(v))
	binary.LittleEndian.PutUint32(out, math.Float32bits(scale))
	for i, x := range v {
		n := math.RoundToEven(float64(x) / float64(scale))
		binary.LittleEndian.PutUint16(out[4+2*i:], uint16(int16(min(levels, max(-levels, n)))))
	}
	return out, nil
}
