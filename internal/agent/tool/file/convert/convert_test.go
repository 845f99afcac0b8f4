package convert_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/tool/file/convert"
	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/draft"
	"quarry/internal/corpus/ingest"
	"quarry/internal/testkit"
)

// read returns the document in a file.
func read(t *testing.T, name, content string) draft.Structured {
	t.Helper()
	d, err := ingest.New(ingest.Config{}).Parse(t.Context(), &ingest.Upload{ID: name, Name: name, Data: []byte(content)})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return d
}

// TestMarkdown proves how a document is written, and that nothing in a text is taken for a heading.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, content, want string }{
		{"a.txt", "# no heading\nno heading\n---\n\n  ## neither\n===\n#hash and #!", "\\# no heading\nno heading\n\\---\n\n  \\## neither\n\\===\n#hash and #!\n"},
		{"a.md", "# T\n\nLead.\n\n## A\n\n- x\n- y\n\n| h |\n|---|\n| a\\|b |\n\n#### B\n\nz", "# T\n\nLead.\n\n## A\n\n- x\n- y\n\n| h |\n| --- |\n| a\\|b |\n\n### B\n\nz\n"},
		{"a.html", "<title>Whole</title><p>Lead.<h1>One</h1><p>x", "# Whole\n\nLead.\n\n## One\n\nx\n"},
	} {
		d := read(t, c.name, c.content)
		if diff := cmp.Diff(c.want, convert.Markdown(&d)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// body is the JSON of a structured document, read back.
type body struct {
	Type, ID, Title string
	Metadata        json.RawMessage
	Sections        []section
}

type section struct {
	Title, Text string
	Metadata    json.RawMessage
	Tables      []document.Table
	Sections    []section
}

func drafts(all []section) []draft.Section {
	var out []draft.Section
	for _, s := range all {
		out = append(out, draft.Section{Title: s.Title, Text: s.Text, Metadata: s.Metadata, Tables: s.Tables, Sections: drafts(s.Sections)})
	}
	return out
}

// parts returns the texts of the parts that a document has in a corpus, in some order.
func parts(t *testing.T, d draft.Structured) []string {
	t.Helper()
	made, err := d.Build(corpus.Corpus{Enabled: true})
	if err != nil {
		t.Fatalf("%s: %v", d.ID, err)
	}
	var out []string
	for _, p := range made.Parts {
		out = append(out, p.Text)
	}
	slices.Sort(out)
	return out
}

// unmarked returns sections without the places of code, which a structured document can't mark: there it is cut as text.
func unmarked(all []draft.Section) []draft.Section {
	out := slices.Clone(all)
	for i := range out {
		out[i].Code, out[i].Sections = nil, unmarked(out[i].Sections)
	}
	return out
}

// same proves that a structured document has the parts of the upload, but for blocks of code, and that its Markdown has its words in
// its sections.
func same(t *testing.T, d draft.Structured) {
	t.Helper()
	raw, err := convert.Structured(&d)
	if err != nil {
		t.Fatal(err)
	}
	var b body
	if err := json.Unmarshal(raw, &b); err != nil || b.Type != "structured" || b.ID != d.ID || b.Title != d.Title {
		t.Fatalf("%s: %v, %.300s", d.ID, err, raw)
	}
	again := draft.Structured{ID: b.ID, Title: b.Title, Metadata: b.Metadata, Sections: drafts(b.Sections)}
	upload := d
	upload.Sections = unmarked(d.Sections)
	if diff := cmp.Diff(parts(t, upload), parts(t, again)); diff != "" {
		t.Errorf("%s: parts (-upload +structured document):\n%.2000s", d.ID, diff)
	}
	text := convert.Markdown(&d)
	var headings []string
	var walk func([]draft.Section)
	walk = func(all []draft.Section) {
		for _, s := range all {
			if title := strings.Join(strings.Fields(s.Title), " "); title != "" {
				headings = append(headings, title)
			}
			walk(s.Sections)
		}
	}
	if walk(d.Sections); d.Title != "" && !d.TitleInText {
		headings = slices.Insert(headings, 0, strings.Join(strings.Fields(d.Title), " "))
	}
	var found []string
	for line := range strings.SplitSeq(text, "\n") {
		if level, title, ok := strings.Cut(line, " "); ok && level != "" && strings.Trim(level, "#") == "" {
			found = append(found, title)
		}
	}
	if diff := cmp.Diff(headings, found); diff != "" {
		t.Errorf("%s: headings (-document +Markdown):\n%.2000s", d.ID, diff)
	}
}

// TestSame proves that nothing is lost between an upload and a conversion that is indexed.
func TestSame(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"a.txt":  "Only text. Two sentences.",
		"a.md":   "# T\n\nLead.\n\n## A\n\nx\n\n| h | i |\n|---|---|\n| 1 | 2 |\n\n## B\n\ny",
		"c.md":   "# T\n\n## A\n\nx",
		"a.html": "<title>Whole</title><p>Lead.<h1>One</h1><p>x<h1>Two</h1><h3>Three</h3>",
	} {
		same(t, read(t, name, content))
	}
}

// TestSameOfSamples proves the same of the files that readers are tested with.
func TestSameOfSamples(t *testing.T) {
	t.Parallel()
	const dir = "../../../../../../shared/data/parse-samples"
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		testkit.Skip(t, "sample files are not on this machine")
	}
	for _, kind := range []string{"md", "html", "docx", "pdf"} {
		files, err := filepath.Glob(filepath.Join(dir, kind, "sources", "*."+kind))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s samples: %v", kind, err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(file)
			if d, err := ingest.New(ingest.Config{}).Parse(t.Context(), &ingest.Upload{ID: name, Name: name, Data: raw}); err == nil {
				same(t, d)
			}
		}
	}
}
