package xls_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/outline"
	"quarry/internal/extract/samplefile"
	"quarry/internal/extract/xls"
)

var le, wide = samplefile.LE, samplefile.Wide

// rec returns a record of a type.
func rec(kind uint16, values ...any) string {
	body := le(values...)
	return le(kind, uint16(len(body)), body)
}

// short and long are texts with a length of one byte and of two.
func short(s string) string { return le(uint8(len(s)), uint8(0), s) }
func long(s string) string  { return le(uint16(len(utf16.Encode([]rune(s)))), uint8(1), wide(s)) }

func bof(part uint16) string { return rec(0x809, uint16(0x600), part, make([]byte, 12)) }

var eof = rec(0x0A)

// cell returns the beginning of a record of a cell.
func cell(row, column, style uint16) string { return le(row, column, style) }

// book returns the stream of a workbook: what the sheets share, and the sheets by "name" with their states.
func book(globals string, sheets ...[2]string) string {
	size := len(bof(5)) + len(globals) + len(eof)
	for _, s := range sheets {
		size += len(rec(0x85, uint32(0), short(s[0][1:]), uint16(0)))
	}
	head, rest := bof(5)+globals, ""
	for _, s := range sheets {
		head += rec(0x85, uint32(size+len(rest)), uint16(s[0][0]-'0'), short(s[0][1:]))
		rest += s[1]
	}
	return head + eof + rest
}

// styles are number formats and the styles that use them: 0 as it is, 1 money, 2 a date, 3 a percentage.
var styles = rec(0x41E, uint16(164), long(`#,##0.00\ "€"`)) + rec(0xE0, uint16(0), uint16(0), make([]byte, 16)) + rec(0xE0, uint16(0), uint16(164), make([]byte, 16)) +
	rec(0xE0, uint16(0), uint16(14), make([]byte, 16)) + rec(0xE0, uint16(0), uint16(9), make([]byte, 16))

// texts are those of cells: the second goes on in another record and in other characters, the third has formats and aids to reading.
var texts = rec(0xFC, uint32(9), uint32(4), short("Item")[:1]+"\x00\x00Item", uint16(6), uint8(0), "Pum") + rec(0x3C, uint8(1), wide("p 漢"),
	uint16(5), uint8(1|4|8), uint16(1), uint32(3), wide("größe"), uint32(0), "aid", uint16(9), uint8(0), "line") + rec(0x3C, uint8(0), "\nnext")

// stock is a workbook with everything that the reader knows.
func stock() string {
	text := func(row, column uint16, at uint32) string { return rec(0xFD, cell(row, column, 0), at) }
	formula := func(row, column, style uint16, value string) string {
		return rec(0x06, cell(row, column, style), value, uint16(0), uint32(0), uint16(0))
	}
	shape := func(id, length uint16) string {
		return rec(0xEC, "drawing") + rec(0x5D, uint16(0x15), uint16(0x12), uint16(0x19), id, make([]byte, 14)) + rec(0x1B6, make([]byte, 10), length, uint16(16), uint32(0))
	}
	rk := func(n int32) uint32 { return uint32(n)<<2 | 2 }
	first := bof(0x10) +
		rec(0x204, cell(0, 0, 0), long("Stock of May")) +
		text(2, 0, 0) + rec(0x204, cell(2, 1, 0), long("Price")) + rec(0x204, cell(2, 2, 0), long("Since")) + rec(0x204, cell(2, 3, 0), long("Share")) +
		text(3, 0, 1) + rec(0x203, cell(3, 1, 1), 1234.5) + rec(0x27E, cell(3, 2, 2), rk(45292)) + formula(3, 3, 3, le(0.125)) +
		text(4, 0, 2) + rec(0xBD, uint16(4), uint16(1), uint16(0), rk(7), uint16(1), rk(750)|1, uint16(2)) + rec(0x205, cell(4, 3, 0), uint8(1), uint8(0)) +
		text(5, 0, 3) + formula(5, 1, 0, "\x00\x00\x00\x00\x00\x00\xFF\xFF") + rec(0x4BC, "shared") + rec(0x207, long("computed")) +
		formula(5, 2, 0, "\x01\x00\x00\x00\x00\x00\xFF\xFF") + formula(5, 3, 0, "\x02\x00\x07\x00\x00\x00\xFF\xFF") +
		formula(6, 0, 0, "\x03\x00\x00\x00\x00\x00\xFF\xFF") + rec(0x207, long("of no formula")) + text(6, 1, 99) + rec(0x205, cell(6, 3, 0), uint8(0x2A), uint8(1)) +
		bof(0x20) + rec(0x203, cell(7, 7, 0), 99.0) + eof + // a chart
		rec(0x204, cell(9, 6, 0), long("both")) + rec(0xE5, uint16(1), uint16(9), uint16(10), uint16(6), uint16(7)) +
		shape(1, 13) + rec(0x3C, uint8(0), "Bob:\ntoo dear") + rec(0x3C, make([]byte, 16)) +
		shape(2, 8) + rec(0x3C, uint8(1), wide("a b\rx")) + rec(0x3C, uint8(0), "yz!") +
		rec(0x1C, uint16(3), uint16(1), uint16(0), uint16(1), long("Bob")) + rec(0x1C, uint16(3), uint16(27), uint16(0), uint16(7), long("Eve")) + eof
	hidden := bof(0x10) + rec(0x203, cell(0, 0, 0), 42.0) + eof
	return book(rec(0x22, uint16(0))+styles+texts, [2]string{"0Stock", first}, [2]string{"1Hidden", hidden}, [2]string{"2Very", hidden}, [2]string{"0Empty", bof(0x10) + eof},
		[2]string{"0Chart", bof(0x20) + rec(0x203, cell(0, 0, 0), 1.0) + eof})
}

