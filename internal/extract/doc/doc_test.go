package doc_test

import (
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/extract/doc"
	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/ole"
	"quarry/internal/extract/outline"
	"quarry/internal/extract/samplefile"
)

func read(data []byte) (*outline.Document, error) { return doc.Read(data, outline.Options{}) }

// TestRead proves what everything in a document of another program (LibreOffice) becomes: see testdata/manual.golden.
func TestRead(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/manual.doc")
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	extracttest.Golden(t, "testdata/manual.golden", got)
	if !doc.Is(data) || doc.Is(samplefile.Compound(map[string]string{"Workbook": "x"})) {
		t.Error("Is judges wrongly")
	}
	extracttest.Damage(t, read, data)
}

// stretch is a piece of a text, with one property that all of it has.
type stretch struct {
	text   string
	narrow bool
	change uint16
}

// u16 and u32 return numbers as bytes.
func u16(n ...uint16) (out string) {
	for _, n := range n {
		out += string(binary.LittleEndian.AppendUint16(nil, n))
	}
	return out
}

func u32(n ...uint32) (out string) {
	for _, n := range n {
		out += string(binary.LittleEndian.AppendUint32(nil, n))
	}
	return out
}

// Where the main stream has its text, and before it the properties of characters and paragraphs.
const (
	charactersPage, paragraphsPage = 2, 3
	textAt                         = 2048
)

// word returns a document of stretches. Properties of characters and paragraphs are for all of its text; a paragraph has a style, too.
func word(stretches []stretch, characters, paragraph string) map[string]string {
	main := make([]byte, textAt)
	le := binary.LittleEndian
	le.PutUint16(main, 0xA5EC)
	le.PutUint16(main[2:], 0xC1)
	le.PutUint16(main[32:], 14)
	le.PutUint16(main[62:], 22)
	le.PutUint16(main[152:], 93)
	borders, records, count := u32(0), "", 0
	for _, s := range stretches {
		at := uint32(len(main))
		units := utf16.Encode([]rune(s.text))
		if s.narrow {
			at = at*2 | 1<<30
			main = append(main, s.text...)
			count += len(s.text)
		} else {
			main = append(main, u16(units...)...)
			count += len(units)
		}
		borders += u32(uint32(count))
		records += u16(0) + u32(at) + u16(s.change)
	}
	le.PutUint32(main[76:], uint32(count))
	page := func(number int, content string) {
		p := main[number*512:]
		copy(p, u32(textAt, uint32(len(main))))
		at := 511 - len(content)
		at -= at % 2
		p[8] = byte(at / 2)
		copy(p[at:], content)
		p[511] = 1
	}
	page(charactersPage, string(rune(len(characters)))+characters)
	size := (len(paragraph) + 2) / 2
	if len(paragraph)%2 == 0 {
		paragraph += "\x00"
	}
	page(paragraphsPage, string(rune(size))+paragraph)
	table := ""
	part := func(number int, content string) {
		le.PutUint32(main[154+8*number:], uint32(len(table)))
		le.PutUint32(main[158+8*number:], uint32(len(content)))
		table += content
	}
	part(12, u32(textAt, uint32(len(main)), charactersPage))
	part(13, u32(textAt, uint32(len(main)), paragraphsPage))
	part(33, "\x01"+u16(3)+u16(0x083C)+"\x01"+"\x02"+u32(uint32(len(borders+records)))+borders+records)
	return map[string]string{"WordDocument": string(main), "0Table": table}
}

