package odf

import (
	"encoding/xml"
	"strconv"
	"strings"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/outline"
)

// Limits of a table of a text: without them spans in a file of a few bytes could create millions of cells.
const (
	maxColumns = 500
	maxCells   = 200_000
)

// grid is a table as it is read; a merged cell is repeated in every place that it covers.
type grid struct {
	rows    [][]string
	headers int           // rows at the top that are headers
	down    map[int]cover // by column: cells that extend into the rows below
	cells   int
}

// cover is a cell that is merged with others.
type cover struct {
	text string
	rows int // how many rows below it covers
}

// table reads the table that was started last. Its first row is the header if it names none.
func (r *reader) table() (t outline.Table) {
	g := &grid{down: map[int]cover{}}
	r.x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "table-header-rows":
			r.x.Each(func(e xml.StartElement) {
				if e.Name.Local == "table-row" {
					r.row(g)
				}
			})
			g.headers = len(g.rows)
		case "table-row":
			r.row(g)
		}
	})
	if g.headers == 0 && len(g.rows) > 1 {
		g.headers = 1
	}
	if g.headers == len(g.rows) {
		g.headers = 0
	}
	return outline.Table{Headers: g.rows[:g.headers], Rows: g.rows[g.headers:]}
}

// row reads the row that was started last.
func (r *reader) row(g *grid) {
	var row []string
	right := cover{} // the cell to the left that covers places of this row
	r.x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "table-cell":
			text := r.cell()
			for range repeated(e, "number-columns-repeated", maxColumns) {
				if rows := repeated(e, "number-rows-spanned", 1000); rows > 1 {
					for c := range repeated(e, "number-columns-spanned", maxColumns) {
						g.down[len(row)+c] = cover{text, rows - 1}
					}
				}
				row = g.add(row, text)
			}
			right = cover{text, repeated(e, "number-columns-spanned", maxColumns) - 1}
		case "covered-table-cell":
			for range repeated(e, "number-columns-repeated", maxColumns) {
				text := ""
				if right.rows > 0 {
					text = right.text
					right.rows--
				} else if above := g.down[len(row)]; above.rows > 0 {
					text = above.text
					g.down[len(row)] = cover{above.text, above.rows - 1}
				}
				row = g.add(row, text)
			}
			r.x.Skip()
		}
	})
	if strings.Join(row, "") != "" {
		g.rows = append(g.rows, row)
	}
}

func (g *grid) add(row []string, text string) []string {
	if g.cells++; g.cells > maxCells || len(row) >= maxColumns {
		return row
	}
	return append(row, text)
}

// cell returns the text of the cell that was started last, on one line.
func (r *reader) cell() string {
	var words []string
	r.inCell = true
	defer func() { r.inCell = false }()
	r.blocks(func(b block) {
		words = append(words, strings.Fields(b.text)...)
		if b.table != nil {
			for _, row := range append(b.table.Headers, b.table.Rows...) {
				for _, text := range row {
					words = append(words, strings.Fields(text)...)
				}
			}
		}
	})
	return strings.Join(words, " ")
}

// repeated reads how often something stands there, which is once if it does not say.
func repeated(e xml.StartElement, attribute string, most int) int {
	n, err := strconv.Atoi(archive.Attr(e, attribute))
	if err != nil || n < 1 {
		return 1
	}
	return min(n, most)
}
