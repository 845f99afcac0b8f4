package corpora_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/corpora"
	"quarry/internal/identity/authz"
	"quarry/internal/page"
)

// memory is a corpus.Store without a database.
type memory struct {
	mu  sync.Mutex
	all map[string]corpus.Corpus // guarded by mu
	no  int64                    // guarded by mu
}

func (m *memory) Create(_ context.Context, c corpus.Corpus) (corpus.Corpus, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.all[c.Key]; taken {
		return c, fault.Conflict("corpus_exists", "corpus '%s' already exists", c.Key)
	}
	m.no++
	c.No = m.no
	m.all[c.Key] = c
	return c, nil
}

func (m *memory) Get(_ context.Context, keys ...string) (out []corpus.Corpus, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range keys {
		c, ok := m.all[k]
		if !ok {
			return nil, fault.NotFound("corpus_not_found", k, "corpus '%s' does not exist", k)
		}
		out = append(out, c)
	}
	return out, nil
}

func (m *memory) List(_ context.Context, l corpus.List) (out []corpus.Corpus, more bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.all {
		about := ""
		if c.Description != nil {
			about = *c.Description
		}
		switch {
		case len(l.IDs) > 0 && !slices.Contains(l.IDs, c.ID),
			l.Match != nil && !l.Match.MatchString(c.Name) && !l.Match.MatchString(about),
			l.After != nil && (c.Created.UnixMicro() > l.After.Created || c.Created.UnixMicro() == l.After.Created && c.No >= l.After.No):
			continue
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b corpus.Corpus) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.No, a.No)) })
	if len(out) > l.Limit {
		return out[:l.Limit], true, nil
	}
	return out, false, nil
}

func (m *memory) Update(_ context.Context, key string, p corpus.Patch) (corpus.Corpus, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.all[key]
	c.Name, c.Enabled, c.SaveHistory = p.Name.Or(c.Name), p.Enabled.Or(c.Enabled), p.SaveHistory.Or(c.SaveHistory)
	if d, ok := p.Description.Get(); ok {
		c.Description = &d
	}
	m.all[key] = c
	return c, nil
}

func (m *memory) Recount(ctx context.Context, key string) (corpus.Corpus, error) {
	found, err := m.Get(ctx, key)
	if err != nil {
		return corpus.Corpus{}, err
	}
	return found[0], nil
}

func (m *memory) ReplaceAttributes(context.Context, int64, []corpus.Attribute, int64) (corpus.Corpus, error) {
	panic("no job runs here")
}

func (m *memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, key)
	return nil
}

func (m *memory) Reset(_ context.Context, key string) (corpus.Corpus, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.all[key]
	c.Usage = corpus.Usage{}
	m.all[key] = c
	return c, nil
}

// encoders knows one encoder; dropped corpora are of no interest here.
type encoders struct{}

func (encoders) Resolve(name string) (string, string, bool) {
	return cmp.Or(name, "std"), "print", name == "" || name == "std"
}

func (encoders) Dropped(corpus.Corpus) {}

// shares knows the share of every corpus but of those whose index does not answer, or not in time.
type shares struct{}

func (shares) DefaultLambda(ctx context.Context, c corpus.Corpus) (float64, error) {
	switch c.Key {
	case "damaged":
		return 0, errors.New("the index is damaged")
	case "rebuilt":
		<-ctx.Done()
		return 0, ctx.Err()
	}
	return 0.1, nil
}

type service struct {
	*httptest.Server
	store *memory
}

