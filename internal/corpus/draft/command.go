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
	"quarry/internal/text/sentence"
)

// Structured is a document whose parts the service derives from sections (contract: Structured documents).
type Structured struct {
	ID          string
	Title       string
	Description string
	Metadata    json.RawMessage // nil = {}
	Dimensions  map[string]float64
	Sections    []Section
	Chunking    Chunking
	// Extracted is metadata that a parser found in a file; Metadata takes precedence. It is not checked against the
	// declared attributes, as the client can't correct it: values that do not fit count as absent in filters.
	Extracted json.RawMessage
	// TitleInText is set when the first section's title is also the title of the document, as in a file whose first
	// heading names it. The document then gets no title part of its own.
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
	// Page is the page on which the section begins, and Pages are the places in Text where other pages begin. The metadata
	// of each part contains the page on which it begins, under the key "page", and "ocr" where its text was recognised.
	Page  int
	Pages []PageMark
	// Code are the places in Text of code, each of which is one part where sentences are.
	Code []sentence.Span
}

// PageMark marks byte At of a text as the beginning of a page. OCR is set where the page is a picture, and its text recognised.
type PageMark struct {
	At, Page int
	OCR      bool
}

// Chunking is how the text of a section is divided into parts. The zero value is one part per sentence.
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
	ImageMode  string // "" = depends on what the part has
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

// checkID adds a fault at path to f unless id can be a document id.
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
