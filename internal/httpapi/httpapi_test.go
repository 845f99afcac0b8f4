package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/identity/authz"
)

// area is handlers given in place.
type area map[string]httpapi.Handler

func (a area) Handlers() map[string]httpapi.Handler { return a }

// seen answers with what the handler was given.
func seen(w http.ResponseWriter, _ *http.Request, c *httpapi.Call) error {
	return httpapi.WriteJSON(w, http.StatusOK, map[string]any{"op": c.Op.ID, "path": c.Path, "query": c.Query, "body": c.Body})
}

// logBuffer collects log lines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// The keys that authenticate knows.
const (
	ownerKey  = "zut_owner"
	viewerKey = "zut_viewer" // viewer of corpus mine alone
	noneKey   = "zut_none"   // no role
)

func authenticate(_ context.Context, c httpapi.Credential) (authz.Principal, error) {
	secret := c.Secret
	p := authz.Principal{Kind: authz.User, ID: "usr_" + secret}
	switch secret {
	case ownerKey:
		p.APIRoles = []string{"owner"}
	case viewerKey:
		p.CorpusRoles = map[string][]string{"mine": {"viewer"}}
	case noneKey:
	case "broken":
		return p, errors.New("the disk is on fire")
	default:
		return authz.Principal{}, fault.Unauthenticated("the API key is unknown")
	}
	return p, nil
}

// missing resolves every corpus but "gone".
func missing(_ context.Context, c *httpapi.Call) error {
	if key := c.Path["corpus_key"]; key == "gone" {
		return fault.NotFound("corpus_not_found", key, "corpus '%s' does not exist", key)
	}
	return nil
}

// service is a running server with its log.
type service struct {
	*httptest.Server
	log *logBuffer
}

func start(t *testing.T, handlers area) *service {
	t.Helper()
	return startLimited(t, handlers, httpapi.Limits{})
}

func startLimited(t *testing.T, handlers area, l httpapi.Limits) *service {
	t.Helper()
	return startSized(t, handlers, l, 1<<16)
}

func startSized(t *testing.T, handlers area, l httpapi.Limits, maxJSON int64) *service {
	t.Helper()
	log := &logBuffer{}
	srv := httptest.NewServer(sizedServer(t, handlers, l, log, maxJSON))
	t.Cleanup(srv.Close)
	return &service{srv, log}
}

func sizedServer(t *testing.T, handlers area, l httpapi.Limits, log io.Writer, maxJSON int64) *httpapi.Server {
	t.Helper()
	s, err := httpapi.New(httpapi.Config{
		Authenticate: authenticate, Areas: []httpapi.Area{handlers}, Limits: l,
		Resolvers: map[string]httpapi.Resolver{"corpus_key": missing},
		Log:       slog.New(slog.NewTextHandler(log, nil)), MaxJSON: maxJSON, MaxUpload: 1 << 20,
		Ready: func() bool { return true }, SlowestReader: 200 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// reply is an answer with its body read.
type reply struct {
	*http.Response
	raw  string
	body struct {
		Op          string            `json:"op"`
		Path        map[string]string `json:"path"`
		Query       map[string][]string
		Body        json.RawMessage
		FieldErrors map[string]string `json:"field_errors"`
		ID          *string           `json:"id"`
		Messages    []string          `json:"messages"`
		Code        string            `json:"code"`
		RequestID   string            `json:"request_id"`
	}
}

// ask sends a request as the owner; header lines ("Name: value") come on top, "+Name: value" adds one more, "X-Api-Key:"
// removes the key.
func (s *service) ask(t *testing.T, method, path, body string, header ...string) *reply {
	t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, in)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", ownerKey)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ":")
		if value = strings.TrimSpace(value); value == "" {
			r.Header.Del(name)
			continue
		}
		if more, ok := strings.CutPrefix(name, "+"); ok {
			r.Header.Add(more, value)
			continue
		}
		r.Header.Set(name, value)
	}
	res, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := &reply{Response: res, raw: string(raw)}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") && len(raw) > 0 {
		if err := json.Unmarshal(raw, &out.body); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, raw)
		}
	}
	for _, h := range []string{"Cache-Control", "CDN-Cache-Control"} {
		if res.Header.Get(h) != "no-store" {
			t.Errorf("%s %s: header %s is %q, want no-store", method, path, h, res.Header.Get(h))
		}
	}
	if id := res.Header.Get("X-Request-Id"); len(id) != 32 || out.body.RequestID != "" && out.body.RequestID != id {
		t.Errorf("%s %s: request id %q in the header, %q in the body", method, path, id, out.body.RequestID)
	}
	return out
}

// TestNewRefusesWhatCannotServe proves that a handler for an unknown operation and a second handler stop the start.
func TestNewRefusesWhatCannotServe(t *testing.T) {
	t.Parallel()
	for name, areas := range map[string][]httpapi.Area{
		"unknown operation": {area{"paintCorpus": seen}},
		"two handlers":      {area{"getCorpus": seen}, area{"getCorpus": seen}},
		"own operation":     {area{"healthz": seen}},
	} {
		if _, err := httpapi.New(httpapi.Config{Areas: areas}); err == nil {
			t.Errorf("%s: the server starts", name)
		}
	}
}

// TestBuilt proves that Built lists what has a handler and nothing else, in contract order.
func TestBuilt(t *testing.T) {
	t.Parallel()
	s, err := httpapi.New(httpapi.Config{Areas: []httpapi.Area{area{"getCorpus": seen, "createCorpus": seen}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(s.Built(), " "), "health healthz readyz createCorpus getCorpus"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestEveryOperationAnswersByItsOwnRoute proves that each path and method of the contract leads to its operation:
// without a handler every one of them answers 501 with its own name.
func TestEveryOperationAnswersByItsOwnRoute(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	for _, op := range api.Operations {
		if op.Tag == "Service" {
			continue
		}
		path := op.Path
		for _, p := range op.Params {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", "x1")
		}
		got := s.ask(t, op.Method, path, "")
		if got.StatusCode != http.StatusNotImplemented || !strings.Contains(got.raw, op.ID+" (") {
			t.Errorf("%s %s: %d %s, want 501 of %s", op.Method, path, got.StatusCode, got.raw, op.ID)
		}
	}
}

// TestServiceOperations proves that health needs no key and that health follows readiness.
func TestServiceOperations(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	for _, path := range []string{"/healthz", "/readyz", "/healthz/", "/health"} {
		if got := s.ask(t, "GET", path, "", "X-Api-Key:"); got.StatusCode != 200 || got.raw != `{"status":"ok"}`+"\n" {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.raw)
		}
	}
	if got := s.ask(t, "HEAD", "/healthz", "", "X-Api-Key:"); got.StatusCode != 200 || got.raw != "" {
		t.Errorf("HEAD: %d %q", got.StatusCode, got.raw)
	}
	cold, err := httpapi.New(httpapi.Config{Ready: func() bool { return false }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	cold.ServeHTTP(w, httptest.NewRequest("GET", "/healthz", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("health before readiness: %d, want 503", w.Code)
	}
	warming, err := httpapi.New(httpapi.Config{Ready: func() bool { return true }, Warm: func() bool { return false }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable} {
		w := httptest.NewRecorder()
		warming.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want {
			t.Errorf("%s while indexes are brought up: %d, want %d", path, w.Code, want)
		}
	}
}
