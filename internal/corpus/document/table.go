package document

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

type tableData struct {
	Headers [][]cell `json:"headers"`
	Rows    [][]cell `json:"rows"`
}

// maxSpan bounds colspan, rowspan and the width of a row, as HTML does.
const maxSpan = 1000

// takeTable keeps a table of the document and gives its id, which is made up when the client gave none.
func (b *builder) takeTable(path string, t Table) (string, *tableData) {
	for n := len(b.tables) + 1; t.ID == ""; n++ {
		if id := fmt.Sprintf("table_%d", n); !b.tables[id] {
			t.ID = id
		}
	}
	if b.tables[t.ID] {
		b.bad(path+".id", "the table id %q is used twice", t.ID)
	}
	b.tables[t.ID] = true
	t.Page = 0
	data := b.readTable(path+".data", t.Data)
	b.doc.Tables = append(b.doc.Tables, t)
	return t.ID, data
}

func (b *builder) readTable(path string, raw json.RawMessage) *tableData {
	var data tableData
	if len(raw) == 0 {
		return &data
	}
	if err := json.Unmarshal(raw, &data); err != nil {
		b.bad(path, "must hold headers and rows of cells")
		return &data
	}
	b.checkCells(path+".headers", data.Headers)
	b.checkCells(path+".rows", data.Rows)
	return &data
}

func (b *builder) checkCells(path string, rows [][]cell) {
	for i, row := range rows {
		width := 0
		for j := range row {
			c := &row[j]
			at := fmt.Sprintf("%s[%d][%d]", path, i, j)
			if c.values() > 1 {
				b.bad(at, "must hold one of text_value, int_value, float_value and bool_value")
			}
			if bad(c.ColSpan) {
				b.bad(at+".colspan", "must be 1 to %d", maxSpan)
			}
			if bad(c.RowSpan) {
				b.bad(at+".rowspan", "must be 1 to %d", maxSpan)
			}
			width += span(c.ColSpan)
		}
		if width > 10*maxSpan {
			b.bad(fmt.Sprintf("%s[%d]", path, i), "must be at most %d columns wide", 10*maxSpan)
		}
	}
}

func bad(n *int) bool { return n != nil && (*n < 1 || *n > maxSpan) }

func span(n *int) int {
	if n == nil || bad(n) {
		return 1
	}
	return *n
}

func (c *cell) values() int {
	n := 0
	for _, set := range []bool{c.Text != nil, c.Int != nil, c.Float != nil, c.Bool != nil} {
		if set {
			n++
		}
	}
	return n
}

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

// table adds a table of a section with its searchable forms: its title, a summary and its rows.
func (s *structure) table(at place, path string, t Table) {
	id, data := s.takeTable(path, t)
	at.page = t.Page
	meta := at.user.over(at.generated()).without("is_title", "vectara")
	put := func(text, heading, flag string, value json.RawMessage) {
		mark := object{{"table_id", jsonString(id)}, {flag, value}}
		s.add(path, draft{
			Part{Text: text, Heading: heading, Dimensions: s.dims, TableID: id, Gap: " "},
			append(meta[:len(meta):len(meta)], member{"vectara", mark.encode()}),
		})
	}
	yes := json.RawMessage("true")
	title := strings.TrimSpace(t.Title)
	if title != "" {
		put(title, joinTitles(s.title, at.inForce), "is_table_title", yes)
	}
	heading := joinTitles(s.title, at.inForce, title)
	columns := columnNames(data.Headers)
	put(summarise(t.Description, columns, len(data.Rows)), heading, "is_table_summary", yes)
	for i, row := range data.Rows {
		if text := rowText(row, columns); text != "" {
			put(text, heading, "row_num", jsonInt(i)) // the row's index in data.rows
		}
	}
}

// summarise gives the client's description, else what a reader would want to know first.
func summarise(description string, columns []string, rows int) string {
	if !blank(description) {
		return strings.TrimSpace(description)
	}
	var names []string
	for _, c := range columns {
		if c != "" {
			names = append(names, c)
		}
	}
	size := fmt.Sprintf("Table with %d rows", rows)
	if rows == 1 {
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

// rowText gives "column: value" pairs, without empty cells.
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
