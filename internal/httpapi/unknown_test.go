package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"quarry/internal/httpapi"
)

// TestUnknownMembersAreNamed proves that the answer names the members of a body that the contract doesn't know, whether it
// is accepted or refused, in a header of bounded length and in ASCII; that they stay ignored; and that nothing is named
// where everything is known.
func TestUnknownMembersAreNamed(t *testing.T) {
	t.Parallel()
	s := start(t, area{"createCorpus": seen, "createCorpusDocument": seen, "query": seen, "uploadFile": func(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
		if err := c.NameParts(map[string][]byte{"metadata": nil, "metdata": nil}); err != nil {
			return err
		}
		if _, err := c.CheckMember([]byte(`{"type":"core","id":"d","document_parts":[{"txet":"a","text":"b"}]}`), "file", "CreateDocumentRequest"); err != nil {
			return err
		}
		return seen(w, r, c)
	}})
	var eleven, wide strings.Builder
	for c := range strings.SplitSeq("abcdefghijk", "") {
		eleven.WriteString(`,"x` + c + `":1`)
		wide.WriteString(`,"` + c + strings.Repeat("ü", 20) + `":{"a":1}`)
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/v2/query", `{"query":"q","search":{"limt":3,"corpora":[{"corpus_key":"mine"}]}}`, 200, "search.limt;near=limit"},
		{"POST", "/v2/query", `{"qury":"q","search":{"corpora":[{"corpus_key":"mine","k":1}]}}`, 400, "qury;near=query, search.corpora[0].k"},
		{"POST", "/v2/corpora", `{"key":"a"}`, 200, ""},
		{"POST", "/v2/corpora", `{"key":"a","x-secret":"hush","nmae":"hush"}`, 200, "nmae;near=name, x-secret"},
		{"POST", "/v2/corpora", `{"key":"a"` + eleven.String() + `}`, 200, "xa, xb, xc, xd, xe, xf, xg, xh, xi, xj, ..."},
		{"POST", "/v2/corpora", `{"key":"a","x":`, 400, ""},
		{"POST", "/v2/corpora/mine/upload_file", "", 200, "metdata;near=metadata, file.document_parts[0].txet;near=text"},
	} {
		got := s.ask(t, c.method, c.path, c.body)
		if h := got.Header.Get("X-Quarry-Unknown"); got.StatusCode != c.status || h != c.want || strings.Contains(h, "hush") {
			t.Errorf("%s: %d %q, want %d %q\n%s", c.body, got.StatusCode, h, c.status, c.want, got.raw)
		}
	}
	body := `{"type":"structured","id":"d","sections":[{"sections":[{"sections":[{"sections":[{"text":"t"` + wide.String() + `}]}]}]}]}`
	h := s.ask(t, "POST", "/v2/corpora/mine/documents", body).Header.Get("X-Quarry-Unknown")
	if len(h) < 900 || len(h) > 1024 || strings.Count(h, ", ") > 9 || !strings.HasSuffix(h, ", ...") {
		t.Errorf("%d bytes: %s", len(h), h)
	}
}
