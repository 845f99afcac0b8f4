package queries_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/queries"
	"quarry/internal/identity/authz"
	"quarry/internal/page"
	"quarry/internal/query/history"
	"quarry/internal/query/retrieve"
)

// spy answers from one record and notes who asked for what.
type spy struct {
	record history.Record
	reader history.Reader
	list   history.List
}

func (s *spy) Get(_ context.Context, queryID string, reader history.Reader) (history.Record, error) {
	s.reader = reader
	if queryID != string(s.record.ID) {
		return history.Record{}, fault.NotFound("query_not_found", queryID, "none")
	}
	return s.record, nil
}

func (s *spy) List(_ context.Context, l history.List) ([]history.Summary, bool, error) {
	s.list, s.reader = l, l.Reader
	return []history.Summary{s.record.Summary}, true, nil
}

// callers are principals by their key.
var callers = map[string]authz.Principal{
	"account": {Kind: authz.User, ID: "u1", APIRoles: []string{"viewer"}, CorpusRoles: map[string][]string{"a": {"viewer"}}},
	"corpora": {Kind: authz.APIKey, ID: "k1", CorpusRoles: map[string][]string{"b": {"editor"}, "a": {"viewer"}, "none": {}, "odd": {"painter"}}},
	"nobody":  {Kind: authz.APIKey, ID: "k2", APIRoles: []string{"agent_user"}},
}

func serve(t *testing.T, s *spy) func(caller, path string) (int, string) {
	t.Helper()
	server, err := httpapi.New(httpapi.Config{
		Authenticate: func(_ context.Context, c httpapi.Credential) (authz.Principal, error) { return callers[c.Secret], nil },
		Areas:        []httpapi.Area{queries.NewHistory(s, page.NewCursors(make([]byte, 32)))},
		Log:          slog.New(slog.NewTextHandler(io.Discard, nil)), MaxJSON: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(caller, path string) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("X-Api-Key", caller)
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
}

// TestReaders proves that a role over the account reads everything, corpus roles open those corpora alone, and other
// roles nothing.
func TestReaders(t *testing.T) {
	t.Parallel()
	s := &spy{record: history.Record{Summary: history.Summary{ID: "qry_1"}, Request: json.RawMessage(`{}`)}}
	get := serve(t, s)
	for _, c := range []struct {
		caller string
		status int
		want   history.Reader
	}{
		{"account", 200, history.Reader{All: true}},
		{"corpora", 200, history.Reader{Keys: []string{"a", "b"}}},
		{"nobody", 403, history.Reader{}},
	} {
		for _, path := range []string{"/v2/queries", "/v2/queries/qry_1"} {
			s.reader = history.Reader{}
			status, body := get(c.caller, path)
			if status != c.status {
				t.Errorf("%s reads %s: %d %s, want %d", c.caller, path, status, body, c.status)
			}
			if diff := cmp.Diff(c.want, s.reader); diff != "" {
				t.Errorf("%s reads %s as (-want +got): %s", c.caller, path, diff)
			}
		}
	}
}

// TestFilters proves that every parameter reaches the list, offsets of times are heeded, and a page key carries filters
// and position on.
func TestFilters(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 5, 6, 7, 8, 9, 123456000, time.UTC)
	s := &spy{record: history.Record{Summary: history.Summary{ID: "qry_9", Started: at}}}
	get := serve(t, s)
	status, body := get("account", "/v2/queries?corpus_key=a&chat_id=c&history_id=h&limit=7&started_after=2030-01-01T02:00:00%2B02:00&started_before=2031-01-01T00:00:00.5Z")
	want := history.List{
		Limit: 7, Corpus: "a", Chat: "c", ID: "h", Reader: history.Reader{All: true},
		StartedAfter: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), StartedBefore: time.Date(2031, 1, 1, 0, 0, 0, 500_000_000, time.UTC),
	}
	if diff := cmp.Diff(want, s.list); diff != "" || status != http.StatusOK {
		t.Errorf("status %d, list (-want +got): %s", status, diff)
	}
	var out struct {
		Metadata struct {
			PageKey string `json:"page_key"`
		}
	}
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		t.Fatal(err)
	}
	get("account", "/v2/queries?limit=7&page_key="+out.Metadata.PageKey)
	want.After = page.At(at, "qry_9")
	if diff := cmp.Diff(want, s.list); diff != "" {
		t.Errorf("second page (-want +got): %s", diff)
	}
}

// TestSpans proves the wire form of each kind of span, in order, with what an answer of a language model adds.
func TestSpans(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 5, 6, 7, 8, 9, 0, time.UTC)
	text, score := "Weekly.", 0.5
	span := func(k history.Type, fill func(*history.Span)) history.Span {
		s := history.Span{Type: k, Started: at, Latency: 1999 * time.Microsecond}
		fill(&s)
		return s
	}
	s := &spy{record: history.Record{
		Summary: history.Summary{
			ID: "qry_1", Text: "q", Started: at, Latency: 12 * time.Millisecond, ChatID: "cht_1", AgentKey: "ag", SessionKey: "se",
			Generation: &text, Consistency: &score, Corpora: []history.Corpus{{No: 1, Key: "a"}, {No: 2, Key: "b"}},
		},
		Request: json.RawMessage(`{"query":"q"}`),
		Spans: []history.Span{
			span(history.Rephrase, func(s *history.Span) { s.Rephrased = "r" }),
			span(history.Rewriting, func(s *history.Span) {
				s.CorpusKey, s.Extracted = "a", &history.Extraction{Query: "rest", Filter: "doc.x = 1"}
			}),
			span(history.Search, func(*history.Span) {}),
			span(history.Rerank, func(s *history.Span) {
				s.Reranked = []retrieve.Reranked{{Text: "t", Score: 1, Original: 2}}
			}),
			span(history.Generation, func(s *history.Span) { s.Prompt, s.Generation = "p", "g" }),
			span(history.Consistent, func(s *history.Span) { s.Score = 0.25 }),
		},
	}}
	const head = `"latency_millis":1,"started_at":"2030-05-06T07:08:09Z"`
	want := `{"id":"qry_1","query":{"query":"q"},"chat_id":"cht_1","latency_millis":12,"started_at":"2030-05-06T07:08:09Z","agent_key":"ag","session_key":"se","spans":[` +
		strings.Join([]string{
			`{"type":"rephrase",` + head + `,"rephrased_query":"r"}`,
			`{"type":"rewritten_query",` + head + `,"corpus_key":"a","warnings":[],"filter_extraction":{"query":"rest","metadata_filter":"doc.x = 1"}}`,
			`{"type":"search",` + head + `,"search_results":[]}`,
			`{"type":"rerank",` + head + `,"reranked_search_results":[{"text":"t","score":1,"original_score":2}]}`,
			`{"type":"generation",` + head + `,"prompt":"p","generation":"g"}`,
			`{"type":"fcs",` + head + `,"score":0.25}`,
		}, ",") + "]}\n"
	get := serve(t, s)
	if _, got := get("account", "/v2/queries/qry_1"); got != want {
		t.Errorf("record (-want +got): %s", cmp.Diff(want, got))
	}
	_, got := get("account", "/v2/queries")
	const first = `{"queries":[{"id":"qry_1","query":"q","corpus_key":"a","started_at":"2030-05-06T07:08:09Z","latency_millis":12,"chat_id":"cht_1","generation":"Weekly.","factual_consistency_score":0.5,"agent_key":"ag","session_key":"se"}]`
	if !strings.HasPrefix(got, first) {
		t.Errorf("summary (-want +got): %s", cmp.Diff(first, got))
	}
}
