// Package rowset holds sets of rows as one bit per row in words of 64, the form in which filters, deletes and searches
// of a segment meet. It is plain slices and functions: no set knows how many rows there are. The packages of the index
// call it.
package rowset

import "math/bits"

// Words returns the number of words for n rows.
func Words(n int) int { return (n + 63) / 64 }

// All returns the set of n rows.
func All(n int) []uint64 {
	out := make([]uint64, Words(n))
	for i := range out {
		out[i] = ^uint64(0)
	}
	if r := n & 63; r != 0 {
		out[len(out)-1] = 1<<r - 1
	}
	return out
}

// Count returns the number of rows in a set.
func Count(set []uint64) int {
	n := 0
	for _, b := range set {
		n += bits.OnesCount64(b)
	}
	return n
}

// Has reports whether row is in the set; nil stands for all rows.
func Has(set []uint64, row int) bool { return set == nil || set[row>>6]>>(row&63)&1 == 1 }

// Intersect removes from the set the rows that other lacks.
func Intersect(set, other []uint64) {
	for i, b := range other {
		set[i] &= b
	}
}

// Add adds row to the set.
func Add(set []uint64, row int) { set[row>>6] |= 1 << (row & 63) }

// Remove removes row from the set.
func Remove(set []uint64, row int) { set[row>>6] &^= 1 << (row & 63) }

// Any reports whether a row from … to-1 is in the set; nil stands for all rows.
func Any(set []uint64, from, to int) bool {
	if set == nil {
		return from < to
	}
	for from < to {
		end := min(to, (from|63)+1)
		if set[from>>6]&(^uint64(0)>>(64-(end-from))<<(from&63)) != 0 {
			return true
		}
		from = end
	}
	return false
}

// AddRange adds rows from … to-1 to the set.
func AddRange(set []uint64, from, to int) {
	for from < to {
		end := min(to, (from|63)+1)
		set[from>>6] |= (^uint64(0) >> (64 - (end - from))) << (from & 63)
		from = end
	}
}

// Each calls f for every row of the set, ascending.
func Each(set []uint64, f func(row int)) {
	for i, b := range set {
		for ; b != 0; b &= b - 1 {
			f(i<<6 + bits.TrailingZeros64(b))
		}
	}
}
