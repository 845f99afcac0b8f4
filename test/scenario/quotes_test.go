package scenario_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/internal/extract"
	"quarry/internal/extract/outline"
	"quarry/internal/llm"
	"quarry/internal/testkit"
	"quarry/test/scenario"
)

// answered is an answer with its results as a client reads it.
type answered struct {
	Summary string `json:"summary"`
	Results []struct {
		Text string `json:"text"`
	} `json:"search_results"`
}

// ask queries a corpus for an answer of the embedded generator, for at most two minutes.
func ask(t *testing.T, target scenario.Target, corpus string, search map[string]any, question string) (out answered) {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"query": question, "search": search, "generation": map[string]any{
		"enable_factual_consistency_score": false, "citations": map[string]any{"style": "numeric"},
		"max_used_search_results": 50,
	}})
	if err != nil {
		t.Fatal(err)
	}
	status, body := send(t, target, "/v2/corpora/"+corpus+"/query", "application/json", bytes.NewReader(raw))
	if err := json.Unmarshal(body, &out); err != nil || status != http.StatusOK {
		t.Fatalf("%.80q: status %d, %v, %.300s", question, status, err, body)
	}
	return out
}

// send posts a body as the owner.
func send(t *testing.T, target scenario.Target, path, contentType string, body io.Reader) (int, []byte) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, target.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("x-api-key", target.Keys["owner"])
	r.Header.Set("Content-Type", contentType)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	out, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got.StatusCode, out
}

// upload sends a file to a corpus.
func upload(t *testing.T, target scenario.Target, corpus, name string, data []byte) {
	t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	file, err := w.CreateFormFile("file", name)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = file.Write(data) // a buffer takes everything
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if status, body := send(t, target, "/v2/corpora/"+corpus+"/upload_file", w.FormDataContentType(), &form); status != http.StatusCreated {
		t.Fatalf("%s: status %d, %s", name, status, body)
	}
}

var cited = regexp.MustCompile(` \[\d+\]`)

// quotations checks that a result has an answer, and that all that the answer quotes stands in one; it returns how much that is.
func quotations(t *testing.T, question string, a answered) (n int) {
	t.Helper()
	switch {
	case strings.TrimSpace(a.Summary) == "":
		t.Errorf("%.80q: %d results and an empty answer", question, len(a.Results))
		return 0
	case llm.IsNoAnswer(a.Summary):
		return 0
	}
	for _, piece := range cited.Split(a.Summary, -1) {
		found := false
		for _, r := range a.Results {
			found = found || strings.Contains(r.Text, strings.TrimSpace(piece))
		}
		if !found {
			t.Errorf("%.80q: %q is in no result", question, piece)
		}
		n++
	}
	return n
}

// TestQuotedFromFiles proves over HTTP, with random HTML, Markdown and PDF files, that every piece of an answer stands byte for byte
// in a result, and that no heading of a section that has text is the first hit of a question, be the question that very heading.
func TestQuotedFromFiles(t *testing.T) {
	t.Parallel()
	_, target := start(t, "")
	r := rand.New(rand.NewPCG(20, 40))
	count := 0
	formats := map[string]func(testkit.Page) []byte{"html": testkit.Page.HTML, "md": testkit.Page.Markdown, "pdf": testkit.Page.PDF}
	for _, kind := range slices.Sorted(maps.Keys(formats)) { // in one order, so that every run has the same pages
		render := formats[kind]
		post(t, target.URL+"/v2/corpora", target.Keys["owner"], map[string]any{"key": "files-" + kind}, http.StatusCreated)
		var questions []string
		headed := map[string]bool{} // documents and headings that have text right below them
		for i := range 6 {
			page := testkit.NewPage(r)
			for _, s := range page.Sections {
				questions = append(questions, s.Heading)
				headed[fmt.Sprintf("%d.%s %s", i, kind, s.Heading)] = len(s.Blocks) > 0
			}
			upload(t, target, "files-"+kind, fmt.Sprintf("%d.%s", i, kind), render(page))
		}
		for _, q := range questions {
			a := ask(t, target, "files-"+kind, map[string]any{"limit": 10, "context_configuration": map[string]any{"sentences_before": r.IntN(2), "sentences_after": r.IntN(2)}}, q)
			count += quotations(t, q, a)
			first := search(t, target.URL, target.Keys["owner"], q, 1, 0, []any{map[string]any{"corpus_key": "files-" + kind}}, nil)[0]
			if text, known := headed[first.DocumentID+" "+first.Text]; first.Part.Title && (text || !known) {
				t.Errorf("%s: the first hit of %q is the heading %q of %s", kind, q, first.Text, first.DocumentID)
			}
		}
	}
	if count < 20 {
		t.Errorf("%d quotations prove little", count)
	}
}

