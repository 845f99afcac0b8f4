package rtf

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/extract/outline"
)

// flow is a run of paragraphs and tables: the body, a note, a text box.
type flow struct {
	put    func(block)
	open   *paragraph
	cell   []block   // of the open cell
	cells  [][]block // of the open row
	rows   []row     // of the open table
	format rowFormat // of the rows that end here
	inner  *flow     // of the table in the open cell
}

// maxTables bounds how deep tables are nested.
const maxTables = 20

// at returns the flow of tables that are nested this deep, 1 for those in the flow itself.
func (f *flow) at(depth int) *flow {
	for range min(depth, maxTables) - 1 {
		if f.inner == nil {
			outer := f
			f.inner = &flow{put: func(b block) { outer.cell = append(outer.cell, b) }}
		}
		f = f.inner
	}
	return f
}

// leave ends the tables inside the open cell.
func (f *flow) leave() {
	if f.inner != nil {
		f.inner.end()
		f.inner = nil
	}
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
	listed bool
	marked bool   // it has a mark, which may be empty
	mark   string // its bullet or number
	indent int
	after  []block // text boxes
	drawn  []outline.Picture
	notes  []string
}

// paragraph returns the open paragraph.
func (f *flow) paragraph() *paragraph {
	if f.open == nil {
		f.open = &paragraph{}
	}
	return f.open
}

// text returns the text of the open paragraph.
func (f *flow) text() *strings.Builder { return &f.paragraph().text }

// endCell ends the open cell.
func (f *flow) endCell() {
	f.leave()
	f.cells = append(f.cells, f.cell)
	f.cell = nil
}

// endRow ends the open row.
func (f *flow) endRow() {
	f.leave()
	if f.cell != nil {
		f.endCell()
	}
	if len(f.cells) > 0 {
		f.rows = append(f.rows, row{cells: f.cells, format: f.format})
		f.cells = nil
	}
}

// end ends the open table.
func (f *flow) end() {
	f.endRow()
	if len(f.rows) > 0 {
		t := &table{rows: f.rows}
		f.rows = nil
		f.put(block{table: t})
	}
}

// paragraph ends the open paragraph, unless its mark is deleted: then the next one continues it.
func (r *reader) paragraph() {
	s := &r.state
	if s.deleted {
		return
	}
	p := r.flow.paragraph()
	r.flow.open = nil
	f := r.flow.at(s.depth)
	f.leave()
	p.role = r.role(s.style)
	if s.outline >= 0 && !p.title {
		p.level = (s.outline + 1) % 10 // outline level 9 is body text
	}
	p.listed, p.indent = s.list > 0 || p.marked, s.level
	if s.inTable || s.depth > 0 || len(f.cell)+len(f.cells) > 0 {
		f.cell = append(f.cell, block{par: p})
		return
	}
	f.end()
	f.put(block{par: p})
}

// plain returns the text of a block as lines without structure.
func (b block) plain() []string {
	var lines []string
	if p := b.par; p != nil {
		if t := p.marking(strings.TrimSpace(p.text.String())); t != "" {
			lines = append(lines, t)
		}
		for _, in := range p.after {
			lines = append(lines, in.plain()...)
		}
		return append(lines, p.notes...)
	}
	for _, row := range b.table.rows {
		for _, cell := range row.cells {
			for _, in := range cell {
				lines = append(lines, in.plain()...)
			}
		}
	}
	return lines
}

// marking returns the text of a paragraph with its bullet or number in front.
func (p *paragraph) marking(text string) string {
	mark := outline.OneLine(p.mark)
	if !p.marked {
		mark = "-"
	}
	switch c, n := utf8.DecodeRuneInString(mark); {
	case !p.listed || mark == "" || text == "":
		return text
	case n == len(mark) && (c == 'o' || !unicode.IsLetter(c) && !unicode.IsDigit(c)):
		mark = "-"
	}
	if mark == "-" && p.level > 0 {
		return text
	}
	return mark + " " + text
}

// put adds a block to the document tree.
func (r *reader) put(b block) {
	if b.table != nil {
		r.putTable(b.table)
		return
	}
	p := b.par
	text := strings.TrimSpace(p.text.String())
	switch {
	case text == "" || p.index:
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
		r.out.Heading(level, p.marking(outline.OneLine(text)))
	case p.caption:
		r.flushCaption()
		r.caption = outline.OneLine(text)
	case p.listed:
		r.flushCaption()
		r.out.Line(strings.Repeat("  ", min(max(p.indent, 0), 8)) + p.marking(text))
	default:
		r.flushCaption()
		r.out.Paragraph(text)
	}
	r.putDrawn(p)
	for _, in := range p.after {
		r.put(in)
	}
	for _, note := range p.notes {
		r.flushCaption()
		r.out.Paragraph(note)
	}
}

// putTable adds a table of data as a table, and the content of a layout table as text.
func (r *reader) putTable(t *table) {
	if grid, ok := t.grid(); ok {
		grid.Title = r.caption
		r.caption = ""
		r.out.Table(grid)
		for _, row := range t.rows {
			for _, cell := range row.cells {
				for _, b := range cell {
					r.putDrawn(b.par)
				}
			}
		}
		return
	}
	r.flushCaption()
	for _, row := range t.rows {
		for _, cell := range row.cells {
			for _, b := range cell {
				r.put(b)
			}
		}
	}
}

// flushCaption adds the waiting caption as a paragraph, since no table follows it.
func (r *reader) flushCaption() {
	if r.caption != "" {
		r.out.Paragraph(r.caption)
		r.caption = ""
	}
}
