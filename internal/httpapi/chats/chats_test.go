package chats_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"quarry/internal/chat"
	"quarry/internal/clock"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/chats"
	"quarry/internal/id"
	"quarry/internal/identity/authz"
	"quarry/internal/page"
	"quarry/internal/store"
	sqlchats "quarry/internal/store/chats"
	"quarry/internal/store/corpora"
	"quarry/internal/store/storetest"
)

// callers are principals by their key.
var callers = map[string]authz.Principal{
	"owner":  {Kind: authz.User, ID: "u1", APIRoles: []string{"owner"}},
	"corpus": {Kind: authz.APIKey, ID: "k1", CorpusRoles: map[string][]string{"a": {"viewer"}}},
}

// asked answers createChatTurn with the chat that the resolver has found.
type asked struct{}

func (asked) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{"createChatTurn": func(w http.ResponseWriter, _ *http.Request, c *httpapi.Call) error {
		return httpapi.WriteJSON(w, http.StatusOK, c.Found)
	}}
}

// service is the handlers over a database of its own.
type service struct {
	*httpapi.Server
	rows    *sqlchats.Store
	corpora *corpora.Store
}

func open(t *testing.T) *service {
	t.Helper()
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	rows := sqlchats.New(db)
	kept := chat.New(chat.Config{Store: rows})
	server, err := httpapi.New(httpapi.Config{
		Authenticate: func(_ context.Context, c httpapi.Credential) (authz.Principal, error) { return callers[c.Secret], nil },
		Areas:        []httpapi.Area{chats.New(kept, page.NewCursors(make([]byte, 32))), asked{}}, Resolvers: chats.Resolvers(kept),
		Log: slog.New(slog.DiscardHandler), MaxJSON: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &service{server, rows, corpora.New(db)}
}

// call sends a request and returns status and body, an object where there is one.
func (s *service) call(t *testing.T, caller, method, path, body string) (int, map[string]any) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("X-Api-Key", caller)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	var out map[string]any
	if text := w.Body.Bytes(); len(text) > 0 {
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatalf("%s %s answers %q", method, path, text)
		}
	}
	return w.Code, out
}

// chat opens a chat of n turns that searched corpora.
func (s *service) chat(t *testing.T, n int, corpora ...int64) (turns []chat.Turn) {
	t.Helper()
	c, first := id.NewChat()
	for i := range n {
		turn := chat.Turn{ID: first, ChatID: c, Question: fmt.Sprint("q", i), Answer: fmt.Sprint("a", i), Enabled: true, Created: clock.Now()}
		write := s.rows.Open
		if i > 0 {
			write, turn.ID = s.rows.Add, id.NewTurn()
		}
		if err := write(t.Context(), turn, corpora); err != nil {
			t.Fatal(err)
		}
		turns = append(turns, turn)
	}
	return turns
}

// TestMissing proves that an unknown chat, an unknown turn and a turn of another chat are 404 with the id that is missing,
// before the body is read.
func TestMissing(t *testing.T) {
	t.Parallel()
	s := open(t)
	one, other := s.chat(t, 2, 1), s.chat(t, 1, 1)
	mine := "/v2/chats/" + string(one[0].ChatID)
	for _, c := range []struct{ method, path, missing string }{
		{"GET", "/v2/chats/cht_none", "cht_none"},
		{"GET", "/v2/chats/%20x", " x"},
		{"DELETE", "/v2/chats/cht_none", "cht_none"},
		{"GET", "/v2/chats/cht_none/turns", "cht_none"},
		{"POST", "/v2/chats/cht_none/turns", "cht_none"},
		{"GET", "/v2/chats/cht_none/turns/" + string(one[1].ID), "cht_none"},
		{"GET", mine + "/turns/trn_none", "trn_none"},
		{"GET", mine + "/turns/" + string(other[0].ID), string(other[0].ID)},
		{"DELETE", mine + "/turns/" + string(other[0].ID), string(other[0].ID)},
		{"PATCH", mine + "/turns/" + string(other[0].ID), string(other[0].ID)},
	} {
		body := ""
		if c.method == "POST" || c.method == "PATCH" {
			body = `{"enabled": bro`
		}
		status, got := s.call(t, "owner", c.method, c.path, body)
		if status != http.StatusNotFound || got["id"] != c.missing {
			t.Errorf("%s %s: %d %v, want 404 of %s", c.method, c.path, status, got, c.missing)
		}
	}
}

