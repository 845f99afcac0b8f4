package documents_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/document/documenttest"
	"quarry/internal/corpus/ingest"
	"quarry/internal/corpus/ingest/summary"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/documents"
	"quarry/internal/identity/authz"
	"quarry/internal/llm"
	"quarry/internal/llm/llmtest"
	"quarry/internal/page"
)

const maxUpload = 10_000

// newServer returns the whole chain over one corpus in memory.
func newServer(t *testing.T, c corpus.Corpus) (*documenttest.Memory, http.Handler) {
	t.Helper()
	c.Key = "manuals"
	m := documenttest.New(c)
	cursors := page.NewCursors([]byte("a secret of the installation"))
	area := documents.New(
		ingest.New(ingest.Config{Corpora: m.Corpora(), Documents: m, Encoders: &documenttest.Encoder{}, Index: m, Summaries: summary.New(writers{})}),
		document.NewService(m, m.Corpora(), m, nil, 2), cursors, documents.Limits{Upload: maxUpload})
	s, err := httpapi.New(httpapi.Config{
		Authenticate: func(context.Context, httpapi.Credential) (authz.Principal, error) {
			return authz.Principal{Kind: authz.User, ID: "usr_1", APIRoles: []string{"owner"}}, nil
		},
		Areas: []httpapi.Area{area}, MaxJSON: 1 << 20, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return m, s
}

// writers are the model "w", which is the default one, too.
type writers struct{}

func (writers) Model(_ context.Context, name string) (*llm.Model, error) {
	if name != "" && name != "w" {
		none := fault.Invalid()
		none.Text = "there is no such model"
		return nil, none
	}
	return &llm.Model{Provider: llmtest.Fixed{Text: "A table."}, Name: "w", Can: llm.Abilities{Context: 8192}}, nil
}

// answer is what came back, with the members that tests look at.
type answer struct {
	status int
	body   string
	fields map[string]string
	text   string // messages[0]
}

func send(t *testing.T, h http.Handler, method, path, contentType, body string) answer {
	t.Helper()
	r := httptest.NewRequest(method, "/v2/corpora/manuals"+path, strings.NewReader(body))
	r.Header.Set("x-api-key", "k")
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	a := answer{status: w.Code, body: strings.TrimSpace(w.Body.String())}
	var e struct {
		Fields   map[string]string `json:"field_errors"`
		Messages []string          `json:"messages"`
	}
	if w.Code >= 400 {
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || len(e.Messages) == 0 {
			t.Fatalf("%s %s: body of an error: %s", method, path, a.body)
		}
		a.fields, a.text = e.Fields, e.Messages[0]
	}
	return a
}

func create(t *testing.T, h http.Handler, body string) answer {
	t.Helper()
	return send(t, h, "POST", "/documents", "application/json", body)
}

func TestDocumentLife(t *testing.T) {
	// Proves create, read, list and delete over the wire: what each answer shows and what it leaves out.
	t.Parallel()
	m, h := newServer(t, corpus.Corpus{Enabled: true})
	got := create(t, h, `{"type":"core","id":"notes/1 ä","metadata":{"n":1.50,"x":"<&>"},"document_parts":[{"text":"Nothing happened today."}]}`)
	want := `{"id":"notes/1 ä","metadata":{"n":1.50,"x":"\u003c\u0026\u003e"},"storage_usage":{"bytes_used":57,"metadata_bytes_used":34},"extraction_usage":{"table_extraction_used":0}}`
	if got.status != http.StatusCreated || got.body != want {
		t.Errorf("create: %d\n%s\nwant\n%s", got.status, got.body, want)
	}
	path := "/documents/" + url.PathEscape("notes/1 ä")
	want = `{"id":"notes/1 ä","metadata":{"n":1.50,"x":"\u003c\u0026\u003e"},"parts":[{"text":"Nothing happened today.","metadata":{"lang":"eng"}}]}`
	if got = send(t, h, "GET", path, "", ""); got.status != http.StatusOK || got.body != want {
		t.Errorf("get: %d\n%s\nwant\n%s", got.status, got.body, want)
	}
	want = `{"documents":[{"id":"notes/1 ä","metadata":{"n":1.50,"x":"\u003c\u0026\u003e"}}],"metadata":{}}`
	if got = send(t, h, "GET", "/documents", "", ""); got.status != http.StatusOK || got.body != want {
		t.Errorf("list: %d\n%s\nwant\n%s", got.status, got.body, want)
	}
	if got = send(t, h, "DELETE", path, "", ""); got.status != http.StatusNoContent || got.body != "" {
		t.Errorf("delete: %d %s", got.status, got.body)
	}
	for _, method := range []string{"GET", "DELETE"} {
		got = send(t, h, method, path, "", "")
		if got.status != http.StatusNotFound || !strings.Contains(got.body, `"id":"notes/1 ä"`) || !strings.Contains(got.body, "document_not_found") {
			t.Errorf("%s after delete: %d %s", method, got.status, got.body)
		}
	}
	if got = send(t, h, "GET", "/documents", "", ""); got.body != `{"documents":[],"metadata":{}}` {
		t.Errorf("empty list: %s", got.body)
	}
	if diff := cmp.Diff([]int64{1, 2}, m.Indexed()); diff != "" {
		t.Errorf("index brought up to: %s", diff)
	}
}

func TestCreateRefusals(t *testing.T) {
	// Proves status, field and text of refusals over the wire, and that nothing is stored.
	t.Parallel()
	tests := []struct {
		name, body, field, text string
		status                  int
	}{
		{"no type", `{"id":"d","sections":[{"text":"x"}]}`, "body.type", "", 400},
		{"another type", `{"type":"other","id":"d","sections":[{"text":"x"}]}`, "body.type", "", 400},
		{"no id", `{"type":"core","document_parts":[{"text":"x"}]}`, "body.id", "", 400},
		{"empty id", `{"type":"core","id":"","document_parts":[{"text":"x"}]}`, "body.id", "", 400},
		{"no parts", `{"type":"core","id":"d","document_parts":[]}`, "body.document_parts", "", 400},
		{"no sections", `{"type":"structured","id":"d"}`, "body.sections", "", 400},
		{"core without text", `{"type":"core","id":"d","document_parts":[{"text":"x"},{"metadata":{}}]}`, "body.document_parts[1].text", "", 400},
		{"section id in words", `{"type":"structured","id":"d","sections":[{"id":"id_1","text":"x"}]}`, "body.sections[0].id", "", 400},
		{"empty section", `{"type":"structured","id":"d","sections":[{"title":"T","sections":[{"title":""}]}]}`, "body.sections[0].sections[0].text", "", 400},
		{"metadata array", `{"type":"core","id":"d","metadata":[],"document_parts":[{"text":"x"}]}`, "body.metadata", "", 400},
		{"chunks of 99", `{"type":"structured","id":"d","sections":[{"text":"x"}],"chunking_strategy":{"type":"max_chars_chunking_strategy","max_chars_per_chunk":99}}`,
			"body.chunking_strategy.max_chars_per_chunk", "", 400},
		{"chunks of nothing", `{"type":"structured","id":"d","sections":[{"text":"x"}],"chunking_strategy":{"type":"max_chars_chunking_strategy"}}`,
			"body.chunking_strategy.max_chars_per_chunk", "", 400},
		{"chunks unknown", `{"type":"structured","id":"d","sections":[{"text":"x"}],"chunking_strategy":{"type":"words"}}`, "body.chunking_strategy.type", "", 400},
		{"bad base64", `{"type":"core","id":"d","images":[{"id":"i","image_data":{"data":"%%%","mime_type":"image/png"}}],"document_parts":[{"text":"x"}]}`,
			"body.images[0].image_data.data", "base64", 400},
		{"duplicate key", `{"type":"core","id":"d","id":"e","document_parts":[{"text":"x"}]}`, "body.id", "", 400},
		{"NUL", `{"type":"core","id":"d","document_parts":[{"text":"a\u0000b"}]}`, "body.document_parts[0].text", "NUL", 400},
		{"no body", ``, "body", "", 400},
		{"attribute type", `{"type":"core","id":"d","metadata":{"year":"MMXX"},"document_parts":[{"text":"x"}]}`, "body.metadata.year", "", 400},
		{"unknown dimension", `{"type":"core","id":"d","document_parts":[{"text":"x","custom_dimensions":{"a":1}}]}`, "body.document_parts[0].custom_dimensions.a", "", 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, h := newServer(t, corpus.Corpus{Enabled: true, Attributes: []corpus.Attribute{{Name: "year", Level: "document", Type: "integer"}}})
			got := create(t, h, tt.body)
			if got.status != tt.status || got.fields[tt.field] == "" || len(got.fields) != 1 || !strings.Contains(got.body, tt.text) {
				t.Errorf("%d %s, want %d with field %s", got.status, got.body, tt.status, tt.field)
			}
			if m.Corpus.Seq != 0 {
				t.Error("something was stored")
			}
		})
	}
	_, h := newServer(t, corpus.Corpus{})
	if got := create(t, h, `{"type":"core","id":"d","document_parts":[{"text":"x"}]}`); got.status != 400 || !strings.Contains(got.text, "corpus manuals is disabled") {
		t.Errorf("disabled corpus: %d %s", got.status, got.body)
	}
}

func TestCreateTwice(t *testing.T) {
	// Proves the 409 texts that clients match, and wait_for.
	t.Parallel()
	_, h := newServer(t, corpus.Corpus{Enabled: true})
	body := `{"type":"structured","id":"d","sections":[{"text":"One."}]}`
	if got := send(t, h, "POST", "/documents?wait_for=indexed", "application/json", body); got.status != 201 {
		t.Fatalf("create: %d %s", got.status, got.body)
	}
	if got := create(t, h, body); got.status != 409 || !strings.HasPrefix(got.text, "ALREADY_EXISTS") {
		t.Errorf("identical: %d %s", got.status, got.body)
	}
	got := create(t, h, strings.Replace(body, "One", "Two", 1))
	if want := "CONFLICT: Indexing doesn't support updating documents. A document with document id 'd' already exists."; got.status != 409 || got.text != want {
		t.Errorf("different: %d %s", got.status, got.body)
	}
	if got := send(t, h, "POST", "/documents?wait_for=never", "application/json", body); got.status != 400 || got.fields["query.wait_for"] == "" {
		t.Errorf("unknown wait_for: %d %s", got.status, got.body)
	}
}

func TestListPages(t *testing.T) {
	// Proves paging by signed tokens that carry the filter, ids ascending, and the refusals of limit, token and filter.
	t.Parallel()
	_, h := newServer(t, corpus.Corpus{Enabled: true, Attributes: []corpus.Attribute{{Name: "even", Level: "document", Type: "boolean"}}})
	var want []string
	for i := range 25 {
		id := fmt.Sprintf("d%02d", i)
		if i%2 == 0 {
			want = append(want, id)
		}
		if got := create(t, h, fmt.Sprintf(`{"type":"core","id":%q,"metadata":{"even":%v},"document_parts":[{"text":"x"}]}`, id, i%2 == 0)); got.status != 201 {
			t.Fatal(got.body)
		}
	}
	var ids []string
	query := "limit=5&metadata_filter=" + url.QueryEscape("doc.even = true")
	var token string
	for range 4 {
		var list struct {
			Documents []struct{ ID string }
			Metadata  struct {
				PageKey string `json:"page_key"`
			}
		}
		got := send(t, h, "GET", "/documents?"+query, "", "")
		if err := json.Unmarshal([]byte(got.body), &list); err != nil || got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		for _, d := range list.Documents {
			ids = append(ids, d.ID)
		}
		if list.Metadata.PageKey == "" {
			break
		}
		token = list.Metadata.PageKey
		query = "limit=5&page_key=" + token // the filter is in the token
	}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	for query, field := range map[string]string{
		"limit=0":                 "query.limit",
		"limit=1001":              "query.limit",
		"limit=x":                 "query.limit",
		"page_key=" + token + "x": "query.page_key",
		"page_key=" + token + "&metadata_filter=doc.even":         "query.page_key",
		"metadata_filter=" + url.QueryEscape("part.lang = 'eng'"): "query.metadata_filter",
		"metadata_filter=nonsense":                                "query.metadata_filter",
	} {
		if got := send(t, h, "GET", "/documents?"+query, "", ""); got.status != 400 || got.fields[field] == "" {
			t.Errorf("%s: %d %s, want field %s", query, got.status, got.body, field)
		}
	}
	if got := send(t, h, "GET", "/documents?limit=1000", "", ""); got.status != 200 || strings.Count(got.body, `"id"`) != 25 {
		t.Errorf("limit 1000: %d, %d documents", got.status, strings.Count(got.body, `"id"`))
	}
}

// upload sends a form with a file and members; a member value "\x00" leaves it out.
func upload(t *testing.T, h http.Handler, name, contentType, content string, members map[string]string) answer {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for k, v := range members {
		if err := w.WriteField(k, v); err != nil {
			t.Fatal(err)
		}
	}
	header := map[string][]string{"Content-Disposition": {`form-data; name="file"`}}
	if name != "" {
		header["Content-Disposition"][0] += fmt.Sprintf(`; filename="%s"`, name)
	}
	if contentType != "" {
		header["Content-Type"] = []string{contentType}
	}
	p, err := w.CreatePart(header)
	if err == nil {
		_, err = p.Write([]byte(content))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return send(t, h, "POST", "/upload_file", w.FormDataContentType(), b.String())
}

func TestUpload(t *testing.T) {
	// Proves what uploads become over the wire, by format, name and the members beside the file.
	t.Parallel()
	const inside = `{"type":"core","id":"inner","metadata":{"a":1,"b":1},"document_parts":[{"text":"Hello."}]}`
	tests := []struct {
		name, file, contentType, content string
		members                          map[string]string
		want                             string // in the answer
	}{
		{"Markdown", "guide.md", "application/octet-stream", "# Guide\n\nText.", nil, `"id":"guide.md","metadata":{"Content-Type":"text/markdown","title":"Guide"}`},
		{"HTML by type", "page", "text/html; charset=utf-8", "<title>T</title><p>Text.</p>", nil, `"Content-Type":"text/html"`},
		{"plain", "a.txt", "text/plain", "Text.", map[string]string{"metadata": `{"Content-Type":"mine","n":1.0}`}, `"metadata":{"Content-Type":"mine","n":1.0}`},
		{"filename part", "upload", "", "Text.", map[string]string{"filename": "notes/%C3%A4.txt"}, `"id":"notes/ä.txt"`},
		{"no file name", "", "", "Text.", map[string]string{"filename": "x"}, `"id":"x"`},
		{"chunks", "a.txt", "", "One. Two.", map[string]string{"chunking_strategy": `{"type":"max_chars_chunking_strategy","max_chars_per_chunk":512}`}, `"id":"a.txt"`},
		{"tables not asked for", "a.txt", "", "One.", map[string]string{"table_extraction_config": `{"extract_tables":false}`}, `"table_extraction_used":0`},
		{"tables asked for", "a.md", "", "|a|b|\n|-|-|\n|1|2|", map[string]string{"table_extraction_config": `{"extract_tables":true,"extractor":{"name":"gmft"}}`}, `"tables":[{"id":"table_1","data":`},
		{"no tables found", "a.txt", "", "One.", map[string]string{"table_extraction_config": `{"extract_tables":true,"extractor":null,"generation":null}`}, `"table_extraction_used":0`},
		{"tables described", "a.md", "", "|a|b|\n|-|-|\n|1|2|", map[string]string{"table_extraction_config": `{"extract_tables":true,"generation":{"llm_name":"w","prompt_template":"$table.title()!","model_parameters":{"max_tokens":9,"top_k":3}}}`}, `"description":"A table."`},
		{"nothing but a flag that is off counts", "a.md", "", "Text.", map[string]string{"table_extraction_config": `{"extract_tables":false,"extractor":{"name":"textract"},"generation":{"llm_name":"none"}}`}, `"id":"a.md"`},
		{"JSON document", "doc.json", "", inside, nil, `"id":"inner","metadata":{"a":1,"b":1}`},
		{"JSON document with metadata", "doc.json", "application/json", inside, map[string]string{"metadata": `{"b":2}`}, `"id":"inner","metadata":{"b":2,"a":1}`},
		{"JSON document without a name", "", "application/json", inside, nil, `"id":"inner"`},
		{"empty members", "a.txt", "", "One.", map[string]string{"metadata": "", "chunking_strategy": " "}, `"id":"a.txt"`},
		{"unknown member", "a.txt", "", "One.", map[string]string{"more": "x"}, `"id":"a.txt"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, h := newServer(t, corpus.Corpus{Enabled: true})
			got := upload(t, h, tt.file, tt.contentType, tt.content, tt.members)
			if got.status != 201 || !strings.Contains(got.body, tt.want) || strings.Contains(got.body, `"parts"`) {
				t.Fatalf("%d %s, want 201 with %s", got.status, got.body, tt.want)
			}
			again := upload(t, h, tt.file, tt.contentType, tt.content, tt.members)
			if again.status != 201 || again.body != got.body {
				t.Errorf("the same once more: %d %s, want what the first gave: %s", again.status, again.body, got.body)
			}
			other := upload(t, h, tt.file, tt.contentType, tt.content+" ", tt.members)
			if other.status != 409 || !strings.Contains(other.text, "document id '") {
				t.Errorf("other bytes: %d %s", other.status, other.body)
			}
		})
	}
}

func TestUploadRefusals(t *testing.T) {
	// Proves the order of checks (415, 413, then the parts), the fields named and the texts that clients match.
	t.Parallel()
	big := strings.Repeat("x", maxUpload+1)
	tests := []struct {
		name, file, contentType, content string
		members                          map[string]string
		status                           int
		field, text                      string
	}{
		{"binary workbook", "a.xlsb", "", "x", nil, 415, "", "Markdown"},
		{"PDF cut off", "a.pdf", "", "%PDF-1.7", nil, 400, "body.file", "could not be parsed and may be a corrupt archive or a malformed document"},
		{"PDF without text", "a.pdf", "", "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]>>endobj 3 0 obj<</Type/Page>>endobj", nil, 400, "body.file", "OCR"},
		{"Word file that is none", "a.docx", "", "PK", nil, 400, "body.file", "could not be parsed"},
		{"declared type before size", "a.txt", "application/vnd.ms-excel.sheet.binary.macroenabled.12", big, map[string]string{"metadata": "no"}, 415, "", "binary"},
		{"size before parts", "a.txt", "", big, map[string]string{"metadata": "no"}, 413, "", "the setting max_upload"},
		{"empty", "a.txt", "", "", nil, 400, "body.file", ""},
		{"binary", "a.txt", "text/plain", "a\x00b", nil, 400, "body.file", "could not be parsed"},
		{"no name", "", "", "Text.", nil, 400, "body.filename", ""},
		{"metadata array", "a.txt", "", "Text.", map[string]string{"metadata": "[]"}, 400, "body.metadata", ""},
		{"metadata no JSON", "a.txt", "", "Text.", map[string]string{"metadata": "{"}, 400, "body.metadata", ""},
		{"metadata key twice", "a.txt", "", "Text.", map[string]string{"metadata": `{"a":1,"a":2}`}, 400, "body.metadata.a", ""},
		{"chunks of 99", "a.txt", "", "Text.", map[string]string{"chunking_strategy": `{"type":"max_chars_chunking_strategy","max_chars_per_chunk":99}`},
			400, "body.chunking_strategy.max_chars_per_chunk", ""},
		{"chunks no number", "a.txt", "", "Text.", map[string]string{"chunking_strategy": `{"type":"max_chars_chunking_strategy","max_chars_per_chunk":"9"}`},
			400, "body.chunking_strategy.max_chars_per_chunk", ""},
		{"another table extractor", "a.md", "", "Text.", map[string]string{"table_extraction_config": `{"extract_tables":true,"extractor":{"name":"textract"}}`},
			400, "body.table_extraction_config.extractor.name", "gmft"},
		{"a table extractor without a name", "a.md", "", "Text.", map[string]string{"table_extraction_config": `{"extract_tables":true,"extractor":{"name":""}}`},
			400, "body.table_extraction_config.extractor.name", ""},
		{"a table extractor that is no object", "a.md", "", "Text.", map[string]string{"table_extraction_config": `{"extract_tables":true,"extractor":"gmft"}`},
			400, "body.table_extraction_config.extractor", ""},
		{"a model for tables that is none", "a.md", "", "Text.", map[string]string{"table_extraction_config": `{"extract_tables":true,"generation":{"llm_name":"none"}}`},
			400, "body.table_extraction_config.generation.llm_name", ""},
		{"a bad template for tables", "a.md", "", "Text.", map[string]string{"table_extraction_config": `{"extract_tables":true,"generation":{"prompt_template":"#if ("}}`},
			400, "body.table_extraction_config.generation.prompt_template", ""},
		{"a bad parameter for tables", "a.md", "", "Text.", map[string]string{"table_extraction_config": `{"extract_tables":true,"generation":{"model_parameters":{"max_tokens":0}}}`},
			400, "body.table_extraction_config.generation.model_parameters.max_tokens", ""},
		{"tables that are no flag", "a.md", "", "Text.", map[string]string{"table_extraction_config": `{"extract_tables":"yes"}`}, 400, "body.table_extraction_config.extract_tables", ""},
		{"tables without the flag", "a.md", "", "Text.", map[string]string{"table_extraction_config": `{}`}, 400, "body.table_extraction_config.extract_tables", ""},
		{"JSON that is no document", "a.json", "", `{"some":"thing"}`, nil, 400, "body.file.type", ""},
		{"JSON that is no JSON", "a.json", "", `{"type":`, nil, 400, "body.file", ""},
		{"JSON without id", "a.json", "", `{"type":"structured","sections":[{"title":"T"}]}`, nil, 400, "body.file.id", ""},
		{"JSON with a wrong type", "a.json", "", `{"type":"core","id":"d","document_parts":[{"text":"x"},{"text":7}]}`, nil, 400, "body.file.document_parts[1].text", ""},
		{"JSON with a bad section", "a.json", "", `{"type":"structured","id":"d","sections":[{"title":" "}]}`, nil, 400, "body.file.sections[0].text", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, h := newServer(t, corpus.Corpus{Enabled: true})
			got := upload(t, h, tt.file, tt.contentType, tt.content, tt.members)
			if got.status != tt.status || !strings.Contains(got.body, tt.text) || tt.field != "" && (len(got.fields) != 1 || got.fields[tt.field] == "") {
				t.Errorf("%d %s, want %d with field %s", got.status, got.body, tt.status, tt.field)
			}
			if m.Corpus.Seq != 0 {
				t.Error("something was stored")
			}
		})
	}
	_, h := newServer(t, corpus.Corpus{Enabled: true})
	if got := send(t, h, "POST", "/upload_file", "application/json", `{}`); got.status != 415 {
		t.Errorf("JSON body: %d %s", got.status, got.body)
	}
}
