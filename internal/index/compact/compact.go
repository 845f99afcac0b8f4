// Package compact decides when what is new in an index is written to files, which of its segments are merged, and which are
// written anew; and it runs the merges of all indexes of a process, when they are due and a few at a time. It knows the
// sizes of segments and nothing else of them. Package index does what it decides.
package compact

import (
	"cmp"
	"math/bits"
	"slices"
	"time"
)

const (
	// sealRows is the size at which the part in memory is written to a file.
	sealRows = 16_384
	// smallRows is what need not be written when the index is closed: it is faster to build again.
	smallRows = 2_000
	// MaxRows is the largest segment that a merge makes, and maxBytes the most that its inputs may have in what is found by
	// offsets of 32 bits, with room for what a merge adds.
	MaxRows  = 4 << 20
	maxBytes = 3 << 30
	// deadShare is the share of a segment's rows, one in so many, that may be deleted before it is written anew.
	deadShare = 5
	// updateShare is how many updates of values weigh as much as one row in the decision whether to write.
	updateShare = 4
	// fanIn is how many segments of about one size are merged, and the ratio between sizes: a row is merged once per
	// order of magnitude (a log-structured merge), and a search reads few segments.
	fanIn = 8
	// firstPause is how long an index waits after a merge has failed; each failure doubles that, up to longestPause.
	firstPause, longestPause = time.Minute, time.Hour
)

// tier returns the order of magnitude of a number of rows, in powers of fanIn.
func tier(rows int) int { return (bits.Len(uint(rows)) - 1) / 3 }

// Full returns the places of the segments of a tier that has fanIn of them, given the live rows of segments in memory;
// nil when there is none whose merging is no more work than sealing.
func Full(live []int) []int {
	var byTier [22][]int
	var full []int
	for i, rows := range live {
		t := tier(rows)
		byTier[t] = append(byTier[t], i)
		if len(byTier[t]) == fanIn && total(live, byTier[t]) <= sealRows {
			full = byTier[t]
		}
	}
	return full
}

func total(live, at []int) (rows int) {
	for _, i := range at {
		rows += live[i]
	}
	return rows
}

// Size is that of a segment in files.
type Size struct {
	Rows  int
	Live  int   // of Rows
	Bytes int64 // of what is found by offsets of 32 bits
}

// Due returns the places of the segments that are to be merged into one by now: one that is worn, or those of a tier that
// has fanIn of them, as many of the smallest as one segment can hold; nil when there are none.
func Due(sizes []Size) []int {
	for i, s := range sizes {
		if Worn(s.Rows, s.Live) {
			return []int{i}
		}
	}
	at := ascending(sizes)
	for i := 0; i+fanIn <= len(at); i++ {
		in := at[i : i+fanIn]
		if tier(sizes[in[0]].Live) == tier(sizes[in[fanIn-1]].Live) {
			if in = fitting(sizes, in); in != nil {
				return in
			}
		}
	}
	return nil
}

// AtRest returns the places of the segments that are to be merged into one when nothing has been written for a while: the
// largest with which others fit into one segment, and of these the largest (first fit, decreasing); nil when no two fit. Done
// again and again this ends with one segment up to MaxRows rows, and beyond that with segments no two of which could be one.
func AtRest(sizes []Size) []int {
	at := ascending(sizes)
	slices.Reverse(at)
	for first := range at {
		var in []int
		var sum Size
		for _, i := range at[first:] {
			if next := sum.plus(sizes[i]); next.fits() {
				in, sum = append(in, i), next
			}
		}
		if len(in) > 1 {
			return in
		}
	}
	return nil
}

// Filled returns the places of the segments that are to be merged into one at once in an index that was just filled: those of
// AtRest, unless most of them is one segment already, as when a few rows were written since; nil then.
func Filled(sizes []Size) []int {
	at := AtRest(sizes)
	if at == nil {
		return nil
	}
	var sum Size
	for _, i := range at {
		sum = sum.plus(sizes[i])
	}
	if largest := sizes[at[0]].Live; sum.Live-largest < sum.Live/fanIn {
		return nil
	}
	return at
}

func (s Size) plus(o Size) Size { return Size{Live: s.Live + o.Live, Bytes: s.Bytes + o.Bytes} }

// fits reports whether one segment can hold so much.
func (s Size) fits() bool { return s.Live <= MaxRows && s.Bytes <= maxBytes }

// ascending returns the places of all, the fewest live rows first.
func ascending(sizes []Size) []int {
	at := make([]int, len(sizes))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(sizes[a].Live, sizes[b].Live) })
	return at
}

// fitting returns the first of at that one segment can hold together; nil when it is fewer than two.
func fitting(sizes []Size, at []int) []int {
	var sum Size
	for n, i := range at {
		if sum = sum.plus(sizes[i]); !sum.fits() {
			at = at[:n]
			break
		}
	}
	if len(at) < 2 {
		return nil
	}
	return at
}

// Worn reports whether so many of a segment's rows are deleted that it is written anew.
func Worn(rows, live int) bool { return rows-live > rows/deadShare }

// Pause returns how long an index waits before it merges again, after so many merges in a row have failed.
func Pause(failures int) time.Duration {
	return min(longestPause, firstPause<<min(failures-1, 10))
}

// Changes returns the weight, in rows, of changes to a segment that are in no file: of rows deleted and of documents given
// other values.
func Changes(deleted, updated int) int { return deleted + updated/updateShare }

// Updates returns how many updates of values weigh as much as so many rows.
func Updates(rows int) int { return updateShare * rows }

// Threshold decides when it is time to write, by the weight in rows of what is in memory alone. Not safe for concurrent
// use.
type Threshold struct {
	Seal     int // weight at which it is written
	Small    int // weight that is not worth writing at the end
	patience int // more that may stay in memory after a write has failed
}

// NewThreshold returns the threshold of an index.
func NewThreshold() Threshold { return Threshold{Seal: sealRows, Small: smallRows} }

// Due reports whether so much must be written now.
func (t *Threshold) Due(weight int) bool { return weight >= t.Seal+t.patience }

// Worth reports whether so much is written when the index is closed.
func (t *Threshold) Worth(weight int) bool { return weight > t.Small }

// Failed puts the next attempt off until as much again has come.
func (t *Threshold) Failed(weight int) { t.patience = weight }

// Saved ends what Failed began.
func (t *Threshold) Saved() { t.patience = 0 }
