package archive_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
	"testing"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/outline"
)

// pack returns an archive with entries of the given sizes.
func pack(t *testing.T, sizes map[string]int) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, size := range sizes {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(bytes.Repeat([]byte("<a>0123456789</a>\n"), size/18+1)[:size])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestArchiveLimits(t *testing.T) {
	// Proves each limit from both sides: entries, bytes declared, bytes of one part and of all, the ratio, and sizes that lie.
	t.Parallel()
	many := map[string]int{}
	for i := range 10_000 {
		many[fmt.Sprint(i)] = 1
	}
	full := pack(t, many)
	if _, err := archive.Open(full); err != nil {
		t.Errorf("10,000 entries: %v", err)
	}
	many["one more"] = 1
	if _, err := archive.Open(pack(t, many)); !errors.Is(err, outline.ErrUnparsable) {
		t.Errorf("10,001 entries: %v", err)
	}
	a, err := archive.Open(pack(t, map[string]int{"small": 1 << 20, "large": 1<<20 + 1}))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := a.Read("/Small"); err != nil || len(got) != 1<<20 {
		t.Errorf("a part of 1 MB: %d bytes, %v", len(got), err)
	}
	if _, err := a.Read("large"); !errors.Is(err, outline.ErrUnparsable) || !strings.Contains(err.Error(), "compressed") {
		t.Errorf("a part above 1 MB that packs well: %v", err)
	}
	if got, err := a.Read("absent"); got != nil || err != nil || a.Has("absent") {
		t.Errorf("an absent part: %v, %v", got, err)
	}
	for name, lie := range map[string]uint32{"declared too small": 10, "declared too large": 1 << 20, "declared beyond all bounds": 1<<32 - 2} {
		data := pack(t, map[string]int{"x": 4000})
		at := bytes.LastIndex(data, []byte("PK\x01\x02")) // the directory's entry; offset 24 is the size
		binary.LittleEndian.PutUint32(data[at+24:], lie)
		a, err := archive.Open(data)
		if err == nil {
			_, err = a.Read("x")
		}
		if !errors.Is(err, outline.ErrUnparsable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestXML(t *testing.T) {
	// Proves order, skipping, encodings and the depth limit of the element reader.
	t.Parallel()
	x := archive.NewXML([]byte(`<?xml version="1.0" encoding="ISO-8859-1"?><a><b n="1">x<c>y</c></b><b n="2">` + "\xE4" + `</b></a>`))
	var got []string
	x.Each(func(e xml.StartElement) {
		if e.Name.Local == "b" {
			got = append(got, archive.Attr(e, "n")+x.Text())
		}
	})
	if err := x.Err(); err != nil || strings.Join(got, " ") != "1xy 2ä" {
		t.Errorf("got %q, %v", got, err)
	}
	for depth, ok := range map[int]bool{400: true, 401: false} {
		x := archive.NewXML([]byte(strings.Repeat("<a>", depth) + strings.Repeat("</a>", depth)))
		x.Skip()
		if err := x.Err(); (err == nil) != ok || err != nil && !errors.Is(err, outline.ErrUnparsable) {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
	utf16 := []byte("\xFF\xFE")
	for _, r := range `<?xml version="1.0" encoding="utf-16"?><a>ä</a>` {
		utf16 = append(utf16, byte(r), byte(r>>8))
	}
	x = archive.NewXML(utf16)
	if text, err := x.Text(), x.Err(); err != nil || strings.TrimSpace(text) != "ä" {
		t.Errorf("UTF-16: %q, %v", text, err)
	}
}

// TestOpenCut proves that an archive that is cut off is not taken for the one that is stored inside it.
func TestOpenCut(t *testing.T) {
	t.Parallel()
	inner := extracttest.Zip(t, map[string]string{"workbook": "words"})
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, part := range []struct {
		name   string
		method uint16
		data   []byte
	}{{"a", zip.Deflate, []byte("text")}, {"chart.xlsx", zip.Store, inner}, {"z", zip.Deflate, []byte("more")}} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: part.name, Method: part.method})
		if err == nil {
			_, err = w.Write(part.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Open(b.Bytes()); err != nil {
		t.Errorf("whole: %v", err)
	}
	cut := b.Bytes()[:bytes.Index(b.Bytes(), inner)+len(inner)]
	if _, err := archive.Open(cut); !errors.Is(err, outline.ErrUnparsable) || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("cut behind an archive inside: %v", err)
	}
}

// FuzzOpen proves that no archive makes reading its parts panic, or end otherwise than in their content or a refusal.
func FuzzOpen(f *testing.F) {
	f.Add(extracttest.Zip(f, map[string]string{"a.xml": `<?xml version="1.0"?><a><b c="d">e</b></a>`, "b/c.xml": "<a>"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := archive.Open(data)
		if err == nil {
			_, err = a.Read("b/c.xml")
		}
		if err == nil {
			err = a.Each("a.xml", func(x *archive.XML, e xml.StartElement) { _ = archive.Attr(e, "c") + x.Text() })
		}
		if err != nil && !errors.Is(err, outline.ErrUnparsable) {
			t.Fatal(err)
		}
	})
}
