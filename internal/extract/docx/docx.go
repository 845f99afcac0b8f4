// Package docx reads Word documents (WordprocessingML, ECMA-376) into a document tree.
//
// It keeps what a reader of the finished text would read: paragraphs with headings by their style, lists with their
// bullets and numbers, tables, notes below the paragraph that refers to them, text boxes below the one they hang
// on, alternative texts of pictures, formulas as lines. Deleted, moved-away and hidden text, comments, running heads
// and tables of contents go. Layout, pictures and fields' instructions are not looked at. Its caller is extract. Safe
// for concurrent use.
package docx

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"path"
	"strings"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/outline"
)

// oldWord begins files of the old binary format, and those that Word has encrypted.
const oldWord = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"

// Read parses a file. Its errors wrap outline.ErrUnparsable.
func Read(data []byte) (*outline.Document, error) {
	if bytes.HasPrefix(data, []byte(oldWord)) {
		return nil, fmt.Errorf("%w: it is encrypted with a password or in the format of Word before 2007", outline.ErrUnparsable)
	}
	a, err := archive.Open(data)
	if err != nil {
		return nil, err
	}
	main, err := mainPart(a)
	if err != nil {
		return nil, err
	}
	r := &reader{out: &outline.Builder{}, counters: map[string]*counter{}}
	if r.styles, err = readStyles(a, relative(main, "styles.xml")); err != nil {
		return nil, err
	}
	if r.numbering, err = readNumbering(a, relative(main, "numbering.xml")); err != nil {
		return nil, err
	}
	for _, kind := range []string{"footnote", "endnote"} {
		if err := r.readNotes(a, relative(main, kind+"s.xml"), kind); err != nil {
			return nil, err
		}
	}
	if err := r.readBody(a, main); err != nil {
		return nil, err
	}
	doc := &outline.Document{Sections: r.out.Sections()}
	if doc.Metadata, err = properties(a); err != nil {
		return nil, err
	}
	doc.Title, _ = doc.Metadata["title"].(string)
	if doc.Title == "" {
		doc.Title = r.out.Title()
	}
	return doc, nil
}

// Is reports whether data is a Word document, whatever it is called.
func Is(data []byte) bool {
	a, err := archive.Open(data)
	if err != nil {
		return false
	}
	_, err = mainPart(a)
	return err == nil
}

// mainPart gives the name of the part that holds the text: the package's own word, else the usual name.
func mainPart(a *archive.Archive) (string, error) {
	const usual = "word/document.xml"
	name := usual
	rels, err := a.Read("_rels/.rels")
	if err != nil {
		return "", err
	}
	if rels != nil {
		err = archive.NewXML(rels).Each(func(e xml.StartElement) error {
			if e.Name.Local == "Relationship" && strings.HasSuffix(archive.Attr(e, "Type"), "/officeDocument") {
				name = path.Clean(strings.TrimLeft(archive.Attr(e, "Target"), "/"))
			}
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	if !a.Has(name) {
		name = usual
	}
	if !a.Has(name) || strings.HasPrefix(name, "xl/") || strings.HasPrefix(name, "ppt/") {
		return "", fmt.Errorf("%w: the archive holds no Word document", outline.ErrUnparsable)
	}
	return name, nil
}

// relative gives the part that stands beside main.
func relative(main, name string) string { return path.Join(path.Dir(main), name) }

// readBody reads the main part.
func (r *reader) readBody(a *archive.Archive, name string) error {
	data, err := a.Read(name)
	if err != nil {
		return err
	}
	if bytes.Contains(data, []byte("lastRenderedPageBreak")) { // where Word last saw pages end; else pages are unknown
		r.page = 1
		r.out.Page(1)
	}
	r.x = archive.NewXML(data)
	found := false
	err = r.x.Each(func(e xml.StartElement) error {
		if e.Name.Local != "body" || found {
			return nil
		}
		found = true
		return r.blocks(r.put)
	})
	if err == nil && !found {
		err = fmt.Errorf("%w: %s has no body", outline.ErrUnparsable, name)
	}
	r.flushCaption()
	return err
}

// readNotes reads the part of foot- or endnotes: their texts by kind and id.
func (r *reader) readNotes(a *archive.Archive, name, kind string) error {
	data, err := a.Read(name)
	if err != nil || data == nil {
		return err
	}
	notes := &reader{styles: r.styles, numbering: r.numbering, counters: map[string]*counter{}, x: archive.NewXML(data)}
	if r.notes == nil {
		r.notes = map[string]string{}
	}
	return notes.x.Each(func(e xml.StartElement) error {
		if e.Name.Local != kind {
			return nil
		}
		if t := archive.Attr(e, "type"); t != "" && t != "normal" { // the rule above the notes
			return notes.x.Skip()
		}
		var lines []string
		err := notes.blocks(func(b block) { lines = append(lines, b.plain()...) })
		r.notes[kind+archive.Attr(e, "id")] = strings.Join(lines, "\n")
		return err
	})
}
