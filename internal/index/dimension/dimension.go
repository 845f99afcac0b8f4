// Package dimension scores the rows of a segment by their custom dimensions. It knows nothing of files, documents and
// filters beyond a bitmap of rows; package index calls it.
package dimension

import (
	"encoding/binary"
	"math"
	"slices"

	"quarry/internal/index/rowset"
)

// Weights are those of a query, one per dimension.
type Weights []float64

// Count reports whether any dimension has a weight.
func (w Weights) Count() bool { return slices.ContainsFunc(w, func(x float64) bool { return x != 0 }) }

// Score gives weights · dimensions of a row of data, which holds a float32 per row and dimension.
func (w Weights) Score(data []byte, row int) float64 {
	sum := 0.0
	for i, x := range w {
		sum += Weighed(x, math.Float32frombits(binary.LittleEndian.Uint32(data[4*(row*len(w)+i):])))
	}
	return sum
}

// Weighed is what one dimension adds to the score of a part. It is bounded, so that no sum of some is infinite.
func Weighed(weight float64, dimension float32) float64 {
	x := weight * float64(dimension)
	if math.IsNaN(x) {
		return 0
	}
	return min(1e300, max(-1e300, x))
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
