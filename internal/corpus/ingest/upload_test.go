package ingest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/corpus/draft"
	"quarry/internal/corpus/ingest"
	"quarry/internal/fault"
)

const manual = `# Pump 42

Read this first.

## Start-up

Open valve A. Wait for 3 bar.

| Step | Bar |
|------|-----|
| one  | 1   |

## Shutdown

Close valve A.
`

func upload(id, data string) ingest.Upload {
	return ingest.Upload{ID: id, Name: id, Data: []byte(data)}
}

func TestUpload(t *testing.T) {
	// Proves that the headings of a file become sections, its tables table parts, and that the client's metadata stands
	// over what the file says of itself.
	t.Parallel()
	b := newBench(corpus.Corpus{Enabled: true})
	u := upload("manual.md", manual)
	u.Metadata = json.RawMessage(`{"title":"Mine","n":1.50}`)
	d, err := b.Upload(t.Context(), "manuals", u)
	if err != nil {
		t.Fatal(err)
	}
	stored, _ := b.store.Document("manual.md")
	var got []string
	for _, p := range stored.Parts {
		got = append(got, fmt.Sprint(p.Heading, " | ", p.Text, " | ", p.IsTitle))
	}
	want := []string{
		" | Pump 42 | true",
		"Pump 42 | Read this first. | false",
		" | Start-up | true",
		"Pump 42. Start-up | Open valve A. | false",
		"Pump 42. Start-up | Wait for 3 bar. | false",
		"Pump 42. Start-up | Table with 1 row and the columns Step, Bar. | false",
		"Pump 42. Start-up | Step: one; Bar: 1 | false",
		" | Shutdown | true",
		"Pump 42. Shutdown | Close valve A. | false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(string(d.Metadata), `{"title":"Mine","n":1.50,`) || !strings.Contains(string(d.Metadata), `"Content-Type":"text/markdown"`) {
		t.Errorf("metadata %s", d.Metadata)
	}
	if len(d.Tables) != 1 {
		t.Errorf("%d tables", len(d.Tables))
	}
}

