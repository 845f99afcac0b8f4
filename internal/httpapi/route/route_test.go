package route_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/api"
	"quarry/internal/httpapi/route"
)

// TestFind proves that routing works on the raw path: an escaped slash stays in its segment, an unescaped
// one belongs to the document id unless a sub-resource follows, and everything is decoded exactly once.
func TestFind(t *testing.T) {
	t.Parallel()
	var table route.Table
	for i := range api.Operations {
		if err := table.Add(&api.Operations[i]); err != nil {
			t.Fatal(err)
		}
	}
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
		{"GET", "/", "getStartPage", map[string]string{}},
		{"HEAD", "/", "getStartPage", map[string]string{}},
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
		op, params, allow := table.Find(c.method, c.path)
		if op == nil || op.ID != c.op {
			t.Errorf("%s %s: got %+v, which takes %v, want operation %s", c.method, c.path, op, allow, c.op)
			continue
		}
		if d := cmp.Diff(c.want, params); d != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.method, c.path, d)
		}
	}
}

// TestAddContradiction proves that two names for the parameter of one place are refused.
func TestAddContradiction(t *testing.T) {
	t.Parallel()
	var table route.Table
	if err := table.Add(&api.Operation{ID: "a", Method: "GET", Path: "/things/{id}"}); err != nil {
		t.Fatal(err)
	}
	if err := table.Add(&api.Operation{ID: "b", Method: "GET", Path: "/things/{key}/parts"}); err == nil {
		t.Error("the parameter has two names")
	}
}
