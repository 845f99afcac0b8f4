package html

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"quarry/internal/extract/outline"
)

// Limits of a table: without them spans in a page of a few bytes could create millions of cells.
const (
	maxColumns = 500
	maxCells   = 200_000
)

// table adds a table of data as a table, and the content of a layout table as blocks.
func (w *walker) table(n *html.Node) {
	w.flush()
	t, ok := grid(n)
	if !ok || w.inside > 0 {
		w.inside++
		w.children(n)
		w.flush()
		w.inside--
		return
	}
	w.out.Table(t)
}

// grid returns a table of data; ok is false for a layout table, which is one that contains tables or headings, has the
// ARIA role of layout, or has fewer than two rows or columns.
func grid(n *html.Node) (outline.Table, bool) {
	var t outline.Table
	if r := attr(n, "role"); r == "presentation" || r == "none" {
		return t, false
	}
	g := gridReader{}
	head := true
	for d := range n.Descendants() {
		if d.Type != html.ElementNode {
			continue
		}
		switch d.DataAtom {
		case atom.Table, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			return t, false
		case atom.Caption:
			t.Title = cellText(d)
		case atom.Tr:
			row, headed := g.row(d)
			if len(row) == 0 {
				continue
			}
			if head = head && (headed || d.Parent.DataAtom == atom.Thead); head {
				t.Headers = append(t.Headers, row)
			} else {
				t.Rows = append(t.Rows, row)
			}
		}
	}
	if len(t.Rows) == 0 {
		t.Headers, t.Rows = nil, t.Headers
	}
	return t, !g.full && g.columns > 1 && len(t.Headers)+len(t.Rows) > 1
}

// gridReader lays out the cells of one table.
type gridReader struct {
	down    []span // by column: cells that extend into the following rows
	columns int    // of the widest row
	cells   int
	full    bool // a limit was reached
}

// span is a cell with rowspan.
type span struct {
	text string
	rows int // how many following rows it extends into
}

// row returns the cells of a row, and whether all of the cells that begin in it are headers.
func (g *gridReader) row(tr *html.Node) (row []string, headed bool) {
	headed = true
	for c := tr.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode || c.DataAtom != atom.Td && c.DataAtom != atom.Th {
			continue
		}
		headed = headed && c.DataAtom == atom.Th
		row = g.extend(row)
		text := cellText(c)
		rows := count(attr(c, "rowspan"))
		for range count(attr(c, "colspan")) {
			if len(row) == maxColumns || g.cells == maxCells {
				g.full = true
				return nil, false
			}
			if rows > 1 {
				for len(g.down) <= len(row) {
					g.down = append(g.down, span{})
				}
				g.down[len(row)] = span{text, rows - 1}
			}
			row = append(row, text)
			g.cells++
		}
	}
	if len(row) == 0 {
		return nil, false
	}
	row = g.extend(row)
	g.columns = max(g.columns, len(row))
	return row, headed
}

// extend appends the cells that extend from above into the next columns of row.
func (g *gridReader) extend(row []string) []string {
	for len(row) < len(g.down) && g.down[len(row)].rows > 0 {
		s := &g.down[len(row)]
		s.rows--
		row = append(row, s.text)
		g.cells++
	}
	return row
}

// count parses a span, which is 1 if it is missing or invalid.
func count(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 1 {
		return 1
	}
	return min(n, 1000)
}

// cellText returns the text of a cell on one line.
func cellText(n *html.Node) string {
	var b outline.Builder
	w := walker{out: &b, inside: 1}
	w.children(n)
	w.flush()
	var parts []string
	for _, s := range b.Sections() {
		parts = append(parts, strings.Fields(s.Text)...)
	}
	return strings.Join(parts, " ")
}
