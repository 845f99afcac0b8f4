// Package sheet finds the tables of spreadsheets. It takes the filled cells of a sheet, as texts, and gives its blocks: each block
// of adjacent filled cells is a table, its first row the header. The readers of spreadsheets build on it; package
// numfmt shows numbers as they are displayed.
package sheet

import (
	"fmt"
	"slices"
	"strings"

	"quarry/internal/extract/outline"
)

// Limits of a workbook, which bound the memory that a file of a few bytes can take.
const (
	maxCells = 2_000_000 // filled ones, merged cells repeated
	maxDense = 4_000_000 // places of all tables, the empty ones between filled cells too
	maxText  = 128 << 20 // bytes in all cells: a file has a text once for all cells that show it
	maxRows  = 1 << 20   // of a sheet
	maxCols  = 1 << 14
)

// tableRows is the most rows of one table. A result shows the whole table of a row that matches, to models as well, so that
// a longer block becomes several tables with the same header.
const tableRows = 500

// Book counts the cells of the sheets of one file. The zero Book is ready to use.
type Book struct{ cells, dense, text int }

// Sheet is the filled cells of one sheet. Rows and columns count from 0.
type Sheet struct {
	book   *Book
	rows   []row // ascending, once tidy has run
	merged []box
}

type row struct {
	at    int
	cells []cell // ascending, once tidy has run
}

type cell struct {
	at   int
	text string // on one line, not empty
}

// Sheet returns an empty sheet of the book.
func (b *Book) Sheet() *Sheet { return &Sheet{book: b} }

// Set fills a cell, in any order; of two texts for one cell the later stays. White space leaves it empty, and line breaks become
// spaces. An error wraps outline.ErrUnparsable.
func (s *Sheet) Set(r, c int, text string) error {
	if s.book.text += len(text); s.book.text > maxText {
		return fmt.Errorf("%w: its cells hold more than %d MB of text", outline.ErrUnparsable, maxText>>20)
	}
	if text = outline.OneLine(text); text == "" {
		return nil
	}
	if r < 0 || c < 0 || r >= maxRows || c >= maxCols {
		return fmt.Errorf("%w: a cell stands outside of %d rows and %d columns", outline.ErrUnparsable, maxRows, maxCols)
	}
	if s.book.cells++; s.book.cells > maxCells {
		return fmt.Errorf("%w: it has more than %d filled cells", outline.ErrUnparsable, maxCells)
	}
	if n := len(s.rows); n == 0 || s.rows[n-1].at != r {
		s.rows = append(s.rows, row{at: r})
	}
	in := &s.rows[len(s.rows)-1]
	in.cells = append(in.cells, cell{c, text})
	return nil
}

// Merge has the text of a cell repeated in all cells from there to the given row and column (inclusive), as far as rows and columns
// hold any text: whole columns can be merged.
func (s *Sheet) Merge(r, c, toRow, toColumn int) {
	s.merged = append(s.merged, box{r, c, toRow, toColumn})
}

// tidy sorts rows and cells, so that each stands once.
func (s *Sheet) tidy() {
	slices.SortStableFunc(s.rows, func(a, b row) int { return a.at - b.at })
	out := s.rows[:0]
	for _, in := range s.rows {
		if n := len(out); n > 0 && out[n-1].at == in.at {
			out[n-1].cells = append(out[n-1].cells, in.cells...)
		} else {
			out = append(out, in)
		}
	}
	s.rows = out
	for i := range s.rows {
		in := &s.rows[i]
		slices.SortStableFunc(in.cells, func(a, b cell) int { return a.at - b.at })
		cells := in.cells[:0]
		for _, c := range in.cells {
			if n := len(cells); n > 0 && cells[n-1].at == c.at {
				cells[n-1] = c
			} else {
				cells = append(cells, c)
			}
		}
		in.cells = cells
	}
}

// fill tidies the sheet and repeats the texts of merged cells.
func (s *Sheet) fill() error {
	s.tidy()
	if len(s.rows) == 0 || len(s.merged) == 0 {
		return nil
	}
	all := box{}
	for _, in := range s.rows {
		all = all.around(box{in.at, 0, in.at, in.cells[len(in.cells)-1].at})
	}
	texts := make([]string, len(s.merged)) // looked up while the rows are in order
	for i, m := range s.merged {
		texts[i] = s.text(m.top, m.left)
	}
	for i, m := range s.merged {
		for r := m.top; texts[i] != "" && r <= min(m.bottom, all.bottom); r++ {
			for c := m.left; c <= min(m.right, all.right); c++ {
				if err := s.Set(r, c, texts[i]); err != nil {
					return err
				}
			}
		}
	}
	s.tidy()
	return nil
}