func start(t *testing.T) *service {
	t.Helper()
	m := &memory{all: map[string]corpus.Corpus{}}
	c := corpus.New(m, encoders{}, encoders{})
	s, err := httpapi.New(httpapi.Config{
		Authenticate: func(context.Context, httpapi.Credential) (authz.Principal, error) {
			return authz.Principal{APIRoles: []string{"owner"}}, nil
		},
		Areas:     []httpapi.Area{corpora.New(c, nil, nil, shares{}, page.NewCursors([]byte("0123456789abcdef")))},
		Resolvers: map[string]httpapi.Resolver{"corpus_key": corpora.Resolver(c)},
		Log:       slog.New(slog.DiscardHandler), MaxJSON: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return &service{srv, m}
}

// ask returns the status and the decoded body.
func (s *service) ask(t *testing.T, method, path, body string) (int, map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", "k")
	res, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if len(raw) > 0 && json.Unmarshal(raw, &out) != nil {
		t.Fatalf("%s %s: not JSON: %s", method, path, raw)
	}
	return res.StatusCode, out
}

// TestShare proves that the read of a corpus has the lexical share of queries that give none, and comes without it rather than
// not at all where the index does not answer.
func TestShare(t *testing.T) {
	t.Parallel()
	s := start(t)
	for key, want := range map[string]any{"russian": 0.1, "damaged": nil, "rebuilt": nil} {
		if status, _ := s.ask(t, "POST", "/v2/corpora", `{"key":"`+key+`"}`); status != http.StatusCreated {
			t.Fatalf("%s: status %d", key, status)
		}
		status, got := s.ask(t, "GET", "/v2/corpora/"+key, "")
		if status != http.StatusOK || got["key"] != key || got["default_lexical_interpolation"] != want {
			t.Errorf("%s: status %d, got %v", key, status, got)
		}
	}
}

// TestCreate proves what a created corpus looks like with everything given and with nothing but a key.
func TestCreate(t *testing.T) {
	t.Parallel()
	s := start(t)
	long := strings.Repeat("k", 50)
	encoder := corpus.EncoderID("print")
	for _, c := range []struct {
		body string
		want map[string]any
	}{
		{`{"key":"` + long + `"}`, map[string]any{
			"key": long, "name": long, "enabled": true, "save_history": false, "queries_are_answers": false,
			"documents_are_questions": false, "chat_history_corpus": false, "encoder_name": "std", "encoder_id": encoder,
			"filter_attributes": []any{}, "custom_dimensions": []any{},
		}},
		{`{"key":"a","name":"Manuals","description":"","save_history":true,"queries_are_answers":true,"documents_are_questions":true,
			"encoder_name":"std","encoder_id":"enc_1","filter_attributes":[{"name":"y","level":"document","type":"real"},
			{"name":"z","level":"part","type":"list[real_number]","indexed":false,"description":"d"}],
			"custom_dimensions":[{"name":"boost","indexing_default":0.5}]}`, map[string]any{
			"key": "a", "name": "Manuals", "description": "", "enabled": true, "save_history": true, "queries_are_answers": true,
			"documents_are_questions": true, "chat_history_corpus": false, "encoder_name": "std", "encoder_id": encoder,
			"filter_attributes": []any{
				map[string]any{"name": "y", "level": "document", "type": "real", "indexed": true},
				map[string]any{"name": "z", "level": "part", "type": "list[real_number]", "indexed": false, "description": "d"},
			},
			"custom_dimensions": []any{map[string]any{"name": "boost", "indexing_default": 0.5, "querying_default": 0.0}},
		}},
	} {
		status, got := s.ask(t, "POST", "/v2/corpora", c.body)
		if status != 201 {
			t.Fatalf("%s: %d %v", c.body, status, got)
		}
		_, read := s.ask(t, "GET", "/v2/corpora/"+got["key"].(string), "")
		delete(read, "default_lexical_interpolation") // which the read alone has: TestShare
		if d := gocmp.Diff(got, read); d != "" {
			t.Errorf("create and read differ:\n%s", d)
		}
		id, _ := got["id"].(string)
		at, _ := got["created_at"].(string)
		if !strings.HasPrefix(id, "crp_") || !strings.HasSuffix(at, "Z") {
			t.Errorf("id %q, created_at %q", id, at)
		}
		c.want["id"], c.want["created_at"] = got["id"], got["created_at"]
		c.want["limits"] = map[string]any{"used_docs": 0.0, "used_parts": 0.0, "used_characters": 0.0, "max_metadata_bytes": 10485760.0}
		if d := gocmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.body, d)
		}
	}
}

