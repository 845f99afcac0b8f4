package xls

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"quarry/internal/extract/ole"
	"quarry/internal/extract/outline"
	"quarry/internal/extract/sheet"
)

// reader reads one sheet.
type reader struct {
	*book
	*records
	cells     *sheet.Sheet
	row       int // of the formula whose text comes in a record of its own, -1 without one
	column    int
	cellStyle int
	object    int // the number of the shape that was begun last
	boxes     []box
	notes     []note
	// drawing is what is drawn on the sheet: each shape has a record, and all together are one drawing. Behind as many bytes as a record
	// can have, shapes stand in records that seem to continue the one of the object, text box or chart before them.
	drawing    []byte
	underneath int // how deep the record stands in parts inside the sheet, which are charts
}

// box is a shape with a text, note a comment on a cell.
type box struct {
	object int
	text   string
}

type note struct {
	object       int
	cell, author string
	text         string // in BIFF5; in BIFF8 it is that of a shape
}

// read reads the records of the sheet. A sheet that is cut off is an error.
func (r *reader) read() error {
	for r.next() {
		switch {
		case r.kind == recBOF:
			r.underneath++
		case r.kind == recEOF && r.underneath == 0:
			return nil
		case r.kind == recEOF:
			if r.underneath--; r.underneath == 0 {
				r.drawing = append(r.drawing, r.continued()...)
			}
		case r.kind == recFilePass:
			return outline.ErrProtected
		case r.underneath == 0:
			if err := r.record(); err != nil {
				return err
			}
		}
	}
	return bad("a sheet is cut off")
}

// record reads one record. All records of cells begin with row, column and style.
func (r *reader) record() error {
	switch r.kind {
	case recString:
		return r.computed()
	case recDrawing:
		r.drawing = append(r.drawing, r.segments().remainder()...)
		return nil
	}
	row, column, style := u16(r.body, 0), u16(r.body, 2), u16(r.body, 4)
	if len(r.body) < 6 {
		return nil
	}
	value := r.body[6:]
	switch r.kind {
	case recNumber:
		return r.set(row, column, r.number(value, style))
	case recRK:
		return r.set(row, column, r.rk(value, style))
	case recMulRK:
		const size = 6 // a style and a number
		for cells := r.body[4:]; len(cells) >= size+2; cells = cells[size:] {
			if err := r.set(row, column, r.rk(cells[2:], u16(cells, 0))); err != nil {
				return err
			}
			column++
		}
	case recLabelSST:
		if len(value) >= 4 {
			if at := binary.LittleEndian.Uint32(value); uint64(at) < uint64(len(r.strings)) {
				return r.set(row, column, r.format(style).Text(r.strings[at]))
			}
		}
	case recLabel, recRString:
		return r.set(row, column, r.format(style).Text(r.text(r.segments(), 6, 2)))
	case recBoolErr:
		if len(value) >= 2 {
			return r.set(row, column, boolOrError(value[0], value[1] != 0))
		}
	case recFormula:
		return r.formula(row, column, style, value)
	default:
		r.hanging()
	}
	return nil
}

func (r *reader) set(row, column int, text string) error { return r.cells.Set(row, column, text) }

// hanging reads what belongs to no cell or to several: merged cells, comments and shapes.
func (r *reader) hanging() {
	switch r.kind {
	case recMergeCells:
		for areas := r.body[2:]; len(areas) >= 8; areas = areas[8:] {
			r.cells.Merge(u16(areas, 0), u16(areas, 4), u16(areas, 2), u16(areas, 6))
		}
	case recObject:
		const common = 0x15 // the kind of its first part
		if r.object = -1; u16(r.body, 0) == common {
			r.object = u16(r.body, 6)
		}
		r.drawing = append(r.drawing, r.continued()...)
	case recTextBox:
		if !r.old && len(r.body) >= 12 {
			count, formats := u16(r.body, 10), u16(r.body, 12)
			s := r.segments()
			s.now = nil // its text begins in the record that continues it
			r.boxes = append(r.boxes, box{r.object, s.chars(count, false)})
			s.skip(formats)
			r.drawing = append(r.drawing, s.remainder()...)
		}
	case recNote:
		n := note{cell: name(u16(r.body, 0), u16(r.body, 2)), object: u16(r.body, 6)}
		if r.old {
			n.object, n.text = -1, ole.Decode(r.body[6:], r.page)
		} else {
			n.author = outline.OneLine(r.text(r.segments(), 8, 2))
		}
		r.notes = append(r.notes, n)
	}
}

