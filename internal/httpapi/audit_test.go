package httpapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/identity/audit"
	"quarry/internal/identity/authz"
	"quarry/internal/origin"
)

// record keeps what the chain records and the order in which things happened.
type record struct {
	mu     sync.Mutex
	order  []string      // guarded by mu
	events []audit.Event // guarded by mu; those settled carry their status
	fail   error
}

func (a *record) add(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.order = append(a.order, fmt.Sprintf(format, args...))
}

func (a *record) Intend(_ context.Context, e audit.Event) (id.Audit, error) {
	a.add("intend %s", e.Action)
	if a.fail != nil {
		return "", a.fail
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	e.ID = id.Audit(fmt.Sprint(len(a.events)))
	a.events = append(a.events, e)
	return e.ID, nil
}

func (a *record) SetOutcome(_ context.Context, event id.Audit, status int, made map[string]string) {
	a.add("settle %d", status)
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.events {
		if a.events[i].ID == event {
			a.events[i].Status = status
			maps.Copy(a.events[i].Target, made)
		}
	}
}

func (a *record) Note(_ context.Context, e audit.Event) {
	a.add("note %s %d", e.Action, e.Status)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, e)
}

// audited returns a function that sends a request as the owner and returns the status, what was recorded in which order,
// and the events.
func audited(t *testing.T, content bool, handlers area) func(r *http.Request) (int, string, []audit.Event) {
	t.Helper()
	return func(r *http.Request) (int, string, []audit.Event) {
		a := &record{}
		s := auditing(t, a, content, handlers)
		w := httptest.NewRecorder()
		if r.Header.Get("X-Api-Key") == "" {
			r.Header.Set("X-Api-Key", ownerKey)
		}
		func() {
			defer func() { // as net/http does
				if p := recover(); p != nil && p != http.ErrAbortHandler {
					panic(p)
				}
			}()
			s.ServeHTTP(w, r)
		}()
		return w.Code, strings.Join(a.order, ", "), a.events
	}
}

