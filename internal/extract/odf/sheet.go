package odf

import (
	"encoding/xml"
	"strings"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/outline"
	"quarry/internal/extract/sheet"
)

// Rows and columns of a sheet.
const (
	sheetRows    = 1 << 20
	sheetColumns = 1 << 14
)

// sheets adds the tables of a spreadsheet, each as a section.
func (r *reader) sheets() {
	var book sheet.Book
	r.x.Each(func(e xml.StartElement) {
		switch {
		case left[e.Name.Local]:
			r.x.Skip()
		case e.Name.Local != "table":
		case r.hidden(archive.Attr(e, "style-name")) || r.err != nil:
			r.x.Skip()
		default:
			s := sheetReader{reader: r, cells: book.Sheet()}
			s.read()
			name := outline.OneLine(archive.Attr(e, "name"))
			var b outline.Builder // whether there is anything on the sheet
			if r.err == nil {
				r.err = s.cells.Write(&b)
			}
			if len(b.Sections())+len(s.after) > 0 {
				r.out.Heading(1, name)
				for _, in := range b.Sections() {
					r.out.Paragraph(in.Text)
					for _, t := range in.Tables {
						r.out.Table(t)
					}
				}
				for _, in := range s.after {
					r.put(block{text: in.text, picture: in.picture})
				}
			}
		}
	})
}

// sheetReader reads one sheet.
type sheetReader struct {
	*reader
	cells *sheet.Sheet
	row   int
	after []block // comments, shapes and pictures
}

func (s *sheetReader) read() {
	s.x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "shapes":
			s.blocks(func(b block) { s.after = append(s.after, b) })
		case "table-row":
			s.line(repeated(e, "number-rows-repeated", sheetRows))
		case "named-expressions":
			s.x.Skip()
		}
	})
}

// line reads the row that was started last, which stands there as often as times.
func (s *sheetReader) line(times int) {
	type filled struct {
		at   int
		text string
	}
	var row []filled
	column := 0
	s.x.Each(func(e xml.StartElement) {
		if e.Name.Local != "table-cell" && e.Name.Local != "covered-table-cell" {
			return
		}
		n := repeated(e, "number-columns-repeated", sheetColumns)
		text := s.content()
		if text != "" && e.Name.Local == "table-cell" {
			for i := range min(n, max(sheetColumns-column, 0)) {
				row = append(row, filled{column + i, text})
			}
			down, right := repeated(e, "number-rows-spanned", sheetRows), repeated(e, "number-columns-spanned", sheetColumns)
			if down > 1 || right > 1 {
				s.cells.Merge(s.row, column, s.row+down-1, column+right-1)
			}
		}
		column += n
	})
	for i := 0; i < times && len(row) > 0 && s.err == nil; i++ {
		for _, c := range row {
			if s.err == nil {
				s.err = s.cells.Set(s.row+i, c.at, c.text)
			}
		}
	}
	s.row += times
}

// content returns the text that the cell that was started last displays; its comment and its pictures go to s.after.
func (s *sheetReader) content() string {
	var words []string
	s.x.Each(func(e xml.StartElement) {
		if e.Name.Local == "annotation" {
			if text := s.comment(); text != "" {
				s.after = append(s.after, block{text: text})
			}
			return
		}
		s.block(e, func(b block) {
			if b.picture != "" {
				s.after = append(s.after, b)
				return
			}
			words = append(words, strings.Fields(b.text)...)
		})
	})
	return strings.Join(words, " ")
}

// comment returns the comment that was started last, with its author and its time.
func (r *reader) comment() string {
	var c outline.Comment
	r.x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "creator":
			c.Author = outline.OneLine(r.x.Text())
		case "date":
			c.Time = outline.OneLine(r.x.Text())
		case "p":
			c.Text += r.x.Text() + " "
		}
	})
	return c.String()
}