// text returns the text of a cell, "" if it is empty.
func (s *Sheet) text(r, c int) string {
	i, found := slices.BinarySearchFunc(s.rows, r, func(x row, r int) int { return x.at - r })
	if !found {
		return ""
	}
	cells := s.rows[i].cells
	if i, found = slices.BinarySearchFunc(cells, c, func(x cell, c int) int { return x.at - c }); !found {
		return ""
	}
	return cells[i].text
}

// Write adds the blocks of the sheet, from the top, those that begin in one row from the left. A block of one cell is a
// paragraph. An error wraps outline.ErrUnparsable.
func (s *Sheet) Write(b *outline.Builder) error {
	if err := s.fill(); err != nil {
		return err
	}
	for _, x := range s.blocks() {
		s.write(b, x)
	}
	return nil
}

// WriteRows adds the rows of a file of records, such as CSV: there only empty rows end a table, and a column that is empty does not.
func (s *Sheet) WriteRows(b *outline.Builder) {
	s.tidy()
	for i := 0; i < len(s.rows); {
		x := box{s.rows[i].at, maxCols, s.rows[i].at, 0}
		for ; i < len(s.rows) && s.rows[i].at <= x.bottom+1; i++ {
			cells := s.rows[i].cells
			x = x.around(box{s.rows[i].at, cells[0].at, s.rows[i].at, cells[len(cells)-1].at})
		}
		s.write(b, x)
	}
}

// write adds the cells of a block.
func (s *Sheet) write(b *outline.Builder, x box) {
	from, _ := slices.BinarySearchFunc(s.rows, x.top, func(in row, r int) int { return in.at - r })
	to, _ := slices.BinarySearchFunc(s.rows, x.bottom+1, func(in row, r int) int { return in.at - r })
	width := x.right - x.left + 1
	if area := width * (to - from); area == 1 {
		b.Paragraph(s.text(x.top, x.left))
		return
	} else if s.book.dense += area; s.book.dense > maxDense { // a frame of cells with nothing in it, for example
		for _, in := range s.rows[from:to] {
			b.Line(strings.Join(in.between(x.left, x.right, nil), "; "))
		}
		b.Break()
		return
	}
	rows := make([][]string, 0, to-from)
	for _, in := range s.rows[from:to] {
		rows = append(rows, in.between(x.left, x.right, make([]string, width)))
	}
	title := caption(&rows)
	if len(rows) == 1 {
		b.Table(outline.Table{Title: title, Rows: rows})
		return
	}
	for head, rest := rows[:1], rows[1:]; len(rest) > 0; {
		n := min(len(rest), tableRows)
		b.Table(outline.Table{Title: title, Headers: head, Rows: rest[:n:n]})
		rest = rest[n:]
	}
}

// between returns the texts from column left to right (inclusive): each in its place of places, or one after the other if places is nil.
func (in *row) between(left, right int, places []string) []string {
	dense := places != nil
	i, _ := slices.BinarySearchFunc(in.cells, left, func(x cell, c int) int { return x.at - c })
	for ; i < len(in.cells) && in.cells[i].at <= right; i++ {
		if dense {
			places[in.cells[i].at-left] = in.cells[i].text
		} else {
			places = append(places, in.cells[i].text)
		}
	}
	return places
}

// caption takes the title off the top of a table of three columns or more: rows whose first cell, perhaps merged with the others, has the
// only text, above a row of several.
func caption(rows *[][]string) string {
	var title []string
	rest := *rows
	for len(rest) > 1 && len(rest[0]) > 2 && alone(rest[0]) {
		title = append(title, rest[0][0])
		rest = rest[1:]
	}
	if len(title) == 0 || len(title) > 3 || alone(rest[0]) {
		return ""
	}
	*rows = rest
	return strings.Join(title, " ")
}

// alone reports whether the first cell has the only text of a row.
func alone(cells []string) bool {
	return cells[0] != "" && !slices.ContainsFunc(cells[1:], func(t string) bool { return t != "" && t != cells[0] })
}
