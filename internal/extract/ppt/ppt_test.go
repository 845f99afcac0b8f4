package ppt_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/outline"
	"quarry/internal/extract/ppt"
	"quarry/internal/extract/samplefile"
)

var le, rec, wide = samplefile.LE, extracttest.DrawingRecord, samplefile.Wide

// header returns the beginning of a text of a kind, chars and latin its characters.
func header(kind uint32) string { return rec(0, 0x0F9F, kind) }
func chars(s string) string     { return rec(0, 0x0FA0, wide(s)) }
func latin(s string) string     { return rec(0, 0x0FA8, s) }

// style returns formats: stretches of paragraphs, then of characters, each with its length first.
func style(stretches ...string) string { return rec(0, 0x0FA1, strings.Join(stretches, "")) }

// stretch returns the format of paragraphs: bullet is 1 for with one, 0 for without and -1 where nothing is said.
func stretch(length uint32, level uint16, bullet int) string {
	if bullet < 0 {
		return le(length, level, uint32(0x1000|0x100000), uint16(100), uint16(1), uint32(7))
	}
	return le(length, level, uint32(0x1|0x80|0x20|0x10000), uint16(bullet), uint16('*'), uint32(9), uint16(1))
}

// further returns the format of characters that names a further format.
func further(length uint32, number uint16) string {
	return le(length, uint32(0x3C00|1<<17|1<<18), number<<10, uint16(18), uint32(1))
}

// numbers is two further formats: the first is none, the second numbers from 3 on.
var numbers = rec(0, 0x0FAC, uint32(0), uint32(0), uint32(0), uint32(1<<23|1<<24|1<<25), uint16(1), uint16(1), uint16(3), uint16(3), uint32(1<<20), uint32(0), uint32(1|2), uint16(0), uint16(0))

// sp returns a shape of a type with what belongs to it.
func sp(kind uint16, content ...string) string {
	return rec(0xF, 0xF004, rec(kind<<4|2, 0xF00A, uint32(1), uint32(0xA00)), strings.Join(content, ""))
}

func box(content ...string) string { return rec(0xF, 0xF00D, strings.Join(content, "")) }

func placeholder(kind byte) string {
	return rec(0xF, 0xF011, rec(0, 0x0BC3, uint32(0), kind, byte(0), uint16(0)))
}

func tags(name, content string) string {
	return rec(0xF, 0x1388, rec(0xF, 0x138A, rec(0, 0x0FBA, wide(name)), rec(0, 0x138B, content)))
}

// drawing returns shapes on a slide; group those of a group.
func drawing(shapes ...string) string {
	return rec(0xF, 0x040C, rec(0xF, 0xF002, rec(0, 0xF008, uint64(0)), group(sp(0), shapes...), sp(1, box(header(4), chars("background")))))
}

func group(itself string, shapes ...string) string {
	return rec(0xF, 0xF003, itself, strings.Join(shapes, ""))
}

func slide(notes uint32, flags uint16, content ...string) string {
	return rec(0xF, 0x03EE, rec(0, 0x03EF, make([]byte, 16), notes, uint32(0)), rec(0, 0x03F9, make([]byte, 10), flags, uint32(0)), strings.Join(content, ""))
}

// persist returns an entry of the list of slides.
func persist(object, id uint32) string {
	return rec(0, 0x03F3, object, uint32(0), int32(0), id, uint32(0))
}

// file returns the streams of a presentation of objects, of which the first is the document, saved in two steps: before is what an
// older saving had in the place of the second object.
func file(before string, objects ...string) map[string]string {
	stream, places := "", []uint32{}
	put := func(s string) uint32 {
		at := uint32(len(stream))
		stream += s
		return at
	}
	old := put(before)
	directory := put(rec(0, 0x1772, uint32(2|1<<20), old))
	edit := put(rec(0, 0x0FF5, uint32(0), uint32(0), uint32(0), directory, uint32(1), uint32(9), uint32(0)))
	for _, o := range objects {
		places = append(places, put(o))
	}
	directory = put(rec(0, 0x1772, uint32(1|len(objects)<<20), places))
	edit = put(rec(0, 0x0FF5, uint32(0), uint32(0), edit, directory, uint32(1), uint32(9), uint32(0)))
	return map[string]string{"PowerPoint Document": stream, "Current User": rec(0, 0x0FF6, uint32(0x14), uint32(0xE391C05F), edit)}
}

