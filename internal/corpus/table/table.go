// Package table reads the cells of tables, in the form in which clients send them, and writes them as texts: a summary
// and a text for each row, which make a table searchable, and Markdown for prompts. Package draft makes parts of them.
package table

import (
	"encoding/json"
	"fmt"
	"strings"
)

// cell is one cell of a table in wire form.
type cell struct {
	Text    *string      `json:"text_value"`
	Int     *json.Number `json:"int_value"`
	Float   *json.Number `json:"float_value"`
	Bool    *bool        `json:"bool_value"`
	ColSpan *int         `json:"colspan"`
	RowSpan *int         `json:"rowspan"`
}

// Data is the cells of a table, top down and left to right; a cell may span several columns or rows.
type Data struct {
	Headers [][]cell `json:"headers"`
	Rows    [][]cell `json:"rows"`
}

// maxSpan bounds colspan, rowspan and the width of a row, as HTML does.
const maxSpan = 1000

// Read parses the cells of a table and reports what is wrong with them to bad, by its path under path.
func Read(path string, raw json.RawMessage, bad func(path, format string, args ...any)) *Data {
	var data Data
	if len(raw) == 0 {
		return &data
	}
	if err := json.Unmarshal(raw, &data); err != nil {
		bad(path, "must hold headers and rows of cells")
		return &data
	}
	check(path+".headers", data.Headers, bad)
	check(path+".rows", data.Rows, bad)
	return &data
}

func check(path string, rows [][]cell, bad func(path, format string, args ...any)) {
	for i, row := range rows {
		width := 0
		for j := range row {
			c := &row[j]
			at := fmt.Sprintf("%s[%d][%d]", path, i, j)
			if c.values() > 1 {
				bad(at, "must hold one of text_value, int_value, float_value and bool_value")
			}
			if outside(c.ColSpan) {
				bad(at+".colspan", "must be 1 to %d", maxSpan)
			}
			if outside(c.RowSpan) {
				bad(at+".rowspan", "must be 1 to %d", maxSpan)
			}
			width += span(c.ColSpan)
		}
		if width > 10*maxSpan {
			bad(fmt.Sprintf("%s[%d]", path, i), "must be at most %d columns wide", 10*maxSpan)
		}
	}
}

// outside reports whether a span is one that no cell may have.
func outside(n *int) bool { return n != nil && (*n < 1 || *n > maxSpan) }

// span returns how many columns or rows a cell stands in: 1 unless a valid number is given.
func span(n *int) int {
	if n == nil || outside(n) {
		return 1
	}
	return *n
}

// values returns how many values the cell has; it may have one.
func (c *cell) values() int {
	n := 0
	for _, set := range []bool{c.Text != nil, c.Int != nil, c.Float != nil, c.Bool != nil} {
		if set {
			n++
		}
	}
	return n
}

// String returns the value of the cell as text, "" for an empty cell.
func (c *cell) String() string {
	switch {
	case c.Text != nil:
		return strings.TrimSpace(*c.Text)
	case c.Int != nil:
		return c.Int.String()
	case c.Float != nil:
		return c.Float.String()
	case c.Bool != nil:
		return fmt.Sprint(*c.Bool)
	}
	return ""
}

// Summary describes the table by its size and its columns.
func (d *Data) Summary() string {
	var names []string
	for _, c := range columnNames(d.Headers) {
		if c != "" {
			names = append(names, c)
		}
	}
	size := fmt.Sprintf("Table with %d rows", len(d.Rows))
	if len(d.Rows) == 1 {
		size = "Table with 1 row"
	}
	if len(names) == 0 {
		return size + "."
	}
	return size + " and the columns " + strings.Join(names, ", ") + "."
}

// columnNames joins the header cells above each column, from the top down; a cell that spans several columns or
// rows stands above each of them once.
func columnNames(headers [][]cell) []string {
	var names []string
	below := map[int]int{} // column → rows that a cell above still covers
	for _, row := range headers {
		col := 0
		for i := range row {
			for below[col] > 0 {
				below[col]--
				col++
			}
			c := &row[i]
			for range span(c.ColSpan) {
				for len(names) <= col {
					names = append(names, "")
				}
				names[col] = strings.TrimSpace(names[col] + " " + c.String())
				below[col] = span(c.RowSpan) - 1
				col++
			}
		}
	}
	return names
}

// RowTexts returns a text for each row, "" for one whose cells are empty.
func (d *Data) RowTexts() []string {
	columns := columnNames(d.Headers)
	out := make([]string, len(d.Rows))
	for i, row := range d.Rows {
		out[i] = rowText(row, columns)
	}
	return out
}

// rowText returns the "column: value" pairs of a row, without empty cells.
func rowText(row []cell, columns []string) string {
	var out []string
	col := 0
	for i := range row {
		c := &row[i]
		v := c.String()
		if v != "" && col < len(columns) && columns[col] != "" {
			v = columns[col] + ": " + v
		}
		if v != "" {
			out = append(out, v)
		}
		col += span(c.ColSpan)
	}
	return strings.Join(out, "; ")
}