// TestPieces proves that a text is put together from pieces in both widths, without what is deleted, hidden or a code of a field.
func TestPieces(t *testing.T) {
	t.Parallel()
	const deleted, hidden, first = 0x41<<1 | 1<<8, 0x5C<<1 | 1<<8, 0<<1 | 1
	for name, tt := range map[string]struct {
		stretches             []stretch
		characters, paragraph string
		want                  string
	}{
		"both widths": {stretches: []stretch{{text: "Gr\xf6\xdfe \x93x\x94, ", narrow: true}, {text: "漢字 😀\r"}}, want: "Größe “x”, 漢字 😀"},
		"deleted, hidden by a piece and by a list": {stretches: []stretch{{text: "kept "}, {text: "gone ", change: deleted}, {text: "hidden ", change: hidden}, {text: "listed ", change: first}, {text: "too\r"}},
			want: "kept too"},
		"a deleted mark": {stretches: []stretch{{text: "first half,"}, {text: "\r", change: deleted}, {text: "second half\rnext\r"}}, want: "first half, second half\n\nnext"},
		"fields":         {stretches: []stretch{{text: "on \x13 PAGE \x13 IF \x14 x \x15 \x147\x15 of \x13 TOC \x15it\r"}}, want: "on 7 of it"},
		"signs":          {stretches: []stretch{{text: "a\tb\vc\x1ed\x1fe(f)\x05\x01\x0cnext"}}, want: "a b\nc‑de(f)\n\nnext"},
		"a field that never ends, ends that begin nowhere": {stretches: []stretch{{text: "a\x14b\x15c\x13d\x13e\r"}}, want: "abc"},
		"all is hidden":    {stretches: []stretch{{text: "secret\r"}}, characters: u16(0x083C) + "\x01", want: ""},
		"symbols":          {stretches: []stretch{{text: "((\r"}}, characters: u16(0x0855) + "\x01" + u16(0x6A09, 0, 'Ω'), want: "ΩΩ"},
		"half a character": {stretches: []stretch{{text: "a"}, {text: "\x3d\xd8", narrow: true}, {text: "b\r"}}, want: "a=Øb"},
	} {
		got, err := read(samplefile.Compound(word(tt.stretches, tt.characters, u16(0)+tt.paragraph)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text := ""
		for _, s := range got.Sections {
			text += s.Text
		}
		if diff := cmp.Diff(tt.want, text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// table returns a document of rows, each of whose cells ends with its mark. The properties of characters are for all of its text, the format
// is that of the rows.
func table(characters, format string, rows ...string) map[string]string {
	const inTable, rowEnd = "\x16\x24\x01", "\x17\x24\x01"
	// All paragraphs have the properties of the row's end, but only empty ones end one: pieces say which.
	var all []stretch
	for _, row := range rows {
		all = append(all, stretch{text: row, change: 0x19 << 1}, stretch{text: "\a", change: 3})
	}
	streams := word(all, characters, u16(0)+inTable+format)
	clx := u16(0x2416) + "\x01" + rowEnd
	old := "\x01" + u16(3) + u16(0x083C) + "\x01"
	at := strings.Index(streams["0Table"], old)
	streams["0Table"] = streams["0Table"][:at] + "\x01" + u16(0) + "\x01" + u16(uint16(len(clx))) + clx + streams["0Table"][at+len(old):]
	main := []byte(streams["WordDocument"])
	size := binary.LittleEndian.Uint32(main[158+8*33:])
	binary.LittleEndian.PutUint32(main[158+8*33:], size+uint32(3+3+len(clx)-len(old)))
	streams["WordDocument"] = string(main)
	return streams
}

// TestRows proves what the format of a row makes of its cells: columns by their edges, merged cells, headers, and cells that nobody describes.
func TestRows(t *testing.T) {
	t.Parallel()
	define := func(edges []uint16, flags ...uint16) string { // a row
		cells := ""
		for _, f := range flags {
			cells += u16(f) + strings.Repeat("\x00", 18)
		}
		body := string(rune(len(edges)-1)) + u16(edges...) + cells
		return u16(0xD608, uint16(len(body)+1)) + body
	}
	rows := func(format string, rows ...string) []byte { return samplefile.Compound(table("", format, rows...)) }
	for name, tt := range map[string]struct {
		data []byte
		want string
	}{
		"nothing said of cells":            {rows("", "a\ab\a", "c\ad\a"), `[] [[a b] [c d]]`},
		"all are headers":                  {rows("\x04\x34\x01", "a\ab\a", "c\ad\a"), `[] [[a b] [c d]]`},
		"a header":                         {rows(u16(0x740A, 0, 0x20), "a\ab\a", "c\ad\a"), `[[a b]] [[c d]]`},
		"edges, one cell over two columns": {rows(define([]uint16{0, 100, 900}, 0, 0), "a\ab\a", "c\ad\a"), `[] [[a b] [c d]]`},
		"merged with the left":             {rows(define([]uint16{0, 100, 900}, 3, 1), "a\a\a", "c\a\a"), `[] [[a a] [c c]]`},
		"merged with above":                {rows(define([]uint16{0, 100, 900}, 0x20, 0), "a\ab\a", "\ad\a"), `[] [[a b] [a d]]`},
		"edges that descend":               {rows(define([]uint16{900, 100, 0}, 0, 0), "a\ab\a", "c\ad\a"), `[] [[a b] [c d]]`},
		"one cell":                         {rows("", "a\a"), "text a"},
	} {
		got, err := read(tt.data)
		if err != nil || len(got.Sections) == 0 {
			t.Errorf("%s: %v, %v", name, got, err)
			continue
		}
		text := "text " + got.Sections[0].Text
		if tables := got.Sections[0].Tables; len(tables) > 0 {
			text = strings.Join([]string{str(tables[0].Headers), str(tables[0].Rows)}, " ")
		}
		if text != tt.want {
			t.Errorf("%s: %s, want %s", name, text, tt.want)
		}
	}
}

// str returns rows as text.
func str(rows [][]string) string {
	all := make([]string, len(rows))
	for i, r := range rows {
		all[i] = "[" + strings.Join(r, " ") + "]"
	}
	return "[" + strings.Join(all, " ") + "]"
}

// TestReadRefusals proves that what is no document, encrypted, old or damaged is refused with the reason.
func TestReadRefusals(t *testing.T) {
	t.Parallel()
	hello := []stretch{{text: "hello\r"}}
	with := func(change func(streams map[string][]byte)) []byte {
		streams, out := map[string][]byte{}, map[string]string{}
		for name, s := range word(hello, "", u16(0)) {
			streams[name] = []byte(s)
		}
		change(streams)
		for name, s := range streams {
			out[name] = string(s)
		}
		return samplefile.Compound(out)
	}
	main := func(at int, value byte) []byte {
		return with(func(s map[string][]byte) { s["WordDocument"][at] = value })
	}
	again := make([]stretch, 300)
	for i := range again {
		again[i] = stretch{text: strings.Repeat("x", 100)}
	}
	overlap := word(again, "", u16(0))
	for name, tt := range map[string]struct {
		data []byte
		err  error
		want string
	}{
		"empty":           {nil, outline.ErrUnparsable, "compound file"},
		"RTF":             {[]byte(`{\rtf1 hello}`), outline.ErrUnparsable, "ending .rtf"},
		"Excel":           {samplefile.Compound(map[string]string{"Workbook": "x"}), outline.ErrUnparsable, "no Word document"},
		"encrypted":       {main(11, 0x01), outline.ErrProtected, "password"},
		"encrypted, new":  {samplefile.Compound(map[string]string{"EncryptedPackage": "x"}), outline.ErrProtected, "password"},
		"Word 95":         {main(2, 0x68), outline.ErrUnparsable, "before Word 97; save it as .docx"},
		"another magic":   {main(0, 0), outline.ErrUnparsable, "before Word 97"},
		"no table":        {with(func(s map[string][]byte) { delete(s, "0Table") }), outline.ErrUnparsable, "pieces is missing"},
		"the other table": {main(11, 0x02), outline.ErrUnparsable, "pieces is missing"},
		"the text is cut": {with(func(s map[string][]byte) { s["WordDocument"] = s["WordDocument"][:textAt+3] }), outline.ErrUnparsable, "cut off"},
		"pieces that overlap": {with(func(s map[string][]byte) {
			table := []byte(overlap["0Table"])
			s["0Table"], s["WordDocument"] = table, []byte(overlap["WordDocument"])
			at := len(table) - 300*8
			for i := range 300 { // all show the first
				copy(table[at+8*i:], table[at:at+8])
			}
			s["WordDocument"] = s["WordDocument"][:textAt+300]
		}), outline.ErrUnparsable, "overlap"},
	} {
		if _, err := read(tt.data); !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func FuzzDocument(f *testing.F) {
	// Proves that no streams make the reader panic or end otherwise than in a tree or a refusal.
	data, err := os.ReadFile("testdata/manual.doc")
	if err != nil {
		f.Fatal(err)
	}
	root, err := ole.Open(data)
	if err != nil {
		f.Fatal(err)
	}
	main, err := root.Read("WordDocument")
	if err != nil {
		f.Fatal(err)
	}
	table, err := root.Read("1Table")
	if err != nil || table == nil {
		f.Fatal(err)
	}
	f.Add(main, table)
	small := word([]stretch{{text: "a\x13b\x14c\x15\ad\r"}}, u16(0x083C)+"\x01", u16(0, 0x2416)+"\x01"+u16(0xD608, 0))
	f.Add([]byte(small["WordDocument"]), []byte(small["0Table"]))
	const at = 1000 // of a picture, behind the parts of the table stream, which is the stream of data, too
	drawn := word([]stretch{{text: "\x01\x08\r"}}, u16(0x6A03)+u32(at), u16(0))
	withPart(drawn, 40, u32(1, 2, 7)+string(make([]byte, 22)))
	withPart(drawn, 50, drawings("\x00", stored))
	drawn["0Table"] += strings.Repeat("\x00", at-len(drawn["0Table"])) + inline(0x64, pump)
	f.Add([]byte(drawn["WordDocument"]), []byte(drawn["0Table"]))
	f.Fuzz(func(t *testing.T, main, table []byte) {
		got, err := doc.Read(samplefile.Compound(map[string]string{"WordDocument": string(main), "0Table": string(table), "1Table": string(table), "Data": string(table)}), outline.Options{Pictures: true})
		if err != nil {
			if !errors.Is(err, outline.ErrUnparsable) && !errors.Is(err, outline.ErrProtected) {
				t.Fatal(err)
			}
			return
		}
		extracttest.Dump(t, got)
	})
}
