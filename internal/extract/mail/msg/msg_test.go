package msg_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/png"
	"maps"
	"strings"
	"testing"
	"unicode/utf16"

	"quarry/internal/extract"
	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/mail"
	"quarry/internal/extract/mail/msg"
	"quarry/internal/extract/outline"
	"quarry/internal/extract/samplefile"
)

// read reads a mail with the readers of every format.
func read(data []byte) (*outline.Document, error) {
	if len(data) == 0 { // which is refused before a reader is chosen
		return msg.Read(data, mail.Files{})
	}
	return extract.Read(extract.Input{Name: "a.msg", Data: data})
}

// storage is what a message, a recipient or an attachment has: streams and storages by their names.
type storage map[string]string

// header is the size of what stands before properties.
type header int

const (
	message  header = 32
	attached header = 24
	other    header = 8
)

// with returns properties: texts, bytes and numbers by their ids.
func with(h header, values map[int]any) storage {
	s, fixed := storage{}, make([]byte, h)
	for id, v := range values {
		entry := make([]byte, 16)
		binary.LittleEndian.PutUint16(entry[2:], uint16(id))
		switch v := v.(type) {
		case int:
			binary.LittleEndian.PutUint16(entry, 3)
			binary.LittleEndian.PutUint64(entry[8:], uint64(v))
			fixed = append(fixed, entry...)
		case string:
			s[fmt.Sprintf("__substg1.0_%04X001F", id)] = wide(v)
		case latin:
			s[fmt.Sprintf("__substg1.0_%04X001E", id)] = string(v)
		case []byte:
			s[fmt.Sprintf("__substg1.0_%04X0102", id)] = string(v)
		}
	}
	s["__properties_version1.0"] = string(fixed)
	return s
}

// latin is a text in 8-bit characters.
type latin string

func wide(text string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return string(b)
}

// put puts storages into one, under numbered names.
func (s storage) put(prefix string, all ...storage) storage {
	for i, in := range all {
		for name, content := range in {
			s[fmt.Sprintf("%s%08X/%s", prefix, i, name)] = content
		}
	}
	return s
}

func (s storage) recipients(all ...storage) storage  { return s.put("__recip_version1.0_#", all...) }
func (s storage) attachments(all ...storage) storage { return s.put("__attach_version1.0_#", all...) }

func file(name, kind, data string) storage {
	return with(other, map[int]any{0x3707: name, 0x370E: kind, 0x3705: 1, 0x3701: []byte(data)})
}

// inside returns an attachment that is a message.
func inside(s storage) storage {
	out := with(other, map[int]any{0x3705: 5})
	for name, content := range s {
		out["__substg1.0_3701000D/"+name] = content
	}
	return out
}

// packed returns RTF as Outlook stores it, every byte as it is.
func packed(rtf string) []byte {
	var body []byte
	for from := 0; from < len(rtf); from += 8 {
		body = append(append(body, 0), rtf[from:min(from+8, len(rtf))]...)
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(body)+12))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(rtf)))
	return append(append(out, "LZFu\x00\x00\x00\x00"...), body...)
}

// sent is 2024-03-05, 09:11:12 UTC, in steps of 100 ns from 1601.
const sent = (1709629872 + 11_644_473_600) * 10_000_000

const page = `<html><body><h1>Offer</h1><p>Pump <b>42</b>, gr&ouml;&szlig;er</p><div style="display:none">preview</div></body></html>`

// encapsulated is page as Outlook writes it as RTF.
const encapsulated = `{\rtf1\ansi\ansicpg1252\fromhtml1 \deff0{\fonttbl{\f0 Arial;}{\f1\fcharset204 Cyr;}}{\*\htmltag19 <html>}{\*\htmltag50 <body>}{\*\htmltag64 <h1>}\htmlrtf {\b \plain\f0 \htmlrtf0 Offer` +
	`{\*\htmltag72 </h1>}\htmlrtf }\par\htmlrtf0 {\*\htmltag64 <p>}Gr\'f6\u223 se {\f1\'e4\'e0}{\*\mhtmltag84 <a href="x">}\htmlrtf {\field{\*\fldinst{HYPERLINK "http://192.0.2.1"}}{\fldrslt\htmlrtf0 a link\htmlrtf }}\htmlrtf0 ` +
	`{\*\htmltag84 &nbsp;}\htmlrtf \'a0\htmlrtf0 {\*\htmltag84 &lt;}\htmlrtf <\htmlrtf0 \{x\}\line{\*\htmltag72 </p>}{\*\htmltag58 </body>}}`

