package epub

import (
	"encoding/xml"
	"path"
	"slices"
	"strings"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/outline"
)

// entry is the first one of a chapter in the table of contents.
type entry struct {
	label string
	depth int    // from 1, of all its entries the least
	whole bool   // it stands for the chapter, not for a place inside
	above string // the heading above it that leads nowhere itself, if it is the first one below
}

// contents are the entries by the names of the parts that they lead to.
type contents map[string]entry

// contents returns the table of contents. One that is damaged counts as far as it can be read: it only helps with headings.
func (p *pkg) contents(a *archive.Archive) contents {
	c := contents{}
	for _, t := range []struct {
		part string
		read func(x *archive.XML, e xml.StartElement, folder string)
	}{{p.nav, c.nav}, {p.ncx, c.ncx}} {
		if len(c) == 0 && t.part != "" {
			_ = a.Each(t.part, func(x *archive.XML, e xml.StartElement) { t.read(x, e, path.Dir(t.part)) })
		}
	}
	return c
}

func (c contents) add(folder, ref string, e entry) {
	name := within(folder, ref)
	e.label, e.whole = outline.OneLine(e.label), !strings.Contains(ref, "#")
	if first, known := c[name]; known {
		first.depth = min(first.depth, e.depth)
		e = first
	}
	c[name] = e
}

// nav reads the list of a page (EPUB 3, 7.2).
func (c contents) nav(x *archive.XML, e xml.StartElement, folder string) {
	if e.Name.Local != "nav" || !slices.Contains(strings.Fields(archive.Attr(e, "type")), "toc") {
		return
	}
	above := ""
	var list func(depth int)
	list = func(depth int) {
		x.Each(func(e xml.StartElement) {
			switch e.Name.Local {
			case "ol":
				list(depth + 1)
			case "span":
				above = outline.OneLine(x.Text())
			case "a":
				ref := archive.Attr(e, "href")
				c.add(folder, ref, entry{label: x.Text(), depth: depth, above: above})
				above = ""
			}
		})
	}
	list(0)
}

// ncx reads the map of points (OPF 2.0.1, 2.4.1).
func (c contents) ncx(x *archive.XML, e xml.StartElement, folder string) {
	if e.Name.Local != "navMap" {
		return
	}
	var points func(depth int)
	points = func(depth int) {
		label := ""
		x.Each(func(e xml.StartElement) {
			switch e.Name.Local {
			case "navPoint":
				points(depth + 1)
			case "navLabel":
				label = x.Text()
			case "content":
				c.add(folder, archive.Attr(e, "src"), entry{label: label, depth: depth})
			}
		})
	}
	points(0)
}
