// Package draft makes documents of what clients send: the rules of the contract by which a structured document is cut
// into parts and a core document keeps those of its client, with the titles, metadata and language of each part. A
// document is complete when ingest has encoded it.
package draft

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/opt"
)

// Structured is a document whose parts the service makes from sections (contract: Structured documents).
type Structured struct {
	ID          string
	Title       string
	Description string
	Metadata    json.RawMessage // nil = {}
	Dimensions  map[string]float64
	Sections    []Section
	Chunking    Chunking
	// Extracted is metadata that a parser found in a file. It stands under Metadata and is not held to the declared
	// attributes, for the client can't mend it: what does not fit counts as absent in filters.
	Extracted json.RawMessage
	// TitleInText says that the first section's title is the document's, as in a file whose first heading names it: the
	// title part is then that section's, not one more.
	TitleInText bool
}

// Section is a piece of a structured document with its own title and metadata.
type Section struct {
	ID       opt.Field[int32]
	Title    string
	Text     string
	Metadata json.RawMessage
	Tables   []document.Table
	Images   []document.Image
	Sections []Section
	// Page is where the section begins and Pages where in Text other pages do, for files that have pages: the parts
	// carry the page on which they begin under the key "page".
	Page  int
	Pages []PageMark
}

// PageMark says that from byte At of a text on, the text stands on a page.
type PageMark struct{ At, Page int }

// Chunking says how section text becomes parts. The zero value is one part per sentence.
type Chunking struct {
	MaxChars int // 0 = one sentence each, else at least MinChunkChars code points
}

// MinChunkChars is the lower bound of max_chars_per_chunk (contract: Chunking strategies).
const MinChunkChars = 100

// Core is a document whose parts the client made (contract: Core documents).
type Core struct {
	ID       string
	Metadata json.RawMessage
	Tables   []document.Table
	Images   []document.Image
	Parts    []CorePart
}

// CorePart is one part as the client sent it.
type CorePart struct {
	Text       string
	Context    string
	Metadata   json.RawMessage
	Dimensions map[string]float64
	TableID    string
	ImageID    string
	ImageMode  string // "" = decided by what is there
}

// Limits of one document. They bound memory and the time that one request may hold the encoder; the upload limit of
// 10 MB of ordinary prose in sentences stays below them.
const (
	maxIDBytes   = 1024
	maxParts     = 150_000
	maxPartBytes = 128 << 20 // texts and metadata of all parts: inherited metadata multiplies
	maxDepth     = 100       // sections inside sections
	maxHeading   = 500       // code points: a heading is encoded with every part below it
	maxFaults    = 25        // field errors reported at once
)

// checkID refuses what can't be a document id.
func checkID(f *fault.Fault, path, id string) {
	switch {
	case id == "":
		f.Field(path, "must not be empty")
	case len(id) > maxIDBytes:
		f.Field(path, "must be at most %d bytes of UTF-8, not %d", maxIDBytes, len(id))
	case !utf8.ValidString(id):
		f.Field(path, "must be valid UTF-8")
	case id == "." || id == "..":
		// HTTP clients resolve such segments: a DELETE of ".." would reach the corpus itself.
		f.Field(path, "must not be . or .., which clients take for steps in the path")
	case strings.ContainsRune(id, 0):
		f.Field(path, "must not contain the character NUL")
	}
}