// mails has everything that the reader knows.
var mails = map[string]storage{
	"plain": with(message, map[int]any{0x0037: "Pump and valve", 0x1000: "Plain.\r\n", 0x1013: []byte(page), 0x0039: sent, 0x0042: "Ann", 0x5D02: "ann@example.com", 0x0C1A: "her secretary"}).recipients(
		with(other, map[int]any{0x0C15: 2, 0x3001: "Cleo", 0x39FE: "cleo@example.com", 0x3003: "/o=Org/cn=cleo"}), with(other, map[int]any{0x0C15: 1, 0x3001: "'bob@example.com'", 0x3003: "bob@example.com"}),
		with(other, map[int]any{0x0C15: 1, 0x3001: "Dan", 0x3003: "/o=Org/cn=dan"}), with(other, map[int]any{0x0C15: 3, 0x3001: "secret", 0x39FE: "s@example.com"})),
	"8-bit":        with(message, map[int]any{0x0037: latin("\xcf\xf0\xe8\xe2\xe5\xf2"), 0x3FFD: 1251, 0x1000: latin("\xc4\xe0"), 0x0C1A: latin("Ann"), 0x0C1F: latin("/o=x"), 0x0E04: latin("Bob; Dan"), 0x0E03: latin("Cleo"), 0x0E06: sent}),
	"html":         with(message, map[int]any{0x0037: "x", 0x1013: []byte(page)}),
	"html, named":  with(message, map[int]any{0x0037: "x", 0x1013: []byte("<p>\xc4\xe0"), 0x3FDE: 1251}),
	"html, meta":   with(message, map[int]any{0x0037: "x", 0x1013: []byte("<meta charset=koi8-r><p>\xe4\xc1")}),
	"html, text":   with(message, map[int]any{0x0037: "x", 0x1013: page}),
	"rich":         with(message, map[int]any{0x0037: "x", 0x1000: " ", 0x1009: packed(`{\rtf1\ansi Rich {\b text}\par}`)}),
	"encapsulated": with(message, map[int]any{0x0037: "x", 0x1009: packed(encapsulated)}),
	"blank":        with(message, map[int]any{0x0037: "Only a subject"}),
	"attachments": with(message, map[int]any{0x0037: "See below", 0x1000: "Body."}).attachments(
		file("größe.md", "", "lead\n# Sizes\nM6\n"), file("price.csv", "application/vnd.ms-excel", "item,price\npump,2\n"), file("a.zip", "application/zip", "PK\x03\x04"), file("broken.pdf", "application/pdf", "%PDF-1.7"),
		with(other, map[int]any{0x3707: "image001.png", 0x7FFE: 1, 0x3705: 1, 0x3701: []byte("x")}), with(other, map[int]any{0x3704: "logo", 0x370E: "image/png", 0x3714: 4, 0x3701: []byte("x")}),
		with(other, map[int]any{0x3001: "far.docx", 0x3705: 7}), with(other, map[int]any{0x3707: "chart", 0x3705: 6}), with(other, map[int]any{0x3707: "empty.txt", 0x3705: 1}),
		inside(with(attached, map[int]any{0x0037: "A mail in it", 0x1000: "Inner."}).attachments(file("deep.txt", "text/plain", "deep"))), storage{"x": ""}, with(other, map[int]any{0x3707: "gone", 0x3705: 5}),
		file("smime.p7m", "multipart/signed; protocol=x; boundary=b", "Content-Type: multipart/signed; boundary=b\r\n\r\n--b\r\n\r\nsigned words\r\n--b\r\nContent-Type: application/pkcs7-signature\r\n\r\nx\r\n--b--\r\n")),
	"nested": nested(5),
}

// nested returns a mail in a mail, and so on, n deep.
func nested(n int) storage {
	h := message
	if n < 5 {
		h = attached
	}
	s := with(h, map[int]any{0x0037: fmt.Sprintf("level %d", n), 0x1000: fmt.Sprintf("text of level %d", n)})
	if n > 0 {
		s.attachments(inside(nested(n - 1)))
	}
	return s
}