func auditing(t *testing.T, a *record, content bool, handlers area) *httpapi.Server {
	t.Helper()
	trusted, err := origin.ParseProxies([]string{"2001:db8::7"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := httpapi.New(httpapi.Config{
		Authenticate: authenticate, Areas: []httpapi.Area{handlers}, Resolvers: map[string]httpapi.Resolver{"corpus_key": missing},
		Log: slog.New(slog.DiscardHandler), MaxJSON: 1 << 20, Audit: a, AuditContent: content, TrustedProxies: trusted,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func request(t *testing.T, method, path, body string) *http.Request {
	t.Helper()
	return httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
}

// TestWhatIsRecorded proves which operations are recorded, before and after or afterwards, with which outcome.
func TestWhatIsRecorded(t *testing.T) {
	t.Parallel()
	answer := func(status int) httpapi.Handler {
		return func(w http.ResponseWriter, _ *http.Request, _ *httpapi.Call) error {
			w.WriteHeader(status)
			return nil
		}
	}
	handlers := area{
		"createCorpus": answer(201), "deleteCorpus": answer(204), "listCorpora": answer(200), "queryCorpus": answer(200),
		"createCorpusDocument": answer(201), "updateCorpus": func(http.ResponseWriter, *http.Request, *httpapi.Call) error {
			return fault.Conflict("corpus_changed", "changed meanwhile")
		},
		"resetCorpus": func(http.ResponseWriter, *http.Request, *httpapi.Call) error { panic("of a handler") },
		"createUser":  func(http.ResponseWriter, *http.Request, *httpapi.Call) error { return errors.New("disk on fire") },
		"signIn":      answer(200),
		"setPassword": func(http.ResponseWriter, *http.Request, *httpapi.Call) error {
			return fault.Unauthenticated("wrong code")
		},
		"getOAuthToken": answer(200),
		"deleteUser": func(w http.ResponseWriter, _ *http.Request, _ *httpapi.Call) error {
			_, _ = io.WriteString(w, "half an")
			panic("in an answer")
		},
		"deleteApiKey": func(_ http.ResponseWriter, r *http.Request, _ *httpapi.Call) error {
			<-r.Context().Done()
			return r.Context().Err()
		},
		"updateApiKey": func(http.ResponseWriter, *http.Request, *httpapi.Call) error { return nil },
	}
	const signIn = `{"username":"ann","password":"p"}`
	for _, c := range []struct {
		name, method, path, body, key string
		content                       bool
		want                          string
	}{
		{"create", "POST", "/v2/corpora", `{"key":"a"}`, "", false, "intend createCorpus, settle 201"},
		{"no content", "DELETE", "/v2/corpora/a", "", "", false, "intend deleteCorpus, settle 204"},
		{"refused by the handler", "PATCH", "/v2/corpora/a", `{}`, "", false, "intend updateCorpus, settle 409"},
		{"failed", "POST", "/v2/users", `{"email":"a@b.test"}`, "", false, "intend createUser, settle 500"},
		{"panic", "POST", "/v2/corpora/a/reset", "", "", false, "intend resetCorpus, settle 500"},
		{"panic in an answer", "DELETE", "/v2/users/a", "", "", false, "intend deleteUser, settle 500"},
		{"an answer without a word", "PATCH", "/v2/api_keys/a", `{"enabled":true}`, "", false, "intend updateApiKey, settle 200"},
		{"reading", "GET", "/v2/corpora", "", "", true, ""},
		{"head", "HEAD", "/v2/corpora", "", "", true, ""},
		{"query", "POST", "/v2/corpora/a/query", `{"query":"x","search":{}}`, "", true, ""},
		{"document", "POST", "/v2/corpora/a/documents", `{"id":"d","type":"core","document_parts":[{"text":"t"}]}`, "", false, ""},
		{"document, by the setting", "POST", "/v2/corpora/a/documents", `{"id":"d","type":"core","document_parts":[{"text":"t"}]}`, "", true, "intend createCorpusDocument, settle 201"},
		{"not found", "DELETE", "/v2/corpora/gone", "", "", false, ""},
		{"malformed", "POST", "/v2/corpora", `{"key":`, "", false, ""},
		{"not built", "DELETE", "/v2/app_clients/a", "", "", false, ""},
		{"unknown path", "POST", "/v2/nothing", "", "", false, ""},
		{"wrong method", "PUT", "/v2/corpora", "", "", false, ""},
		{"role missing", "POST", "/v2/corpora", `{"key":"a"}`, noneKey, false, "note createCorpus 403"},
		{"role missing, not built", "DELETE", "/v2/app_clients/a", "", noneKey, false, "note deleteAppClient 403"},
		{"role missing, reading", "GET", "/v2/corpora", "", noneKey, false, ""},
		{"wrong key", "DELETE", "/v2/corpora/a", "", "wrong", false, "note deleteCorpus 401"},
		{"wrong key, reading", "GET", "/v2/corpora", "", "wrong", false, ""},
		{"sign-in", "POST", "/v2/sign_in", signIn, "", false, "note signIn 200"},
		{"sign-in, malformed", "POST", "/v2/sign_in", `{"username":7}`, "", false, "note signIn 400"},
		{"password, wrong code", "POST", "/v2/set_password", `{"username":"ann","one_time_code":"c","password":"correct horse battery"}`, "", false, "note setPassword 401"},
		{"token", "POST", "/oauth/token", `{"grant_type":"client_credentials"}`, "", false, ""},
	} {
		ask := audited(t, c.content, handlers)
		r := request(t, c.method, c.path, c.body)
		if c.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		if c.key != "" {
			r.Header.Set("X-Api-Key", c.key)
		}
		if status, got, _ := ask(r); got != c.want {
			t.Errorf("%s: %q with status %d, want %q", c.name, got, status, c.want)
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, got, _ := audited(t, false, handlers)(request(t, "DELETE", "/v2/api_keys/a", "").WithContext(ctx)); got != "intend deleteApiKey" {
		t.Errorf("the client left without an answer: %q, want an outcome that stays unknown", got)
	}
}

// TestUnrecorded proves that of what a client returns of a call nothing is recorded but that it did: it may repeat a secret that the call
// was given, in whatever form.
func TestUnrecorded(t *testing.T) {
	t.Parallel()
	body := `{"type":"tool_output","tool_outputs":[{"type":"success","event_id":"aev_1","output":{"said":"hush","deep":[{"n":1}]}},{"type":"error","event_id":"aev_2","error":"hush"}]}`
	_, _, events := audited(t, true, area{"createAgentInput": seen})(request(t, "POST", "/v2/agents/a/sessions/s/events", body))
	if len(events) != 1 {
		t.Fatalf("%d events", len(events))
	}
	if got := string(events[0].Changes); strings.Contains(got, "hush") || !strings.Contains(got, "aev_1") || !strings.Contains(got, "aev_2") {
		t.Errorf("recorded: %s", got)
	}
}

// TestEvent proves what an event holds of a request, and that no secret is in it.
func TestEvent(t *testing.T) {
	t.Parallel()
	const secret = "zut_0123456789abcdefghijABCDEFGHIJ01234567"
	body := `{"email":"ann@x.test","username":"` + secret + `","metadata":{"team":"blue","api_key":"hush-1"},"pasword":"hush-2","description":"\u0000\ud83d\ude00"}`
	r := request(t, "PATCH", "/v2/users/ann%40x.test", body)
	r.RemoteAddr = "[2001:db8::7%25eth0]:4711"
	r.Header.Set("X-Forwarded-For", "198.51.100.1")
	_, _, events := audited(t, false, area{"updateUser": seen})(r)
	if len(events) != 0 {
		t.Errorf("a body with NUL was recorded: %+v", events)
	}
	r = request(t, "PATCH", "/v2/users/ann%40x.test", strings.Replace(body, `\u0000`, "", 1))
	r.RemoteAddr = "[2001:db8::7]:4711"
	r.Header.Set("X-Forwarded-For", "198.51.100.1")
	status, _, events := audited(t, false, area{"updateUser": seen})(r)
	if len(events) != 1 {
		t.Fatalf("%d events, status %d", len(events), status)
	}
	e := events[0]
	if len(e.RequestID) != 32 || e.Status != 200 {
		t.Errorf("request id %q, status %d", e.RequestID, e.Status)
	}
	if bytes.Contains(e.Changes, []byte("hush")) || bytes.Contains(e.Changes, []byte(secret)) {
		t.Errorf("a secret is recorded: %s", e.Changes)
	}
	e.ID, e.RequestID, e.Changes, e.Status, e.At = "", "", nil, 0, time.Time{}
	want := audit.Event{
		Action: "updateUser", Target: map[string]string{"username": "ann@x.test"}, Address: "198.51.100.1",
		Actor: audit.Actor{Kind: authz.User, ID: "usr_" + ownerKey},
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Error("event (-want +got):", diff)
	}
}

// TestHostileTargets proves that what a path or query names is recorded cut, masked and as text, whatever it is.
func TestHostileTargets(t *testing.T) {
	t.Parallel()
	ask := audited(t, false, area{})
	for _, c := range []struct{ path, parameter, want string }{
		{"/v2/users/" + strings.Repeat("n", 10<<10), "username", strings.Repeat("n", 256) + "… (10240 bytes)"},
		{"/v2/users/a%00%ffb", "username", "a\x00\uFFFDb"},
		{"/v2/users/zut_0123456789abcdefghijABCDEFGHIJ01234567", "username", "zut_****"},
		{"/v2/users/..%2f..", "username", "../.."},
	} {
		r := request(t, "DELETE", c.path, "")
		r.Header.Set("X-Api-Key", noneKey)
		_, did, events := ask(r)
		if did != "note deleteUser 403" || events[0].Target[c.parameter] != c.want {
			t.Errorf("%.40s: %s, target %.300q", c.path, did, events[0].Target)
		}
	}
}

// TestNamedBesideThePath proves that an event holds query parameters of the contract, what a handler reports that its body
// names or that it made, and no parameter that the contract doesn't know.
func TestNamedBesideThePath(t *testing.T) {
	t.Parallel()
	handlers := area{
		"bulkDeleteCorpusDocuments": seen,
		"createApiKey": func(w http.ResponseWriter, _ *http.Request, c *httpapi.Call) error {
			c.Named = map[string]string{"api_key_id": "aky_1"}
			w.WriteHeader(http.StatusCreated)
			return nil
		},
		"getOAuthToken": func(_ http.ResponseWriter, _ *http.Request, c *httpapi.Call) error {
			c.Named = map[string]string{"client_id": "app-1", "typed": "zcs_0123456789abcdefghijABCDEFGHIJ01234567"}
			return fault.Unauthenticated("wrong secret")
		},
	}
	for _, c := range []struct {
		method, path, body string
		want               map[string]string
	}{
		{"POST", "/v2/api_keys", `{"name": "a"}`, map[string]string{"api_key_id": "aky_1"}},
		{"DELETE", "/v2/corpora/a/documents?document_ids=x&document_ids=y&key=hush&metadata_filter=doc.a%3D1", "",
			map[string]string{"corpus_key": "a", "query.document_ids": "x,y", "query.metadata_filter": "doc.a=1"}},
		{"POST", "/oauth/token?client_secret=hush", "", map[string]string{"client_id": "app-1", "typed": "zcs_****"}},
	} {
		_, did, events := audited(t, false, handlers)(request(t, c.method, c.path, c.body))
		if len(events) != 1 {
			t.Fatalf("%s: %s", c.path, did)
		}
		if diff := cmp.Diff(c.want, events[0].Target); diff != "" {
			t.Errorf("%s (-want +got): %s", c.path, diff)
		}
	}
}

// TestUnrecordedIsRefused proves that a change which can't be recorded is not made, and that reading goes on.
func TestUnrecordedIsRefused(t *testing.T) {
	t.Parallel()
	ran := false
	run := func(w http.ResponseWriter, _ *http.Request, _ *httpapi.Call) error {
		ran = true
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	a := &record{fail: fault.Unavailable("audit_unavailable", "nothing was changed").After(5 * time.Second)}
	s := auditing(t, a, false, area{"deleteCorpus": run, "listCorpora": seen})
	ask := func(method, path string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), request(t, method, path, "")
		r.Header.Set("X-Api-Key", ownerKey)
		s.ServeHTTP(w, r)
		return w
	}
	w := ask("DELETE", "/v2/corpora/a")
	if w.Code != http.StatusServiceUnavailable || ran || !strings.Contains(w.Body.String(), "audit_unavailable") || w.Header().Get("Retry-After") != "5" {
		t.Errorf("%d %s, changed: %v; want 503 and no change", w.Code, w.Body, ran)
	}
	if w := ask("GET", "/v2/corpora"); w.Code != http.StatusOK {
		t.Errorf("reading: %d %s", w.Code, w.Body)
	}
}