// TestNoHeadingOfRealPagesFirst proves the same of headings over pages that others wrote, asked for each of their headings.
func TestNoHeadingOfRealPagesFirst(t *testing.T) {
	t.Parallel()
	const samples = "../../../shared/data/parse-samples"
	if _, err := os.Stat(samples); errors.Is(err, fs.ErrNotExist) {
		testkit.Skip(t, "sample files are not on this machine")
	}
	_, target := start(t, "")
	asked := 0
	for _, kind := range []string{"md", "html", "docx", "pdf"} {
		post(t, target.URL+"/v2/corpora", target.Keys["owner"], map[string]any{"key": "pages-" + kind}, http.StatusCreated)
		files, err := filepath.Glob(filepath.Join(samples, kind, "sources", "*."+kind))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s samples: %v", kind, err)
		}
		var headings []string
		leads := map[string]bool{} // documents and headings with text below them
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := extract.Read(extract.Input{Name: file, Data: data})
			if err != nil || len(data) > 150_000 || len(doc.Sections) == 0 {
				continue
			}
			name := filepath.Base(file)
			upload(t, target, "pages-"+kind, name, data)
			headings = append(headings, list(doc.Sections, name, leads)...)
		}
		for i, q := range headings {
			if i%(1+len(headings)/25) != 0 { // 25 of each format
				continue
			}
			asked++
			a := search(t, target.URL, target.Keys["owner"], q, 1, 0, []any{map[string]any{"corpus_key": "pages-" + kind}}, nil)
			if len(a) == 0 || a[0].Part.Title && leads[a[0].DocumentID+" "+a[0].Text] {
				t.Errorf("%s: the first hit of %q: %+v", kind, q, a)
			}
		}
	}
	if asked < 40 {
		t.Errorf("%d headings prove little", asked)
	}
}

// list returns the headings of sections and notes those that lead to text in leads, unless the document has the same one without text.
func list(sections []outline.Section, document string, leads map[string]bool) (out []string) {
	for _, s := range sections {
		below := list(s.Sections, document, leads)
		if key := document + " " + s.Title; s.Title != "" && len(s.Title) < 4000 {
			before, known := leads[key]
			leads[key] = (s.Text != "" || len(s.Tables) > 0) && (before || !known)
			out = append(out, s.Title)
		}
		out = append(out, below...)
	}
	return out
}

// TestBadPassagesAndQuestions proves over HTTP that passages and questions that nobody would write end in an answer of what stands there
// or in the sentence that there is none.
func TestBadPassagesAndQuestions(t *testing.T) {
	t.Parallel()
	_, target := start(t, "")
	post(t, target.URL+"/v2/corpora", target.Keys["owner"], map[string]any{"key": "odd"}, http.StatusCreated)
	document := func(id string, body map[string]any) {
		t.Helper()
		body["id"] = id
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		if status, got := send(t, target, "/v2/corpora/odd/documents", "application/json", bytes.NewReader(raw)); status != http.StatusCreated {
			t.Fatalf("%s: status %d, %.300s", id, status, got)
		}
	}
	for id, text := range map[string]string{
		"word":     strings.Repeat("bridge ", 10_000),
		"brackets": strings.Repeat("([{", 5_000) + strings.Repeat("}])", 5_000),
		"emoji":    strings.Repeat("😀", 10_000),
		"endless":  strings.Repeat("the bridge over the river opened to traffic and ", 1_000),
		"megabyte": strings.Repeat("The bridge over the river opened in 1937. ", 1<<20/42),
		"marks":    "The bridge [1] opened [99] to traffic [2, 3] in 1937 [4].",
		"plain":    "The bridge opened to traffic in May 1937.",
	} {
		document(id, map[string]any{"type": "core", "document_parts": []any{map[string]any{"text": text}}})
	}
	document("picture", map[string]any{"type": "structured", "sections": []any{map[string]any{
		"images": []any{map[string]any{"id": "i", "image_data": map[string]any{"data": "iVBORw0KGgo=", "mime_type": "image/png"}}},
	}}})
	all := map[string]any{"limit": 50, "reranker": map[string]any{"type": "none"}}
	for i, q := range []string{
		"When did the bridge open?", "what is the of and to in", "?", "([{", "😀😀😀", strings.Repeat("why does the bridge carry traffic ", 147),
		strings.Repeat("w", 5000), strings.Repeat("😀", 5000), "金门大桥什么时候通车？", "Πότε άνοιξε η γέφυρα;", "когда открылся мост", `"" -x *`, "bridge bridge bridge",
	} {
		a := ask(t, target, "odd", all, q)
		if len(a.Results) < 8 {
			t.Errorf("%.80q: %d results", q, len(a.Results))
		}
		quotations(t, q, a)
		if i%4 == 0 {
			quotations(t, q, ask(t, target, "odd", map[string]any{"limit": 50, "metadata_filter": "doc.id = 'megabyte'"}, q))
		}
		none := ask(t, target, "odd", map[string]any{"limit": 50, "metadata_filter": "doc.id = 'picture'"}, q)
		for _, r := range none.Results {
			if strings.TrimSpace(r.Text) != "" {
				t.Errorf("a picture without words has the text %q", r.Text)
			}
		}
		if len(none.Results) == 0 || !llm.IsNoAnswer(none.Summary) {
			t.Errorf("%.80q: results without text (%d) have the answer %q", q, len(none.Results), none.Summary)
		}
	}
}
