package doc_test

import (
	"slices"
	"testing"

	"quarry/internal/extract/doc"
	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/outline"
	"quarry/internal/extract/samplefile"
)

// withPart adds a part to the table stream of a document, by its number in the file information block.
func withPart(streams map[string]string, number int, content string) {
	main := []byte(streams["WordDocument"])
	copy(main[154+8*number:], u32(uint32(len(streams["0Table"])), uint32(len(content))))
	streams["WordDocument"], streams["0Table"] = string(main), streams["0Table"]+content
}

// A picture, as lists have it, and the shape of a line that shows it, with its list.
var (
	rec    = extracttest.DrawingRecord
	png    = extracttest.PNG(64)
	stored = extracttest.PictureStored(png)
	pump   = extracttest.PictureShape(1, 1, "A pump") + stored
)

// inline returns what the stream of data has of a picture in a line, of a kind.
func inline(kind uint16, content string) string {
	return samplefile.LE(uint32(68+len(content)), uint16(68), kind, make([]byte, 60), content)
}

// drawings returns the part that has the drawings: one of a text, by its number, that shows the first picture of a list by a shape 7.
func drawings(text, list string) string {
	group := rec(0xF, 0xF003, rec(0xF, 0xF004, rec(0, 0xF00A, uint32(6), uint32(5))), extracttest.PictureShape(7, 1, "A fan"))
	return rec(0xF, 0xF000, rec(0xF, 0xF001, list)) + text + rec(0xF, 0xF002, group)
}

// TestPictures proves that pictures in lines and beside them are found where they are wanted, each once, that else what is said of them
// is text, and that what is no picture costs nothing.
func TestPictures(t *testing.T) {
	t.Parallel()
	const special, at = "\x55\x08\x01", 5
	characters := special + u16(0x6A03) + u32(at)
	const behind = textAt + 2*len("\x08\r") // the text, in the main stream
	placed := rec(2, 0xF007, make([]byte, 28), uint32(behind), uint32(0))
	for name, tt := range map[string]struct {
		text, characters, data, drawings string
		id                               uint32 // of the shape that is anchored
		want                             string // what is said of the picture; "" for none
	}{
		"in a line":                       {text: "\x01\r", characters: characters, data: "12345" + inline(0x64, pump), want: "A pump"},
		"shown twice":                     {text: "\x01\x01\r", characters: characters, data: "12345" + inline(0x64, pump), want: "A pump"},
		"by a number of the document":     {text: "\x01\r", characters: characters, data: "12345" + inline(0x64, extracttest.PictureShape(1, 3, "A pump")+stored), want: "A pump"},
		"without a list":                  {text: "\x01\r", characters: characters, data: "12345" + inline(0x64, extracttest.PictureShape(1, 3, ""))},
		"from a file":                     {text: "\x01\r", characters: characters, data: "12345" + inline(0x66, "\x05a.png"+pump), want: "A pump"},
		"beside the lines":                {text: "\x08\r", characters: special, drawings: drawings("\x00", stored), id: 7, want: "A fan"},
		"beside them, in the main stream": {text: "\x08\r", characters: special, drawings: drawings("\x00", placed), id: 7, want: "A fan"},
		"of a running head":               {text: "\x08\r", characters: special, drawings: drawings("\x01", stored), id: 7},
		"beside deleted lines":            {text: "\x08\r", characters: special + u16(0x0800) + "\x01", drawings: drawings("\x00", stored), id: 7},
		"anchored nowhere":                {text: "\x08\r", characters: special, drawings: drawings("\x00", stored), id: 8},
		"what was filled in":              {text: "\x01\r", characters: characters + u16(0x0806) + "\x01", data: "12345" + inline(0x64, pump)},
		"a place behind the end":          {text: "\x01\r", characters: special + u16(0x6A03) + u32(1<<31), data: "12345" + inline(0x64, pump)},
		"a header of another size":        {text: "\x01\r", characters: characters, data: "12345" + samplefile.LE(uint32(68), uint16(67), make([]byte, 62))},
		"a form that is not known":        {text: "\x01\r", characters: characters, data: "12345" + inline(0x65, pump)},
		"a shape that is cut off":         {text: "\x01\r", characters: characters, data: "12345" + inline(0x64, pump[:20])},
		"the name of a file, and no more": {text: "\x01\r", characters: characters, data: "12345" + inline(0x66, "\xFF")},
	} {
		streams := word([]stretch{{text: tt.text}}, tt.characters, u16(0))
		streams["WordDocument"] += extracttest.PictureRecord(png)
		streams["Data"] = tt.data
		withPart(streams, 40, u32(0, 1, tt.id)+string(make([]byte, 22)))
		withPart(streams, 50, tt.drawings)
		for _, wanted := range []bool{true, false} {
			got, err := doc.Read(samplefile.Compound(streams), outline.Options{Pictures: wanted})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			text, said := "", []string(nil)
			for _, s := range got.Sections {
				text += s.Text
				for _, p := range s.Pictures {
					if said = append(said, p.Description); string(p.Data) != png {
						t.Errorf("%s: other bytes than were stored", name)
					}
				}
			}
			switch {
			case wanted && tt.want != "" && (text != "" || !slices.Equal(said, []string{tt.want})):
				t.Errorf("%s: pictures of %q and the text %q, want one of %q", name, said, text, tt.want)
			case wanted && tt.want == "" && said != nil, !wanted && (said != nil || text != tt.want):
				t.Errorf("%s, wanted %v: pictures of %q and the text %q", name, wanted, said, text)
			}
		}
	}
}

// TestPicturesInTables proves that a picture follows the table that it stands in, whose cell has what is said of it in any case.
func TestPicturesInTables(t *testing.T) {
	t.Parallel()
	streams := table("\x55\x08\x01"+u16(0x6A03)+u32(0), "", "part\aseen\a", "pump\a\x01\a")
	streams["Data"] = inline(0x64, pump)
	for _, wanted := range []bool{true, false} {
		got, err := doc.Read(samplefile.Compound(streams), outline.Options{Pictures: wanted})
		if err != nil {
			t.Fatal(err)
		}
		s := got.Sections[0]
		if len(s.Tables) != 1 || str(s.Tables[0].Rows) != "[[part seen] [pump A pump]]" || s.Text != "" || (len(s.Pictures) == 1) != wanted {
			t.Errorf("wanted %v: %+v", wanted, s)
		}
	}
}