// TestRefusals proves the status and the field or text of every refusal of these operations.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ask(t, "POST", "/v2/corpora", `{"key":"taken"}`)
	for _, c := range []struct {
		method, path, body string
		status             int
		field, text        string
	}{
		{"POST", "/v2/corpora", `{"key":"taken"}`, 409, "", "already exists"},
		{"POST", "/v2/corpora", `{"key":"a=b"}`, 400, "body.key", ""},
		{"POST", "/v2/corpora", `{"key":"ü"}`, 400, "body.key", ""},
		{"POST", "/v2/corpora", `{"key":"b","encoder_name":"other"}`, 400, "body.encoder_name", "other"},
		{"POST", "/v2/corpora", `{"key":"b","encoder_id":"enc_7"}`, 400, "body.encoder_id", ""},
		{"POST", "/v2/corpora", `{"key":"b","filter_attributes":[{"name":"x","level":"part","type":"text"},{"name":"x","level":"document","type":"text"}]}`, 400, "body.filter_attributes[1].name", "twice"},
		{"POST", "/v2/corpora", `{"key":"b","custom_dimensions":[{"name":"x"},{"name":"x"}]}`, 400, "body.custom_dimensions[1].name", "twice"},
		{"GET", "/v2/corpora/none", "", 404, "", "none"},
		{"PATCH", "/v2/corpora/none", `{"enabled":"no"}`, 404, "", "none"},
		{"DELETE", "/v2/corpora/none", "", 404, "", "none"},
		{"POST", "/v2/corpora/none/reset", "", 404, "", "none"},
		{"GET", "/v2/corpora?filter=(", "", 400, "query.filter", "missing closing )"},
		{"GET", "/v2/corpora?page_key=forged", "", 400, "query.page_key", ""},
		{"GET", "/v2/corpora?corpus_id=" + strings.Repeat("crp_1&corpus_id=", 1000) + "crp_1", "", 400, "query.corpus_id", "1000"},
	} {
		status, got := s.ask(t, c.method, c.path, c.body)
		fields, _ := got["field_errors"].(map[string]any)
		if status != c.status || c.field != "" && fields[c.field] == nil || !strings.Contains(fmt.Sprint(got["messages"]), c.text) {
			t.Errorf("%s %.60s %s: %d %v, want %d %s %s", c.method, c.path, c.body, status, got, c.status, c.field, c.text)
		}
		if status == 404 && got["id"] != "none" {
			t.Errorf("%s %s: id %v", c.method, c.path, got["id"])
		}
	}
}

// TestUpdate proves that absent and null keep, that "" is a value, and that members which can't change are ignored.
func TestUpdate(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ask(t, "POST", "/v2/corpora", `{"key":"a","name":"n","description":"d"}`)
	for _, c := range []struct {
		body string
		want map[string]any
	}{
		{``, map[string]any{"name": "n", "description": "d", "enabled": true, "save_history": false}},
		{`{"name":null,"description":null,"enabled":null,"save_history":null}`, map[string]any{"name": "n", "description": "d", "enabled": true, "save_history": false}},
		{`{"description":"","enabled":false}`, map[string]any{"name": "n", "description": "", "enabled": false, "save_history": false}},
		{`{"name":"m","save_history":true,"key":"z","filter_attributes":[1]}`, map[string]any{"name": "m", "description": "", "enabled": false, "save_history": true}},
	} {
		status, got := s.ask(t, "PATCH", "/v2/corpora/a", c.body)
		if status != 200 || got["key"] != "a" || got["limits"] == nil {
			t.Fatalf("%s: %d %v", c.body, status, got)
		}
		for member, want := range c.want {
			if got[member] != want {
				t.Errorf("%s: %s is %v, want %v", c.body, member, got[member], want)
			}
		}
	}
}