// deck is a presentation with everything that the reader knows.
func deck() map[string]string {
	cell := func(left, top, right, bottom int32, text string) string {
		return sp(1, rec(0, 0xF00F, left, top, right, bottom), box(header(4), chars(text)))
	}
	table := rec(0x1<<4|3, 0xF122, uint16(0x39F), uint32(1))
	alt := wide("a red valve\x00")
	document := rec(0xF, 0x03E8, rec(0, 0x03E9, make([]byte, 40)),
		rec(0xF, 0x0FF0, persist(2, 256), header(6), chars("Pump 漢\vmanual"), header(1), latin("Open the valve\rslowly\rThen wait.\rone\rtwo"),
			style(stretch(15, 0, -1), stretch(7, 1, -1), stretch(11, 0, 0), stretch(8, 0, 1), further(33, 0), further(8, 1)),
			persist(3, 257), persist(4, 258)),
		rec(2<<4|0xF, 0x0FF0, persist(5, 900)),
		rec(0xF, 0x07D0, tags("___PPT9", rec(0xF, 0x0FAE, rec(0, 0x0FAF, uint32(256), uint32(1)), numbers))))
	first := slide(900, 0, drawing(
		sp(1, rec(0xF, 0xF00D, rec(0, 0x0F9E, uint32(1))), placeholder(0x0E)),
		sp(1, rec(0xF, 0xF00D, rec(0, 0x0F9E, uint32(0))), placeholder(0x0F)),
		sp(1, box(header(4), chars("three\rfour\rplain\r\rend *"), style(stretch(11, 0, 1), stretch(40, 0, 0), further(11, 1)), rec(0, 0x0FD8, uint32(22))), rec(0xF, 0xF011, tags("___PPT9", numbers))),
		sp(1, box(header(1), latin("One item is no list"))),
		sp(1, box(header(4), chars("Confidential")), placeholder(0x09)),
		sp(1, rec(1<<4|3, 0xF00B, uint16(0x3BF), uint32(0x20002)), box(header(4), chars("unseen"))),
		group(sp(0), sp(75, rec(2<<4|3, 0xF00B, uint16(0x8104), uint32(2), uint16(0x8381), uint32(len(alt)), "xy", alt))),
		sp(1, box(rec(0, 0x0F9E, uint32(77)))),
	), tags("___PPT10", rec(0xF, 0x2EE0, rec(0, 0x0FBA, wide("Bob")), rec(1<<4, 0x0FBA, wide("Too long?")), rec(0, 0x2EE1, uint32(1), uint16(2026), uint16(1), uint16(5), uint16(2), make([]byte, 16)))))
	last := slide(0, 0, drawing(group(sp(0, table), cell(0, 0, 100, 50, "bolt"), cell(100, 0, 300, 50, "torque"), cell(0, 50, 100, 150, "M6"), cell(100, 50, 200, 100, "10"),
		cell(200, 50, 300, 100, "Nm"), cell(100, 100, 200, 150, "12"), cell(200, 100, 300, 150, "Nm"), sp(20, rec(0, 0xF00F, int32(0), int32(7), int32(300), int32(7))))))
	notes := rec(0xF, 0x03F0, drawing(sp(1, placeholder(0x0B)), sp(1, placeholder(0x0C), box(header(2), chars("Say hello.\rLoudly."))), sp(1, box(header(4), chars("7")))))
	return file(rec(0, 0, "old"), document, first, slide(0, 4, drawing(sp(1, box(header(0), chars("Secret"))))), last, notes)
}

func read(data []byte) (*outline.Document, error) { return ppt.Read(data, outline.Options{}) }

