package docx

import (
	"encoding/xml"
	"strings"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/ooxml"
	"quarry/internal/extract/outline"
)

// reader reads one part in document order. archive.XML bounds the depth of its recursion.
type reader struct {
	pack      *ooxml.Package
	relations []ooxml.Relation // of the main part
	x         *archive.XML
	err       error // of a chart
	out       *outline.Builder
	styles    *sheet
	numbering *numbering
	counters  map[string]*counter
	notes     map[string]string // by kind and id
	page      int               // the current one, 0 if unknown
	titled    bool              // there was a paragraph of style Title, below which headings are nested
	caption   string            // the last paragraph if it is a caption, perhaps of a table that follows
	captionAt int               // its page
	joined    *paragraph        // a paragraph whose mark was deleted, so that the next one continues it
}

// block is a paragraph or a table.
type block struct {
	par   *paragraph
	table *table
}

// paragraph is a paragraph and what is anchored to it.
type paragraph struct {
	role
	text   strings.Builder
	page   int            // on which it begins
	breaks []outline.Mark // pages that begin inside it
	merge  bool           // its paragraph mark was deleted
	after  []block        // text boxes
	charts []string       // ids of their relationships
	drawn  []drawn        // pictures that may be kept
	notes  []string
}

// plain returns the text of a block as lines without structure.
func (b block) plain() []string {
	var lines []string
	if p := b.par; p != nil {
		if t := strings.TrimSpace(p.text.String()); t != "" {
			lines = append(lines, t)
		}
		for _, in := range p.after {
			lines = append(lines, in.plain()...)
		}
		for _, d := range p.drawn {
			lines = append(lines, d.Words())
		}
		return append(lines, p.notes...)
	}
	for _, row := range b.table.rows {
		for _, c := range row.cells {
			for _, in := range c.blocks {
				lines = append(lines, in.plain()...)
			}
		}
	}
	return lines
}

// blocks calls put with the paragraphs and tables inside the element that was started last.
func (r *reader) blocks(put func(block)) {
	r.x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "p":
			if p := r.paragraph(); p != nil {
				put(block{par: p})
			}
		case "tbl":
			put(block{table: r.table()})
		case "moveFrom", "sdtPr", "sectPr", "Fallback", "del", "docPartObj":
			r.x.Skip()
		} // sdtContent, ins, moveTo, customXml, Choice: their content is read
	})
	r.finish(put)
}

// finish calls put with a paragraph that waits for its continuation when none follows.
func (r *reader) finish(put func(block)) {
	if r.joined != nil {
		put(block{par: r.joined})
		r.joined = nil
	}
}

// paragraph reads the paragraph that was started last. It returns nil if the next one continues it.
func (r *reader) paragraph() *paragraph {
	p := r.joined
	r.joined = nil
	if p == nil {
		p = &paragraph{role: r.styles.role(""), page: r.page}
	}
	p.merge = false
	r.x.Each(func(e xml.StartElement) { r.inline(p, e) })
	if p.merge {
		r.joined = p
		return nil
	}
	return p
}

// inline reads an element inside a paragraph. The elements inside unknown ones are read.
func (r *reader) inline(p *paragraph, e xml.StartElement) {
	switch e.Name.Local {
	case "pPr":
		r.properties(p)
	case "r":
		r.run(p)
	case "t":
		p.text.WriteString(r.x.Text())
	case "tab", "ptab":
		p.text.WriteByte(' ')
	case "br", "cr":
		p.text.WriteByte('\n')
	case "noBreakHyphen":
		p.text.WriteRune('‑')
	case "lastRenderedPageBreak":
		r.nextPage(p)
	case "footnoteReference", "endnoteReference":
		if note := r.notes[strings.TrimSuffix(e.Name.Local, "Reference")+archive.Attr(e, "id")]; note != "" {
			p.notes = append(p.notes, note)
		}
	case "txbxContent":
		r.blocks(func(b block) { p.after = append(p.after, b) })
	case "drawing", "pict":
		r.drawing(p)
	case "chart":
		p.charts = append(p.charts, ooxml.RelationID(e))
	case "oMath":
		if text := ooxml.Math(r.x); strings.HasSuffix(p.text.String(), "$") { // two formulas
			p.text.WriteString(" " + text)
		} else {
			p.text.WriteString(text)
		}
	case "moveFrom", "rt", "Fallback", "sdtPr", "rPr", "del", "instrText", "delText":
		r.x.Skip()
	}
}

