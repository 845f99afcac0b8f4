package rtf

import (
	"slices"
	"strings"

	"quarry/internal/extract/outline"
)

// Limits of a table: without them spans in a file of a few bytes could create millions of cells.
const (
	maxColumns = 500
	maxCells   = 200_000
	maxGap     = 30 // twips between edges of cells that are one
)

// table is a table as it was read, before it is known whether it holds data or only lays out text.
type table struct{ rows []row }

type row struct {
	cells  [][]block
	format rowFormat
}

// rowFormat is how a row is laid out.
type rowFormat struct {
	header bool
	cells  []cellFormat
	next   cellFormat // of the cell whose edge comes next
}

type cellFormat struct {
	edge        int  // its right edge
	left, above bool // it continues the cell at its left, or above it
}

// edges returns the right edges of all columns, or nil where every row has as many cells.
func (t *table) edges() []int {
	var all []int
	even := true
	for _, r := range t.rows {
		even = even && len(r.cells) == len(t.rows[0].cells)
		if len(r.format.cells) != len(r.cells) {
			continue
		}
		for _, c := range r.format.cells {
			all = append(all, c.edge)
		}
	}
	if even {
		return nil
	}
	slices.Sort(all)
	columns := all[:0]
	for _, edge := range all {
		if n := len(columns); n == 0 || edge-columns[n-1] >= maxGap {
			columns = append(columns, edge)
		}
	}
	return columns
}

// spans returns how many columns each cell of a row spans.
func (r *row) spans(edges []int) []int {
	out := make([]int, len(r.cells))
	column := 0
	for i := range out {
		out[i] = 1
		if edges == nil || len(r.format.cells) != len(r.cells) {
			continue
		}
		last, found := slices.BinarySearch(edges, r.format.cells[i].edge)
		if !found {
			last-- // edges a few twips before it stand for it
		}
		out[i] = max(1, last-column+1)
		column += out[i]
	}
	return out
}

// grid returns a table of data; ok is false for one that lays out text: with headings or tables inside, or fewer than two rows or columns. A
// merged cell is repeated in every place that it covers.
func (t *table) grid() (outline.Table, bool) {
	var out outline.Table
	edges := t.edges()
	cells, columns := 0, 0
	var above []string
	head := true
	for i := range t.rows {
		in := &t.rows[i]
		var line []string
		spans := in.spans(edges)
		for j, blocks := range in.cells {
			text, ok := cellText(blocks)
			if !ok {
				return out, false
			}
			var f cellFormat
			if len(in.format.cells) == len(in.cells) {
				f = in.format.cells[j]
			}
			switch {
			case f.left && len(line) > 0:
				text = line[len(line)-1]
			case f.above && len(line) < len(above):
				text = above[len(line)]
			}
			if cells += spans[j]; cells > maxCells || len(line)+spans[j] > maxColumns {
				return out, false
			}
			line = append(line, slices.Repeat([]string{text}, spans[j])...)
		}
		columns = max(columns, len(line))
		above = line
		if head = head && len(t.rows) > 1 && (in.format.header || i == 0); head {
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

// cellText returns the text of a cell on one line; ok is false if the cell has headings or tables.
func cellText(blocks []block) (string, bool) {
	var words []string
	for _, b := range blocks {
		if b.table != nil || b.par.level > 0 || b.par.title {
			return "", false
		}
		for _, line := range b.plain() {
			words = append(words, strings.Fields(line)...)
		}
	}
	return strings.Join(words, " "), true
}