// TestReadPictures proves that pictures are found by their number where they are wanted, and that numbers, places and kinds that are none cost
// the picture alone.
func TestReadPictures(t *testing.T) {
	t.Parallel()
	png := extracttest.PNG(64)
	stream := rec(0x6E0<<4, 0xF01E, make([]byte, 17), png)
	second := len(stream)
	stream += rec(0x6E1<<4, 0xF01E, make([]byte, 33), extracttest.PNG(65)) // with two checksums
	third := len(stream)
	stream += rec(0x216<<4, 0xF01B, make([]byte, 17), "metafile")
	stored := func(place int) string { return rec(2, 0xF007, make([]byte, 28), uint32(place), uint32(0)) }
	document := rec(0xF, 0x03E8, rec(0xF, 0x0FF0, persist(2, 256)), rec(0xF, 0x040B, rec(0xF, 0xF000, rec(0, 0xF006, uint64(0)),
		rec(0xF, 0xF001, stored(second), stored(0), stored(third), stored(len(stream)-3), stored(1<<30)))))
	var shapes []string
	for i, said := range []string{"none", "the second", "the first", "a metafile", "cut", "far away", "no number"} {
		alt := wide(said + "\x00")
		shapes = append(shapes, sp(75, rec(2<<4|3, 0xF00B, uint16(0x4104), uint32(i), uint16(0x8381), uint32(len(alt)), alt)))
	}
	streams := file(rec(0, 0, "old"), document, slide(0, 0, drawing(shapes...)))
	streams["Pictures"] = stream
	for _, wanted := range []bool{true, false} {
		doc, err := ppt.Read(samplefile.Compound(streams), outline.Options{Pictures: wanted})
		if err != nil {
			t.Fatal(err)
		}
		text, all := "none\n\na metafile\n\ncut\n\nfar away\n\nno number", []string{"the second", "the first"}
		if !wanted {
			text, all = "none\n\nthe second\n\nthe first\n\na metafile\n\ncut\n\nfar away\n\nno number", nil
		}
		var got []string
		for _, p := range doc.Sections[0].Pictures {
			got = append(got, p.Description)
			if p.Page != 1 || p.MIME != "image/png" || p.Description == "the first" && string(p.Data) != png {
				t.Errorf("%+v", p)
			}
		}
		if doc.Sections[0].Text != text || !slices.Equal(got, all) {
			t.Errorf("wanted %v: %q and pictures %q", wanted, doc.Sections[0].Text, got)
		}
	}
}

// TestRead proves what everything in a presentation becomes: see testdata/deck.golden.
func TestRead(t *testing.T) {
	t.Parallel()
	data := samplefile.Compound(deck())
	doc, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	extracttest.Golden(t, "testdata/deck.golden", doc)
	if !ppt.Is(data) || ppt.Is(samplefile.Compound(map[string]string{"Workbook": "x"})) {
		t.Error("Is judges wrongly")
	}
	extracttest.Damage(t, read, data)
	streams := deck()
	delete(streams, "Current User")
	again, err := read(samplefile.Compound(streams))
	if err != nil {
		t.Fatal(err)
	}
	extracttest.Golden(t, "testdata/deck.golden", again) // by the last saving in the file
}

