// Package odf reads OpenDocument texts, spreadsheets and presentations (ISO/IEC 26300, ODF 1.3) into a document tree.
//
// It keeps what a reader would see: headings, paragraphs, lists with their bullets and numbers, tables, notes behind the paragraph that
// refers to them, texts of frames, alternative texts of pictures. Sheets and slides are sections; comments are read there. Deleted and
// hidden text, hidden sheets and slides, tables of contents, headers and footers are left out. All functions are safe for concurrent use.
package odf

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"time"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/outline"
)

// The kinds of documents, as their media types end.
const (
	text         = "text"
	spreadsheet  = "spreadsheet"
	presentation = "presentation"
)

const mediaType = "application/vnd.oasis.opendocument."

// ReadText, ReadSpreadsheet and ReadPresentation parse a document of their kind, templates included. Their errors wrap
// outline.ErrUnparsable or outline.ErrProtected.
func ReadText(data []byte, o outline.Options) (*outline.Document, error) {
	return read(data, text, o)
}

// ReadSpreadsheet is described at ReadText.
func ReadSpreadsheet(data []byte, o outline.Options) (*outline.Document, error) {
	return read(data, spreadsheet, o)
}

// ReadPresentation is described at ReadText.
func ReadPresentation(data []byte, o outline.Options) (*outline.Document, error) {
	return read(data, presentation, o)
}

// IsText, IsSpreadsheet and IsPresentation report whether data is a document of their kind, judging by its content.
func IsText(data []byte) bool { return is(data, text) }

// IsSpreadsheet is described at IsText.
func IsSpreadsheet(data []byte) bool { return is(data, spreadsheet) }

// IsPresentation is described at IsText.
func IsPresentation(data []byte) bool { return is(data, presentation) }

func is(data []byte, kind string) bool {
	if !bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		return false
	}
	a, err := archive.Open(data)
	return err == nil && kindOf(a) == kind
}

// kindOf returns the kind that an archive says it is, "" for none.
func kindOf(a *archive.Archive) string {
	raw, err := a.Read("mimetype")
	if err != nil {
		return ""
	}
	kind, ok := strings.CutPrefix(strings.TrimSpace(string(raw)), mediaType)
	if !ok {
		return ""
	}
	return strings.TrimSuffix(kind, "-template")
}

func read(data []byte, kind string, o outline.Options) (*outline.Document, error) {
	a, err := archive.Open(data)
	if err != nil {
		return nil, err
	}
	if got := kindOf(a); got != kind {
		return nil, fmt.Errorf("%w: the archive holds no OpenDocument %s", outline.ErrUnparsable, kind)
	}
	locked := false
	err = a.Each("META-INF/manifest.xml", func(_ *archive.XML, e xml.StartElement) {
		locked = locked || e.Name.Local == "encryption-data"
	})
	if err != nil {
		return nil, err
	}
	if locked {
		return nil, outline.ErrProtected
	}
	if !a.Has("content.xml") {
		return nil, fmt.Errorf("%w: the archive has no content.xml", outline.ErrUnparsable)
	}
	metadata, err := properties(a)
	if err != nil {
		return nil, err
	}
	r := &reader{pack: a, out: &outline.Builder{Options: o}, styles: map[string]style{}, lists: map[string]list{}}
	for _, part := range []string{"styles.xml", "content.xml"} {
		if err := a.Each(part, r.style); err != nil {
			return nil, err
		}
	}
	if err := a.Stream("content.xml", func(x *archive.XML) { r.x = x; r.body(kind) }); err != nil {
		return nil, err
	}
	if r.err != nil {
		return nil, r.err
	}
	doc := r.out.Document(metadata)
	if kind == spreadsheet {
		doc.Title, _ = metadata["title"].(string) // the name of a sheet is no title
	}
	return doc, nil
}

// elements maps the elements of meta.xml to keys of metadata, which are the same for every format.
var elements = map[string]string{
	"title": "title", "initial-creator": "Author", "creator": "Last-Author", "subject": "subject", "description": "description",
	"keyword": "keywords", "language": "Content-Language", "creation-date": "date", "date": "modified",
}

// properties returns the metadata of the file.
func properties(a *archive.Archive) (map[string]any, error) {
	m := map[string]any{}
	err := a.Each("meta.xml", func(x *archive.XML, e xml.StartElement) {
		if e.Name.Local == "document-statistic" {
			for name, key := range map[string]string{"page-count": "Page-Count", "word-count": "Word-Count"} {
				if n, err := strconv.Atoi(archive.Attr(e, name)); err == nil && n > 0 {
					m[key] = n
				}
			}
		}
		key := elements[e.Name.Local]
		if key == "" {
			return
		}
		value := outline.OneLine(x.Text())
		switch {
		case value == "":
		case key == "date" || key == "modified":
			if t, err := time.Parse("2006-01-02T15:04:05", strings.TrimSuffix(value, "Z")); err == nil {
				m[key] = t.Format(time.RFC3339)
			}
		case key == "keywords" && m[key] != nil:
			m[key] = m[key].(string) + ", " + value
		default:
			m[key] = value
		}
	})
	if m["Author"] == nil && m["Last-Author"] != nil {
		m["Author"] = m["Last-Author"]
	}
	return m, err
}
