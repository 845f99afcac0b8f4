// Package plan decides in which way the vectors of a segment are searched, from rows that were counted, never estimated: a
// decision about numbers, made for every segment and query by package index.
package plan

import "math"

// Way is a way to search the vectors of a segment.
type Way uint8

// The ways.
const (
	Scan   Way = iota // every passing row by its high plane: exact
	Lists             // a share of the lists
	Blocks            // those blocks of all lists that have a passing row
	All               // all lists
)

// Segment is what a decision is made from.
type Segment struct {
	Rows    int     // live and deleted
	Passing int     // live ones that may be hits
	Lists   int     // inverted lists; 0 = it has none
	Share   float64 // of them, to be read at most where every row passes
	// ScanMost is the number of passing rows up to which they are scanned; 0 = scanMost.
	ScanMost int
}

const (
	// scanMost is the number of passing rows up to which scanning them takes no longer than lists do.
	scanMost = 20_000
	// growth is how the share of lists grows with the share of rows that pass, when it is random which do: the fewer pass,
	// the farther away is the tenth best of them.
	growth = -0.25
	// mostLists is the share of lists from which on reading the first entries of all of them takes no longer.
	mostLists = 0.4
	// follows is the share of the rows to be expected among those that are read below which the rows that pass lie
	// elsewhere.
	follows = 0.8
	// looked is the share of the lists to be read, one in so many, whose passing rows are counted: the best of them, where a
	// filter that avoids the query shows most.
	looked = 4
	// marked is the number of rows, one in so many, up to which marking the passing ones pays.
	marked = 8
)

// Dense returns the way to search a segment and, for Lists, how many of them to look into. Where only some rows pass, Confirm
// decides once the passing rows of the best lists have been counted, as many as Looked says.
func (s Segment) Dense() (way Way, lists int) {
	most := s.ScanMost
	if most == 0 {
		most = scanMost
	}
	switch {
	case s.Lists == 0 || s.Passing <= most:
		return Scan, 0
	case s.Share > mostLists:
		return s.whole(), 0
	}
	share := min(mostLists, s.Share*math.Pow(float64(s.Passing)/float64(s.Rows), growth))
	return Lists, int(math.Ceil(share * float64(s.Lists)))
}

// Looked returns in how many of the lists to be read, the best, passing rows must be counted for Confirm.
func Looked(lists int) int { return (lists + looked - 1) / looked }

// Confirm returns Lists when the lists that were looked at, with so many rows of which so many pass, have about as many passing
// rows as chance would give them. Rows that pass a filter may lie together, and far from the query; lists that are read for their
// closeness to it then tell nothing about where the best of those rows are, so all must be read that have any.
func (s Segment) Confirm(rows, passing int) Way {
	if float64(passing)*float64(s.Rows) >= follows*float64(rows)*float64(s.Passing) {
		return Lists
	}
	return s.whole()
}

// whole returns the way to read all lists.
func (s Segment) whole() Way {
	if s.Passing <= s.Rows/marked {
		return Blocks
	}
	return All
}
