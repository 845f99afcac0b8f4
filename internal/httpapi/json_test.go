package httpapi_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"quarry/internal/fault"
	"quarry/internal/httpapi"
)

func nested(n int) string {
	return `{"key":"a","x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
}

// TestBodies proves what is refused in a body: the field at fault and why.
func TestBodies(t *testing.T) {
	t.Parallel()
	s := start(t, area{"createCorpus": seen, "updateCorpus": seen, "query": seen})
	const create, query = "POST /v2/corpora", "POST /v2/query"
	for _, c := range []struct {
		target, body string
		field, why   string // "" = accepted
	}{
		{create, `{"key":"a","unknown":{"x":1}}`, "", ""},
		{create, ` {"key":"a","name":"\ud83d\ude00 ü 漢字"} ` + "\n", "", ""},
		{create, ``, "body", "is required"},
		{create, ` `, "body", "is required"},
		{"PATCH /v2/corpora/k", ``, "", ""},
		{"PATCH /v2/corpora/k", `{"name":null}`, "", ""},
		{create, `[]`, "body", "must be a JSON object, not an array"},
		{create, `null`, "body", "must be a JSON object, not null"},
		{create, `"x"`, "body", "not a string"},
		{create, `{"key":"a"`, "body", "ends too early"},
		{create, `{"key":"a",}`, "body", "is not valid JSON"},
		{create, `{"key" "a"}`, "body", "is not valid JSON"},
		{create, `{key:"a"}`, "body", "is not valid JSON"},
		{create, `{"key":'a'}`, "body", "at byte"},
		{create, `{"key":"a"} {"key":"b"}`, "body", "more data after"},
		{create, `{"key":"a"}]`, "body", "more data after"},
		{create, "{\"key\":\"a\xff\"}", "body", "UTF-8 at byte 9"},
		{create, "{\"key\":\"a\",\"name\":\"x\x00\"}", "body", "is not valid JSON"},
		{create, `{"key":"a","name":"x\u0000"}`, "body.name", "NUL"},
		{create, `{"key":"a","x":{"b\u0000":1}}`, "body.x", "NUL"},
		{create, `{"key":"a","key":"b"}`, "body.key", "twice"},
		{create, `{"key":"a","x":[1,{"y":1,"y":2}]}`, "body.x[1].y", "twice"},
		{create, `{"key":"a","x":{"k":1,"\u006b":2}}`, "body.x.k", "twice"},
		{create, nested(199), "", ""},
		{create, nested(200), "body.x" + strings.Repeat("[0]", 199), "deeper than 200"},
		{create, nested(10_000), "body.x" + strings.Repeat("[0]", 199), "deeper than 200"},
		{create, `{"key":"a","x":1e400}`, "body.x", "range"},
		{create, `{"key":"a","x":1e-99999999}`, "body.x", "range"},
		{create, `{"key":"a","x":` + strings.Repeat("9", 2000) + `}`, "body.x", "range"},
		{create, `{}`, "body.key", "is required"},
		{create, `{"key":5}`, "body.key", "must be a string, not the number 5"},
		{create, `{"key":""}`, "body.key", "must match the pattern"},
		{create, `{"key":"` + strings.Repeat("k", 51) + `"}`, "body.key", "at most 50 characters long, it has 51"},
		{create, `{"key":"a","filter_attributes":{}}`, "body.filter_attributes", "must be an array, not an object"},
		{create, `{"key":"a","filter_attributes":[{"name":"n","level":"document","type":"text"},{"name":"n","level":"page","type":"text"}]}`,
			"body.filter_attributes[1].level", `must be one of document, part, not "page"`},
		{create, `{"key":"a","filter_attributes":[{"name":"","level":"part","type":"text"}]}`, "body.filter_attributes[0].name", "must not be empty"},
		{create, `{"key":"a","save_history":"yes"}`, "body.save_history", "must be true or false, not a string"},
		{create, `{"key":"a","name":null}`, "", ""},
		{create, `{"key":null}`, "body.key", "not null"},
		{create, `{"key":"a","filter_attributes":[{"name":"n","level":"document","type":"text","description":null,"indexed":null}]}`, "", ""},
		{query, `{"query":"x","search":{"corpora":[{"corpus_key":"a","metadata_filter":7}]}}`, "body.search.corpora[0].metadata_filter", "must be null or a string"},
		{query, `{"query":"x","search":{"corpora":[{"corpus_key":"a"}],"limit":0}}`, "body.search.limit", "must be at least 1"},
		{query, `{"query":"x","search":{"corpora":[{"corpus_key":"a"}],"limit":1.5}}`, "body.search.limit", "must be an integer"},
		{query, `{"query":"x","search":{"corpora":[{"corpus_key":"a","lexical_interpolation":1.5}]}}`, "body.search.corpora[0].lexical_interpolation", "must be at most 1"},
		{query, `{"query":"x","search":{"corpora":[{"corpus_key":"a"}],"exact":"yes"}}`, "body.search.exact", "must be true or false, not a string"},
		{query, `{"query":"x","search":{"corpora":[{"corpus_key":"a"}],"exact":1}}`, "body.search.exact", "must be true or false, not the number 1"},
		{query, `{"query":"x","search":{"corpora":[{"corpus_key":"a"}],"exact":null}}`, "", ""},
		{query, `{"query":"","search":{"corpora":[{"corpus_key":"a"}]}}`, "body.query", "must not be empty"},
		{query, `{"query":"x","search":{"corpora":[{"corpus_key":"a"}],"reranker":{"type":"magic"}}}`, "body.search.reranker.type", "must be one of"},
	} {
		method, path, _ := strings.Cut(c.target, " ")
		got := s.ask(t, method, path, c.body)
		shown := c.body[:min(len(c.body), 80)]
		if c.field == "" {
			if got.StatusCode != 200 {
				t.Errorf("%s: %d %s, want it accepted", shown, got.StatusCode, got.raw)
			}
			continue
		}
		if got.StatusCode != 400 || !strings.Contains(got.body.FieldErrors[c.field], c.why) {
			t.Errorf("%s: %d %.400s, want 400 for %s: %s", shown, got.StatusCode, got.raw, c.field, c.why)
			continue
		}
		if m := got.body.Messages[0]; !strings.HasPrefix(m, "INVALID_ARGUMENT: ") || !strings.Contains(m, c.field) {
			t.Errorf("%s: the message doesn't name the field: %s", shown, m)
		}
	}
}

// TestFieldsTogether proves that one answer names every field at fault, of query and body alike.
func TestFieldsTogether(t *testing.T) {
	t.Parallel()
	s := start(t, area{"createCorpusDocument": seen})
	got := s.ask(t, "POST", "/v2/corpora/k/documents?wait_for=never", `{"type":"core","document_parts":[{"text":1},{}]}`, "Request-Timeout: no")
	want := "body.document_parts[0].text body.document_parts[1].text body.id header.Request-Timeout query.wait_for"
	if fields := strings.Join(slices.Sorted(maps.Keys(got.body.FieldErrors)), " "); fields != want {
		t.Errorf("got %s, want %s", fields, want)
	}
}

// TestQueryParameters proves types, bounds, enums, booleans and arrays of query parameters.
func TestQueryParameters(t *testing.T) {
	t.Parallel()
	s := start(t, area{"listCorpora": seen, "searchCorpus": seen, "listPipelines": seen})
	for _, c := range []struct{ path, field, why string }{
		{"/v2/corpora?limit=1&unknown=x&unknown=y", "", ""},
		{"/v2/corpora?limit=100&corpus_id=crp_1&corpus_id=crp_2", "", ""},
		{"/v2/corpora?limit=0", "query.limit", "must be at least 1"},
		{"/v2/corpora?limit=101", "query.limit", "must be at most 100"},
		{"/v2/corpora?limit=ten", "query.limit", `must be an integer, not "ten"`},
		{"/v2/corpora?limit=1.0", "query.limit", "must be an integer"},
		{"/v2/corpora?limit=", "query.limit", "must be an integer"},
		{"/v2/corpora?limit=1&limit=2", "query.limit", "is given 2 times"},
		{"/v2/corpora?limit=99999999999999999999999999999999999", "query.limit", "must be an integer"},
		{"/v2/corpora?corpus_id=crp_1&corpus_id=x", "query.corpus_id", "must match the pattern"},
		{"/v2/corpora?filter=%ff", "query.filter", "UTF-8"},
		{"/v2/corpora?filter=a%00", "query.filter", "NUL"},
		{"/v2/corpora?filter=%zz", "query", "is not a valid query string"},
		{"/v2/corpora/k/query?query=x&intelligent_query_rewriting=True", "", ""},
		{"/v2/corpora/k/query?query=x&intelligent_query_rewriting=1", "query.intelligent_query_rewriting", `must be true or false, not "1"`},
		{"/v2/corpora/k/query", "query.query", "is required"},
		{"/v2/pipelines?source_type=floppy", "query.source_type", `not "floppy"`},
	} {
		got := s.ask(t, "GET", c.path, "")
		if c.field == "" && got.StatusCode != 200 || c.field != "" && (got.StatusCode != 400 || !strings.Contains(got.body.FieldErrors[c.field], c.why)) {
			t.Errorf("%s: %d %s, want %s: %s", c.path, got.StatusCode, got.raw, c.field, c.why)
		}
	}
	got := s.ask(t, "GET", "/v2/corpora/k/query?query=x&intelligent_query_rewriting=True", "")
	if v := got.body.Query["intelligent_query_rewriting"]; len(v) != 1 || v[0] != "true" {
		t.Errorf("True reaches the handler as %q, want true", v)
	}
}

// TestDecode proves that what schemas pass and Go's types don't hold is a fault of its field.
func TestDecode(t *testing.T) {
	t.Parallel()
	var v struct {
		Search struct {
			Limit int `json:"limit"`
		} `json:"search"`
	}
	err := httpapi.Decode(json.RawMessage(`{"search":{"limit":10.0}}`), &v)
	if f, ok := fault.As(err); !ok || f.Fields["body.search.limit"] == "" {
		t.Errorf("got %v, want a fault of body.search.limit", err)
	}
	if err := httpapi.Decode(nil, &v); err != nil {
		t.Errorf("no body: %v", err)
	}
}