func file(stream string) []byte { return samplefile.Compound(map[string]string{"Workbook": stream}) }

func read(data []byte) (*outline.Document, error) { return xls.Read(data, outline.Options{}) }

// TestRead proves what everything in a workbook becomes: see testdata/book.golden.
func TestRead(t *testing.T) {
	t.Parallel()
	data := file(stock())
	doc, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	extracttest.Golden(t, "testdata/book.golden", doc)
	if !xls.Is(data) || xls.Is(samplefile.Compound(map[string]string{"WordDocument": "x"})) {
		t.Error("Is judges wrongly")
	}
	extracttest.Damage(t, read, data)
}

// TestReadForeign proves that a file of another program (LibreOffice) is read, with its properties.
func TestReadForeign(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/stock.xls")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	extracttest.Golden(t, "testdata/stock.golden", doc)
	extracttest.Damage(t, read, data)
}

// drawn returns a workbook whose sheets show two pictures and one that is not in the list. The list and the drawing go on in other records:
// behind one of their own, an object, a text box and a chart.
func drawn(pngs []string) string {
	art, shape := extracttest.DrawingRecord, extracttest.PictureShape
	list := art(0xF, 0xF000, art(0xF, 0xF001, extracttest.PictureStored(pngs[0]), extracttest.PictureStored(pngs[1])))
	third := len(list) / 3
	globals := rec(0xEB, list[:third]) + rec(0x3C, list[third:2*third]) + rec(0xEB, list[2*third:])
	anchor := func(row uint16) string { return art(0, 0xF010, make([]byte, 6), row, make([]byte, 10)) }
	drawing := art(0xF, 0xF002, art(0xF, 0xF003, art(0xF, 0xF004, art(0, 0xF00A, uint32(1), uint32(5))),
		shape(2, 2, "A fan", anchor(9)), shape(3, 1, "A pump", anchor(4)), shape(4, 3, "no such picture", anchor(1))))
	part := func(fifth int) string { return drawing[len(drawing)*fifth/5 : len(drawing)*(fifth+1)/5] }
	sheet := bof(0x10) + rec(0x204, cell(0, 0, 0), long("Stock")) + rec(0xEC, part(0)) + rec(0x3C, part(1)) +
		rec(0x5D, uint16(0x15), uint16(0x12), uint16(6), uint16(1)) + rec(0x3C, part(2)) +
		rec(0x1B6, make([]byte, 10), uint16(3), uint16(16), uint32(0)) + rec(0x3C, uint8(0), "box") + rec(0x3C, make([]byte, 16)) + rec(0x3C, part(3)) +
		bof(0x20) + rec(0xEC, "of the chart") + eof + rec(0x3C, part(4)) + eof
	return book(globals, [2]string{"0Shown", sheet}, [2]string{"1Hidden", sheet}, [2]string{"0Drawn", bof(0x10) + rec(0xEC, drawing) + eof})
}

// TestReadPictures proves that the pictures of a sheet that is shown follow it where they are wanted, row by row, and that else what is said of
// them does.
func TestReadPictures(t *testing.T) {
	t.Parallel()
	pngs := []string{extracttest.PNG(64), extracttest.PNG(65)}
	data := file(drawn(pngs))
	for _, wanted := range []bool{true, false} {
		doc, err := xls.Read(data, outline.Options{Pictures: wanted})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range doc.Sections {
			got = append(got, s.Title+": "+s.Text)
			for _, p := range s.Pictures {
				got = append(got, fmt.Sprintf("%s %d", p.Description, slices.Index(pngs, string(p.Data))))
			}
		}
		want := []string{"Shown: Stock\n\nbox\n\nno such picture\n\nA pump\n\nA fan", "Drawn: no such picture\n\nA pump\n\nA fan"}
		if wanted {
			want = []string{"Shown: Stock\n\nbox\n\nno such picture", "A pump 0", "A fan 1", "Drawn: no such picture"}
		}
		if !slices.Equal(got, want) {
			t.Errorf("wanted %v: %q, want %q", wanted, got, want)
		}
	}
}