// TestTurns proves what the operations on turns answer and leave: disabling reaches the chat, enabling is refused, a body of
// nothing changes nothing, and a turn takes the later ones along.
func TestTurns(t *testing.T) {
	t.Parallel()
	s := open(t)
	all := s.chat(t, 3, 1)
	path := "/v2/chats/" + string(all[0].ChatID)
	turn := func(i int) string { return path + "/turns/" + string(all[i].ID) }
	list := func(want string) {
		t.Helper()
		_, got := s.call(t, "owner", "GET", path+"/turns?limit=none", "")
		var text []string
		found, _ := got["turns"].([]any)
		for _, x := range found {
			x, _ := x.(map[string]any)
			text = append(text, fmt.Sprint(x["query"], x["answer"], x["enabled"]))
		}
		if got := strings.Join(text, " "); got != want {
			t.Errorf("turns are %s, want %s", got, want)
		}
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		after              string
	}{
		{"PATCH", turn(1), `{}`, 200, "q0a0true q1a1true q2a2true"},
		{"PATCH", turn(1), ``, 200, "q0a0true q1a1true q2a2true"},
		{"PATCH", turn(1), `{"enabled":true}`, 400, "q0a0true q1a1true q2a2true"},
		{"PATCH", turn(1), `{"enabled":"no"}`, 400, "q0a0true q1a1true q2a2true"},
		{"PATCH", turn(1), `{"enabled":false}`, 200, "q0a0true q1a1false q2a2false"},
		{"DELETE", turn(2), ``, 204, "q0a0true q1a1false"},
		{"PATCH", turn(0), `{"enabled":false}`, 200, "q0a0false q1a1false"},
		{"DELETE", turn(0), ``, 204, ""},
	} {
		status, got := s.call(t, "owner", c.method, c.path, c.body)
		if fields, _ := got["field_errors"].(map[string]any); status != c.status || status == 400 && fields["body.enabled"] == nil {
			t.Errorf("%s %s %s: %d %v, want %d", c.method, c.path, c.body, status, got, c.status)
		}
		list(c.after)
	}
	if status, _ := s.call(t, "owner", "GET", path, ""); status != http.StatusNotFound {
		t.Errorf("the chat without its first turn: %d", status)
	}
}

// TestList proves that the list has a thousand chats unless told otherwise, that pages follow one another, and that a token of
// another list is refused.
func TestList(t *testing.T) {
	t.Parallel()
	s := open(t)
	for range 1003 {
		s.chat(t, 1, 1)
	}
	for query, want := range map[string]int{"": 1000, "?limit=10000": 1003, "?limit=2": 2} {
		_, got := s.call(t, "owner", "GET", "/v2/chats"+query, "")
		if found, _ := got["chats"].([]any); len(found) != want {
			t.Errorf("%q lists %d chats, want %d", query, len(found), want)
		}
	}
	seen, key := map[any]bool{}, ""
	for range 3 {
		_, got := s.call(t, "owner", "GET", "/v2/chats?limit=400&page_key="+key, "")
		found, _ := got["chats"].([]any)
		for _, c := range found {
			c, _ := c.(map[string]any)
			seen[c["id"]] = true
		}
		metadata, _ := got["metadata"].(map[string]any)
		key, _ = metadata["page_key"].(string)
	}
	if len(seen) != 1003 || key != "" {
		t.Errorf("three pages have %d chats, and go on at %q", len(seen), key)
	}
	for _, query := range []string{"limit=0", "limit=10001", "limit=x", "page_key=x"} {
		if status, got := s.call(t, "owner", "GET", "/v2/chats?"+query, ""); status != http.StatusBadRequest {
			t.Errorf("%s: %d %v", query, status, got)
		}
	}
}

// TestReaders proves that whoever has corpus roles alone goes on with chats over those corpora, and that other chats are not
// there for it.
func TestReaders(t *testing.T) {
	t.Parallel()
	s := open(t)
	var rows []int64
	for _, key := range []string{"a", "b"} {
		c, err := s.corpora.Create(t.Context(), storetest.Corpus(key))
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, c.No)
	}
	own, foreign := s.chat(t, 1, rows[0])[0].ChatID, s.chat(t, 1, rows...)[0].ChatID
	const body = `{"query":"q","search":{"corpora":[{"corpus_key":"a"}]}}`
	for _, c := range []struct {
		caller string
		chat   id.Chat
		want   int
	}{
		{"owner", own, 200}, {"owner", foreign, 200}, {"corpus", own, 200}, {"corpus", foreign, 404},
	} {
		if status, got := s.call(t, c.caller, "POST", "/v2/chats/"+string(c.chat)+"/turns", body); status != c.want {
			t.Errorf("%s: %d %v, want %d", c.caller, status, got, c.want)
		}
	}
	if status, _ := s.call(t, "corpus", "GET", "/v2/chats/"+string(own), ""); status != http.StatusForbidden {
		t.Errorf("reading a chat with a corpus role: %d, want 403", status)
	}
}
