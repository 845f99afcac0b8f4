package binary

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"hash/adler32"
	"hash/crc32"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/internal/testkit"
)

// mostMemory is what the server may hold at most, in kB, while it refuses the files of TestFiles one after another.
const mostMemory = 700 << 10

// TestFiles proves that Word, Excel and PDF files made to exhaust whoever reads them are refused with the reason, within the
// memory of a server at work, that nothing of them is stored, and that the server answers queries as before after each.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := testkit.StartWith(t, dir, []string{"QUARRY_PARSE_SECONDS=5"}, on(dir)...) // one of the files takes all that it may
	c := p.Client()
	createCorpus(t, c, "h")
	for i := range 3 {
		c.Must(t, http.StatusCreated, "POST", "/v2/corpora/h/documents", core(fmt.Sprintf("d%d", i), i, "The mill grinds."))
	}
	for _, f := range slices.Concat(wordFiles(t), workbooks(t), pdfs(t)) {
		t.Run(f.name, func(t *testing.T) {
			body, kind := attach(t, f)
			began := time.Now()
			status, answer := raw(t, p, "POST", "/v2/corpora/h/upload_file", body, map[string]string{"Content-Type": kind})
			t.Logf("%d after %v, %d bytes: %.200s", status, time.Since(began).Round(time.Millisecond), len(f.data), answer)
			clear(t, status, answer, http.StatusBadRequest, "body.file")
			unharmed(t, p)
		})
	}
	if all := listed(t, c, "h"); len(all) != 3 {
		t.Errorf("documents %v, want the three from before", all)
	}
	if peak := peakMemory(t, p); peak > mostMemory {
		t.Errorf("the server took %d MB, want at most %d", peak>>10, mostMemory>>10)
	}
	mustStop(t, p)
	for _, bad := range []string{"panic", "level=ERROR", "status=500"} {
		if log := p.Log(); strings.Contains(log, bad) {
			t.Errorf("the log says %s:\n%s", bad, log)
		}
	}
}

// peakMemory is the most that a server has held, in kB; 0 where the system does not report it.
func peakMemory(t *testing.T, p *testkit.Process) (peak int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(status), "\n") {
		_, _ = fmt.Sscanf(line, "VmHWM: %d kB", &peak) // other lines don't match
	}
	t.Logf("at most %d MB", peak>>10)
	return peak
}

// file is an upload.
type file struct {
	name, filename string
	data           []byte
}

