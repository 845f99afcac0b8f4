package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"
)

// writer builds PDF files. Object 1 is the catalog, 2 the page tree, 3 Helvetica, 4 Helvetica-Bold.
type writer struct {
	objects []string
	trailer string
	packed  bool // objects in an object stream, cross references in a stream
}

func newWriter() *writer {
	return &writer{objects: []string{
		"<</Type/Catalog/Pages 2 0 R>>", "",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>",
	}}
}

// add adds an object and returns its number.
func (w *writer) add(o string) int {
	w.objects = append(w.objects, o)
	return len(w.objects)
}

// stream adds a stream, which is compressed if dict has the filter, and returns its number.
func (w *writer) stream(dict, data string) int {
	if strings.Contains(dict, "/FlateDecode") {
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		_, _ = z.Write([]byte(data)) // a buffer takes everything
		_ = z.Close()
		data = b.String()
	}
	return w.add(fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dict, len(data), data))
}

// page adds a page with a content stream; more goes into the page's dictionary.
func (w *writer) page(content, more string) int {
	c := w.stream("/Filter/FlateDecode", content)
	return w.add(fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<</Font<</F 3 0 R/B 4 0 R>>>>%s>>", c, more))
}

// bytes returns the file with the given pages.
func (w *writer) bytes(pages ...int) []byte {
	var kids strings.Builder
	for _, p := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", p)
	}
	if w.objects[1] == "" {
		w.objects[1] = fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(pages), kids.String())
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n%\xE2\xE3\xCF\xD3\n")
	offsets := make([]int, len(w.objects)+1)
	if w.packed {
		return w.pack(&b)
	}
	for i, o := range w.objects {
		offsets[i+1] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets))
	for _, o := range offsets[1:] {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n", len(offsets), w.trailer, at)
	return b.Bytes()
}

// pack moves the objects that are not streams into an object stream.
func (w *writer) pack(b *bytes.Buffer) []byte {
	entries := make([]string, len(w.objects)+3)
	entry := func(kind, a, n int) string {
		return string([]byte{byte(kind), byte(a >> 16), byte(a >> 8), byte(a), byte(n >> 8), byte(n)})
	}
	entries[0] = entry(0, 0, 65535)
	holder := len(w.objects) + 1
	var head, body strings.Builder
	n := 0
	for i, o := range w.objects {
		if strings.Contains(o, "\nstream\n") {
			entries[i+1] = entry(1, b.Len(), 0)
			fmt.Fprintf(b, "%d 0 obj\n%s\nendobj\n", i+1, o)
			continue
		}
		entries[i+1] = entry(2, holder, n)
		fmt.Fprintf(&head, "%d %d ", i+1, body.Len())
		body.WriteString(o + " ")
		n++
	}
	entries[holder] = entry(1, b.Len(), 0)
	packed := &writer{}
	packed.stream(fmt.Sprintf("/Type/ObjStm/N %d/First %d/Filter/FlateDecode", n, head.Len()), head.String()+body.String())
	fmt.Fprintf(b, "%d 0 obj\n%s\nendobj\n", holder, packed.objects[0])
	at := b.Len()
	entries[holder+1] = entry(1, at, 0)
	table := &writer{}
	table.stream(fmt.Sprintf("/Type/XRef/Size %d/W[1 3 2]/Root 1 0 R/Filter/FlateDecode%s", len(entries), w.trailer), strings.Join(entries, ""))
	fmt.Fprintf(b, "%d 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF\n", holder+1, table.objects[0], at)
	return b.Bytes()
}

// lay returns content that shows lines of a font size one below another.
func lay(font string, size, x, y, leading float64, lines ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "BT /%s %g Tf %g TL %g %g Td\n", font, size, leading, x, y)
	for _, l := range lines {
		fmt.Fprintf(&b, "(%s) Tj T*\n", strings.NewReplacer("(", `\(`, ")", `\)`).Replace(l))
	}
	return b.String() + "ET\n"
}

// one returns a file of one page.
func one(t testing.TB, content string) []byte {
	t.Helper()
	w := newWriter()
	return w.bytes(w.page(content, ""))
}
