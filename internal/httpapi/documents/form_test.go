package documents

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/form"
)

// part is one part of a multipart body in test tables: header lines and content.
type part struct{ header, content string }

func body(parts ...part) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "--xyz\r\n%s\r\n\r\n%s\r\n", strings.ReplaceAll(p.header, "\n", "\r\n"), p.content)
	}
	return b.String() + "--xyz--\r\n"
}

func file(attributes, content string) part {
	return part{`Content-Disposition: form-data; name="file"` + attributes, content}
}

func member(name, content string) part {
	return part{fmt.Sprintf("Content-Disposition: form-data; name=%q", name), content}
}

func post(contentType, body string) *http.Request {
	r := httptest.NewRequest("POST", "/v2/corpora/c/upload_file", strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	return r
}

const formType = "multipart/form-data; boundary=xyz"

func TestFormNames(t *testing.T) {
	// Proves where the document id comes from and how names are decoded (contract: upload_file).
	t.Parallel()
	tests := []struct {
		name  string
		parts []part
		want  string // "" = refused
	}{
		{"file name", []part{file(`; filename="a b.txt"`, "x")}, "a b.txt"},
		{"filename part first", []part{file(`; filename="upload"`, "x"), member("filename", "doc/7 ä")}, "doc/7 ä"},
		{"filename part before the file", []part{member("filename", "n"), file("", "x")}, "n"},
		{"folders stay", []part{file(`; filename="a/b.txt"`, "x")}, "a/b.txt"},
		{"raw UTF-8", []part{file(`; filename="größe.txt"`, "x")}, "größe.txt"},
		{"percent-encoded", []part{file(`; filename="gr%C3%B6%C3%9Fe%201.txt"`, "x")}, "größe 1.txt"},
		{"percent-encoded part", []part{file("", "x"), member("filename", "%E4%BD%A0%E5%A5%BD.txt")}, "你好.txt"},
		{"percent sign that encodes nothing", []part{file(`; filename="100% sure.txt"`, "x")}, "100% sure.txt"},
		{"percent-encoding of no UTF-8", []part{file(`; filename="a%FF.txt"`, "x")}, "a%FF.txt"},
		{"RFC 5987", []part{file(`; filename="fallback.txt"; filename*=UTF-8''%E2%82%AC%20rates.txt`, "x")}, "€ rates.txt"},
		{"RFC 5987 is decoded once", []part{file(`; filename*=UTF-8''a%2541.txt`, "x")}, "a%41.txt"},
		{"no name", []part{file("", "x")}, ""},
		{"empty name", []part{file(`; filename=""`, "x")}, ""},
		{"empty filename part", []part{file(`; filename="a.txt"`, "x"), member("filename", "")}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, err := readForm(post(formType, body(tt.parts...)), 100)
			if err != nil {
				t.Fatal(err)
			}
			if string(f.file) != "x" {
				t.Errorf("file %q", f.file)
			}
			got, err := f.id()
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("id %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestFormRefusals(t *testing.T) {
	// Proves the refusals of the form itself, with the status that each has and the field it names.
	t.Parallel()
	good := file(`; filename="a.txt"`, "text")
	many := make([]part, maxMembers+1)
	for i := range many {
		many[i] = member(fmt.Sprint("m", i), "x")
	}
	rest := make([]part, form.MaxRest/form.MaxMember+1)
	for i := range rest {
		rest[i] = member(fmt.Sprint("m", i), strings.Repeat("x", form.MaxMember))
	}
	tests := []struct {
		name, contentType, body string
		kind                    fault.Kind
		field                   string
	}{
		{"JSON body", "application/json", "{}", fault.KindMediaType, ""},
		{"no content type", "", body(good), fault.KindMediaType, ""},
		{"no boundary", "multipart/form-data", body(good), fault.KindInvalid, "body"},
		{"no form", formType, "hello", fault.KindInvalid, "body"},
		{"cut off", formType, body(good)[:60], fault.KindInvalid, "body"},
		{"empty", formType, "", fault.KindInvalid, "body"},
		{"two files", formType, body(good, good), fault.KindInvalid, "body.file"},
		{"metadata twice", formType, body(member("metadata", "{}"), good, member("metadata", "{}")), fault.KindInvalid, "body.metadata"},
		{"part without disposition", formType, body(part{"Content-Type: text/plain", "x"}, good), fault.KindInvalid, "body"},
		{"65 parts", formType, body(many...), fault.KindInvalid, "body"},
		{"huge metadata", formType, body(member("metadata", strings.Repeat(" ", form.MaxMember+1)), good), fault.KindTooLarge, ""},
		{"members that are huge together", formType, body(append(rest, good)...), fault.KindTooLarge, ""},
		{"long header of a part", formType, body(part{good.header + "\nX-Y: " + strings.Repeat("x", 2*form.MaxHeader), "text"}), fault.KindInvalid, "body"},
		{"many headers of a part", formType, body(good, part{member("metadata", "").header + strings.Repeat("\nX: y", form.MaxHeader), "{}"}), fault.KindInvalid, "body"},
		{"much before the first part", formType, strings.Repeat("preamble\r\n", form.MaxHeader) + body(good), fault.KindInvalid, "body"},
		{"header without end", formType, "--xyz\r\n" + strings.Repeat("x", 4*form.MaxHeader), fault.KindInvalid, "body"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := readForm(post(tt.contentType, tt.body), 100)
			f, ok := fault.As(err)
			if !ok || f.Kind != tt.kind {
				t.Fatalf("got %v, want kind %d", err, tt.kind)
			}
			if tt.field != "" && (len(f.Fields) != 1 || f.Fields[tt.field] == "") {
				t.Errorf("fields %v, want %s", f.Fields, tt.field)
			}
		})
	}
}

func TestFormLimit(t *testing.T) {
	// Proves that a file of exactly the limit is taken and one byte more is noticed without keeping it.
	t.Parallel()
	for size, want := range map[int]bool{100: false, 101: true, 100_000: true} {
		f, err := readForm(post(formType, body(member("metadata", "{}"), file(`; filename="a.txt"`, strings.Repeat("x", size)))), 100)
		if err != nil || f.tooLarge != want || f.tooLarge == (len(f.file) > 0) {
			t.Errorf("%d bytes: too large %v, %d bytes kept, %v", size, f.tooLarge, len(f.file), err)
		}
	}
}

// TestFormTakes proves that what stays below the bounds of a form is taken: as many parts, headers as long as clients
// send, a preamble.
func TestFormTakes(t *testing.T) {
	t.Parallel()
	parts := []part{file(`; filename="a.txt"`, strings.Repeat("x", 90)), {member("long", "").header + "\nX-Y: " + strings.Repeat("x", form.MaxHeader-200), "x"}}
	for len(parts) < maxMembers {
		parts = append(parts, member(fmt.Sprint("m", len(parts)), strings.Repeat("x", 100_000)))
	}
	f, err := readForm(post(formType, "preamble\r\n"+body(parts...)), 100)
	if err != nil || len(f.file) != 90 || len(f.members) != maxMembers-1 {
		t.Errorf("%v; %d members, %d bytes of the file", err, len(f.members), len(f.file))
	}
}

func FuzzForm(f *testing.F) {
	// Proves that no body makes the multipart door panic, keep more than its limit or give an id that is empty.
	f.Add([]byte(body(file(`; filename="a.txt"`, "text"), member("metadata", `{"a":1}`))))
	f.Add([]byte(body(file(`; filename*=UTF-8''%E2`, "text"), member("filename", "%zz"))))
	f.Add([]byte(body(member("chunking_strategy", `{"type":"max_chars_chunking_strategy"}`), file("", "{}"))))
	f.Add([]byte("--xyz\r\n\r\n--xyz--"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := httptest.NewRequest("POST", "/", bytes.NewReader(raw))
		r.Header.Set("Content-Type", formType)
		read, err := readForm(r, 64)
		if err != nil {
			if _, ok := fault.As(err); !ok {
				t.Fatalf("a bad form is not an expected outcome: %v", err)
			}
			return
		}
		if len(read.file) > 64 {
			t.Fatalf("%d bytes kept", len(read.file))
		}
		if u, err := read.upload(&httpapi.Call{}); err == nil && (u.ID == "" || len(u.Data) == 0) {
			t.Fatalf("accepted with id %q and %d bytes", u.ID, len(u.Data))
		}
	})
}
