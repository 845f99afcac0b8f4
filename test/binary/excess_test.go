package binary

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"quarry/internal/testkit"
)

// TestExcess proves that requests which ask for far too much are refused with a clear 4xx, and that the server answers
// queries as before after each. Times are printed and never fail the test: run it with -v on a quiet machine.
func TestExcess(t *testing.T) {
	t.Parallel()
	p := testkit.StartBinary(t, t.TempDir())
	c := p.Client()
	createCorpus(t, c, "h")
	createCorpus(t, c, "other")
	for i := range 3 {
		c.Must(t, http.StatusCreated, "POST", "/v2/corpora/h/documents", core(fmt.Sprintf("d%d", i), i, "The mill grinds."))
		c.Must(t, http.StatusCreated, "POST", "/v2/corpora/other/documents", core(fmt.Sprintf("d%d", i), i, "The mill stands."))
	}
	for _, tc := range append(append(filters(), functions()...), numbers()...) {
		t.Run(tc.name, func(t *testing.T) { exceed(t, p, tc) })
	}
	for _, tc := range append(cursors(t, c), objects()...) {
		t.Run(tc.name, func(t *testing.T) { exceed(t, p, tc) })
	}
	mustStop(t, p)
	for _, bad := range []string{"panic", "level=ERROR", "status=500"} {
		if log := p.Log(); strings.Contains(log, bad) {
			t.Errorf("the log says %s:\n%s", bad, log)
		}
	}
}

// excess is one request and the refusal that it must get.
type excess struct {
	name, method, path string
	body               any // as JSON, or the text of it
	status             int
	word               string // in the refusal
}

