package app_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"sync/atomic"
	"testing"

	"quarry/internal/app/apptest"
	"quarry/internal/extract/extracttest"
	"quarry/internal/extract/samplefile"
)

// door sends files to a corpus of a service.
type door struct {
	service http.Handler
	key     string
}

func openDoor(t *testing.T) *door {
	a, key := apptest.Start(t, nil)
	d := &door{a.Handler(), key}
	if w := d.send(t, "POST", "/v2/corpora", "application/json", []byte(`{"key":"bad"}`)); w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return d
}

func (d *door) send(t *testing.T, method, path, kind string, body []byte) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, bytes.NewReader(body))
	r.Header.Set("Content-Type", kind)
	r.Header.Set("x-api-key", d.key)
	w := httptest.NewRecorder()
	d.service.ServeHTTP(w, r)
	return w
}

// badFile is an upload and what becomes of it.
type badFile struct {
	name, kind string
	data       []byte
	status     int
	want       string // in the answer
}

// upload sends a file and checks the answer: a refusal names the field, the stage, the reason and what to do.
func (d *door) upload(t *testing.T, f badFile) {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	head := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf("form-data; name=%q; filename=%q", "file", f.name)}}
	if f.kind != "" {
		head.Set("Content-Type", f.kind)
	}
	part, err := form.CreatePart(head)
	if err == nil {
		_, err = part.Write(f.data)
	}
	if err != nil || form.Close() != nil {
		t.Fatal(err)
	}
	w := d.send(t, "POST", "/v2/corpora/bad/upload_file?on_conflict=replace", form.FormDataContentType(), b.Bytes())
	if w.Code != f.status || !strings.Contains(w.Body.String(), f.want) {
		t.Errorf("%s (%s): %d, want %d with %q: %.400s", f.name, f.kind, w.Code, f.status, f.want, w.Body)
		return
	}
	if f.status != http.StatusBadRequest || len(f.data) == 0 {
		return
	}
	var refusal struct {
		Fields map[string]string `json:"field_errors"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &refusal); err != nil {
		t.Fatal(err)
	}
	reason := refusal.Fields["body.file"]
	advised := strings.Contains(reason, "save it anew") || strings.Contains(reason, "upload a copy without one") || strings.Contains(reason, "OCR")
	if !strings.HasPrefix(reason, "read ") || !advised {
		t.Errorf("%s: the reason has no stage or no advice: %q", f.name, reason)
	}
}

// stored returns the ids of the documents.
func (d *door) stored(t *testing.T) map[string]bool {
	t.Helper()
	var list struct {
		Documents []struct {
			ID string `json:"id"`
		} `json:"documents"`
	}
	w := d.send(t, "GET", "/v2/corpora/bad/documents?limit=1000", "", nil)
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	ids := map[string]bool{}
	for _, each := range list.Documents {
		ids[each.ID] = true
	}
	return ids
}

// all sends files, and proves that those which are refused leave nothing.
func (d *door) all(t *testing.T, files []badFile) {
	t.Helper()
	want := map[string]bool{}
	for _, f := range files {
		d.upload(t, f)
		if f.status == http.StatusCreated {
			want[f.name] = true
		}
	}
	if got := d.stored(t); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("stored are %v, want %v", got, want)
	}
}

// opened returns a package whose parts are those of a sample, but for one.
func opened(t *testing.T, kind, part, content string) []byte {
	t.Helper()
	parts := extracttest.Unzip(t, samplefile.New(kind, "The mill grinds."))
	if parts[part] = content; content == "" {
		delete(parts, part)
	}
	return extracttest.Zip(t, parts)
}

// mainParts are the parts of zipped formats that hold their text.
var mainParts = map[string]string{
	"docx": "word/document.xml", "xlsx": "xl/sheet.xml", "pptx": "ppt/slides/slide0.xml", "odt": "content.xml", "ods": "content.xml", "epub": "one.xhtml",
}

// TestRefusedFiles proves what becomes of files that are empty, protected, of another format than they say, cut off, or made to exhaust whoever reads
// them: each is refused with the reason, or read, and what is refused leaves nothing.
func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	const bad, created, unknown = http.StatusBadRequest, http.StatusCreated, http.StatusUnsupportedMediaType
	var files []badFile
	add := func(status int, want, name, kind string, data []byte) {
		files = append(files, badFile{name, kind, data, status, want})
	}
	for _, kind := range samplefile.Kinds {
		add(bad, "must not be empty", "empty."+kind, "", nil)
		whole := samplefile.New(kind, "The mill grinds.", "It stands by the river.")
		for tenth := 1; tenth < 10 && binaryKinds[kind]; tenth++ {
			add(bad, "could not be parsed", fmt.Sprintf("cut%d.%s", tenth, kind), "", whole[:len(whole)*tenth/10])
		}
	}
	locked := samplefile.Compound(map[string]string{"EncryptedPackage": "x", "EncryptionInfo": "y"})
	for _, kind := range []string{"docx", "xlsx", "xlsm", "pptx", "doc", "xls", "ppt"} {
		add(bad, "password", "locked."+kind, "", locked)
	}
	add(bad, "password", "locked", "application/octet-stream", locked)
	word := make([]byte, 1024) // the header of a Word document (MS-DOC, 2.5.2)
	binary.LittleEndian.PutUint16(word, 0xA5EC)
	binary.LittleEndian.PutUint16(word[2:], 0xC1)
	binary.LittleEndian.PutUint16(word[10:], 0x0100)
	add(bad, "password", "old.doc", "", samplefile.Compound(map[string]string{"WordDocument": string(word), "0Table": "x"}))
	add(bad, "password", "old.xls", "", samplefile.Compound(map[string]string{"Workbook": "\x09\x08\x10\x00\x00\x06\x05\x00" + strings.Repeat("\x00", 12) + "\x2F\x00\x02\x00\x01\x00\x0A\x00\x00\x00"}))
	add(bad, "password", "old.ppt", "", samplefile.Compound(map[string]string{"PowerPoint Document": "x", "EncryptedSummary": "x", "Current User": "\x00\x00\xF6\x0F\x14\x00\x00\x00\x14\x00\x00\x00\xDF\xC4\xD1\xF3" + strings.Repeat("\x00", 12)}))
	for _, kind := range []string{"odt", "ods"} {
		add(bad, "password", "locked."+kind, "", opened(t, kind, "META-INF/manifest.xml", `<manifest><file-entry><encryption-data/></file-entry></manifest>`))
	}
	add(bad, "password", "locked.epub", "", opened(t, "epub", "META-INF/encryption.xml", `<encryption><EncryptedData/></encryption>`))
	pdf := string(samplefile.New("pdf", "The mill grinds."))
	add(bad, "password", "locked.pdf", "", []byte(strings.Replace(pdf, "/Root 1 0 R", "/Root 1 0 R /Encrypt << /Filter /Standard /V 5 /R 6 /Length 256 /P -4 >>", 1)))

	add(bad, "could not be parsed", "pdf.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", []byte(pdf))
	add(bad, "could not be parsed", "docx.pdf", "application/pdf", samplefile.New("docx", "x"))
	add(bad, "could not be parsed", "docx.odt", "application/vnd.oasis.opendocument.text", samplefile.New("docx", "x"))
	add(bad, "could not be parsed", "pdf.txt", "text/plain", []byte(pdf))
	add(bad, "could not be parsed", "words.xls", "", []byte("just words"))
	add(created, "application/pdf", "really-pdf.docx", "application/octet-stream", []byte(pdf))
	add(created, "wordprocessingml", "really-docx.txt", "", samplefile.New("docx", "The mill grinds."))
	add(unknown, "not supported", "a.mp3", "", []byte("\x00\x01"))
	add(unknown, "quarry index", "a.zip", "", extracttest.Zip(t, map[string]string{"a.md": "x"}))
	add(unknown, "quarry index", "a.jsonl", "", []byte("{}\n"))
	add(unknown, ".xlsx", "a.xlsb", "", []byte("x"))
	add(http.StatusRequestEntityTooLarge, "max_upload", "large.txt", "", bytes.Repeat([]byte("word "), 2_200_000))

	for kind, part := range mainParts {
		add(bad, "compressed more than", "bomb."+kind, "", opened(t, kind, part, "<a>"+strings.Repeat(" ", 40<<20)+"</a>"))
	}
	add(bad, "1000 deep", "deep.rtf", "", []byte(`{\rtf1 `+strings.Repeat("{", 100_000)+"x"+strings.Repeat("}", 100_000)+"}"))
	mail := "Subject: the last\r\nFrom: a@b.example\r\n\r\nend\r\n"
	for i := range 50 {
		mail = fmt.Sprintf("Subject: level %d\r\nFrom: a@b.example\r\nContent-Type: multipart/mixed; boundary=B%dB\r\n\r\n--B%dB\r\nContent-Type: message/rfc822\r\n\r\n%s\r\n--B%dB--\r\n", i, i, i, mail, i)
	}
	add(created, "level 49", "deep.eml", "", []byte(mail))
	for kind, stream := range map[string]string{"doc": "WordDocument", "xls": "Workbook", "ppt": "PowerPoint Document", "msg": "__properties_version1.0"} {
		add(bad, "circle", "loop."+kind, "", looped(stream))
	}
	const one = `<row r="1048576"><c r="XFD1048576" t="str"><v>The last cell.</v></c></row>`
	add(created, "last", "wide-last.xlsx", "", opened(t, "xlsx", "xl/sheet.xml", `<worksheet><dimension ref="A1:XFD1048576"/><sheetData>`+one+`</sheetData></worksheet>`))
	add(created, "wide", "wide.ods", "", opened(t, "ods", "content.xml", strings.NewReplacer("<table:table-row>", `<table:table-row table:number-rows-repeated="1048575"><table:table-cell table:number-columns-repeated="16384"/></table:table-row><table:table-row>`).
		Replace(extracttest.Unzip(t, samplefile.New("ods", "The last row."))["content.xml"])))
	openDoor(t).all(t, files)
}

// binaryKinds are those of which a part is no file; of the others anything is one.
var binaryKinds = map[string]bool{"docx": true, "pdf": true, "xlsx": true, "pptx": true, "odt": true, "ods": true, "epub": true, "rtf": true, "msg": true}

// looped returns a compound file in which the sectors of a stream run in a circle.
func looped(stream string) []byte {
	data := samplefile.Compound(map[string]string{stream: strings.Repeat("x", 9000)})
	table := (int(binary.LittleEndian.Uint32(data[76:])) + 1) * 512
	binary.LittleEndian.PutUint32(data[table:], 0) // the stream is put first
	return data
}

// TestNothingIsFetched proves that no reference of a file to something outside is followed: entities and document types, links, pictures, styles, frames, includes.
func TestNothingIsFetched(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	outside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	defer outside.Close()
	at := outside.URL + "/x"
	page := `<html><head><link rel="stylesheet" href="` + at + `"><script src="` + at + `"></script><base href="` + at + `"></head><body><img src="` + at + `" alt="a mill"><iframe src="` + at + `"></iframe><object data="` + at + `"></object><p>The mill grinds.</p></body></html>`
	external := `<Relationships><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" Target="` + at + `" TargetMode="External"/><Relationship Id="a" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="sheet.xml"/>` +
		`<Relationship Id="s0" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/slide" Target="slides/slide0.xml"/></Relationships>`
	entity := `<!DOCTYPE d SYSTEM "` + at + `" [<!ENTITY x SYSTEM "` + at + `"><!ENTITY % y SYSTEM "` + at + `"> %y;]>`
	content := extracttest.Unzip(t, samplefile.New("odt", "The mill grinds."))["content.xml"]
	const created = http.StatusCreated
	openDoor(t).all(t, []badFile{
		{"page.html", "", []byte(page), created, ""},
		{"page.md", "", []byte("![a mill](" + at + ")\n\n<img src=\"" + at + "\">\n\nThe mill grinds."), created, ""},
		{"page.xhtml", "", []byte(`<?xml version="1.0"?>` + entity + `<html><body><p>&x; grinds.</p></body></html>`), created, ""},
		{"a.xml", "", []byte(`<?xml version="1.0"?>` + entity + `<a><b>&x; grinds.</b></a>`), created, ""},
		{"a.adoc", "", []byte("= Mill\n\ninclude::" + at + "[]\n\nimage::" + at + "[]\n\nThe mill grinds."), created, ""},
		{"a.rtf", "", []byte(`{\rtf1{\field{\*\fldinst INCLUDEPICTURE "` + at + `"}{\fldrslt The mill grinds.}}\par}`), created, ""},
		{"a.eml", "", []byte("Subject: Mill\r\nFrom: a@b.example\r\nContent-Type: text/html\r\n\r\n" + page), created, ""},
		{"b.eml", "", []byte("Subject: Mill\r\nFrom: a@b.example\r\nContent-Type: message/external-body; access-type=URL; URL=\"" + at + "\"\r\n\r\nContent-Type: text/plain\r\n\r\n"), created, ""},
		{"a.docx", "", opened(t, "docx", "word/_rels/document.xml.rels", external), created, ""},
		{"a.xlsx", "", opened(t, "xlsx", "xl/_rels/workbook.xml.rels", external), created, ""},
		{"a.pptx", "", opened(t, "pptx", "ppt/_rels/presentation.xml.rels", external), created, ""},
		{"a.odt", "", opened(t, "odt", "content.xml", strings.Replace(content, "<text:p>", `<text:p><draw:frame xmlns:draw="d" xmlns:xlink="l"><draw:image xlink:href="`+at+`"/></draw:frame>`, 1)), created, ""},
		{"a.epub", "", opened(t, "epub", "one.xhtml", page), created, ""},
		{"entity.docx", "", opened(t, "docx", "word/document.xml", entity+"<document>&x;</document>"), http.StatusBadRequest, "entity"},
		{"entity.odt", "", opened(t, "odt", "content.xml", entity+"<a>&x;</a>"), http.StatusBadRequest, "entity"},
		{"entity.epub", "", opened(t, "epub", "book.opf", entity+"<package>&x;</package>"), http.StatusBadRequest, "entity"},
	})
	if n := calls.Load(); n != 0 {
		t.Errorf("%d calls left", n)
	}
}
