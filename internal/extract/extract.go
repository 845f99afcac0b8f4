// Package extract reads a file into a document tree: title, metadata, sections by heading, paragraphs and tables.
//
// The format is determined by the declared type, the name and the content; format.go has the table of formats. Splitting
// into passages is the work of package text/chunk. All functions are safe for concurrent use.
package extract

import (
	"errors"
	"fmt"

	"quarry/internal/extract/outline"
)

// The errors that callers distinguish. Each is wrapped with details.
var (
	// ErrUnparsable means bytes that are not what they claim to be (contract: 400).
	ErrUnparsable = outline.ErrUnparsable
	// ErrProtected and ErrNoText mean files that need a password, and files whose text, if any, is in pictures (contract: 400).
	ErrProtected = outline.ErrProtected
	ErrNoText    = outline.ErrNoText
	// ErrUnsupported means a type that no parser reads (contract: 415).
	ErrUnsupported = errors.New("the file type is not supported")
	// ErrEmpty means a file of no bytes (contract: 400).
	ErrEmpty = errors.New("the file is empty")
	// ErrStopped means a file whose parser, a process of its own, was stopped at a limit or has crashed (contract: 400).
	ErrStopped = errors.New("the parser was stopped")
)

// Options are choices of the caller; Document, Section, Table, Mark and Range are the tree that Read returns.
type (
	Options  = outline.Options
	Document = outline.Document
	Section  = outline.Section
	Table    = outline.Table
	Mark     = outline.Mark
	Range    = outline.Range
	Picture  = outline.Picture
)

// Scan is a page that is a picture, Raster the picture of it, and Recognised what somebody has read in that.
type (
	Scan       = outline.Scan
	Raster     = outline.Raster
	Recognised = outline.Recognised
)

// Input is one file.
type Input struct {
	// Name may carry an extension; it is looked at only for that.
	Name string
	// ContentType is the declared media type, with or without parameters; empty and application/octet-stream leave the
	// choice to name and bytes.
	ContentType string
	Data        []byte
	Options
}

// Choice is a file and the format that it is read as.
type Choice struct {
	in     Input
	format *format
}

// Choose returns the format of a file. Errors wrap ErrUnsupported or ErrEmpty.
func Choose(in Input) (Choice, error) {
	f, err := choose(in)
	if err == nil && len(in.Data) == 0 {
		err = ErrEmpty
	}
	return Choice{in, f}, err
}

// Stage is what reading the file is called in errors.
func (c Choice) Stage() string { return "read " + c.format.mediaType() }

// Read parses a file. The document of a file without readable text has no sections. Errors wrap ErrUnsupported,
// ErrEmpty or one of the others above, checked in this order.
func Read(in Input) (*Document, error) { return read(in, 0) }

// read is Read for a file that lies depth files deep in others.
func read(in Input, depth int) (*Document, error) {
	c, err := Choose(in)
	if err != nil {
		return nil, err
	}
	return c.read(depth)
}

// Read is the function Read for a format that was chosen.
func (c Choice) Read() (*Document, error) { return c.read(0) }

func (c Choice) read(depth int) (*Document, error) {
	doc, err := parse(c.in, c.format, depth)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Stage(), err)
	}
	if _, ok := doc.Metadata["Content-Type"]; !ok {
		doc.Metadata["Content-Type"] = c.format.mediaType()
	}
	if doc.Title != "" {
		doc.Metadata["title"] = doc.Title
	}
	return doc, nil
}

// Plain reports whether a file is characters that a format of plain characters is read from: its parser needs no process of
// its own. Where it looks at the content, it parses nothing.
func Plain(in Input) bool {
	if binary(in.Data) && !marked(in.Data) {
		return false
	}
	f, err := choose(in)
	return err == nil && f.plain
}

// parse reads a file of a known format.
func parse(in Input, f *format, depth int) (*Document, error) {
	switch {
	case f.readWith != nil:
		return f.readWith(in.Data, in.Options)
	case f.read != nil:
		return f.read(in.Data)
	case f.readMail != nil:
		return readMail(in, f, depth)
	}
	text, err := decode(in, f)
	if err != nil {
		return nil, err
	}
	if f.readCode != nil && isCode(in) {
		return f.readCode(text)
	}
	if f.textWith != nil {
		return f.textWith(text, in.Options)
	}
	return f.readText(text)
}
