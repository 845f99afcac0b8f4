package docx

import (
	"encoding/xml"
	"strings"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/outline"
)

// Limits of a table: without them spans in a file of a few bytes could create millions of cells.
const (
	maxColumns = 500
	maxCells   = 200_000
)

// table is a table as it was read, before it is known whether it holds data or only lays out text.
type table struct {
	rows     []row
	firstRow bool // the table style formats the first row as headers
	page     int
}

type row struct {
	cells   []cell
	header  bool
	deleted bool // in a tracked change
}

type cell struct {
	blocks []block
	span   int  // in columns
	merged bool // with the cell above
}

// table reads the table that was started last.
func (r *reader) table() *table {
	t := &table{page: r.page}
	r.x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "tblLook":
			t.firstRow = truth(archive.Attr(e, "firstRow"), lookBit(archive.Attr(e, "val")))
		case "tr":
			if one := r.row(); !one.deleted {
				t.rows = append(t.rows, one)
			}
		}
	})
	return t
}

// lookBit reports whether the first-row bit, 0x0020, is set in the hexadecimal tblLook of older files.
func lookBit(hex string) bool {
	return len(hex) == 4 && strings.ContainsRune("2367aAbBeEfF", rune(hex[2]))
}

func (r *reader) row() (out row) {
	r.x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "tblHeader":
			out.header = truth(archive.Attr(e, "val"), true)
		case "del":
			out.deleted = true
		case "tc":
			out.cells = append(out.cells, r.cell())
		}
	})
	return out
}

func (r *reader) cell() (out cell) {
	out.span = 1
	put := func(b block) { out.blocks = append(out.blocks, b) }
	r.x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "gridSpan":
			out.span = min(max(1, number(archive.Attr(e, "val"), 1)), maxColumns)
		case "vMerge":
			out.merged = archive.Attr(e, "val") != "restart"
		case "tcPrChange":
			r.x.Skip()
		case "p":
			if p := r.paragraph(); p != nil {
				put(block{par: p})
			}
		case "tbl":
			put(block{table: r.table()})
		}
	})
	r.finish(put)
	return out
}

// putTable adds a table of data as a table, and the content of a layout table as text.
func (r *reader) putTable(t *table) {
	if r.page > 0 {
		r.out.Page(t.page)
	}
	grid, ok := t.grid()
	if ok {
		grid.Title = r.caption
		r.caption = ""
		r.out.Table(grid)
		t.each(func(p *paragraph) { r.putDrawn(p) })
	} else {
		r.flushCaption()
		for _, row := range t.rows {
			for _, c := range row.cells {
				for _, b := range c.blocks {
					r.put(b)
				}
			}
		}
	}
	if r.page > 0 {
		r.out.Page(r.page)
	}
}

// each calls visit with the paragraphs in the cells of a table of data.
func (t *table) each(visit func(*paragraph)) {
	for _, row := range t.rows {
		for _, c := range row.cells {
			for _, b := range c.blocks {
				if b.par != nil {
					visit(b.par)
				}
			}
		}
	}
}

// grid returns a table of data; ok is false for a layout table, which is one with headings or tables inside, or with
// fewer than two rows or columns. A merged cell is repeated in every place that it covers.
func (t *table) grid() (outline.Table, bool) {
	var out outline.Table
	cells, columns := 0, 0
	var above []string
	head := true
	for i := range t.rows {
		in := &t.rows[i]
		var line []string
		for _, c := range in.cells {
			text, ok := c.text()
			if !ok {
				return out, false
			}
			for range c.span {
				if c.merged && len(line) < len(above) {
					text = above[len(line)]
				}
				line = append(line, text)
			}
		}
		if cells += len(line); cells > maxCells || len(line) > maxColumns {
			return out, false
		}
		columns = max(columns, len(line))
		above = line
		if head = head && (in.header || i == 0 && t.firstRow && len(t.rows) > 1); head {
			out.Headers = append(out.Headers, line)
		} else {
			out.Rows = append(out.Rows, line)
		}
	}
	if len(out.Rows) == 0 {
		out.Headers, out.Rows = nil, out.Headers
	}
	return out, columns > 1 && len(out.Headers)+len(out.Rows) > 1
}

// text returns the text of a cell on one line; ok is false if the cell contains headings or tables.
func (c *cell) text() (string, bool) {
	var words []string
	for _, b := range c.blocks {
		if b.table != nil || b.par.level > 0 || b.par.title {
			return "", false
		}
		for _, line := range b.plain() {
			words = append(words, strings.Fields(line)...)
		}
	}
	return strings.Join(words, " "), true
}
