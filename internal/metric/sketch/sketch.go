// Package sketch divides numbers into buckets so narrow that a bucket stands for each of its numbers with a relative error of at
// most one percent, whatever their size. Counts by bucket then answer for any percentile, and the counts of two sets of numbers
// add up to those of both, exactly and in any order.
//
// The method is that of DDSketch (Masson, Rim, Lee: DDSketch: A Fast and Fully-Mergeable Quantile Sketch with Relative-Error
// Guarantees, VLDB 2019). Bounds are integers here, found by integer arithmetic: every processor puts a number into the same
// bucket, and numbers below 50 have buckets of their own.
package sketch

import (
	"math"
	"sort"
)

// Max is the largest number that is told from others; greater ones are taken for it.
const Max = 1 << 45

// Bounds are the smallest numbers of all buckets, ascending; the first is 0.
var Bounds = bounds()

// bounds returns buckets as wide as the error allows: the value that stands for the numbers from lo to hi is off by
// (hi-lo)/(hi+lo) at both ends, which is at most 1/100 where hi is at most 101/99 of lo.
func bounds() []uint64 {
	all := []uint64{0}
	for lo := uint64(1); lo <= Max; lo = lo*101/99 + 1 {
		all = append(all, lo)
	}
	return all
}

// Bucket returns the bucket of a number among bounds.
func Bucket(bounds []uint64, n uint64) int {
	return sort.Search(len(bounds), func(i int) bool { return bounds[i] > n }) - 1
}

// Value returns what stands for the numbers of a bucket of Bounds.
func Value(bucket int) float64 {
	lo, hi := Bounds[bucket], uint64(Max)
	if bucket+1 < len(Bounds) {
		hi = Bounds[bucket+1] - 1
	}
	if hi == 0 {
		return 0
	}
	return 2 * float64(lo) * float64(hi) / float64(lo+hi)
}

// Percentile returns the bucket, among counts by bucket, of the smallest number that at least the share p of all numbers do not
// exceed; p is above 0 and at most 1, and one count at least is not 0.
func Percentile(counts []uint64, p float64) int {
	total := uint64(0)
	for _, n := range counts {
		total += n
	}
	rank := max(1, uint64(math.Ceil(p*float64(total)-slack)))
	seen := uint64(0)
	for i, n := range counts {
		if seen += n; seen >= rank {
			return i
		}
	}
	return len(counts) - 1
}

// slack keeps a product such as 0.95 * 20, which floating point makes 19.000000000000004 at times, from becoming the next rank.
const slack = 1e-9
