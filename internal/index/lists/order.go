package lists

import (
	"cmp"
	"slices"
)

// ranked is a list with its rank: its centroid's score and some of its spread.
type ranked struct {
	list  int32
	score float32
}

// buckets is how many ranges of ranks the lists are spread over, so that few at a time are sorted.
const buckets = 256

// order is the lists of a search, the best first as far as they are sorted, and behind that by bucket.
type order struct {
	all    []ranked
	sorted int            // at the end of a bucket
	bucket int            // the first one that is not sorted
	ends   [buckets]int32 // of the buckets in all
	room   []ranked
}

// reset ranks lists anew. They are spread by one pass of a radix sort, which has no branches for a processor to guess wrong.
func (o *order) reset(dots, spread []float32) {
	o.room, o.all = grow(o.room, len(dots)), grow(o.all, len(dots))
	low, high := dots[0]+spreads*spread[0], dots[0]+spreads*spread[0]
	for i, d := range dots {
		score := d + spreads*spread[i]
		o.room[i] = ranked{int32(i), score}
		low, high = min(low, score), max(high, score)
	}
	scale := float32(0)
	if high > low {
		scale = (buckets - 1) / (high - low)
	}
	of := func(x ranked) int { return int((high-x.score)*scale) & (buckets - 1) }
	clear(o.ends[:])
	for _, x := range o.room {
		o.ends[of(x)]++
	}
	at := int32(0)
	for i, n := range o.ends {
		o.ends[i] = at
		at += n
	}
	for _, x := range o.room {
		b := of(x)
		o.all[o.ends[b]] = x
		o.ends[b]++
	}
	o.sorted, o.bucket = 0, 0
}

// best sorts the n best lists, or some more.
func (o *order) best(n int) {
	for n = min(n, len(o.all)); o.sorted < n; o.bucket++ {
		some := o.all[o.sorted:o.ends[o.bucket]]
		slices.SortFunc(some, func(a, b ranked) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.list, b.list))
		})
		o.sorted += len(some)
	}
}
