package ppt

import (
	"slices"
	"strings"

	"quarry/internal/extract/officeart"
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
	officeart.Shape
	title, notes, line bool
	paragraphs         []paragraph
	table              outline.Table
	text               *text
	box                [4]int // of a shape in a group: left, top, right, bottom
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
	officeart.Each(drawing, func(r officeart.Record) {
		if r.Kind == officeart.TypeDrawing {
			officeart.Each(r.Body, func(r officeart.Record) {
				if r.Kind == officeart.TypeGroup { // beside it stands the background
					out = append(out, d.group(r.Body, 0)...)
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
	officeart.Each(b, func(r officeart.Record) {
		switch {
		case hidden:
		case r.Kind == officeart.TypeGroup:
			out = append(out, d.group(r.Body, depth+1)...)
		case r.Kind == officeart.TypeShape:
			in := d.shape(r.Body)
			if n++; n == 1 {
				isTable, hidden = in.Table, in.Hidden
			}
			switch {
			case in.Hidden:
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
func (d *drawn) shape(b []byte) shape {
	const straightLine = 20
	out := shape{Shape: officeart.ReadShape(b)}
	var numbers []byte
	officeart.Each(b, func(r officeart.Record) {
		switch r.Kind {
		case officeart.TypeShapeHead:
			out.line = r.Instance == straightLine
		case officeart.TypeChildAnchor:
			for i := range out.box {
				out.box[i] = int(int32(u32(r.Body, 4*i)))
			}
		case officeart.TypeClientData:
			officeart.Each(r.Body, func(r officeart.Record) {
				switch r.Kind {
				case recPlaceholder:
					out.placeholder(u32(r.Body, 4) & 0xFF)
				case recTags:
					tagged(r, "___PPT9", func(r officeart.Record) {
						if r.Kind == recTextStyle9 {
							numbers = r.Body
						}
					})
				}
			})
		case officeart.TypeTextbox:
			out.text = d.textbox(r.Body)
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
		s.Hidden = true
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
	officeart.Each(b, func(r officeart.Record) {
		if r.Kind != recOutlineRef {
			t.record(r)
			return
		}
		if at := u32(r.Body, 0); uint64(at) < uint64(len(d.slide.texts)) {
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