// nextPage records that the rest of a paragraph is on the next page.
func (r *reader) nextPage(p *paragraph) {
	if r.page == 0 {
		return
	}
	r.page++
	if strings.TrimSpace(p.text.String()) == "" {
		p.page = r.page
		return
	}
	p.breaks = append(p.breaks, outline.Mark{At: p.text.Len(), Page: r.page})
}

// run reads a run of text, unless it is hidden.
func (r *reader) run(p *paragraph) {
	hidden := p.hidden
	r.x.Each(func(e xml.StartElement) {
		switch {
		case e.Name.Local == "rPr":
			r.x.Each(func(e xml.StartElement) {
				if e.Name.Local == "vanish" {
					hidden = truth(archive.Attr(e, "val"), true)
				}
			})
		case hidden && e.Name.Local != "lastRenderedPageBreak":
			r.x.Skip()
		default:
			r.inline(p, e)
		}
	})
}

// properties reads the properties of a paragraph, which override those of its style.
func (r *reader) properties(p *paragraph) {
	level := -1
	r.x.Each(func(e xml.StartElement) {
		value := archive.Attr(e, "val")
		switch e.Name.Local {
		case "pStyle":
			p.role = r.styles.role(value)
		case "outlineLvl":
			level = number(value, 9)
		case "numId":
			p.numID = value
		case "ilvl":
			p.numLvl = number(value, 0)
		case "del":
			p.merge = true
		case "pPrChange", "sectPr", "rPrChange": // the properties before a tracked change
			r.x.Skip()
		}
	})
	if level >= 0 && !p.title {
		p.level = (level + 1) % 10 // outline level 9 is body text
	}
}

// put adds a block to the document tree.
func (r *reader) put(b block) {
	if b.table != nil {
		r.putTable(b.table)
		return
	}
	p := b.par
	text := strings.TrimSpace(p.text.String())
	shift := strings.Index(p.text.String(), text) // of offsets, since the text is trimmed
	breaks := p.breaks
	for i := range breaks {
		breaks[i].At = min(max(0, breaks[i].At-shift), len(text))
	}
	if r.page > 0 {
		r.out.Page(p.page)
	}
	switch {
	case text == "" || p.toc:
	case p.title:
		r.flushCaption()
		r.titled = true
		r.out.Heading(1, outline.OneLine(text))
	case p.level > 0:
		r.flushCaption()
		level := p.level
		if r.titled {
			level++
		}
		r.out.Heading(level, r.numbered(p, outline.OneLine(text)))
	case p.caption && r.out.Caption(outline.OneLine(text)):
	case p.caption:
		r.flushCaption()
		r.caption, r.captionAt = outline.OneLine(text), p.page
	case p.numID != "" && p.numID != "0":
		r.flushCaption()
		line := strings.Repeat("  ", min(p.numLvl, maxLevels)) + r.numbered(p, text)
		for i := range breaks {
			breaks[i].At += len(line) - len(text)
		}
		r.out.Line(line, breaks...)
	default:
		r.flushCaption()
		r.out.Paragraph(text, breaks...)
	}
	for _, in := range p.after {
		r.put(in)
	}
	for _, id := range p.charts {
		r.putChart(id)
	}
	r.putDrawn(p)
	for _, note := range p.notes {
		r.flushCaption()
		r.out.Paragraph(note)
	}
	if r.page > 0 {
		r.out.Page(r.page)
	}
}

// putChart adds the data of a chart as a table.
func (r *reader) putChart(id string) {
	r.flushCaption()
	if to := ooxml.Target(r.relations, id); to != "" && r.err == nil {
		r.err = r.pack.Chart(to, r.out)
	}
}

// numbered returns the text of a heading or list item with its number in front.
func (r *reader) numbered(p *paragraph, text string) string {
	if p.numID == "" || p.numID == "0" {
		return text
	}
	mark := r.mark(p.numID, p.numLvl)
	if mark == "" || p.level > 0 && mark == "-" {
		return text
	}
	return mark + " " + text
}

// flushCaption adds the waiting caption as a paragraph, since no table follows it.
func (r *reader) flushCaption() {
	if r.caption != "" {
		r.out.Paragraph(r.caption)
		r.caption = ""
	}
}
