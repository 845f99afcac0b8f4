package xml

import (
	"strconv"
	"strings"

	"quarry/internal/extract/outline"
)

// table returns a table in the model of XHTML or CALS; ok is false for what has no rows of several cells.
func table(n *node, text func(*node) string) (t outline.Table, ok bool) {
	g := &grid{columns: map[string]int{}}
	g.rows(n, false, text)
	if t.Headers, t.Rows = g.head, g.body; len(t.Rows) == 0 {
		t.Headers, t.Rows = nil, t.Headers
	}
	return t, !g.Full() && g.Columns() > 1 && len(t.Headers)+len(t.Rows) > 1
}

// grid gathers the rows of a table.
type grid struct {
	outline.Grid
	head, body [][]string
	columns    map[string]int // by name (CALS)
}

// rows adds the rows below n.
func (g *grid) rows(n *node, head bool, text func(*node) string) {
	n.each(func(c *node) {
		switch c.name {
		case "thead":
			g.rows(c, true, text)
		case "tbody", "tfoot", "tgroup":
			g.rows(c, false, text)
		case "colspec":
			g.columns[c.attr("colname")] = len(g.columns)
		case "tr", "row", "strow", "sthead":
			g.row(c, head || c.name == "sthead", text)
		}
	})
}

func (g *grid) row(n *node, head bool, text func(*node) string) {
	var cells []outline.Cell
	headed := true
	n.each(func(c *node) {
		switch c.name {
		case "td", "th", "entry", "stentry":
			headed = headed && c.name == "th"
			cells = append(cells, outline.Cell{Text: outline.OneLine(text(c)), Columns: g.span(c), Rows: number(c.attr("rowspan"), number(c.attr("morerows"), 0)+1)})
		}
	})
	if len(cells) == 0 {
		return
	}
	row := g.Row(cells)
	if head || headed && len(g.body) == 0 {
		g.head = append(g.head, row)
		return
	}
	g.body = append(g.body, row)
}

// span returns the number of columns that a cell covers.
func (g *grid) span(n *node) int {
	from, ok := g.columns[n.attr("namest")]
	to, both := g.columns[n.attr("nameend")]
	if ok && both && to > from {
		return to - from + 1
	}
	return number(n.attr("colspan"), 1)
}

// longestSpan is how many places a cell covers at most in a direction, as in HTML.
const longestSpan = 1000

// number parses a count, which is other if it is missing or none.
func number(s string, other int) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 {
		return other
	}
	return min(n, longestSpan)
}
