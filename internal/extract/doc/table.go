package doc

import (
	"slices"
	"strings"

	"quarry/internal/extract/outline"
)

// Limits of a table; Word has 63 columns.
const (
	maxNested  = 20 // tables inside each other
	maxColumns = 500
	maxCells   = 200_000
	maxText    = 16 << 20 // bytes, those of merged cells repeated
)

// table is a table, before it is known whether it holds data or only lays out text.
type table struct {
	rows  []row
	cells [][]block // of the row that is being read
	cell  []block   // that is being read
}

type row struct {
	rowFormat
	cells [][]block
}

// endRow ends a row, unless it was deleted.
func (t *table) endRow(format rowFormat, deleted bool) {
	if !deleted {
		t.rows = append(t.rows, row{format, t.cells})
	}
	t.cells, t.cell = nil, nil
}

// putTable adds a table of data as a table, and the content of a layout table as text.
func (r *reader) putTable(t *table) {
	if grid, ok := t.grid(); ok {
		grid.Title, r.caption = r.caption, ""
		r.out.Table(grid)
	} else {
		r.flushCaption()
		for _, row := range t.rows {
			for _, cell := range row.cells {
				for _, b := range cell {
					r.put(b)
				}
			}
		}
		return
	}
	for _, row := range t.rows { // notes of cells, and what is said of their pictures, stand in them
		for _, cell := range row.cells {
			for _, b := range cell {
				for _, in := range b.par.after {
					r.put(in)
				}
				for _, d := range b.par.drawn {
					r.out.Picture(d)
				}
			}
		}
	}
}

// near is how far apart edges may be, in twentieths of a point, that people see as one.
const near = 30

// edges returns the places of the edges of columns, nil if some row does not tell where its cells are.
func (t *table) edges() []int {
	var all []int
	for _, row := range t.rows {
		if len(row.edges) < len(row.cells)+1 || !slices.IsSorted(row.edges) {
			return nil
		}
		all = append(all, row.edges[:len(row.cells)+1]...)
	}
	slices.Sort(all)
	out := all[:0]
	for _, at := range all {
		if len(out) == 0 || at > out[len(out)-1]+near {
			out = append(out, at)
		}
	}
	return out
}

// span returns the columns of a cell: from the first to the one behind the last.
func span(edges []int, left, right int) (from, to int) {
	at := func(place int) int {
		i, _ := slices.BinarySearch(edges, place+1)
		return max(i-1, 0)
	}
	return at(left), at(right)
}

// grid returns a table of data; ok is false for a layout table, which is one with headings or tables inside, or with fewer than
// two rows or columns. A merged cell is repeated in every place that it covers.
func (t *table) grid() (out outline.Table, ok bool) {
	edges := t.edges()
	if len(edges) > maxColumns+1 {
		edges = nil
	}
	cells, columns, bytes := 0, 0, 0
	var above []string
	head := true
	for i, in := range t.rows {
		line := make([]string, max(len(edges)-1, 0))
		for k, cell := range in.cells {
			text, ok := cellText(cell)
			if !ok {
				return out, false
			}
			from, to := k, k+1
			if edges != nil {
				from, to = span(edges, in.edges[k], in.edges[k+1])
			}
			merged := 0
			if k < len(in.merged) {
				merged = in.merged[k]
			}
			if merged&mergedAbove != 0 && from < len(above) {
				text = above[from]
			} else if merged&mergedLeft != 0 && from > 0 {
				text = line[from-1]
			}
			for at := from; at < to; at++ {
				if at >= len(line) {
					line = append(line, "")
				}
				if bytes += len(text); bytes > maxText {
					return out, false
				}
				line[at] = text
			}
		}
		if cells += len(line); cells > maxCells || len(line) > maxColumns {
			return out, false
		}
		columns, above = max(columns, len(line)), line
		if head = head && (in.header || i == 0 && in.look && len(t.rows) > 1); head {
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

// cellText returns the text of a cell on one line; ok is false if the cell contains headings or tables.
func cellText(cell []block) (string, bool) {
	var words []string
	for _, b := range cell {
		if b.table != nil || b.par.level > 0 || b.par.title {
			return "", false
		}
		words = append(words, strings.Fields(b.par.text.String())...)
		words = append(words, b.par.said()...)
		for _, note := range b.par.notes {
			words = append(words, strings.Fields(note)...)
		}
	}
	return strings.Join(words, " "), true
}
