package ppt

import (
	"slices"
	"strings"

	"quarry/internal/extract/ole"
	"quarry/internal/extract/outline"
)

// Limits of drawings. PowerPoint has 75 rows and columns in a table.
const (
	maxNested  = 50 // groups inside each other
	maxColumns = 500
	maxCells   = 200_000
	maxText    = 16 << 20 // bytes in all tables, merged cells repeated
)

// shape is one thing on a slide.
type shape struct {
	title, notes bool
	paragraphs   []paragraph
	description  string // of a picture
	picture      uint32 // its number in the list of pictures, 0 for none
	table        outline.Table

	hidden, isTable, line bool
	text                  *text
	box                   [4]int // of a shape in a group: left, top, right, bottom
}

// plain returns the texts of all paragraphs.
func (s *shape) plain() string {
	var b strings.Builder
	for _, p := range s.paragraphs {
		b.WriteString(p.text + " ")
	}
	return b.String()
}

// shapes reads what is on a slide, or on the page of its notes.
func (s *show) shapes(drawing []byte, in *slide) (out []shape) {
	d := &drawn{show: s, slide: in, used: map[textOf]int{}}
	each(drawing, func(r record) {
		if r.kind == recDrawingContainer {
			each(r.body, func(r record) {
				if r.kind == recGroup { // beside it stands the background
					out = append(out, d.group(r.body, 0)...)
				}
			})
		}
	})
	return out
}

// drawn is a drawing that is read.
type drawn struct {
	*show
	slide *slide
	used  map[textOf]int // how many texts of each kind there were
}

// group reads the shapes of a group, whose first one stands for the group itself.
func (d *drawn) group(b []byte, depth int) (out []shape) {
	if depth > maxNested {
		return nil
	}
	var cells []shape
	isTable, n, hidden := false, 0, false
	each(b, func(r record) {
		switch {
		case hidden:
		case r.kind == recGroup:
			out = append(out, d.group(r.body, depth+1)...)
		case r.kind == recShape:
			in := d.shape(r.body)
			if n++; n == 1 {
				isTable, hidden = in.isTable, in.hidden
			}
			switch {
			case in.hidden:
			case isTable && n > 1:
				if !in.line {
					cells = append(cells, in)
				}
			default:
				out = append(out, in)
			}
		}
	})
	if t, ok := d.grid(cells); ok {
		return append(out, shape{table: t})
	}
	return append(out, cells...)
}

// Kinds of placeholders (MS-PPT, 2.13.21).
const (
	placeDate, placeHeader       = 0x07, 0x0A // and the number of the slide and the footer between
	placeImage, placeNotes       = 0x0B, 0x0C
	placeTitle, placeCenterTitle = 0x0D, 0x0F
	placeVerticalTitle           = 0x11
)

// shape reads a shape. Dates, footers and numbers of slides are hidden.
func (d *drawn) shape(b []byte) (out shape) {
	const straightLine = 20
	var numbers []byte
	each(b, func(r record) {
		switch r.kind {
		case recShapeAtom:
			const deleted = 8
			out.line = r.instance == straightLine
			out.hidden = out.hidden || u32(r.body, 4)&deleted != 0
		case recOptions, recOptions3:
			out.options(r)
		case recChildAnchor:
			for i := range out.box {
				out.box[i] = int(int32(u32(r.body, 4*i)))
			}
		case recClientData:
			each(r.body, func(r record) {
				switch r.kind {
				case recPlaceholder:
					out.placeholder(u32(r.body, 4) & 0xFF)
				case recTags:
					tagged(r, "___PPT9", func(r record) {
						if r.kind == recTextStyle9 {
							numbers = r.body
						}
					})
				}
			})
		case recTextbox:
			out.text = d.textbox(r.body)
		}
	})
	if t := out.text; t != nil {
		if numbers != nil {
			t.numbers = numbers
		}
		out.title = out.title || t.kind == kindTitle || t.kind == kindCenterTitle
		out.notes = out.notes || t.kind == kindNotes
		out.paragraphs = t.paragraphs()
	}
	return out
}

func (s *shape) placeholder(kind uint32) {
	switch {
	case kind >= placeDate && kind <= placeHeader, kind == placeImage:
		s.hidden = true
	case kind == placeNotes:
		s.notes = true
	case kind == placeTitle, kind == placeCenterTitle, kind == placeVerticalTitle:
		s.title = true
	}
}

// textbox reads the text of a shape, which may stand in the list of slides.
func (d *drawn) textbox(b []byte) *text {
	var t texts
	var out *text
	each(b, func(r record) {
		if r.kind != recOutlineRef {
			t.record(r)
			return
		}
		if at := u32(r.body, 0); uint64(at) < uint64(len(d.slide.texts)) {
			out = d.slide.texts[at]
			of := textOf{d.slide.id, out.kind}
			if all, n := d.numbers[of], d.used[of]; n < len(all) {
				out.numbers = all[n]
			}
			d.used[of]++
		}
	})
	if out == nil && len(t.all) > 0 {
		out = t.all[0]
	}
	return out
}

// options reads the properties of a shape (MS-ODRAW, 2.3.1): pairs of an id and a value, then the values that are long.
func (s *shape) options(r record) {
	const size, long, picture, description, table, flags = 6, 0x8000, 0x104, 0x381, 0x39F, 0x3BF
	rest := r.body[min(size*r.instance, len(r.body)):]
	for b := r.body[:len(r.body)-len(rest)]; len(b) >= size; b = b[size:] {
		id, value := u16(b, 0), u32(b, 2)
		var text []byte
		if id&long != 0 {
			n := int(min(uint64(value), uint64(len(rest))))
			text, rest = rest[:n], rest[n:]
		}
		switch id & 0x3FFF {
		case picture:
			if id&long == 0 {
				s.picture = value
			}
		case description:
			s.description = outline.OneLine(strings.Trim(ole.UTF16(text), "\x00"))
		case table:
			s.isTable = value&1 != 0
		case flags:
			const hidden = 2 | 2<<16 // and that this is said
			s.hidden = s.hidden || value&hidden == hidden
		}
	}
}

// grid returns the table of cells that are drawn side by side: its columns and rows lie between their edges, and a cell that covers
// several places is repeated in each.
func (d *drawn) grid(cells []shape) (out outline.Table, ok bool) {
	var xs, ys []int
	for i := range cells {
		xs = append(xs, cells[i].box[0], cells[i].box[2])
		ys = append(ys, cells[i].box[1], cells[i].box[3])
	}
	slices.Sort(xs)
	slices.Sort(ys)
	xs, ys = slices.Compact(xs), slices.Compact(ys)
	columns, rows := len(xs)-1, len(ys)-1
	if columns < 1 || rows < 1 || columns > maxColumns || rows > maxCells/columns {
		return out, false
	}
	grid := make([][]string, rows)
	for i := range grid {
		grid[i] = make([]string, columns)
	}
	for i := range cells {
		box, words := &cells[i].box, outline.OneLine(cells[i].plain())
		left, _ := slices.BinarySearch(xs, box[0])
		right, _ := slices.BinarySearch(xs, box[2])
		top, _ := slices.BinarySearch(ys, box[1])
		bottom, _ := slices.BinarySearch(ys, box[3])
		for y := top; y < bottom; y++ {
			for x := left; x < right; x++ {
				if d.written += len(words) + 1; d.written > maxText {
					return out, false
				}
				grid[y][x] = words
			}
		}
	}
	if rows > 1 {
		out.Headers, grid = grid[:1], grid[1:]
	}
	out.Rows = grid
	return out, true
}
