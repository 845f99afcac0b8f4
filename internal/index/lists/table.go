package lists

import "math"

const (
	groupDims = 4 // dimensions of a nibble
	quadDims  = 16
	entryMost = 63 // four entries fit into a byte
	sumMost   = 60_000
)

// table holds, for each group of four dimensions, the 16 sums of the query's values that one bit per dimension can
// choose, as whole steps above the least of them (André et al., "Cache locality is not enough", VLDB 2015, look up codes
// in registers the same way). The sum of the query's values with the signs of a code is step·sums + shift.
//
// Entries lie in quads of 128 bytes in the order that the kernels read them: groups 0, 2, 1 and 3, each of them twice.
type table struct {
	width       int
	entries     []byte
	step, shift float64
	pairs       [][256]uint16 // the sums of the entries of two groups, by the byte of both; made by byByte
}

// group returns the entries of a group.
func (t *table) group(g int) *[16]byte {
	at := g/4*128 + [...]int{0, 64, 32, 96}[g%4]
	return (*[16]byte)(t.entries[at:])
}

// byByte returns the table of two groups each, for the portable kernel.
func (t *table) byByte() [][256]uint16 {
	if len(t.pairs) == 0 {
		t.pairs = grow(t.pairs, t.width/8)
		for p := range t.pairs {
			low, high := t.group(2*p), t.group(2*p+1)
			for b := range t.pairs[p] {
				t.pairs[p][b] = uint16(low[b&15]) + uint16(high[b>>4])
			}
		}
	}
	return t.pairs
}

// set fills t for a query in the rotated space.
func (t *table) set(x []float32) {
	t.width, t.pairs = len(x), t.pairs[:0]
	t.entries = grow(t.entries, len(x)/quadDims*128)
	var most, whole, sum float64
	for g := 0; g < len(x); g += groupDims {
		var reach float64
		for _, v := range x[g : g+groupDims] {
			reach += math.Abs(float64(v))
			sum += float64(v)
		}
		most, whole = max(most, reach), whole+reach
	}
	step := max(most/entryMost, whole/sumMost, math.SmallestNonzeroFloat32)
	bias, steps := 0.0, 1/step
	for g := range len(x) / groupDims {
		v := x[g*groupDims:][:groupDims]
		least := 0.0
		for _, y := range v {
			least += min(0, float64(y))
		}
		bias += least
		var subset [16]float64
		to := t.group(g)
		for n := range subset {
			if n > 0 {
				low := n & -n
				subset[n] = subset[n-low] + float64(v[log2[low]])
			}
			e := byte(min(entryMost, float64((subset[n]-least)*steps)+0.5)) // rounded: none is negative
			to[n] = e
			t.entries[g/4*128+[...]int{0, 64, 32, 96}[g%4]+16+n] = e
		}
	}
	t.step, t.shift = 2*step, 2*bias-sum
}

var log2 = [...]int{1: 0, 2: 1, 4: 2, 8: 3}