// TestReadOld proves that a workbook of Excel 95 is read, in its code page and from its other calendar.
func TestReadOld(t *testing.T) {
	t.Parallel()
	old := rec(0x809, uint16(0x500), uint16(5), uint32(0))
	globals := rec(0x42, uint16(1251)) + rec(0x22, uint16(1)) + rec(0x41E, uint16(164), uint8(4), "yyyy") + rec(0xE0, uint16(0), uint16(164), make([]byte, 12))
	name := rec(0x85, uint32(len(old)+len(globals)+4+6+2+4+1), uint16(0), uint8(2), "\xcb1")
	sheet := rec(0x809, uint16(0x500), uint16(0x10), uint32(0)) + rec(0x204, cell(0, 0, 9), uint16(5), "\xcd\xe0\xf1\xee\xf1") + rec(0xD6, cell(0, 1, 9), uint16(1), "x", uint8(0)) +
		rec(0x203, cell(1, 0, 0), 366.0) + rec(0x06, cell(1, 1, 9), "\x00\x00\x00\x00\x00\x00\xFF\xFF", uint16(0), uint32(0)) + rec(0x207, uint16(2), "\xc4\xe0") +
		rec(0x1C, uint16(1), uint16(0), uint16(2), "ok") + eof
	stream := old + globals + name + eof + sheet
	doc, err := read(samplefile.Compound(map[string]string{"Book": stream}))
	if err != nil {
		t.Fatal(err)
	}
	extracttest.Golden(t, "testdata/old.golden", doc)
}

// TestReadRefusals proves that what is no workbook, encrypted, damaged or too large is refused with the reason.
func TestReadRefusals(t *testing.T) {
	t.Parallel()
	const text = 32 << 10
	many := rec(0xFC, uint32(1), uint32(1), uint16(text), uint8(0), strings.Repeat("a", 8000)) // which every cell shows
	for left := text - 8000; left > 0; left -= 8000 {
		many += rec(0x3C, uint8(0), strings.Repeat("b", min(left, 8000)))
	}
	shown := bof(0x10) + strings.Repeat(rec(0xFD, cell(1, 1, 0), uint32(0)), 5000) + eof
	for name, tt := range map[string]struct {
		data []byte
		err  error
		want string
	}{
		"empty":              {nil, outline.ErrUnparsable, "compound file"},
		"a page":             {[]byte("<html><table>"), outline.ErrUnparsable, "ending .html"},
		"Word":               {samplefile.Compound(map[string]string{"WordDocument": "x"}), outline.ErrUnparsable, "no workbook"},
		"encrypted":          {file(bof(5) + rec(0x2F, uint16(1)) + eof), outline.ErrProtected, "password"},
		"encrypted, new":     {samplefile.Compound(map[string]string{"EncryptedPackage": "x", "EncryptionInfo": "y"}), outline.ErrProtected, "password"},
		"no records":         {file("x"), outline.ErrUnparsable, "before Excel 95"},
		"Excel 4":            {file(rec(0x409, uint16(0x400), uint16(0x10)) + eof), outline.ErrUnparsable, "save it as .xlsx"},
		"a version to come":  {file(rec(0x809, uint16(0x700), uint16(5)) + eof), outline.ErrUnparsable, "version 0x700"},
		"cut off":            {file(bof(5) + styles), outline.ErrUnparsable, "cut off"},
		"texts are cut off":  {file(book(rec(0xFC, uint32(2), uint32(2), uint16(9), uint8(0), "abc"))), outline.ErrUnparsable, "cut off"},
		"a sheet is missing": {file(bof(5) + rec(0x85, uint32(math.MaxUint32), uint16(0), short("far")) + eof), outline.ErrUnparsable, `"far" is missing`},
		"no sheet there":     {file(bof(5) + rec(0x85, uint32(9), uint16(0), short("near")) + eof), outline.ErrUnparsable, `"near" is missing`},
		"a sheet is cut off": {file(book("", [2]string{"0a", bof(0x10)})), outline.ErrUnparsable, "cut off"},
		"a cell too far":     {file(book("", [2]string{"0a", bof(0x10) + rec(0x203, cell(1, 20000, 0), 1.0) + eof})), outline.ErrUnparsable, "outside"},
		"a text everywhere":  {file(book(many, [2]string{"0a", shown})), outline.ErrUnparsable, "of text"},
	} {
		if _, err := read(tt.data); !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func FuzzWorkbook(f *testing.F) {
	// Proves that no stream of records makes the reader panic or end otherwise than in a tree or a refusal.
	f.Add([]byte(stock()))
	f.Add([]byte(drawn([]string{extracttest.PNG(64), extracttest.PNG(65)})))
	f.Add([]byte(bof(0x10) + rec(0xE5, uint16(0xFFFF)) + rec(0xBD, uint16(1), uint16(1)) + rec(0x1B6) + rec(0x1C) + eof))
	f.Fuzz(func(t *testing.T, stream []byte) {
		doc, err := xls.Read(file(string(stream)), outline.Options{Pictures: true})
		if err != nil {
			if !errors.Is(err, outline.ErrUnparsable) && !errors.Is(err, outline.ErrProtected) {
				t.Fatal(err)
			}
			return
		}
		extracttest.Dump(t, doc)
	})
}
