// Package search is the seam between a corpus and search engines: what an engine is given of one corpus, what it is asked
// and what it answers. Package index implements it over its own files; another engine implements it without importing
// that package. It holds plain data, so that both sides of the seam can use it, also where one of them is elsewhere.
package search

import (
	"errors"
	"math"
)

// Query is one search. Terms and words are in the form that package text/analysis gives those of documents.
type Query struct {
	Vector          []float32  // nil = no dense side, unless Late gives it
	Terms           []string   // scoring stems; one given twice counts twice
	Phrases         [][]string // surface words that must be adjacent, the last a prefix if it ends in *; each phrase scores as one term
	Prefixes        []string   // of surface words; each scores as one term over the words that begin with it
	Exclude         []string   // surface words; parts that contain one are left out
	ExcludePrefixes []string
	ExcludePhrases  [][]string // adjacent surface words; parts that contain such a sequence are left out
	PhrasesRequired bool       // parts without every phrase are left out
	Filter          string     // in the language of expr/filter; "" = none
	Schema          int64      // version of the attributes that Filter was checked against
	Headings        Headings
	Dimensions      []float64 // weights of the custom dimensions; nil = none
	K               int       // best parts per side
	// Pool is how many of the best parts per side an answer has that is not exact, whatever K is, so that such an answer
	// does not depend on how far somebody looks. An engine that answers exactly does not read it; without it, the answer
	// must be exact.
	Pool  int
	Exact bool // the choice of every side must be that of the full scan
	Mix   *Mix // nil = the caller wants all that the sides choose
	// Late returns the vector where it is not known when the search begins, so that an engine in this process can look for the words
	// meanwhile. It is no data: for an engine elsewhere Known comes first. nil = Vector says it all.
	Late func() ([]float32, error) `json:"-"`
}

// HasVector reports whether q has a dense side.
func (q *Query) HasVector() bool { return q.Vector != nil || q.Late != nil }

// Known returns q with its vector, once that is there.
func (q Query) Known() (Query, error) {
	if q.Late == nil {
		return q, nil
	}
	v, err := q.Late()
	q.Vector, q.Late = v, nil
	return q, err
}

// Mix is how a caller makes one score of those of a hit, and how many of the best by it are wanted: an answer that is not exact may
// leave out hits that are surely behind those.
type Mix struct {
	Lambda      float64 // the share of the lexical score
	Scale, Half float64 // that is Scale · BM25 ÷ (BM25 + Half)
	Need        int     // 0 = all
}

// Lexical returns the lexical score of a BM25 score.
func (m Mix) Lexical(bm25 float64) float64 { return m.Scale * bm25 / (bm25 + m.Half) }

// Score returns λ·lexical + (1−λ)·cosine + dims, which rises with each of the three.
func (m Mix) Score(cosine, bm25, dims float64) float64 {
	return m.Lambda*m.Lexical(bm25) + (1-m.Lambda)*cosine + dims
}

// Headings is what a search does with the headings of sections that have text. Those of sections without are parts like
// any other.
type Headings uint8

// The choices.
const (
	WithHeadings Headings = iota // they are parts like any other, too
	NoHeadings
	OnlyHeadings
)

// HasLexical reports whether q has a lexical side.
func (q *Query) HasLexical() bool { return len(q.Terms)+len(q.Phrases)+len(q.Prefixes) > 0 }

// Hit is a part that was found, with its score on each side that the query has.
type Hit struct {
	No     int64  // row number of the document
	ID     string // of the document
	Ord    int    // position of the part in its document
	Cosine float64
	BM25   float64
	Full   float64 // BM25 of a part of mean length that has every term once; the same for all hits
	Dims   float64 // sum of Weighed over the custom dimensions
}

// Found is the answer to a Query: the union of what its sides chose, in no order.
type Found struct {
	Hits []Hit
	// The sides that the query has. That of another is zero, and so is one for which the engine keeps nothing.
	Dense, Lexical, Dimensions Side
	// Mixed is set where hits were left out because of the query's Mix: at least Pool parts were found, and the sides speak of them
	// all.
	Mixed bool
	Plan  []Step // what was done in each segment, in the order of the segments
}

// Side is what one side of a search left out. Its floor bounds what the side scored, so where the side is not exact
// there may be parts above it that were never looked at.
type Side struct {
	Floor float64 // nothing that the side looked at and left out scores above it
	All   bool    // nothing that matches was left out; then Floor says nothing
	Exact bool    // the side's choice is that of the full scan
}

// Step is what a search did in one segment.
type Step struct {
	Segment  int    // number of its file, 0 in memory
	Rows     int    // live and deleted
	Passing  int    // of them, those that may be hits
	Way      string // in which the dense side was searched: one of the ways below, "" without such a side
	Lists    int    // inverted lists that were read
	Codes    int    // one-bit codes that were compared
	Settled  int    // rows whose cosine was computed from all bits
	Postings int    // that were read
	Skipped  int    // blocks of postings that were not unpacked
}

// The ways in which the vectors of a segment are searched. Only the first is exact by proof.
const (
	WayScan   = "scan"   // every passing row was compared
	WayLists  = "lists"  // a share of the inverted lists was read
	WayBlocks = "blocks" // those blocks of all lists that have a passing row
	WayAll    = "all"    // all lists
)

// ErrSchema is the error of a search whose filter was checked against another version of the filter attributes than the
// engine has: read the corpus and plan again.
var ErrSchema = errors.New("the search engine has another version of the filter attributes")

// Weighed returns what one custom dimension adds to the score of a part. It is bounded, so that a sum stays finite.
func Weighed(weight float64, dimension float32) float64 {
	x := weight * float64(dimension)
	if math.IsNaN(x) {
		return 0
	}
	return min(1e300, max(-1e300, x))
}