// TestRead proves what becomes of mails of each kind: see testdata.
func TestRead(t *testing.T) {
	t.Parallel()
	for name, m := range mails {
		data := samplefile.Compound(m)
		doc, err := read(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		extracttest.Golden(t, "testdata/"+strings.ReplaceAll(name, ", ", "-")+".golden", doc)
		extracttest.Damage(t, read, data)
		if !msg.Is(data) {
			t.Errorf("%s is not taken for a mail", name)
		}
	}
	if msg.Is(samplefile.Compound(map[string]string{"WordDocument": "x"})) || msg.Is(nil) {
		t.Error("something else is taken for a mail")
	}
}

// TestReadRefusals proves that what is no mail, damaged or encrypted is refused with the reason.
func TestReadRefusals(t *testing.T) {
	t.Parallel()
	change := func(name string, to storage) storage {
		all := maps.Clone(mails[name])
		maps.Copy(all, to)
		return all
	}
	smime := func(kind string) storage {
		return with(message, map[int]any{0x001A: "IPM.Note.SMIME", 0x0037: "x"}).attachments(file("smime.p7m", kind, "x"))
	}
	for name, tt := range map[string]struct {
		in   storage
		err  error
		want string
	}{
		"nothing":              {storage{}, outline.ErrUnparsable, "properties"},
		"no properties":        {change("plain", storage{"__properties_version1.0": "x"}), outline.ErrUnparsable, "properties"},
		"a recipient of none":  {change("plain", storage{"__recip_version1.0_#00000000/__properties_version1.0": ""}), outline.ErrUnparsable, "properties"},
		"text cut off":         {change("rich", storage{"__substg1.0_10090102": string(packed(`{\rtf1 x}`)[:20])}), outline.ErrUnparsable, "ends in the middle"},
		"text without header":  {change("rich", storage{"__substg1.0_10090102": "x"}), outline.ErrUnparsable, "no header"},
		"text of another kind": {change("rich", storage{"__substg1.0_10090102": strings.Repeat("x", 20)}), outline.ErrUnparsable, "no known way"},
		"encrypted":            {smime("application/pkcs7-mime; smime-type=enveloped-data"), outline.ErrProtected, "password"},
	} {
		if _, err := msg.Read(samplefile.Compound(tt.in), mail.Files{}); !errors.Is(err, tt.err) || !strings.Contains(fmt.Sprint(err), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	if _, err := read(samplefile.Compound(smime("application/pkcs7-mime; smime-type=signed-data"))); err != nil {
		t.Errorf("signed: %v", err)
	}
}

// pictured returns a message of these properties with three pictures: one that the page shows as a@b, one that is hidden, and one that is attached.
func pictured(t testing.TB, values map[int]any) storage {
	t.Helper()
	bitmap := func(side int) []byte {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, side, 64))); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	return with(message, values).attachments(
		with(other, map[int]any{0x3707: "image001.png", 0x370E: "image/png", 0x3712: "<a@b>", 0x3714: 4, 0x3705: 1, 0x3701: bitmap(64)}),
		with(other, map[int]any{0x3707: "image002.png", 0x7FFE: 1, 0x3705: 1, 0x3701: bitmap(65)}),
		with(other, map[int]any{0x3707: "valve.png", 0x3705: 1, 0x3701: bitmap(66)}))
}

// TestPictures proves where the pictures of a message stand where they are wanted, whichever form its text is read in: see testdata. Without it there are none.
func TestPictures(t *testing.T) {
	t.Parallel()
	const shows = `<p>See <img src="cid:a@b" alt="a pump"> now.</p>`
	rich := packed(`{\rtf1\ansi\fromhtml1 {\*\htmltag64 <p>}See {\*\htmltag84 <img src="cid:a@b" alt="a pump">} now.{\*\htmltag72 </p>}}`)
	for name, values := range map[string]map[int]any{
		"page": {0x1013: shows}, "rich": {0x1009: rich}, "plain": {0x1000: "See below."}, "plain-page": {0x1000: "See below.", 0x1013: shows},
		"plain-rich": {0x1000: "See below.", 0x1009: rich}, "plain-damaged": {0x1000: "See below.", 0x1009: packed("x")},
	} {
		data := samplefile.Compound(pictured(t, values))
		extracttest.Pictures(t, "testdata/pictures-"+name+".golden", func(wanted bool) (*outline.Document, error) {
			return extract.Read(extract.Input{Name: "a.msg", Data: data, Options: extract.Options{Pictures: wanted}})
		})
	}
}

// TestCompressed proves that text which refers to what stands before it, at its own end too, is read: the examples of MS-OXRTFCP.
func TestCompressed(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0": "hello world",
		"1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0":                                       "WXYZWXYZWXYZWXYZWXYZ",
		"1800000009000000" + "4d454c41" + "00000000" + hex.EncodeToString([]byte(`{\rtf1 x}`)):               "x",
	} {
		data, err := hex.DecodeString(in)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := msg.Read(samplefile.Compound(with(message, map[int]any{0x1009: data})), mail.Files{})
		if err != nil || len(doc.Sections) != 1 || doc.Sections[0].Text != want {
			t.Errorf("%+v, %v, want %q", doc, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	// Proves that no file makes the reader panic or end otherwise than in a tree or a refusal.
	for _, m := range mails {
		f.Add(samplefile.Compound(m))
	}
	f.Add(samplefile.Compound(pictured(f, map[int]any{0x1013: `<img src="cid:a@b">`})))
	f.Fuzz(func(t *testing.T, data []byte) {
		msg.Is(data)
		doc, err := extract.Read(extract.Input{Name: "a.msg", Data: data, Options: extract.Options{Pictures: true}})
		if err != nil {
			if !errors.Is(err, outline.ErrUnparsable) && !errors.Is(err, outline.ErrProtected) && !errors.Is(err, extract.ErrEmpty) {
				t.Fatal(err)
			}
			return
		}
		extracttest.Dump(t, doc)
	})
}

func FuzzBody(f *testing.F) {
	// Proves the same of every text in RTF, compressed or not.
	f.Add(packed(encapsulated), []byte(page))
	f.Add([]byte("\x1a\x00\x00\x00\x1c\x00\x00\x00LZFu\xe2\xd4KQA\x00\x04 WXYZ\rn}\x01\x0e\xb0"), []byte{})
	f.Fuzz(func(t *testing.T, rich, page []byte) {
		values := map[int]any{0x1009: rich}
		if len(page) > 0 {
			values[0x1013] = page
		}
		doc, err := msg.Read(samplefile.Compound(with(message, values)), mail.Files{})
		if err != nil {
			if !errors.Is(err, outline.ErrUnparsable) {
				t.Fatal(err)
			}
			return
		}
		extracttest.Dump(t, doc)
	})
}
