package sessions

import (
	"encoding/json"
	"testing"
	"time"

	"quarry/internal/agent/session"
)

// TestDerived proves what the single read adds to the output of a search: never over a member that the output has itself, and
// nothing where a transform has made something else of it or where it was moved to a file.
func TestDerived(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_000)
	call := session.Event{Created: at, Body: session.Body{Arguments: json.RawMessage(`{"query":"asked"}`)}}
	for _, tc := range []struct {
		output, overrides, want string
		known                   bool
	}{
		{
			`{"search_results":[{"text":"T","score":0.5,"document_id":"d","document_metadata":{"title":"A"}},{"text":"U","score":1,"document_id":"e","document_metadata":{"title":7}}]}`, ``,
			`{"search_results":[{"text":"T","score":0.5,"document_id":"d","document_metadata":{"title":"A"}},{"text":"U","score":1,"document_id":"e","document_metadata":{"title":7}}],` +
				`"results":[{"title":"A","content":"T","relevance_score":0.5,"document_id":"d"},{"title":"","content":"U","relevance_score":1,"document_id":"e"}],` +
				`"query_used":"asked","total_results":2,"search_time_ms":25}`, true,
		},
		{`{"search_results":[],"results":"own"}`, `{"query":"pinned"}`, `{"search_results":[],"results":"own","query_used":"pinned","total_results":0,"search_time_ms":25}`, true},
		{`{"search_results":[]}`, ``, `{"search_results":[],"results":[],"query_used":"","total_results":0,"search_time_ms":0}`, false},
		{`{}`, ``, `{}`, false},
		{`{"artifact_id":"art_find_json_x7k2ab","size_bytes":70000}`, ``, `{"artifact_id":"art_find_json_x7k2ab","size_bytes":70000}`, true},
		{`{"search_results":"none"}`, ``, `{"search_results":"none"}`, true},
		{`[1]`, ``, `[1]`, true},
	} {
		output := session.Event{Created: at.Add(25 * time.Millisecond), Body: session.Body{Output: json.RawMessage(tc.output)}}
		if tc.overrides != "" {
			output.Overrides = json.RawMessage(tc.overrides)
		}
		if got := string(withDerived(&output, &call, tc.known)); got != tc.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tc.output, got, tc.want)
		}
		if string(output.Output) != tc.output {
			t.Errorf("the output itself has become %s", output.Output)
		}
	}
}

// TestInstant proves that events show their instants in UTC with three digits, whole seconds included.
func TestInstant(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(instant(time.Date(2026, 5, 1, 10, 0, 0, 0, time.FixedZone("", 7200))))
	if err != nil || string(got) != `"2026-05-01T08:00:00.000Z"` {
		t.Errorf("%s, %v", got, err)
	}
}
