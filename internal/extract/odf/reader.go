package odf

import (
	"encoding/xml"
	"strconv"
	"strings"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/outline"
)

// reader reads the content in document order. archive.XML bounds the depth of its recursion.
type reader struct {
	pack   *archive.Archive
	x      *archive.XML
	out    *outline.Builder
	styles map[string]style
	lists  map[string]list
	inCell bool  // of a table, where no bullets are written
	titled bool  // there was a paragraph of style Title, below which headings are nested
	err    error // of cells
}

// block is a paragraph, a heading, an item of a list, a table, or a picture, whose text is what is said of it.
type block struct {
	picture string // its part
	text    string
	level   int // of a heading, 0 for others
	title   bool
	item    bool
	table   *outline.Table
}

// body reads the document.
func (r *reader) body(kind string) {
	r.x.Each(func(e xml.StartElement) {
		if e.Name.Local != kind {
			return
		}
		switch kind {
		case text:
			r.blocks(r.put)
		case spreadsheet:
			r.sheets()
		case presentation:
			r.slides()
		}
	})
}

// put adds a block to the tree.
func (r *reader) put(b block) {
	switch {
	case b.picture != "" && r.out.Picture(outline.Picture{Description: b.text, Data: r.pack.File(b.picture, outline.MaxPictureBytes)}):
	case b.table != nil:
		r.out.Table(*b.table)
	case b.title:
		r.titled = true
		r.out.Heading(1, b.text)
	case b.level > 0:
		if r.titled {
			b.level++
		}
		r.out.Heading(b.level, b.text)
	case b.item:
		r.out.Line(b.text)
	default:
		r.out.Paragraph(b.text)
	}
}

// left are the elements whose content is not shown, or stands elsewhere.
var left = map[string]bool{
	"tracked-changes": true, "table-of-content": true, "illustration-index": true, "table-index": true, "object-index": true, "user-index": true,
	"alphabetical-index": true, "forms": true, "sequence-decls": true, "ruby-text": true, "annotation": true, "hidden-text": true, "hidden-paragraph": true,
	"page-thumbnail": true, "named-expressions": true, "event-listeners": true, "note-citation": true, "meta": true, "settings": true, "binary-data": true,
}

// blocks calls put with the blocks inside the element that was started last.
func (r *reader) blocks(put func(block)) {
	r.x.Each(func(e xml.StartElement) { r.block(e, put) })
}

// block reads an element that may hold blocks. The elements inside unknown ones are read.
func (r *reader) block(e xml.StartElement, put func(block)) {
	name := archive.Attr(e, "style-name")
	switch {
	case left[e.Name.Local], e.Name.Local == "section" && archive.Attr(e, "display") == "none":
		r.x.Skip()
	case e.Name.Local == "p":
		title := r.based(name, "Title")
		r.paragraph(r.hidden(name), func(b block) {
			if title && b.table == nil && !b.item && b.picture == "" {
				b.text, b.title = outline.OneLine(b.text), true
				title = false
			}
			put(b)
		})
	case e.Name.Local == "h":
		level, _ := strconv.Atoi(archive.Attr(e, "outline-level"))
		r.paragraph(r.hidden(name), func(b block) {
			if b.table == nil && !b.item && b.picture == "" && level >= 0 {
				b.text, b.level = outline.OneLine(b.text), max(level, 1)
				level = -1 // what follows hangs on the heading
			}
			put(b)
		})
	case e.Name.Local == "list":
		r.list(e, "", 1, put)
	case e.Name.Local == "table":
		if t := r.table(); len(t.Headers)+len(t.Rows) > 0 {
			put(block{table: &t})
		}
	case e.Name.Local == "frame" && r.out.Options.Pictures:
		r.frame(put)
	case e.Name.Local == "desc" || e.Name.Local == "title" && strings.Contains(e.Name.Space, "svg"):
		if text := outline.OneLine(r.x.Text()); text != "" {
			put(block{text: text})
		}
	}
}

// paragraph calls put with the paragraph that was started last, unless it is empty, and then with what hangs on it: frames and notes.
func (r *reader) paragraph(hidden bool, put func(block)) {
	var b strings.Builder
	var after []block
	collect := func(in block) { after = append(after, in) }
	space := true // at the end of b: white space collapses
	r.x.Texts(func(e xml.StartElement) {
		switch {
		case left[e.Name.Local], e.Name.Local == "span" && r.hidden(archive.Attr(e, "style-name")):
			r.x.Skip()
		case e.Name.Local == "s":
			n, err := strconv.Atoi(archive.Attr(e, "c"))
			if err != nil {
				n = 1
			}
			b.WriteString(strings.Repeat(" ", min(max(n, 0), 100)))
		case e.Name.Local == "tab":
			b.WriteByte(' ')
			space = true
		case e.Name.Local == "line-break":
			b.WriteByte('\n')
			space = true
		case e.Name.Local == "frame" && r.out.Options.Pictures:
			r.frame(collect)
		case e.Name.Local == "note-body" || e.Name.Local == "text-box":
			r.blocks(collect)
		case e.Name.Local == "desc", e.Name.Local == "title", e.Name.Local == "list", e.Name.Local == "table", e.Name.Local == "p", e.Name.Local == "h":
			r.block(e, collect) // in a shape
		}
	}, func(t []byte) {
		for _, c := range string(t) {
			if blank := c == ' ' || c == '\n' || c == '\t' || c == '\r'; blank && space {
				continue
			} else if space = blank; blank {
				c = ' '
			}
			b.WriteRune(c)
		}
	})
	if text := strings.TrimSpace(b.String()); text != "" && !hidden {
		put(block{text: text})
	}
	if !hidden {
		for _, in := range after {
			put(in)
		}
	}
}

// frame reads the frame that was started last: a picture with what is said of it, or anything else.
func (r *reader) frame(put func(block)) {
	var picture block
	var said []string
	r.x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "image":
			if href := archive.Attr(e, "href"); picture.picture == "" && r.pack.Has(href) && !strings.Contains(href, "ObjectReplacements") {
				picture.picture = href
			}
		case "title", "desc":
			said = append(said, outline.OneLine(r.x.Text()))
		default:
			r.block(e, put)
		}
	})
	picture.text = strings.TrimSpace(strings.Join(said, ". "))
	if picture.picture != "" || picture.text != "" {
		put(picture)
	}
}

// list reads the list e at a depth from 1; style is the one of the list around it.
func (r *reader) list(e xml.StartElement, style string, depth int, put func(block)) {
	if name := archive.Attr(e, "style-name"); name != "" {
		style = name
	}
	how := r.lists[style][depth]
	n := how.start
	r.x.Each(func(e xml.StartElement) {
		if e.Name.Local != "list-item" && e.Name.Local != "list-header" {
			return
		}
		if from, err := strconv.Atoi(archive.Attr(e, "start-value")); err == nil {
			n = from
		}
		first := e.Name.Local == "list-item"
		write := func(b block) {
			if b.table == nil && !b.item && b.picture == "" && b.level == 0 && !b.title {
				mark := "  "
				if first {
					if mark = how.mark(n) + " "; r.inCell && how.format == "" {
						mark = ""
					}
					first = false
					n++
				}
				b.text, b.item = strings.Repeat("  ", min(depth-1, 8))+mark+strings.ReplaceAll(b.text, "\n", " "), true
			}
			put(b)
		}
		r.x.Each(func(e xml.StartElement) {
			if e.Name.Local == "list" {
				r.list(e, style, depth+1, put)
			} else {
				r.block(e, write)
			}
		})
	})
}
