// Package lists holds the inverted lists over the vectors of a large segment: for each list a centroid, and for each of
// its rows one bit per dimension of the difference between the two, with which most rows are left out without being
// read (Gao and Long, "RaBitQ", 2024). Every row stands in a second list, too, whose centroid makes up for what the
// first leaves (Sun et al., "SOAR", 2023). What the bits let through gets its exact score from package vector, so a
// search may miss a row but never scores one otherwise. It knows nothing of files, documents and filters beyond a
// bitmap of rows; package rows makes lists, package index reads them.
//
// The sums of the bits are integers, and equal on every kernel path; so are the hits.
package lists

import (
	"encoding/binary"
	"fmt"
	"math"

	"quarry/internal/index/vector"
)

// Parts are the bytes of lists; all numbers are little-endian. Blocks have room for 32 entries; see kernel.go.
type Parts struct {
	Hi, Scale []byte // centroids, as in vector.Coarse
	Runs      []byte // per list: first block, entries of rows that have it as their first list, all entries (4 each)
	Row       []byte // per entry: its row (4), none where a block is not full
	Factor    []byte // per entry: what its sum of bits is multiplied with (float32)
	Code      []byte // per block: the bits
	At        []byte // per row: its entry in its first list (4)
}

// Head is what the lists of a segment are like.
type Head struct {
	Lists int        `json:"lists"`
	Share float64    `json:"share"`           // of the lists, beyond which next to none of the best rows lie, in (0,1]
	Reach [2]float64 `json:"reach,omitempty"` // see reach; zeros in files of before it was measured
}

// reached are the numbers of best rows that Head.Reach is measured for.
var reached = [2]int{10, 200}

// mostReach is more than any: scores differ by two at most, and lists without spread have no reach.
const mostReach = 100

// usualReach stands for a reach that was not measured.
var usualReach = [2]float64{0.45, 0.32}

// reach returns how far the k best rows of a list lie above its centroid, as a share of the spread of the list: a list is of
// no use where its centroid lies farther below the floor. The more rows are wanted the closer is the last of them to the middle of
// the lists.
func (h Head) reach(k int) float64 {
	r := h.Reach
	if r[0] == 0 {
		r = usualReach
	}
	at := math.Log(float64(max(k, reached[0]))/float64(reached[0])) / math.Log(float64(reached[1])/float64(reached[0]))
	return r[0] + min(1, at)*(r[1]-r[0])
}

// none stands for a row in entries that are not used.
const none = math.MaxUint32

const runBytes = 12

// Lists is a read-only view of the lists of a segment. Safe for concurrent use.
type Lists struct {
	Head
	Parts

	rows      *vector.Rows
	centroids vector.Coarse
	spread    []float32 // per list: how far its rows lie from the centroid, the root of the mean square
	runs      []run
}

// spreads is how much of a list's spread counts in its rank. The best of a list's rows lie some deviations above its centroid, and
// farther above that of wider lists. About here the same rows are found in the fewest lists; docs/benchmarks.md has the figures.
const spreads = 0.3

// leastSpread is for lists of equal rows, whose centroid is beside them by what 8 bits leave out.
const leastSpread = 0.05

// measure sets the spread of each list: of rows of unit length, c being their mean, 1 - ‖c‖² is the mean squared distance.
func (l *Lists) measure() {
	x := make([]float32, l.centroids.Width)
	l.spread = make([]float32, l.centroids.Len())
	for i := range l.spread {
		l.centroids.Values(i, x)
		var square float64
		for _, v := range x {
			square += float64(float64(v) * float64(v))
		}
		l.spread[i] = float32(math.Sqrt(max(leastSpread*leastSpread, 1-square)))
	}
}

// run is where the entries of a list lie: the first ones are of rows that have it as their first list.
type run struct{ block, first, all int }

func (r run) blocks() int { return (r.all + perBlock - 1) / perBlock }

func le32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }

// Bind returns the lists that p holds, of the rows of a segment, after it has checked that they can be searched. The
// error says what is wrong.
func Bind(rows *vector.Rows, h Head, p Parts) (*Lists, error) {
	width, n := rows.Rotation.Width(), rows.Len()
	l := &Lists{Head: h, Parts: p, rows: rows, centroids: vector.Coarse{Width: width, Hi: p.Hi, Scale: p.Scale}}
	entries := len(p.Row) / 4
	switch {
	case h.Lists < 1 || len(p.Scale) != 4*h.Lists || len(p.Hi) != width*h.Lists || len(p.Runs) != runBytes*h.Lists:
		return nil, fmt.Errorf("no centroids of %d lists", h.Lists)
	case !(h.Share > 0 && h.Share <= 1):
		return nil, fmt.Errorf("a share of %v lists to read", h.Share)
	case !(h.Reach[0] >= 0 && h.Reach[0] <= mostReach && h.Reach[1] >= 0 && h.Reach[1] <= mostReach):
		return nil, fmt.Errorf("a reach of %v", h.Reach)
	case entries%perBlock != 0 || len(p.Row) != 4*entries || len(p.Factor) != 4*entries:
		return nil, fmt.Errorf("%d bytes of rows and %d of factors are no blocks", len(p.Row), len(p.Factor))
	case len(p.Code) != entries/perBlock*blockBytes(width) || len(p.At) != 4*n:
		return nil, fmt.Errorf("%d bytes of codes for %d blocks, %d bytes for %d rows", len(p.Code), entries/perBlock, len(p.At), n)
	}
	l.measure()
	return l, l.check(entries / perBlock)
}

// check reads the runs and proves that each row has one first entry, where At says, and that no entry is of a row that
// there is not.
func (l *Lists) check(blocks int) error {
	next, firsts := 0, 0
	l.runs = make([]run, l.Lists())
	for i := range l.runs {
		r := run{int(le32(l.Runs, 3*i)), int(le32(l.Runs, 3*i+1)), int(le32(l.Runs, 3*i+2))}
		if r.block != next || r.first > r.all || r.blocks() > blocks-next {
			return fmt.Errorf("list %d does not follow the one before", i)
		}
		next, firsts = next+r.blocks(), firsts+r.first
		l.runs[i] = r
		for e := range r.blocks() * perBlock {
			row := le32(l.Row, r.block*perBlock+e)
			switch {
			case e >= r.all && row != none, e < r.all && int64(row) >= int64(l.rows.Len()):
				return fmt.Errorf("entry %d of list %d is of row %d", e, i, row)
			case e < r.first && int(le32(l.At, int(row))) != r.block*perBlock+e:
				return fmt.Errorf("row %d has its entry elsewhere", row)
			}
		}
	}
	if next != blocks || firsts != l.rows.Len() {
		return fmt.Errorf("%d blocks and %d rows in lists, of %d and %d", next, firsts, blocks, l.rows.Len())
	}
	return nil
}

// Lists returns the number of lists.
func (l *Lists) Lists() int { return l.Head.Lists }

// Mark returns the entries of first lists whose rows are in allow, one bit each, a word per block, and the number of
// blocks that have one.
func (l *Lists) Mark(allow []uint64) (marks []uint32, blocks int) {
	marks = make([]uint32, len(l.Row)/4/perBlock)
	for w, b := range allow {
		for ; b != 0; b &= b - 1 {
			e := le32(l.At, w<<6+trailing(b))
			m := &marks[e/perBlock]
			if *m == 0 {
				blocks++
			}
			*m |= 1 << (e % perBlock)
		}
	}
	return marks, blocks
}
