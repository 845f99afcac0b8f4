package odf

import (
	"encoding/xml"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/outline"
)

// slides adds the pages of a presentation, each as a section with its number as page.
func (r *reader) slides() {
	number := 0
	r.x.Each(func(e xml.StartElement) {
		switch {
		case left[e.Name.Local]:
			r.x.Skip()
		case e.Name.Local == "page":
			if number++; r.hidden(archive.Attr(e, "style-name")) {
				r.x.Skip()
				return
			}
			r.slide(number)
		}
	})
}

// slide adds the page that was started last: its title, what is on it, notes and comments.
func (r *reader) slide(number int) {
	title := ""
	var blocks, last []block
	var visit func(to *[]block) func(xml.StartElement)
	visit = func(to *[]block) func(xml.StartElement) {
		put := func(b block) { *to = append(*to, b) }
		return func(e xml.StartElement) {
			switch class := archive.Attr(e, "class"); {
			case e.Name.Local == "annotation":
				last = append(last, block{text: r.comment()})
			case e.Name.Local == "notes":
				r.x.Each(visit(&last))
			case class == "header" || class == "footer" || class == "date-time" || class == "page-number":
				r.x.Skip()
			case class == "title" && title == "":
				r.blocks(func(b block) { title += " " + b.text })
			default:
				r.block(e, put)
			}
		}
	}
	r.x.Each(visit(&blocks))
	r.out.Page(number)
	r.out.Heading(1, outline.OneLine(title))
	for _, b := range append(blocks, last...) {
		if b.title || b.level > 0 { // a style of the text; the slide has its title
			b.title, b.level = false, 0
		}
		r.put(b)
	}
}
