// Package extract turns the bytes of a file into a document tree: title,
// metadata, sections by heading, paragraphs, tables.
//
// The format follows from the declared type, the name and the bytes. Formats
// built so far: plain text, Markdown, HTML, Word (docx), PDF. The package cuts no passages and
// knows neither corpora nor the network. Its caller is ingest. Safe for
// concurrent use.
package extract

import (
	"errors"
	"fmt"
	"strings"

	"quarry/internal/extract/docx"
	"quarry/internal/extract/html"
	"quarry/internal/extract/markdown"
	"quarry/internal/extract/outline"
	"quarry/internal/extract/pdf"
)

// Outcomes that a caller must tell apart; each comes wrapped with detail.
var (
	// ErrUnparsable means bytes that are not what they claim to be (contract:
	// 400).
	ErrUnparsable = outline.ErrUnparsable
	// ErrProtected and ErrNoText are the same for files that need a password,
	// and for pages that are pictures.
	ErrProtected = outline.ErrProtected
	ErrNoText    = outline.ErrNoText
	// ErrUnsupported means a type that no parser here reads (contract: 415).
	ErrUnsupported = errors.New("the file type is not supported")
	// ErrEmpty means a file of no bytes (contract: 400).
	ErrEmpty = errors.New("the file is empty")
)

// Document, Section, Table and Mark are the tree that Read returns.
type (
	Document = outline.Document
	Section  = outline.Section
	Table    = outline.Table
	Mark     = outline.Mark
)

// Input is one file.
type Input struct {
	// Name may carry an extension; it is looked at only for that.
	Name string
	// ContentType is the declared media type, with or without parameters;
	// empty and application/octet-stream leave the choice to name and bytes.
	ContentType string
	Data        []byte
}

// Read parses a file. A file without readable text gives a document without
// sections. Errors wrap ErrUnsupported, ErrEmpty or one of the others above,
// checked in this order.
func Read(in Input) (*Document, error) {
	f, err := choose(in)
	if err != nil {
		return nil, err
	}
	if len(in.Data) == 0 {
		return nil, ErrEmpty
	}
	doc, err := parse(in, f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.mediaType(), err)
	}
	if _, ok := doc.Metadata["Content-Type"]; !ok {
		doc.Metadata["Content-Type"] = f.mediaType()
	}
	if doc.Title != "" {
		doc.Metadata["title"] = doc.Title
	}
	return doc, nil
}

// parse reads a file of a known format.
func parse(in Input, f format) (*Document, error) {
	switch f {
	case formatDOCX:
		return docx.Read(in.Data)
	case formatPDF:
		return pdf.Read(in.Data)
	}
	text, err := decode(in, f)
	if err != nil {
		return nil, err
	}
	switch f {
	case formatHTML:
		return html.Read(text)
	case formatMarkdown:
		return markdown.Read(text)
	}
	return plain(text), nil
}

// plain makes one section of a text. Form feeds end a page and with it a
// paragraph.
func plain(text string) *Document {
	text = lineEnds.Replace(text)
	doc := &Document{Metadata: map[string]any{}}
	if strings.TrimSpace(text) != "" {
		doc.Sections = []Section{{Text: strings.Trim(text, "\n")}}
	}
	return doc
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n\n", "\v", "\n")
