package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPathParameters proves that routing works on the raw path: an escaped slash stays in its segment, an unescaped
// one belongs to the document id unless a sub-resource follows, and everything is decoded exactly once.
func TestPathParameters(t *testing.T) {
	t.Parallel()
	s := start(t, area{
		"getCorpusDocument": seen, "replaceCorpusDocumentMetadata": seen, "summarizeCorpusDocument": seen, "getImage": seen,
		"getCorpus": seen, "listCorpusDocuments": seen, "listCorpora": seen, "getTool": seen,
	})
	doc := func(id string) map[string]string { return map[string]string{"corpus_key": "k", "document_id": id} }
	image := func(id, image string) map[string]string {
		return map[string]string{"corpus_key": "k", "document_id": id, "image_id": image}
	}
	const base = "/v2/corpora/k/documents/"
	for _, c := range []struct {
		method, path, op string
		want             map[string]string
	}{
		{"GET", "/v2/corpora/k", "getCorpus", map[string]string{"corpus_key": "k"}},
		{"GET", "/v2/corpora/k/", "getCorpus", map[string]string{"corpus_key": "k"}},
		{"GET", "/v2/corpora/", "listCorpora", map[string]string{}},
		{"GET", "/v2/%63orpora", "listCorpora", map[string]string{}},
		{"GET", base, "listCorpusDocuments", map[string]string{"corpus_key": "k"}},
		{"GET", base + "a", "getCorpusDocument", doc("a")},
		{"GET", base + "a/", "getCorpusDocument", doc("a")},
		{"GET", base + "a%2F", "getCorpusDocument", doc("a/")},
		{"GET", base + "a%2Fb", "getCorpusDocument", doc("a/b")},
		{"GET", base + "a/b/c.txt", "getCorpusDocument", doc("a/b/c.txt")},
		{"GET", base + "a//b", "getCorpusDocument", doc("a//b")},
		{"GET", base + "/etc/passwd", "getCorpusDocument", doc("/etc/passwd")},
		{"GET", base + "a%252Fb", "getCorpusDocument", doc("a%2Fb")},
		{"GET", base + "100%25", "getCorpusDocument", doc("100%")},
		{"GET", base + "two%20words+more", "getCorpusDocument", doc("two words+more")},
		{"GET", base + "stra%C3%9Fe%20%C3%BC", "getCorpusDocument", doc("straße ü")},
		{"GET", base + "straße/ü", "getCorpusDocument", doc("straße/ü")},
		{"GET", base + "%E6%96%87%E4%BB%B6", "getCorpusDocument", doc("文件")},
		{"GET", base + ".", "getCorpusDocument", doc(".")},
		{"GET", base + "..", "getCorpusDocument", doc("..")},
		{"GET", base + "../../x", "getCorpusDocument", doc("../../x")},
		{"GET", base + "%2E%2E", "getCorpusDocument", doc("..")},
		{"GET", base + "metadata", "getCorpusDocument", doc("metadata")},
		{"GET", base + "a%2Fmetadata", "getCorpusDocument", doc("a/metadata")},
		{"GET", base + "a/metadata/b", "getCorpusDocument", doc("a/metadata/b")},
		{"GET", base + "images/x", "getCorpusDocument", doc("images/x")},
		{"PUT", base + "a/metadata", "replaceCorpusDocumentMetadata", doc("a")},
		{"PUT", base + "a/b/metadata", "replaceCorpusDocumentMetadata", doc("a/b")},
		{"PUT", base + "metadata/metadata", "replaceCorpusDocumentMetadata", doc("metadata")},
		{"POST", base + "a/b/summarize", "summarizeCorpusDocument", doc("a/b")},
		{"GET", base + "a/images/i", "getImage", image("a", "i")},
		{"GET", base + "a/b/images/i%2Fj/", "getImage", image("a/b", "i/j")},
		{"GET", base + "images/images/i", "getImage", image("images", "i")},
		{"GET", "/v2/tools/tol_1", "getTool", map[string]string{"tool_id": "tol_1"}},
		{"GET", "/v2/tools/test", "getTool", map[string]string{"tool_id": "test"}},
	} {
		body := map[string]string{"PUT": `{"metadata":{}}`, "POST": `{"llm_name":"x"}`}[c.method]
		got := s.ask(t, c.method, c.path, body)
		if got.body.Op != c.op {
			t.Errorf("%s %s: %d %s, want operation %s", c.method, c.path, got.StatusCode, got.raw, c.op)
			continue
		}
		if d := cmp.Diff(c.want, got.body.Path); d != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.method, c.path, d)
		}
	}
}

// TestUnknownPathsAndMethods proves the standard body for 404 and 405 and the Allow header of the latter.
func TestUnknownPathsAndMethods(t *testing.T) {
	t.Parallel()
	s := start(t, area{"getCorpus": seen})
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/", 404, ""},
		{"GET", "/v2", 404, ""},
		{"GET", "/v3/corpora", 404, ""},
		{"GET", "/v2//corpora", 404, ""},
		{"GET", "/v2/corpora//documents", 404, ""},
		{"GET", "/v2/corpora/a%2Freset/x/y", 404, ""},
		{"GET", "/v2/corp%00ra", 404, ""},
		{"GET", "/v2/%ff", 404, ""},
		{"GET", "/v2/corpora/k/nothing", 404, ""},
		{"DELETE", "/v2/corpora", 405, "GET, HEAD, POST"},
		{"PUT", "/v2/corpora/k", 405, "DELETE, GET, HEAD, PATCH"},
		{"GET", "/v2/corpora/k/reset", 405, "POST"},
		{"GET", "/v2/corpora/k/documents/d/metadata", 405, "PUT"},
		{"OPTIONS", "/healthz", 405, "GET, HEAD"},
	} {
		got := s.ask(t, c.method, c.path, "")
		if got.StatusCode != c.status || got.Header.Get("Allow") != c.allow {
			t.Errorf("%s %s: %d with Allow %q, want %d with %q", c.method, c.path, got.StatusCode, got.Header.Get("Allow"), c.status, c.allow)
		}
		if len(got.body.Messages) == 0 || got.body.Code == "" || got.body.RequestID == "" {
			t.Errorf("%s %s: body %s", c.method, c.path, got.raw)
		}
		if c.status == http.StatusNotFound && (got.body.ID == nil || got.body.Code != "path_not_found") {
			t.Errorf("%s %s: not the body of NotFoundError: %s", c.method, c.path, got.raw)
		}
	}
}