// number shows a number of eight bytes as its style does.
func (r *reader) number(value []byte, style int) string {
	if len(value) < 8 {
		return ""
	}
	return r.format(style).Number(math.Float64frombits(binary.LittleEndian.Uint64(value)), r.epoch1904)
}

// rk shows a number in the short form (MS-XLS, 2.5.217): the upper bits of a number of eight bytes, or a whole one.
func (r *reader) rk(value []byte, style int) string {
	const hundredth, whole = 1, 2
	if len(value) < 4 {
		return ""
	}
	n := binary.LittleEndian.Uint32(value)
	f := math.Float64frombits(uint64(n&^3) << 32)
	if n&whole != 0 {
		f = float64(int32(n) >> 2)
	}
	if n&hundredth != 0 {
		f /= 100
	}
	return r.format(style).Number(f, r.epoch1904)
}

// formula reads the value that was stored with a formula (MS-XLS, 2.5.133).
func (r *reader) formula(row, column, style int, value []byte) error {
	const inRecord, boolean, wrong = 0, 1, 2
	r.row = -1
	if len(value) < 8 {
		return nil
	}
	if u16(value, 6) != 0xFFFF {
		return r.set(row, column, r.number(value, style))
	}
	switch value[0] {
	case inRecord:
		r.row, r.column, r.cellStyle = row, column, style
	case boolean, wrong:
		return r.set(row, column, boolOrError(value[2], value[0] == wrong))
	}
	return nil
}

// computed reads the text that is the value of the last formula.
func (r *reader) computed() error {
	if r.row < 0 {
		return nil
	}
	row := r.row
	r.row = -1
	return r.set(row, r.column, r.format(r.cellStyle).Text(r.text(r.segments(), 0, 2)))
}

// boolOrError shows a truth value or the name of an error.
func boolOrError(value byte, isError bool) string {
	switch {
	case isError:
		return map[byte]string{0: "#NULL!", 7: "#DIV/0!", 0x0F: "#VALUE!", 0x17: "#REF!", 0x1D: "#NAME?", 0x24: "#NUM!", 0x2A: "#N/A"}[value]
	case value != 0:
		return "TRUE"
	}
	return "FALSE"
}

// name returns what a cell is called, such as "B4".
func name(row, column int) string {
	letters := ""
	for n := column + 1; n > 0; n = (n - 1) / 26 {
		letters = string(rune('A'+(n-1)%26)) + letters
	}
	return letters + strconv.Itoa(row+1)
}

// writeNotes adds the comments, each with its cell and its author, and the texts of the other shapes.
func (r *reader) writeNotes() {
	noted := map[int]bool{}
	texts := map[int]string{}
	for _, in := range r.boxes {
		texts[in.object] = outline.OneLine(in.text)
	}
	for _, n := range r.notes {
		noted[n.object] = true
		text := n.text
		if !r.old {
			text = texts[n.object]
		}
		r.out.Line(outline.Comment{On: n.cell, Author: n.author, Text: text}.String())
	}
	r.out.Break()
	for _, in := range r.boxes {
		if !noted[in.object] {
			r.out.Paragraph(strings.TrimSpace(strings.ReplaceAll(in.text, "\r", "\n")))
		}
	}
}
