// Package xls reads Excel workbooks of before 2007 (BIFF8, MS-XLS, and BIFF5 of Excel 95) into a document tree.
//
// Each sheet is a section. Its blocks of adjacent filled cells are tables; numbers and dates are read as they are displayed, formulas
// by the value that was stored, merged cells in each place. Comments follow, the texts of shapes, and pictures where they are wanted and
// else what is said of them. Hidden sheets are left out, and so are charts. All functions are safe for concurrent use.
package xls

import (
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/text/encoding"

	"quarry/internal/extract/officeart"
	"quarry/internal/extract/ole"
	"quarry/internal/extract/outline"
	"quarry/internal/extract/sheet"
	"quarry/internal/extract/sheet/numfmt"
)

// The names of the stream that a workbook is in, since Excel 97 and before.
const (
	workbook    = "Workbook"
	oldWorkbook = "Book"
)

// Is reports whether data is a workbook, judging by its content.
func Is(data []byte) bool { return ole.Is(data, workbook, oldWorkbook) }

// Read parses a workbook. Its errors wrap outline.ErrUnparsable or outline.ErrProtected.
func Read(data []byte, o outline.Options) (*outline.Document, error) {
	root, err := ole.Open(data)
	if err != nil {
		return nil, err
	}
	stream, err := root.Read(workbook)
	if err == nil && stream == nil {
		stream, err = root.Read(oldWorkbook)
	}
	if err != nil {
		return nil, err
	}
	if stream == nil {
		return nil, bad("the file holds no workbook")
	}
	b := &book{data: stream, out: &outline.Builder{Options: o}, codes: map[int]string{}, formats: map[string]*numfmt.Format{}, page: ole.Codepage(1252)}
	if err := b.read(); err != nil {
		return nil, err
	}
	metadata := root.Properties()
	doc := b.out.Document(metadata)
	doc.Sections = slices.DeleteFunc(doc.Sections, func(s outline.Section) bool { return s.Text == "" && len(s.Tables)+len(s.Pictures) == 0 }) // empty sheets
	doc.Title, _ = metadata["title"].(string)                                                                                                  // the name of a sheet is no title
	return doc, nil
}

// book is an open workbook.
type book struct {
	data      []byte // its stream of records
	out       *outline.Builder
	cells     sheet.Book
	old       bool // BIFF5, whose texts are bytes in page
	page      encoding.Encoding
	strings   []string
	codes     map[int]string // of number formats, by their numbers
	formats   map[string]*numfmt.Format
	styles    []*numfmt.Format // the formats by the numbers of the styles
	epoch1904 bool
	tabs      []tab
	drawings  []byte // what the drawings of all sheets share
	pictures  officeart.Store
}

// tab is a sheet that is shown.
type tab struct {
	name string
	at   int // its place in the stream
}

// Types of records (MS-XLS, 2.3), and of the parts of a workbook that they begin.
const (
	recBOF, recEOF, recContinue    = 0x809, 0x0A, 0x3C
	recFilePass, recCodepage       = 0x2F, 0x42
	recDateMode, recBoundSheet     = 0x22, 0x85
	recFormat, recXF, recSST       = 0x41E, 0xE0, 0xFC
	recNumber, recRK, recMulRK     = 0x203, 0x27E, 0xBD
	recLabel, recLabelSST          = 0x204, 0xFD
	recRString, recBoolErr         = 0xD6, 0x205
	recFormula, recString          = 0x06, 0x207
	recMergeCells                  = 0xE5
	recNote, recObject, recTextBox = 0x1C, 0x5D, 0x1B6
	recDrawings, recDrawing        = 0xEB, 0xEC

	biff8, biff5         = 0x600, 0x500
	partGlobals, partTab = 0x05, 0x10
)

// read adds the sheets in their order.
func (b *book) read() error {
	r := &records{data: b.data}
	if !r.next() || r.kind != recBOF {
		return bad("it is a workbook of before Excel 95; save it as .xlsx")
	}
	switch version := u16(r.body, 0); version {
	case biff8:
	case biff5:
		b.old = true
	default:
		return bad("it is a workbook of version %#x; save it as .xlsx", version)
	}
	if u16(r.body, 2) != partGlobals { // a sheet alone
		b.tabs = []tab{{}}
	} else if err := b.globals(r); err != nil {
		return err
	}
	b.pictures = officeart.ReadStore(b.drawings, nil)
	for _, t := range b.tabs {
		b.out.Heading(1, t.name)
		if err := b.tab(t); err != nil {
			return err
		}
	}
	return nil
}

// globals reads what the sheets share.
func (b *book) globals(r *records) error {
	for r.next() {
		switch r.kind {
		case recEOF:
			return nil
		case recFilePass:
			return outline.ErrProtected
		case recCodepage:
			b.page = ole.Codepage(u16(r.body, 0))
		case recDateMode:
			b.epoch1904 = u16(r.body, 0) == 1
		case recBoundSheet:
			const kinds = 0xFF // in the byte after the state: 0 is a sheet
			if len(r.body) < 7 {
				return bad("the list of sheets is damaged")
			}
			if state := u16(r.body, 4); state&3 == 0 && state>>8&kinds == 0 {
				name := b.text(r.segments(), 6, 1)
				b.tabs = append(b.tabs, tab{outline.OneLine(name), int(binary.LittleEndian.Uint32(r.body))})
			}
		case recFormat:
			length := 2
			if b.old {
				length = 1
			}
			b.codes[u16(r.body, 0)] = b.text(r.segments(), 2, length)
		case recXF:
			b.styles = append(b.styles, b.style(u16(r.body, 2)))
		case recDrawings:
			if b.out.Options.Pictures {
				b.drawings = append(b.drawings, r.segments().remainder()...)
			}
		case recSST:
			if err := b.readStrings(r.segments()); err != nil {
				return err
			}
		}
	}
	return bad("the workbook is cut off")
}

// style returns the number format with this number. Formats stand before the styles that use them.
func (b *book) style(id int) *numfmt.Format {
	code, own := b.codes[id]
	if !own {
		code = numfmt.Builtin(id)
	}
	if b.formats[code] == nil {
		b.formats[code] = numfmt.Parse(code)
	}
	return b.formats[code]
}

// format returns the number format of a style.
func (b *book) format(style int) *numfmt.Format {
	if style < len(b.styles) {
		return b.styles[style]
	}
	return general
}

var general = numfmt.Parse("General")

// tab adds a sheet and what hangs from it.
func (b *book) tab(t tab) error {
	if t.at < 0 || t.at >= len(b.data) {
		return bad("the sheet %q is missing", t.name)
	}
	r := &records{data: b.data[t.at:]}
	if !r.next() || r.kind != recBOF {
		return bad("the sheet %q is missing", t.name)
	}
	if u16(r.body, 2) != partTab { // a chart, a macro
		return nil
	}
	in := &reader{book: b, records: r, cells: b.cells.Sheet(), row: -1}
	if err := in.read(); err != nil {
		return err
	}
	if err := in.cells.Write(b.out); err != nil {
		return err
	}
	in.writeNotes()
	in.writePictures()
	b.out.Break()
	return nil
}

// u16 reads a number of two bytes, 0 where there is none.
func u16(b []byte, at int) int {
	if at < 0 || at+2 > len(b) {
		return 0
	}
	return int(binary.LittleEndian.Uint16(b[at:]))
}

// bad returns an error that wraps outline.ErrUnparsable.
func bad(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{outline.ErrUnparsable}, args...)...)
}