// TestDeleteAndReset proves that both answer 204, that a deleted corpus is gone and its key free, and that a reset one
// keeps its settings and loses its usage.
func TestDeleteAndReset(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ask(t, "POST", "/v2/corpora", `{"key":"a","name":"n"}`)
	s.store.all["a"] = func(c corpus.Corpus) corpus.Corpus { c.Usage.Documents = 7; return c }(s.store.all["a"])
	_, got := s.ask(t, "GET", "/v2/corpora/a", "")
	if got["limits"].(map[string]any)["used_docs"] != 7.0 {
		t.Fatalf("usage: %v", got)
	}
	if status, body := s.ask(t, "POST", "/v2/corpora/a/reset", ""); status != 204 || body != nil {
		t.Errorf("reset: %d %v", status, body)
	}
	if _, got = s.ask(t, "GET", "/v2/corpora/a/", ""); got["name"] != "n" || got["limits"].(map[string]any)["used_docs"] != 0.0 {
		t.Errorf("after reset: %v", got)
	}
	if status, body := s.ask(t, "DELETE", "/v2/corpora/a", "{}"); status != 204 || body != nil {
		t.Errorf("delete: %d %v", status, body)
	}
	if status, _ := s.ask(t, "GET", "/v2/corpora/a", ""); status != 404 {
		t.Errorf("after delete: %d", status)
	}
	if status, _ := s.ask(t, "POST", "/v2/corpora", `{"key":"a"}`); status != 201 {
		t.Errorf("the key is not free: %d", status)
	}
}

// TestList proves order, pages, filters, that filters come from the page key when left out, and that a page key
// refuses other filters.
func TestList(t *testing.T) {
	t.Parallel()
	s := start(t)
	ids := map[string]string{}
	for i := range 12 {
		_, c := s.ask(t, "POST", "/v2/corpora", fmt.Sprintf(`{"key":"c%02d","description":"group %d"}`, i, i%2))
		ids[c["key"].(string)] = c["id"].(string)
	}
	list := func(query string) (keys, next string) {
		t.Helper()
		status, got := s.ask(t, "GET", "/v2/corpora"+query, "")
		if status != 200 {
			t.Fatalf("%s: %d %v", query, status, got)
		}
		for _, c := range got["corpora"].([]any) {
			keys += " " + c.(map[string]any)["key"].(string)
		}
		next, _ = got["metadata"].(map[string]any)["page_key"].(string)
		return strings.TrimSpace(keys), next
	}
	first, next := list("")
	if first != "c11 c10 c09 c08 c07 c06 c05 c04 c03 c02" || next == "" {
		t.Errorf("first page %s, next %q", first, next)
	}
	if rest, end := list("?page_key=" + next); rest != "c01 c00" || end != "" {
		t.Errorf("second page %s, next %q", rest, end)
	}
	odd, next := list("?limit=4&filter=" + "p%201$")
	if odd != "c11 c09 c07 c05" {
		t.Errorf("filtered page: %s", odd)
	}
	if rest, end := list("?limit=4&page_key=" + next); rest != "c03 c01" || end != "" {
		t.Errorf("filter left out: %s, next %q", rest, end)
	}
	if status, got := s.ask(t, "GET", "/v2/corpora?filter=other&page_key="+next, ""); status != 400 {
		t.Errorf("another filter with a page key: %d %v", status, got)
	}
	if some, _ := list("?corpus_id=" + ids["c03"] + "&corpus_id=" + ids["c08"] + "&corpus_id=crp_1"); some != "c08 c03" {
		t.Errorf("by id: %s", some)
	}
	if none, _ := list("?filter=C0"); none != "" {
		t.Errorf("the filter ignores case: %s", none)
	}
}
