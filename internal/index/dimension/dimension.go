// Package dimension scores the rows of a segment by their custom dimensions. It knows nothing of files, documents and
// filters beyond a bitmap of rows; package index calls it.
package dimension

import (
	"encoding/binary"
	"math"
	"slices"

	"quarry/internal/index/rowset"
	"quarry/internal/search"
)

// Weights are those of a query, one per dimension.
type Weights []float64

// Count reports whether any dimension has a weight.
func (w Weights) Count() bool { return slices.ContainsFunc(w, func(x float64) bool { return x != 0 }) }

// Score returns the inner product of the weights with the dimensions of a row of data, which holds a float32 per row
// and dimension.
func (w Weights) Score(data []byte, row int) float64 {
	sum := 0.0
	for i, x := range w {
		sum += search.Weighed(x, math.Float32frombits(binary.LittleEndian.Uint32(data[4*(row*len(w)+i):])))
	}
	return sum
}

// Search offers the rows among allow (nil for all) that reach the floor. offer returns the floor from then on.
func (w Weights) Search(data []byte, allow []uint64, floor float64, offer func(row int, score float64) float64) {
	each := func(row int) {
		if x := w.Score(data, row); x >= floor {
			floor = offer(row, x)
		}
	}
	if allow != nil {
		rowset.Each(allow, each)
		return
	}
	for row := range len(data) / (4 * len(w)) {
		each(row)
	}
}
