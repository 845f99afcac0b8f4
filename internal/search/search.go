// Package search is the seam between retrieval and search engines: what an engine is asked about one corpus and what it
// answers. Package index implements it over its own files; another engine implements it without importing that
// package. It holds values alone, so that both sides of the seam can use it.
package search

import (
	"errors"
	"math"

	"quarry/internal/expr/filter"
)

// Query is one search. Terms and words are in the form that package text/analysis gives those of documents.
type Query struct {
	Vector          []float32  // nil = no dense side
	Terms           []string   // scoring stems; one given twice counts twice
	Phrases         [][]string // surface words that must be adjacent, the last a prefix if it ends in *; each phrase scores as one term
	Prefixes        []string   // of surface words; each scores as one term over the words that begin with it
	Exclude         []string   // surface words; parts that contain one are left out
	ExcludePrefixes []string
	ExcludePhrases  [][]string // adjacent surface words; parts that contain such a sequence are left out
	PhrasesRequired bool       // parts without every phrase are left out
	Filter          *filter.Filter
	Schema          int64 // version of the attributes that Filter was parsed for
	Headings        Headings
	Dimensions      []float64 // weights of the custom dimensions; nil = none
	K               int       // best parts per side
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

// ErrSchema is the error of a search whose filter was parsed for another version of the filter attributes than the
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