func attach(t *testing.T, f file) (body []byte, kind string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("file", f.filename)
	if err == nil {
		_, err = part.Write(f.data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), w.FormDataContentType()
}

// Parts of a Word file.
const (
	docxTypes = `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`
	docxRels  = `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`
	docxHead  = `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`
	docxTail  = `</w:body></w:document>`
)

// entry is a member of a zip archive; its text is before, then size bytes of fill, then after.
type entry struct {
	name, before, fill, after string
	size                      int
}

func zipped(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		if e.size > 0 {
			e.addRaw(t, w, 0)
			continue
		}
		out, err := w.Create(e.name)
		if err == nil {
			_, err = io.WriteString(out, e.before+e.after)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// addRaw adds the entry to an archive whose directory states the given size for it, 0 for the true one.
func (e entry) addRaw(t *testing.T, w *zip.Writer, stated uint64) {
	t.Helper()
	sum := crc32.NewIEEE()
	packed, size := e.deflate(t, sum)
	if stated == 0 {
		stated = uint64(size)
	}
	out, err := w.CreateRaw(&zip.FileHeader{
		Name: e.name, Method: zip.Deflate, CRC32: sum.Sum32(), CompressedSize64: uint64(len(packed)), UncompressedSize64: stated,
	})
	if err == nil {
		_, err = out.Write(packed)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// deflate compresses the text of the entry and writes it to sum. A block of fill is compressed once and its result
// repeated: after a flush, a deflate stream goes on with blocks that refer to nothing before them.
func (e entry) deflate(t *testing.T, sum io.Writer) (packed []byte, size int) {
	t.Helper()
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	compress := func(text string, end func() error) []byte {
		var b bytes.Buffer
		w.Reset(&b)
		_, err := io.WriteString(w, text)
		if err = errors.Join(err, end()); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	add := func(text string, deflated []byte) {
		_, _ = io.WriteString(sum, text) // a hash does not fail
		packed, size = append(packed, deflated...), size+len(text)
	}
	add(e.before, compress(e.before, w.Flush))
	block := strings.Repeat(e.fill, 1<<20/len(e.fill))
	whole := compress(block, w.Flush)
	for range e.size / len(block) {
		add(block, whole)
	}
	rest := block[:e.size%len(block)]
	add(rest, compress(rest, w.Flush))
	add(e.after, compress(e.after, w.Close))
	return packed, size
}

// wordFiles are Word files.
func wordFiles(t *testing.T) []file {
	t.Helper()
	base := []entry{{name: "[Content_Types].xml", before: docxTypes}, {name: "_rels/.rels", before: docxRels}}
	with := func(more ...entry) []byte { return zipped(t, append(base[:2:2], more...)...) }
	document := func(e entry) []byte {
		e.name, e.before, e.after = "word/document.xml", docxHead+e.before, e.after+docxTail
		return with(e)
	}
	paragraph := "<w:p><w:r><w:t>The mill grinds. </w:t></w:r></w:p>"
	many := make([]entry, 70_000)
	for i := range many {
		many[i] = entry{name: fmt.Sprintf("word/part%d.xml", i)}
	}
	deep := strings.Repeat("<w:tbl><w:tr><w:tc>", 200_000) + strings.Repeat("</w:tc></w:tr></w:tbl>", 200_000)
	entity := `<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>`
	return []file{
		{"zip bomb: 1 GB of spaces in a text", "bomb.docx", document(entry{before: "<w:p><w:r><w:t>", fill: " ", size: 1 << 30, after: "</w:t></w:r></w:p>"})},
		{"zip bomb: 300 MB of paragraphs", "paragraphs.docx", document(entry{fill: paragraph, size: 300 << 20 / len(paragraph) * len(paragraph)})},
		{"zip bomb: styles of 1 GB", "styles.docx", with(
			entry{name: "word/styles.xml", before: `<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">`, fill: " ", size: 1 << 30, after: "</w:styles>"},
			entry{name: "word/document.xml", before: docxHead + paragraph + docxTail})},
		{"70,000 members", "members.docx", with(append(many, entry{name: "word/document.xml", before: docxHead + paragraph + docxTail})...)},
		{"elements nested 600,000 deep", "deep.docx", document(entry{before: deep})},
		{"entities of entities", "entities.docx", with(entry{name: "word/document.xml", before: entity + docxHead[21:] + "<w:p><w:r><w:t>&c;</w:t></w:r></w:p>" + docxTail})},
		{"a size that lies", "size.docx", lyingSize(t)},
		{"an archive within itself alone", "archive.docx", zipped(t, entry{name: "word/document.xml", before: string(zipped(t, entry{name: "a", before: "b"}))})},
		{"no document", "none.docx", with()},
		{"a document twice", "twice.docx", with(entry{name: "word/document.xml", before: docxHead + paragraph}, entry{name: "word/document.xml", before: docxHead + paragraph + docxTail})},
		{"cut in half", "half.docx", func() []byte { d := document(entry{before: paragraph}); return d[:len(d)/2] }()},
		{"an XML file that never ends", "open.docx", with(entry{name: "word/document.xml", before: docxHead + strings.Repeat("<w:p>", 100_000)})},
	}
}

// lyingSize returns an archive that states ten bytes for a document of 64 MB.
func lyingSize(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range []entry{
		{name: "[Content_Types].xml", before: docxTypes, fill: " "}, {name: "_rels/.rels", before: docxRels, fill: " "},
	} {
		e.addRaw(t, w, 0)
	}
	entry{name: "word/document.xml", before: docxHead, fill: " ", size: 64 << 20, after: docxTail}.addRaw(t, w, 10)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pdf writes numbered objects, an offset table and a trailer that leads to object 1.
func pdf(objects ...string) []byte { return pdfWith("", objects...) }

func pdfWith(trailer string, objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, at)
	return b.Bytes()
}

func stream(dictionary, data string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dictionary, len(data), data)
}

// deflated returns a zlib stream, as /FlateDecode reads it.
func deflated(t *testing.T, fill string, size int) string {
	t.Helper()
	sum := adler32.New()
	packed, _ := entry{fill: fill, size: size}.deflate(t, sum)
	return "\x78\x01" + string(sum.Sum(packed))
}

// pdfs are PDF files.
func pdfs(t *testing.T) []file {
	t.Helper()
	const (
		catalog  = "<< /Type /Catalog /Pages 2 0 R >>"
		onePage  = "<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
		font     = "/Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
		page     = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R " + font + " >>"
		contents = "BT /F 12 Tf 72 700 Td (The mill grinds.) Tj ET "
	)
	hundredThousand := []string{catalog, onePage, page, stream("", contents)}
	for len(hundredThousand) < 100_000 {
		hundredThousand = append(hundredThousand, "<< /A 1 >>")
	}
	loop := make([]string, 0, 60_000)
	loop = append(loop, catalog, "<< /Type /Pages /Kids [3 0 R] /Count 59998 >>")
	for i := 3; i < 60_000; i++ {
		loop = append(loop, fmt.Sprintf("<< /Type /Pages /Parent %d 0 R /Kids [%d 0 R] /Count 59997 >>", i-1, i+1))
	}
	loop = append(loop, "<< /Type /Page /Parent 59999 0 R >>")
	return []file{
		{"a page tree in a circle", "circle.pdf", pdf(catalog, "<< /Type /Pages /Kids [2 0 R] /Count 1 >>")},
		{"two page trees in a circle", "circles.pdf", pdf(catalog, "<< /Type /Pages /Kids [3 0 R] /Count 9 >>", "<< /Type /Pages /Kids [2 0 R 2 0 R 2 0 R] /Count 9 >>")},
		{"a page tree that doubles 40 times", "double.pdf", pdf(append([]string{catalog}, doubling(40)...)...)},
		{"a page tree 60,000 deep", "deep.pdf", pdf(loop...)},
		{"100,000 objects", "objects.pdf", pdf(hundredThousand...)},
		{"a page that is said to stand a million times", "count.pdf", pdf(catalog, "<< /Type /Pages /Kids ["+strings.Repeat("3 0 R ", 1_000_000)+"] /Count 1000000 >>", page, stream("", contents))},
		{"a stream that inflates to 1 GB", "bomb.pdf", pdf(catalog, onePage, page, stream("/Filter /FlateDecode", deflated(t, " ", 1<<30)))},
		{"a stream of 300 MB of text", "text.pdf", pdf(catalog, onePage, page, stream("/Filter /FlateDecode", deflated(t, contents, 300<<20/len(contents)*len(contents))))},
		{"contents that call themselves", "self.pdf", pdf(catalog, onePage,
			"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>",
			stream("", "/X Do "), stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >>", strings.Repeat("/X Do ", 100)))},
		{"contents that each call the next a hundred times", "forms.pdf", pdf(append([]string{catalog, onePage,
			"<< /Type /Page /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>", stream("", "/X Do ")},
			calling(5, 20)...)...)},
		{"an older table in a circle", "previous.pdf", pdfWith("/Prev 9 ", catalog, "<< /Type /Pages /Kids [2 0 R] /Count 1 >>")},
		{"arrays nested 1,000,000 deep", "arrays.pdf", pdf(catalog, "<< /Type /Pages /Kids "+strings.Repeat("[", 1_000_000)+" /Count 1 >>")},
		{"a length that leads to itself", "length.pdf", pdf(catalog, onePage, page, "<< /Length 4 0 R >>\nstream\nx\nendstream")},
		{"a size of two thousand million", "size.pdf", []byte("%PDF-1.7\nxref\n0 2000000000\ntrailer << /Size 2000000000 /Root 1 0 R >>\nstartxref\n9\n%%EOF")},
		{"nothing after the first line", "empty.pdf", []byte("%PDF-1.7\n")},
		{"noise", "noise.pdf", append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte{0, 255, '<', '<', '['}, 100_000)...)},
		{"locked", "locked.pdf", pdfWith("/Encrypt << /Filter /Standard /V 5 /R 6 /Length 256 /P -4 >> ", catalog, onePage, page, stream("", contents))},
	}
}

// doubling returns a page tree whose nodes each name the next one twice.
func doubling(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("<< /Type /Pages /Kids [%d 0 R %d 0 R] /Count 2 >>", i+3, i+3))
	}
	return append(out, "<< /Type /Page /MediaBox [0 0 9 9] >>")
}

// calling returns n forms from number on, each of which draws the next a hundred times.
func calling(number, n int) []string {
	var out []string
	for i := range n {
		out = append(out, stream(fmt.Sprintf("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X %d 0 R >> >>", number+i+1), strings.Repeat("/X Do ", 100)))
	}
	return append(out, stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9]", ""))
}
