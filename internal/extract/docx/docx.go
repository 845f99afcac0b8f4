// Package docx reads Word documents (WordprocessingML, ECMA-376 part 1, chapter 17) into a document tree.
//
// It keeps what a reader of the final text would see: paragraphs, headings by their style, lists with their bullets and
// numbers, tables, notes after the paragraph that refers to them, text boxes after the paragraph they are anchored to,
// alternative texts of pictures, the data of charts, and formulas as lines. It drops text that is deleted, moved elsewhere or hidden,
// comments, headers, footers and tables of contents. Layout, pictures and the instructions of fields are ignored. All
// functions are safe for concurrent use.
package docx

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"path"
	"strings"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/ooxml"
	"quarry/internal/extract/outline"
)

// Read parses a Word document. Its errors wrap outline.ErrUnparsable or outline.ErrProtected.
func Read(data []byte, o outline.Options) (*outline.Document, error) {
	a, err := ooxml.Open(data, ooxml.Word)
	if err != nil {
		return nil, err
	}
	main := a.Main
	targets, err := a.Relations(main)
	if err != nil {
		return nil, err
	}
	r := &reader{pack: a, relations: targets, out: &outline.Builder{Options: o}, counters: map[string]*counter{}, notes: map[string]string{}}
	if r.styles, err = readStyles(a.Archive, relative(main, "styles.xml")); err != nil {
		return nil, err
	}
	if r.numbering, err = readNumbering(a.Archive, relative(main, "numbering.xml")); err != nil {
		return nil, err
	}
	for _, kind := range []string{"footnote", "endnote"} {
		if err := r.readNotes(a.Archive, relative(main, kind+"s.xml"), kind); err != nil {
			return nil, err
		}
	}
	if err := r.readBody(a.Archive, main); err != nil {
		return nil, err
	}
	metadata, err := a.Properties()
	if err != nil {
		return nil, err
	}
	return r.out.Document(metadata), nil
}

// Is reports whether data is a Word document, judging by its content.
func Is(data []byte) bool { return ooxml.Is(data, ooxml.Word) }

// relative returns the name of the part in the same folder as main.
func relative(main, name string) string { return path.Join(path.Dir(main), name) }

// readBody reads the main part into r.out.
func (r *reader) readBody(a *archive.Archive, name string) error {
	data, err := a.Read(name)
	if err != nil {
		return err
	}
	if bytes.Contains(data, []byte("lastRenderedPageBreak")) { // Word's page breaks when the file was saved; without them pages are unknown
		r.page = 1
		r.out.Page(1)
	}
	r.x = archive.NewXML(data)
	found := false
	r.x.Each(func(e xml.StartElement) {
		if e.Name.Local == "body" && !found {
			found = true
			r.blocks(r.put)
		}
	})
	if err := cmp.Or(r.x.Err(), r.err); err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%w: %s has no body", outline.ErrUnparsable, name)
	}
	r.flushCaption()
	return nil
}

// readNotes reads the part of footnotes or endnotes into r.notes.
func (r *reader) readNotes(a *archive.Archive, name, kind string) error {
	notes := &reader{out: &outline.Builder{}, styles: r.styles, numbering: r.numbering, counters: map[string]*counter{}}
	return a.Each(name, func(x *archive.XML, e xml.StartElement) {
		if e.Name.Local != kind {
			return
		}
		if t := archive.Attr(e, "type"); t != "" && t != "normal" { // the separator line above the notes
			x.Skip()
			return
		}
		notes.x = x
		var lines []string
		notes.blocks(func(b block) { lines = append(lines, b.plain()...) })
		r.notes[kind+archive.Attr(e, "id")] = strings.Join(lines, "\n")
	})
}
