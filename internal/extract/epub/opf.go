package epub

import (
	"encoding/xml"
	"fmt"
	"path"
	"slices"
	"strings"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/html"
	"quarry/internal/extract/outline"
)

// pkg is what the package document says (OPF).
type pkg struct {
	metadata map[string]any
	items    map[string]item // by id
	spine    []string        // ids of items in reading order
	nav      string          // the table of contents of EPUB 3, "" for none
	ncx      string          // that of EPUB 2
	printed  map[string]bool // chapters that are nothing but a table of contents
}

// item is a part of the book.
type item struct {
	name     string // "" outside of the archive
	kind     string // media type
	fallback string // the id of an item in another format
}

// open reads the package document.
func open(a *archive.Archive, main string) (*pkg, error) {
	p := &pkg{metadata: map[string]any{}, items: map[string]item{}, printed: map[string]bool{}}
	folder, toc := path.Dir(main), ""
	err := a.Each(main, func(x *archive.XML, e xml.StartElement) {
		attr := func(name string) string { return archive.Attr(e, name) }
		switch e.Name.Local {
		case "metadata":
			p.describe(x)
		case "item":
			i := item{within(folder, attr("href")), strings.ToLower(strings.TrimSpace(attr("media-type"))), attr("fallback")}
			p.items[attr("id")] = i
			if slices.Contains(strings.Fields(attr("properties")), "nav") {
				p.nav, p.printed[i.name] = i.name, true
			}
		case "spine":
			toc = attr("toc")
		case "itemref":
			p.spine = append(p.spine, attr("idref"))
		case "reference": // a list of places in EPUB 2
			if ref := attr("href"); attr("type") == "toc" && !strings.Contains(ref, "#") {
				p.printed[within(folder, ref)] = true
			}
		}
	})
	if err == nil && len(p.spine) == 0 {
		err = fmt.Errorf("%w: the book has no reading order (spine)", outline.ErrUnparsable)
	}
	p.ncx = p.items[toc].name
	return p, err
}

// elements maps elements of Dublin Core to keys of metadata, which are the same for every format. Of some there may be several.
var elements = map[string]string{
	"title": "title", "creator": "Author", "language": "Content-Language", "date": "date", "subject": "subject", "description": "description", "publisher": "publisher",
}

var several = map[string]bool{"Author": true, "subject": true}

// describe reads the metadata. Titles and dates beside the first ones are subtitles, and dates of other editions.
func (p *pkg) describe(x *archive.XML) {
	x.Each(func(e xml.StartElement) {
		key := elements[e.Name.Local]
		switch event := archive.Attr(e, "event"); {
		case e.Name.Local == "meta" && archive.Attr(e, "property") == "dcterms:modified", key == "date" && event == "modification":
			key = "modified"
		case key == "":
			return
		}
		value := outline.OneLine(x.Text())
		if key == "description" {
			value = plain(value)
		}
		old, _ := p.metadata[key].(string)
		switch {
		case value == "":
		case old == "":
			p.metadata[key] = value
		case several[key]:
			p.metadata[key] = old + ", " + value
		}
	})
}

// plain returns a description without the tags that some programs write into it.
func plain(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	var b outline.Builder
	if err := html.Append(&b, text); err != nil {
		return text
	}
	var all []string
	var add func([]outline.Section)
	add = func(sections []outline.Section) {
		for _, s := range sections {
			all = append(all, s.Title, s.Text)
			add(s.Sections)
		}
	}
	add(b.Sections())
	return outline.OneLine(strings.Join(all, " "))
}

// chapter returns the item that a chapter is read from: the first one in a format that is, of it and those that stand for it.
func (p *pkg) chapter(id string) (item, bool) {
	for range len(p.items) { // fallbacks may run in a circle
		i, ok := p.items[id]
		if !ok {
			break
		}
		if readable(i) {
			return i, true
		}
		id = i.fallback
	}
	return item{}, false
}

// readable reports whether an item is a page: drawings and pictures are not.
func readable(i item) bool {
	switch i.kind {
	case "application/xhtml+xml", "text/html", "text/x-oeb1-document":
		return true
	case "", "application/xml", "text/xml":
		ext := strings.ToLower(path.Ext(i.name))
		return ext == ".xhtml" || ext == ".html" || ext == ".htm"
	}
	return false
}
