package search

import (
	"context"
	"errors"

	"quarry/internal/expr/filter"
	"quarry/internal/text/analysis"
)

// Document is a document with its parts, as an engine keeps it.
type Document struct {
	No     int64
	ID     string
	Values []filter.Value // by ordinal; those of document level count. doc.id is filled in by the engine
	Parts  []Part
}

// Part is one possible hit.
type Part struct {
	Ord        int
	Lang       string          // the language that the terms were made in
	Values     []filter.Value  // by ordinal; those of part level count
	Stems      []string        // scoring terms of the text
	Heading    []string        // scoring terms of the heading, counted twice in frequency and length
	Words      []analysis.Term // surface words of the text, for phrases, prefixes and exclusions
	Vector     []byte          // vector.Pack of the unit vector
	Dimensions []float32
	Leads      bool // it is the heading of a section that has text
}

// Op is what a change does.
type Op uint8

// The operations.
const (
	Put    Op = 1 // Doc replaces what has its No
	Delete Op = 2
	Reset  Op = 3 // every document goes
	Update Op = 4 // the document with this No, if it is there, gets the values of document level in Doc
)

// Change is one entry of the corpus's change sequence.
type Change struct {
	Seq int64
	Op  Op
	No  int64
	Old int64     // of Put: the document that goes in the same change, 0 for none
	Doc *Document // of Put and Update; nil when the document is gone again, then as Delete, or nothing
}

// State is how far an engine has come with a corpus.
type State struct {
	Applied int64 // the last change that searches see
	Schema  int64 // version of the attributes that it has values of; NoSchema when it must be given those
	Partial bool  // it has lost documents that it must be given again before it is searched
}

// NoSchema is the version of an engine that has values of other attributes than those that it was opened for.
const NoSchema = -1

// Retyping is how an engine gets the values of other attributes beside those in use, while the corpus is searched and changed as before.
// Not safe for concurrent use.
type Retyping interface {
	// Add adds the values of documents and parts; nothing else of them is read. A document that was added before gets the
	// new ones. One that is never added has no values.
	Add(ctx context.Context, docs []Document) error
	// Prepare does what can be done before Swap, for what the engine holds by now.
	Prepare(ctx context.Context) error
	// Swap switches to the new attributes, whose version is now known, at once for every search that begins afterwards. It is
	// for one call, and ends the retyping unless it fails.
	Swap(ctx context.Context, version int64) error
	// Discard ends a retyping that is not wanted any more; after Swap it does nothing.
	Discard()
}

// ErrCorrupt marks errors of an engine that has lost what it was given. It must be given every document anew.
var ErrCorrupt = errors.New("index file is damaged")
