package html

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"quarry/internal/extract/outline"
)

// Spans are bounded, or a page of a few bytes could ask for a grid of millions
// of cells.
const (
	maxColumns = 500
	maxCells   = 200_000
)

// table adds a table of data as such; one that lays out the page is read as
// the blocks in it.
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

// grid reads a table. It refuses tables that hold tables or headings, are
// marked as layout, or have fewer than two rows or columns.
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

// gridReader places the cells of one table.
type gridReader struct {
	down    []span // by column: cells that reach into the rows to come
	columns int
	cells   int
	full    bool
}

type span struct {
	text string
	rows int
}

// row returns the cells of one row and whether all of its own are headers.
func (g *gridReader) row(tr *html.Node) (row []string, headed bool) {
	headed = true
	for c := tr.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode || c.DataAtom != atom.Td && c.DataAtom != atom.Th {
			continue
		}
		headed = headed && c.DataAtom == atom.Th
		row = g.reach(row)
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
	row = g.reach(row)
	g.columns = max(g.columns, len(row))
	return row, headed
}

// reach adds the cells from above that stand at the end of row.
func (g *gridReader) reach(row []string) []string {
	for len(row) < len(g.down) && g.down[len(row)].rows > 0 {
		s := &g.down[len(row)]
		s.rows--
		row = append(row, s.text)
		g.cells++
	}
	return row
}

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