func TestUploadAgain(t *testing.T) {
	// Proves that the same upload is answered with the stored document and nothing is encoded, and that any difference
	// is a conflict with the text from which clients take the id.
	t.Parallel()
	b := newBench(corpus.Corpus{Enabled: true})
	first := upload("a.txt", "Some text.")
	first.Options = []json.RawMessage{json.RawMessage(`{"k":1}`), nil}
	stored, err := b.Upload(t.Context(), "manuals", first)
	if err != nil {
		t.Fatal(err)
	}
	encoded := len(b.encoded())
	again, err := b.Upload(t.Context(), "manuals", first)
	if err != nil || again.Usage != stored.Usage || again.ID != "a.txt" {
		t.Errorf("the same once more: %+v, %v", again, err)
	}
	other, options := first, first
	other.Data = []byte("Some other text.")
	options.Options = []json.RawMessage{json.RawMessage(`{"k":2}`), nil}
	for name, u := range map[string]ingest.Upload{"other bytes": other, "other metadata": options} {
		_, err := b.Upload(t.Context(), "manuals", u)
		f, ok := fault.As(err)
		if !ok || f.Kind != fault.KindConflict || !strings.Contains(f.Text, "document id 'a.txt'") || !strings.HasPrefix(f.Text, "CONFLICT: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(b.encoded()) != encoded {
		t.Error("a repeated upload was encoded")
	}
}

func TestUploadRefused(t *testing.T) {
	// Proves the refusals of a file by what is in it, the fields they name, and that nothing is stored.
	t.Parallel()
	c := corpus.Corpus{Enabled: true, Attributes: []corpus.Attribute{
		{Name: "year", Level: "document", Type: "integer"}, {Name: "title", Level: "document", Type: "integer"}}}
	edit := func(u ingest.Upload, change func(*ingest.Upload)) ingest.Upload { change(&u); return u }
	tests := []struct {
		name  string
		u     ingest.Upload
		kind  fault.Kind
		field string
		text  string
	}{
		{"empty", upload("a.txt", ""), fault.KindInvalid, "file", "must not be empty"},
		{"white space", upload("a.txt", " \n\n"), fault.KindInvalid, "file", "holds no text"},
		{"binary that calls itself text", upload("a.txt", "\x00\x01\x02binary"), fault.KindInvalid, "file", "could not be parsed"},
		{"PNG that calls itself text", edit(upload("a", "\x89PNG\r\n\x1a\n..."), func(u *ingest.Upload) { u.ContentType = "text/plain" }),
			fault.KindInvalid, "file", "corrupt archive or a malformed document"},
		{"a kind that is not read, by name", upload("a.xlsb", "x"), fault.KindMediaType, "", "Markdown"},
		{"PDF that is none", upload("a.pdf", "%PDF-1.7"), fault.KindInvalid, "file", "could not be parsed"},
		{"declared type", edit(upload("a.txt", "text"), func(u *ingest.Upload) { u.ContentType = "image/svg+xml" }), fault.KindMediaType, "", "image/svg+xml"},
		{"no id", upload("", "text"), fault.KindInvalid, "filename", "must not be empty"},
		{"metadata no object", edit(upload("a.txt", "text"), func(u *ingest.Upload) { u.Metadata = json.RawMessage(`[]`) }),
			fault.KindInvalid, "metadata", "object"},
		{"attribute type", edit(upload("a.txt", "text"), func(u *ingest.Upload) { u.Metadata = json.RawMessage(`{"year":"x"}`) }),
			fault.KindInvalid, "metadata.year", "integer"},
		{"chunks too small", edit(upload("a.txt", "text"), func(u *ingest.Upload) { u.Chunking.MaxChars = 10 }),
			fault.KindInvalid, "chunking_strategy.max_chars_per_chunk", "at least 100"},
		{"JSON document", edit(upload("a.json", "{}"), func(u *ingest.Upload) { u.Draft = draft.Structured{ID: "d"} }),
			fault.KindInvalid, "file.sections", "at least one"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(c)
			_, err := b.Upload(t.Context(), "manuals", tt.u)
			f, ok := fault.As(err)
			if !ok || f.Kind != tt.kind || !strings.Contains(f.Error(), tt.text) {
				t.Fatalf("got %v, want kind %d with %q", err, tt.kind, tt.text)
			}
			if tt.field != "" && (len(f.Fields) != 1 || f.Fields[tt.field] == "") {
				t.Errorf("fields %v, want %s", f.Fields, tt.field)
			}
			if b.store.Corpus.Seq != 10 {
				t.Error("something was stored")
			}
		})
	}
	b := newBench(c)
	if _, err := b.Upload(t.Context(), "manuals", upload("t.md", "# A title in words\n\nText.")); err != nil {
		t.Errorf("an extracted value that does not fit its attribute: %v", err)
	}
}

func TestUploadDisabled(t *testing.T) {
	// Proves that a disabled corpus takes no files.
	t.Parallel()
	b := newBench(corpus.Corpus{})
	if _, err := b.Upload(t.Context(), "manuals", upload("a.txt", "text")); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("Upload: %v", err)
	}
}

func TestSupported(t *testing.T) {
	// Proves what is refused by name and declared type alone, before the size of a file counts.
	t.Parallel()
	for _, tt := range []struct {
		name, contentType string
		ok                bool
	}{
		{"a.md", "", true}, {"a.txt", "application/octet-stream", true}, {"a", "text/html; charset=utf-8", true}, {"upload", "", true},
		{"a.pdf", "", true}, {"a.txt", "application/pdf", true}, {"a.ppt", "", true}, {"a.doc", "application/octet-stream", true}, {"a.png", "", true}, {"a", "image/svg+xml", false}, {"a.xlsb", "", false}, {"a.zip", "application/octet-stream", false}, {"a.docx", "", true}, {"a.docx", "application/msword", true}, {"a.docx", "text/plain", true},
		{"a.doc", "application/msword", true}, {"a.txt", "application/vnd.ms-excel.sheet.binary.macroenabled.12", false},
	} {
		err := ingest.Supported(tt.name, tt.contentType)
		if (err == nil) != tt.ok || err != nil && !fault.Is(err, fault.KindMediaType) {
			t.Errorf("%s %s: %v", tt.name, tt.contentType, err)
		}
	}
}
