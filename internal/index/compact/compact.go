// Package compact decides when what is new in an index is written to files, which of its segments are then merged, and
// which are written anew. It knows the sizes of segments and nothing else of them. Package index does what it decides.
package compact

import (
	"cmp"
	"math/bits"
	"slices"
)

const (
	// sealRows is the size at which the part in memory is written to a file.
	sealRows = 16_384
	// smallRows is what need not be written when the index is closed: it is faster to build again.
	smallRows = 2_000
	// mergedRows is the largest segment that a merge writes while writers wait.
	mergedRows = 131_072
	// deadShare is the share of a segment's rows, one in so many, that may be deleted before it is written anew.
	deadShare = 5
	// updateShare is how many updates of values weigh as much as one row in the decision whether to write.
	updateShare = 4
	// fanIn is how many segments of about one size are merged, and the ratio between sizes: a row is merged once per
	// order of magnitude (a log-structured merge), and a search reads few segments.
	fanIn = 8
)

// tier returns the order of magnitude of a number of rows, in powers of fanIn.
func tier(rows int) int { return (bits.Len(uint(rows)) - 1) / 3 }

// Full returns the places of the segments of a tier that has fanIn of them, given the live rows of segments in memory;
// nil when there is none.
func Full(live []int) []int {
	var byTier [22][]int
	full := -1
	for i, rows := range live {
		t := tier(rows)
		byTier[t] = append(byTier[t], i)
		if len(byTier[t]) == fanIn {
			full = t
		}
	}
	if full < 0 {
		return nil
	}
	return byTier[full]
}

// Smallest returns the places of fanIn segments of one tier whose merging is not too much for a writer to wait for, the
// smallest there are, given the live rows of segments in files; nil when there are not as many.
func Smallest(live []int) []int {
	at := make([]int, len(live))
	for i := range at {
		at[i] = i
	}
	slices.SortFunc(at, func(a, b int) int { return cmp.Compare(live[a], live[b]) })
	for i := 0; i+fanIn <= len(at); i++ {
		in, rows := at[i:i+fanIn], 0
		for _, p := range in {
			rows += live[p]
		}
		if tier(live[in[0]]) == tier(live[in[fanIn-1]]) && rows <= mergedRows {
			return in
		}
	}
	return nil
}

// Worn reports whether so many of a segment's rows are deleted that it is written anew.
func Worn(rows, live int) bool { return rows-live > rows/deadShare && live <= mergedRows }

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
