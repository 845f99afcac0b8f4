// Package ooxml reads what the formats of Office Open XML share (ECMA-376, parts 1 and 2): the package with its relationships and
// content types, the properties of the document, and drawings with their texts and the data of charts. Relationships that
// lead out of the package are never followed. The limits are those of package archive.
package ooxml

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"path"
	"strings"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/outline"
)

// Kind is what a package holds.
type Kind string

const (
	Word         Kind = "wordprocessingml"
	Spreadsheet  Kind = "spreadsheetml"
	Presentation Kind = "presentationml"
)

// kinds has what messages call a kind, and the usual name of its main part.
var kinds = []struct {
	kind        Kind
	name, usual string
}{
	{Word, "Word document", "word/document.xml"},
	{Spreadsheet, "Excel workbook", "xl/workbook.xml"},
	{Presentation, "PowerPoint presentation", "ppt/presentation.xml"},
}

// compoundFile is the signature of a compound file (MS-CFB), which holds a document of Office before 2007, or one that is encrypted.
const compoundFile = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"

// encrypted is the name of the stream with the encrypted package, in UTF-16 (MS-OFFCRYPTO, 2.3).
var encrypted = []byte("E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00")

// Package is an open package. It is not safe for concurrent use.
type Package struct {
	*archive.Archive
	// Main is the name of the part that everything hangs from.
	Main string
}

// Open opens a package of the given kind. Its errors wrap outline.ErrProtected or outline.ErrUnparsable.
func Open(data []byte, want Kind) (*Package, error) {
	if bytes.HasPrefix(data, []byte(compoundFile)) {
		if bytes.Contains(data, encrypted) {
			return nil, outline.ErrProtected
		}
		return nil, fmt.Errorf("%w: it is in the format of Office before 2007", outline.ErrUnparsable)
	}
	a, err := archive.Open(data)
	if err != nil {
		return nil, err
	}
	p := &Package{Archive: a}
	kind, err := p.find()
	if err != nil {
		return nil, err
	}
	for _, k := range kinds {
		if k.kind == want && kind != want {
			return nil, fmt.Errorf("%w: the archive holds no %s", outline.ErrUnparsable, k.name)
		}
	}
	return p, nil
}

// Is reports whether data is a package of this kind, judging by its directory and its content types.
func Is(data []byte, kind Kind) bool {
	if !bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		return false
	}
	_, err := Open(data, kind)
	return err == nil
}

// find sets p.Main, the target of the package's relationship or else a usual name, and returns what kind it is.
func (p *Package) find() (Kind, error) {
	all, err := p.Relations("")
	if err != nil {
		return "", err
	}
	for _, r := range all {
		if r.Type == "officeDocument" && p.Has(r.Target) {
			p.Main = r.Target
		}
	}
	found := Kind("")
	for _, k := range kinds {
		if p.Main == "" && p.Has(k.usual) {
			p.Main = k.usual
		}
		if p.Main != "" && path.Dir(p.Main) == path.Dir(k.usual) {
			found = k.kind
		}
	}
	err = p.Each("[Content_Types].xml", func(_ *archive.XML, e xml.StartElement) {
		for _, k := range kinds {
			if strings.EqualFold(strings.TrimLeft(archive.Attr(e, "PartName"), "/"), p.Main) && strings.Contains(archive.Attr(e, "ContentType"), string(k.kind)) {
				found = k.kind
			}
		}
	})
	if err == nil && p.Main == "" {
		err = fmt.Errorf("%w: the archive holds no Office document", outline.ErrUnparsable)
	}
	if found == "" {
		found = Word // by its elements it is one, or has no text
	}
	return found, err
}

// Relation is a relationship of a part to another one.
type Relation struct {
	ID string
	// Type is the last word of the type's address, such as "chart".
	Type string
	// Target is the name of the other part.
	Target string
}

// Relations returns the relationships of a part to other parts of the package, in order; part "" is the package.
func (p *Package) Relations(part string) ([]Relation, error) {
	dir := path.Dir(part)
	var out []Relation
	err := p.Each(path.Join(dir, "_rels", path.Base("/"+part)+".rels"), func(_ *archive.XML, e xml.StartElement) {
		if e.Name.Local != "Relationship" || archive.Attr(e, "TargetMode") == "External" {
			return
		}
		target := strings.ReplaceAll(archive.Attr(e, "Target"), "\\", "/")
		if !strings.HasPrefix(target, "/") {
			target = path.Join("/", dir, target)
		}
		out = append(out, Relation{archive.Attr(e, "Id"), path.Base(archive.Attr(e, "Type")), strings.TrimLeft(path.Clean(target), "/")})
	})
	return out, err
}

// Picture returns the bytes of the part that is a picture, nil where there is none.
func (p *Package) Picture(target string) []byte {
	if target == "" {
		return nil
	}
	return p.File(target, outline.MaxPictureBytes)
}

// Target returns the part that a relationship leads to, "" for none.
func Target(all []Relation, id string) string {
	for _, r := range all {
		if r.ID == id {
			return r.Target
		}
	}
	return ""
}

// EmbeddedID returns the id of the relationship to the picture that an element shows.
func EmbeddedID(e xml.StartElement) string {
	if id := archive.Attr(e, "embed"); id != "" {
		return id
	}
	return RelationID(e)
}

// RelationID returns the id of the relationship that an element names; some elements have an id of their own beside it.
func RelationID(e xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local == "id" && strings.HasSuffix(a.Name.Space, "/relationships") {
			return a.Value
		}
	}
	return archive.Attr(e, "id")
}
