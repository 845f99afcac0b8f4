package queries

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/fault"
	"quarry/internal/opt"
)

// TestParseBody proves that the flat form and the list of corpora become the same command, and which request the history
// shows: every member as the client wrote it, nothing that was left out or that the contract does not know.
func TestParseBody(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ key, body, same, shown string }{
		{
			"c", `{"query":"q","search":{"metadata_filter":"a","lexical_interpolation":0.50,"custom_dimensions":{"w":2,"v":null},"semantics":"response"}}`,
			`{"query":"q","search":{"corpora":[{"corpus_key":"c","metadata_filter":"a","lexical_interpolation":0.50,"custom_dimensions":{"w":2,"v":null},"semantics":"response"}]}}`,
			`{"query":"q","search":{"corpora":[{"corpus_key":"c","metadata_filter":"a","lexical_interpolation":0.50,"custom_dimensions":{"w":2,"v":null},"semantics":"response"}]}}`,
		},
		{ // what a corpus says comes before the defaults beside it
			"c", `{"query":"q","search":{"corpora":[{"corpus_key":"c","query":"x","metadata_filter":"a"}],"metadata_filter":"b","semantics":"query","limit":null},"unknown":1}`,
			`{"query":"q","search":{"corpora":[{"corpus_key":"c","query":"x","metadata_filter":"a","semantics":"query"}]}}`,
			`{"query":"q","search":{"corpora":[{"corpus_key":"c","query":"x","metadata_filter":"a","semantics":"query"}]}}`,
		},
		{ // across corpora semantics alone is a default
			"", `{"query":"q","search":{"corpora":[{"corpus_key":"c"},{"corpus_key":"d","semantics":"query"}],"semantics":"response","metadata_filter":7}}`,
			`{"query":"q","search":{"corpora":[{"corpus_key":"c","semantics":"response"},{"corpus_key":"d","semantics":"query"}]}}`,
			`{"query":"q","search":{"corpora":[{"corpus_key":"c","semantics":"response"},{"corpus_key":"d","semantics":"query"}]}}`,
		},
	} {
		got, err := parseBody(json.RawMessage(tc.body), tc.key)
		if err != nil {
			t.Fatalf("%s: %v", tc.body, err)
		}
		same, err := parseBody(json.RawMessage(tc.same), tc.key)
		if err != nil {
			t.Fatalf("%s: %v", tc.same, err)
		}
		if diff := cmp.Diff(same.Ask, got.Ask, cmp.AllowUnexported(opt.Field[bool]{}, opt.Field[float64]{})); diff != "" {
			t.Errorf("%s (-want +got): %s", tc.body, diff)
		}
		if string(got.Ask.Request) != tc.shown {
			t.Errorf("%s is shown as %s, want %s", tc.body, got.Ask.Request, tc.shown)
		}
	}
}

// TestExact proves that a request for full scans reaches the search, and that null and nothing ask for none.
func TestExact(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{"query":"q","search":{"exact":true}}`: true, `{"query":"q","search":{"exact":false}}`: false, `{"query":"q","search":{"exact":null}}`: false, `{"query":"q","search":{}}`: false,
	} {
		got, err := parseBody(json.RawMessage(body), "c")
		if err != nil || got.Ask.Search.Exact != want {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}

// TestFaultPlaces proves that a fault of the domain gets the path that the client's own form of the settings has.
func TestFaultPlaces(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ key, body, field, want string }{
		{"c", `{"query":"q","search":{}}`, "search.corpora[0].metadata_filter", "body.search.metadata_filter"},
		{"c", `{"query":"q","search":{"corpora":[{"corpus_key":"c"}]}}`, "search.corpora[0].metadata_filter", "body.search.corpora[0].metadata_filter"},
		{"", `{"query":"q","search":{"corpora":[{"corpus_key":"c"}]}}`, "search.corpora[0].metadata_filter", "body.search.corpora[0].metadata_filter"},
		{"c", `{"query":"q","search":{}}`, "search.reranker.rerankers[1].type", "body.search.reranker.rerankers[1].type"},
		{"c", `{"query":"q","search":{},"generation":{"prompt_name":"p"}}`, "generation.generation_preset_name", "body.generation.prompt_name"},
		{"c", `{"query":"q","search":{},"generation":{"prompt_text":"p"}}`, "generation.prompt_template", "body.generation.prompt_text"},
		{"c", `{"query":"q","search":{},"generation":{"prompt_template":"p"}}`, "generation.prompt_template", "body.generation.prompt_template"},
	} {
		req, err := parseBody(json.RawMessage(tc.body), tc.key)
		if err != nil {
			t.Fatalf("%s: %v", tc.body, err)
		}
		f, _ := fault.As(fault.Under(fault.InvalidField(tc.field, "is wrong"), req.place, req.names))
		if f.Fields[tc.want] == "" {
			t.Errorf("%s: %v, want %s", tc.body, f.Fields, tc.want)
		}
	}
	_, err := parseBody(json.RawMessage(`{"query":"q","search":{},"generation":{"max_used_search_results":2.5}}`), "c")
	if f, ok := fault.As(err); !ok || f.Fields["body.generation.max_used_search_results"] == "" {
		t.Errorf("a fraction in a nested member: %v", err)
	}
}

// TestParseParameters proves that a number beyond every int is refused and not taken for absent.
func TestParseParameters(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{"": true, "7": true, "99999999999999999999": false, "-99999999999999999999": false} {
		for _, name := range []string{"limit", "offset"} {
			_, err := parseParameters(url.Values{"query": {"q"}, name: {text}}, "c")
			if f, _ := fault.As(err); ok && err != nil || !ok && (f == nil || f.Fields["query."+name] == "") {
				t.Errorf("%s %q: %v, want it taken: %t", name, text, err, ok)
			}
		}
	}
}