// TestReadRefusals proves that what is no presentation, encrypted, old or damaged is refused with the reason.
func TestReadRefusals(t *testing.T) {
	t.Parallel()
	with := func(change func(streams map[string]string)) []byte {
		streams := deck()
		change(streams)
		return samplefile.Compound(streams)
	}
	document := rec(0xF, 0x03E8, rec(0xF, 0x0FF0, persist(2, 256)))
	circle := rec(0, 0x1772, uint32(1|1<<20), uint32(0))
	circle += rec(0, 0x0FF5, uint32(0), uint32(0), uint32(len(circle)), uint32(0), uint32(1), uint32(9), uint32(0))
	edited := rec(0, 0x1772, uint32(1))
	edited += rec(0, 0x0FF5, uint32(0), uint32(0), uint32(0), uint32(0), uint32(1), uint32(9), uint32(0), uint32(7))
	for name, tt := range map[string]struct {
		data []byte
		err  error
		want string
	}{
		"empty":         {nil, outline.ErrUnparsable, "compound file"},
		"Excel":         {samplefile.Compound(map[string]string{"Workbook": "x"}), outline.ErrUnparsable, "no presentation"},
		"PowerPoint 95": {samplefile.Compound(map[string]string{"PP40": "x"}), outline.ErrUnparsable, "before PowerPoint 97; save it as .pptx"},
		"encrypted": {with(func(s map[string]string) {
			s["Current User"] = strings.Replace(s["Current User"], "\x5F\xC0\x91\xE3", "\xDF\xC4\xD1\xF3", 1)
		}), outline.ErrProtected, "password"},
		"encrypted by a list": {samplefile.Compound(map[string]string{"PowerPoint Document": edited}), outline.ErrProtected, "password"},
		"encrypted objects":   {samplefile.Compound(file(rec(0, 0, "old"), rec(0xF, 0x2F14, "x"))), outline.ErrProtected, "password"},
		"encrypted summary":   {with(func(s map[string]string) { s["EncryptedSummary"] = "x" }), outline.ErrProtected, "password"},
		"encrypted, new":      {samplefile.Compound(map[string]string{"EncryptedPackage": "x"}), outline.ErrProtected, "password"},
		"no records":          {samplefile.Compound(map[string]string{"PowerPoint Document": "x"}), outline.ErrUnparsable, "list of its objects"},
		"a circle of savings": {samplefile.Compound(map[string]string{"PowerPoint Document": circle}), outline.ErrUnparsable, "list of its objects"},
		"a slide is missing":  {samplefile.Compound(file(rec(0, 0, "old"), document)), outline.ErrUnparsable, "missing"},
		"no slide there":      {samplefile.Compound(file(rec(0, 0, "old"), document, rec(0xF, 0x03F0))), outline.ErrUnparsable, "missing"},
	} {
		if _, err := read(tt.data); !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// TestReadDeep proves that groups inside each other without end, and tables whose cells all cover each other, are read as far as is sensible.
func TestReadDeep(t *testing.T) {
	t.Parallel()
	deep := sp(1, box(header(4), chars("too deep")))
	for range 2000 {
		deep = group(sp(0), deep)
	}
	var cells []string
	for i := range int32(400) {
		cells = append(cells, sp(1, rec(0, 0xF00F, -i, -i, 1000+i, 1000+i), box(header(4), chars(strings.Repeat("word ", 200)))))
	}
	table := group(sp(0, rec(0x1<<4|3, 0xF122, uint16(0x39F), uint32(1))), cells...)
	document := rec(0xF, 0x03E8, rec(0xF, 0x0FF0, persist(2, 256)))
	doc, err := read(samplefile.Compound(file(rec(0, 0, "old"), document, slide(0, 0, drawing(deep, table, sp(1, box(header(4), chars("after"))))))))
	if err != nil {
		t.Fatal(err)
	}
	got := extracttest.Dump(t, doc)
	if strings.Contains(got, "too deep") || !strings.Contains(got, "after") || len(doc.Sections[0].Tables) != 0 || strings.Count(got, "word word") == 0 {
		t.Errorf("got %.500s", got)
	}
}

func FuzzPresentation(f *testing.F) {
	// Proves that no streams make the reader panic or end otherwise than in a tree or a refusal.
	streams := deck()
	f.Add([]byte(streams["PowerPoint Document"]), []byte(streams["Current User"]))
	f.Add([]byte(rec(0, 0x0FF5, make([]byte, 24))), []byte{})
	f.Fuzz(func(t *testing.T, stream, user []byte) {
		doc, err := ppt.Read(samplefile.Compound(map[string]string{"PowerPoint Document": string(stream), "Current User": string(user), "Pictures": string(stream)}), outline.Options{Pictures: true})
		if err != nil {
			if !errors.Is(err, outline.ErrUnparsable) && !errors.Is(err, outline.ErrProtected) {
				t.Fatal(err)
			}
			return
		}
		extracttest.Dump(t, doc)
	})
}