func exceed(t *testing.T, p *testkit.Process, tc excess) {
	t.Helper()
	var body []byte
	switch b := tc.body.(type) {
	case nil:
	case string:
		body = []byte(b)
	default:
		var err error
		if body, err = json.Marshal(b); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	status, answer := raw(t, p, tc.method, tc.path, body, nil)
	t.Logf("%d after %v", status, time.Since(began).Round(time.Millisecond/10))
	if tc.status == http.StatusOK { // at a bound
		if status != tc.status {
			t.Errorf("it answers %d, want 200: %.300s", status, answer)
		}
	} else {
		clear(t, status, answer, tc.status, tc.word)
	}
	unharmed(t, p)
}

// unharmed checks that the server is well and finds what it has.
func unharmed(t *testing.T, p *testkit.Process) {
	t.Helper()
	if status, answer := raw(t, p, "GET", "/healthz", nil, nil); status != http.StatusOK {
		t.Errorf("healthz answers %d: %s", status, answer)
	}
	if found := ask(t, p.Client(), "h", "mill", 0.5, ""); len(found) < 3 {
		t.Errorf("a query finds %d documents, want 3", len(found))
	}
}

// search is the body of a query with one setting of its search.
func search(member string, v any) map[string]any {
	return map[string]any{"query": "mill", "search": map[string]any{member: v}}
}

const queryPath = "/v2/corpora/h/query"

func filters() []excess {
	filter := func(name, text string, status int) excess {
		return excess{name, "POST", queryPath, search("metadata_filter", text), status, "body.search.metadata_filter"}
	}
	items := func(n int) string { return "doc.slot IN (" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + ")" }
	const bound = 8000
	return []excess{
		filter("8,000 characters of NOT", strings.Repeat("NOT ", bound/4-1)+"true", 400),
		filter("8,000 characters of NOT and nothing", strings.Repeat("NOT ", bound/4), 400),
		filter("8,000 parentheses, closed", strings.Repeat("(", bound/2)+strings.Repeat(")", bound/2), 400),
		filter("8,000 parentheses around 1 = 1", strings.Repeat("(", bound/2-3)+"1 = 1"+strings.Repeat(")", bound/2-3), 400),
		filter("8,000 minus signs", strings.Repeat("-", bound-8)+"1 = 1 ", 400),
		filter("an open text of 8,000 characters", "doc.slot = '"+strings.Repeat("x", bound-12), 400),
		filter("IN of 10,000 items", items(10_000), 400),
		filter("IN of 3,990 items, 8,000 characters", items(3_990), 200),
		filter("1,000 ORs", strings.TrimSuffix(strings.Repeat("1=2 OR ", bound/7), " OR "), 200),
		filter("a sum of 4,000 numbers", strings.Repeat("1+", bound/2-4)+"1 = 1", 200),
		filter("a number of 7,990 digits", strings.Repeat("9", bound-10)+" = 1", 400),
		{"filter of a list, 8,000 NOTs", "GET", "/v2/corpora/h/documents?metadata_filter=" + url.QueryEscape(strings.Repeat("NOT ", 2000)), nil, 400, "query.metadata_filter"},
		{"filter of a bulk deletion, 8,000 NOTs", "DELETE", "/v2/corpora/h/documents?metadata_filter=" + url.QueryEscape(strings.Repeat("NOT ", 2000)), nil, 400, "query.metadata_filter"},
		{"filter of a metadata query, 8,000 NOTs", "POST", "/v2/corpora/h/metadata_query", map[string]any{
			"queries": []any{map[string]any{"field": "slot", "query": "1"}}, "metadata_filter": strings.Repeat("NOT ", 2000),
		}, 400, "body.metadata_filter"},
	}
}

func functions() []excess {
	fn := func(name, text, word string) excess {
		return excess{name, "POST", queryPath, search("reranker", map[string]any{"type": "userfn", "user_function": text}), 400, word}
	}
	nested := func(open, inner, end string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	stage := any(map[string]any{"type": "none"})
	for range 60 {
		stage = map[string]any{"type": "chain", "rerankers": []any{stage}}
	}
	wide := make([]any, 51)
	for i := range wide {
		wide[i] = map[string]any{"type": "none"}
	}
	split := []any{
		map[string]any{"type": "chain", "rerankers": wide[:26]}, map[string]any{"type": "chain", "rerankers": wide[:25]},
	}
	const at = "body.search.reranker.user_function"
	return []excess{
		fn("function 200 parentheses deep", nested("(", "1", ")", 200), at),
		fn("function 200 calls deep", nested("abs(", "1", ")", 200), at),
		fn("function 200 conditions deep", nested("if (true) ", "1", " else 0", 200), at),
		fn("function 100,000 parentheses deep", nested("(", "1", ")", 100_000), at),
		fn("function of 100,000 signs", strings.Repeat("-", 100_000)+"1", at),
		fn("function of 1 MB", strings.TrimSuffix(strings.Repeat("1+", 1<<19), "+"), at),
		fn("function that calls itself", "f(f(f(1)))", at),
		fn("function with a loop", "while (true) 1", at),
		fn("function that never ends", "get('$.score", at),
		fn("function with a path 10,000 long", "get('$"+strings.Repeat(".a", 10_000)+"')", at),
		fn("function of 1,000 question marks", strings.Repeat("1 ? ", 1000), at),
		{"60 chains in each other", "POST", queryPath, search("reranker", stage), 400, "body.search.reranker"},
		{"51 stages", "POST", queryPath, search("reranker", map[string]any{"type": "chain", "rerankers": wide}), 400, "body.search.reranker"},
		{"51 stages in two chains", "POST", queryPath, search("reranker", map[string]any{"type": "chain", "rerankers": split}), 400, "body.search.reranker"},
	}
}

func numbers() []excess {
	var out []excess
	for _, n := range []string{"1000000000", "2147483647", "2147483648", "9223372036854775807", "9223372036854775808", "1e9", "1e308", "1e999", "-1", "0.5", strings.Repeat("9", 100_000)} {
		name := n[:min(len(n), 20)]
		out = append(out,
			excess{"limit " + name, "POST", queryPath, `{"query":"mill","search":{"limit":` + n + `}}`, 400, "body.search.limit"},
			excess{"offset " + name, "POST", queryPath, `{"query":"mill","search":{"offset":` + n + `}}`, 400, "body.search.offset"},
			excess{"limit and offset " + name, "POST", "/v2/query", `{"query":"mill","search":{"corpora":[{"corpus_key":"h"}],"limit":` + n + `,"offset":` + n + `}}`, 400, "body.search"},
			excess{"offset in the address " + name, "GET", "/v2/corpora/h/query?query=mill&offset=" + n[:min(len(n), 1000)], nil, 400, "query.offset"},
			excess{"limit of a list " + name, "GET", "/v2/corpora/h/documents?limit=" + n[:min(len(n), 1000)], nil, 400, "query.limit"},
			excess{"limit of jobs " + name, "GET", "/v2/jobs?limit=" + n[:min(len(n), 1000)], nil, 400, "query.limit"},
		)
	}
	return out
}

// cursors are page keys where they don't belong.
func cursors(t *testing.T, c *testkit.Client) []excess {
	t.Helper()
	of := func(path string) string {
		meta, _ := c.Must(t, http.StatusOK, "GET", path, nil)["metadata"].(map[string]any)
		key, _ := meta["page_key"].(string)
		if key == "" {
			t.Fatalf("%s gives no page_key", path)
		}
		return url.QueryEscape(key)
	}
	corpora, documents := of("/v2/corpora?limit=1"), of("/v2/corpora/h/documents?limit=1")
	filtered := of("/v2/corpora/h/documents?limit=1&metadata_filter=" + url.QueryEscape("doc.slot < 2"))
	var out []excess
	add := func(name, path string) {
		out = append(out, excess{"page_key: " + name, "GET", path, nil, 400, "query.page_key"})
	}
	for _, list := range []string{"corpora", "corpora/h/documents", "jobs", "queries", "rerankers", "encoders"} {
		if list != "corpora" {
			add("of corpora, for "+list, "/v2/"+list+"?page_key="+corpora)
		}
		if list != "corpora/h/documents" {
			add("of documents, for "+list, "/v2/"+list+"?page_key="+documents)
		}
		add("garbage, for "+list, "/v2/"+list+"?page_key=%00%ff")
		add("a word, for "+list, "/v2/"+list+"?page_key=next")
		add("100 kB, for "+list, "/v2/"+list+"?page_key="+strings.Repeat("A", 100_000))
		add("empty base64 JSON, for "+list, "/v2/"+list+"?page_key="+base64.RawURLEncoding.EncodeToString([]byte(`{"offset":1000000000}`)))
	}
	add("of another corpus", "/v2/corpora/other/documents?page_key="+documents)
	add("of another filter", "/v2/corpora/h/documents?page_key="+filtered+"&metadata_filter="+url.QueryEscape("doc.slot < 3"))
	add("its last character changed", "/v2/corpora?page_key="+corpora[:len(corpora)-2]+"zz")
	add("twice", "/v2/corpora?page_key="+corpora+"&page_key="+corpora)
	return out
}

func objects() []excess {
	image := func(bytes int) map[string]any {
		d := core("picture", 1, "A picture of a mill.")
		d["images"] = []any{map[string]any{"id": "i", "image_data": map[string]any{
			"mime_type": "image/png", "data": base64.StdEncoding.EncodeToString(make([]byte, bytes)),
		}}}
		return d
	}
	ids := "/v2/corpora/h/documents?document_ids=" + strings.TrimSuffix(strings.Repeat("x,", 10_001), ",")
	wide := make([]any, 10_000)
	for i := range wide {
		wide[i] = map[string]any{"field": "slot", "query": "1"}
	}
	return []excess{
		{"image of 20 MB", "POST", "/v2/corpora/h/documents", image(20 << 20), 413, "max_json"},
		{"job of nothing", "GET", "/v2/jobs/job_nothing", nil, 404, "job_nothing"},
		{"job with a path", "GET", "/v2/jobs/job_..%2f..%2fowner.key", nil, 404, ""},
		{"job of another kind", "GET", "/v2/jobs/crp_1", nil, 404, ""},
		{"job with a name of 10 kB", "GET", "/v2/jobs/job_" + strings.Repeat("x", 10_000), nil, 404, ""},
		{"query record of nothing", "GET", "/v2/queries/qry_nothing", nil, 404, "qry_nothing"},
		{"image of nothing", "GET", "/v2/corpora/h/documents/d0/images/none", nil, 404, "none"},
		{"image of no document", "GET", "/v2/corpora/h/documents/none/images/none", nil, 404, "none"},
		{"10,001 ids to delete", "DELETE", ids, nil, 400, "query.document_ids"},
		{"10,001 ids to change", "PATCH", ids, map[string]any{"metadata": map[string]any{"a": 1}}, 400, "query.document_ids"},
		{"nothing selected to delete", "DELETE", "/v2/corpora/h/documents", nil, 400, "query"},
		{"nothing selected to change", "PATCH", "/v2/corpora/h/documents", map[string]any{"metadata": map[string]any{"a": 1}}, 400, "query"},
		{"parts selected to delete", "DELETE", "/v2/corpora/h/documents?metadata_filter=" + url.QueryEscape("part.lang = 'eng'"), nil, 400, "query.metadata_filter"},
		{"metadata that is a list", "PATCH", "/v2/corpora/h/documents/d0", map[string]any{"metadata": []any{1}}, 400, "body.metadata"},
		{"metadata of the wrong type", "PATCH", "/v2/corpora/h/documents/d0", map[string]any{"metadata": map[string]any{"slot": "one"}}, 400, "body.metadata.slot"},
		{"metadata of 12 MB", "PATCH", "/v2/corpora/h/documents/d0", map[string]any{"metadata": map[string]any{"a": strings.Repeat("x", 12<<20)}}, 400, "body.metadata"},
		{"metadata nested 10,000 deep", "PUT", "/v2/corpora/h/documents/d0/metadata", `{"metadata":{"a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}}`, 400, "nested"},
		{"10,000 fields to search", "POST", "/v2/corpora/h/metadata_query", map[string]any{"queries": wide}, 400, "body.queries"},
		{"a metadata query of 1 MB", "POST", "/v2/corpora/h/metadata_query", map[string]any{"queries": []any{map[string]any{"field": "slot", "query": strings.Repeat("1 ", 1<<19)}}}, 400, "body.queries[0].query"},
		{"filter attributes, 10,000 of them", "POST", "/v2/corpora/h/replace_filter_attributes", map[string]any{"filter_attributes": manyAttributes(10_000)}, 400, "body.filter_attributes"},
		{"filter attributes, the same twice", "POST", "/v2/corpora/h/replace_filter_attributes", map[string]any{"filter_attributes": append(manyAttributes(1), manyAttributes(1)...)}, 400, "body.filter_attributes[1].name"},
		{"statistics of what is not declared", "GET", "/v2/corpora/h/filter_attribute_stats?fields=doc.slot,doc.none", nil, 400, "query.fields"},
		{"statistics of 10,000 fields", "GET", "/v2/corpora/h/filter_attribute_stats?fields=" + strings.Repeat("doc.none,", 10_000), nil, 400, "query.fields"},
		{"a regular expression that blows up", "GET", "/v2/corpora?filter=" + url.QueryEscape(strings.Repeat("(x{1000}", 10)+strings.Repeat("){1000}", 10)), nil, 400, "query.filter"},
		{"a regular expression for rerankers", "GET", "/v2/rerankers?filter=" + url.QueryEscape("(("), nil, 400, "query.filter"},
		{"a query that explains wrongly", "POST", queryPath, map[string]any{"query": "mill", "search": map[string]any{}, "explain": 7}, 400, "body.explain"},
		{"jobs in a state that is none", "GET", "/v2/jobs?state=asleep", nil, 400, "query.state"},
		{"jobs after no time", "GET", "/v2/jobs?after=yesterday", nil, 400, "query.after"},
		{"queries after no time", "GET", "/v2/queries?started_after=yesterday", nil, 400, "query.started_after"},
	}
}

func manyAttributes(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = map[string]any{"name": fmt.Sprintf("a%d", i), "level": "document", "type": "text"}
	}
	return out
}
