// Package xlsx reads Excel workbooks (SpreadsheetML, ECMA-376 part 1, chapter 18) into a document tree.
//
// Each sheet is a section. Its blocks of adjacent filled cells are tables; numbers and dates are read as they are displayed, formulas
// by the value that was stored, merged cells in each place. Comments, texts of shapes, alternative texts of pictures and the data of
// charts follow. Hidden sheets are left out. Sheets are read as a stream: what counts is how many cells are filled. All
// functions are safe for concurrent use.
package xlsx

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/ooxml"
	"quarry/internal/extract/outline"
	"quarry/internal/extract/sheet"
)

// Read parses a workbook. Its errors wrap outline.ErrUnparsable or outline.ErrProtected.
func Read(data []byte, o outline.Options) (*outline.Document, error) {
	p, err := ooxml.Open(data, ooxml.Spreadsheet)
	if err != nil {
		return nil, err
	}
	metadata, err := p.Properties()
	if err != nil {
		return nil, err
	}
	b := &book{pack: p, out: &outline.Builder{Options: o}, people: map[string]string{}}
	if err := b.read(); err != nil {
		return nil, err
	}
	doc := b.out.Document(metadata)
	doc.Sections = slices.DeleteFunc(doc.Sections, func(s outline.Section) bool { return s.Text == "" && len(s.Tables)+len(s.Pictures) == 0 }) // empty sheets
	doc.Title, _ = metadata["title"].(string)                                                                                                  // the name of a sheet is no title
	return doc, nil
}

// Is reports whether data is a workbook, judging by its content.
func Is(data []byte) bool { return ooxml.Is(data, ooxml.Spreadsheet) }

// book is an open workbook.
type book struct {
	pack      *ooxml.Package
	out       *outline.Builder
	cells     sheet.Book
	strings   []string
	styles    styles
	epoch1904 bool
	people    map[string]string // who comments in threads, by id
}

// read adds the sheets in their order.
func (b *book) read() error {
	targets, err := b.parts()
	if err != nil {
		return err
	}
	type tab struct{ name, part string }
	var tabs []tab
	err = b.pack.Each(b.pack.Main, func(_ *archive.XML, e xml.StartElement) {
		switch e.Name.Local {
		case "workbookPr":
			b.epoch1904 = truth(archive.Attr(e, "date1904"))
		case "sheet":
			if state := archive.Attr(e, "state"); state == "" || state == "visible" {
				tabs = append(tabs, tab{outline.OneLine(archive.Attr(e, "name")), targets[ooxml.RelationID(e)]})
			}
		}
	})
	if err != nil {
		return err
	}
	for _, t := range tabs {
		if !b.pack.Has(t.part) {
			return fmt.Errorf("%w: the sheet %q is missing", outline.ErrUnparsable, t.name)
		}
		b.out.Heading(1, t.name)
		if err := b.sheet(t.part); err != nil {
			return err
		}
	}
	return nil
}

// parts reads what the sheets share and returns the parts of the workbook by the ids of their relationships.
func (b *book) parts() (map[string]string, error) {
	all, err := b.pack.Relations(b.pack.Main)
	if err != nil {
		return nil, err
	}
	targets := map[string]string{}
	for _, r := range all {
		targets[r.ID] = r.Target
		switch r.Type {
		case "sharedStrings":
			err = b.readStrings(r.Target)
		case "styles":
			b.styles, err = readStyles(b.pack, r.Target)
		case "person":
			err = b.pack.Each(r.Target, func(_ *archive.XML, e xml.StartElement) {
				if e.Name.Local == "person" {
					b.people[archive.Attr(e, "id")] = archive.Attr(e, "displayName")
				}
			})
		}
		if err != nil {
			return nil, err
		}
	}
	return targets, nil
}

// readStrings reads the texts that cells refer to by number.
func (b *book) readStrings(part string) error {
	return b.pack.Stream(part, func(x *archive.XML) {
		x.Each(func(e xml.StartElement) {
			if e.Name.Local == "si" {
				b.strings = append(b.strings, rich(x))
			}
		})
	})
}

// rich returns the text of the string that was started last, without the reading aids of its characters.
func rich(x *archive.XML) string {
	var out string
	x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "t":
			out += unescape(x.Text())
		case "rPh":
			x.Skip()
		}
	})
	return out
}

// sheet adds a worksheet and what hangs from it; a sheet that is a chart has only that.
func (b *book) sheet(part string) error {
	s := b.cells.Sheet()
	if err := b.readCells(part, s); err != nil {
		return err
	}
	if err := s.Write(b.out); err != nil {
		return err
	}
	relations, err := b.pack.Relations(part)
	if err != nil {
		return err
	}
	for _, kind := range []struct {
		name string
		read func(part string) error
	}{
		{"comments", b.notes}, {"threadedComment", b.threads},
		{"drawing", func(part string) error { return b.pack.Drawing(part, b.out) }},
	} {
		for _, r := range relations {
			if r.Type == kind.name {
				if err := kind.read(r.Target); err != nil {
					return err
				}
			}
		}
	}
	b.out.Break()
	return nil
}

// notes adds the comments on cells, each with its cell and its author. Those that stand for a thread are left to threads.
func (b *book) notes(part string) error {
	var authors []string
	return b.pack.Each(part, func(x *archive.XML, e xml.StartElement) {
		switch e.Name.Local {
		case "author":
			authors = append(authors, outline.OneLine(x.Text()))
		case "comment":
			c := outline.Comment{On: archive.Attr(e, "ref")}
			if at := number(archive.Attr(e, "authorId")); at >= 0 && at < len(authors) {
				c.Author = authors[at]
			}
			if c.Text = rich(x); !strings.HasPrefix(c.Author, "tc=") {
				b.out.Line(c.String())
			}
		}
	})
}

// threads adds the comments that answer each other.
func (b *book) threads(part string) error {
	return b.pack.Each(part, func(x *archive.XML, e xml.StartElement) {
		if e.Name.Local == "threadedComment" {
			c := outline.Comment{On: archive.Attr(e, "ref"), Author: b.people[archive.Attr(e, "personId")], Time: archive.Attr(e, "dT")}
			c.Text = x.Text()
			b.out.Line(c.String())
		}
	})
}
