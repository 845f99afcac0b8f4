package httpapi_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"quarry/internal/httpapi"
)

// TestOrderOfRefusal proves the order 401, 403, 501, 404, 415, 400: each request has every later flaw as well.
func TestOrderOfRefusal(t *testing.T) {
	t.Parallel()
	s := start(t, area{"createCorpusDocument": seen, "queryCorpus": seen})
	const built, unbuilt = "/v2/corpora/gone/documents?wait_for=never", "/v2/corpora/gone/replace_filter_attributes?limit=x"
	for _, c := range []struct {
		name, path, key, kind string
		status                int
		code                  string
	}{
		{"no key beats all", unbuilt, "X-Api-Key:", "text/plain", 401, "unauthorized"},
		{"unknown key beats all", unbuilt, "X-Api-Key: wrong", "text/plain", 401, "unauthorized"},
		{"role beats not built", unbuilt, "X-Api-Key: " + noneKey, "text/plain", 403, "forbidden"},
		{"role beats missing corpus", built, "X-Api-Key: " + viewerKey, "text/plain", 403, "forbidden"},
		{"not built beats missing corpus", unbuilt, "X-Api-Key: " + ownerKey, "text/plain", 501, "not_built"},
		{"missing corpus beats media type", built, "X-Api-Key: " + ownerKey, "text/plain", 404, "corpus_not_found"},
		{"media type beats body", strings.Replace(built, "gone", "mine", 1), "X-Api-Key: " + ownerKey, "text/plain", 415, "unsupported_media_type"},
		{"query and body come last", strings.Replace(built, "gone", "mine", 1), "X-Api-Key: " + ownerKey, "application/json", 400, "invalid_request"},
	} {
		got := s.ask(t, "POST", c.path, `{"type":`, c.key, "Content-Type: "+c.kind, "Request-Timeout: 0")
		if got.StatusCode != c.status || got.body.Code != c.code {
			t.Errorf("%s: %d %s, want %d %s", c.name, got.StatusCode, got.raw, c.status, c.code)
		}
		if (got.body.FieldErrors != nil) != (c.status == 400) {
			t.Errorf("%s: field_errors in %s", c.name, got.raw)
		}
	}
}

// TestCredentials proves that x-api-key decides alone and that a bearer token works without it.
func TestCredentials(t *testing.T) {
	t.Parallel()
	s := start(t, area{"listCorpora": seen})
	for _, c := range []struct {
		name   string
		header []string
		status int
	}{
		{"key", nil, 200},
		{"bearer", []string{"X-Api-Key:", "Authorization: Bearer " + ownerKey}, 200},
		{"bearer in another case", []string{"X-Api-Key:", "Authorization: bearer  " + ownerKey}, 200},
		{"key with a dummy bearer", []string{"Authorization: Bearer dummy"}, 200},
		{"wrong key with a good bearer", []string{"X-Api-Key: no", "Authorization: Bearer " + ownerKey}, 401},
		{"basic", []string{"X-Api-Key:", "Authorization: Basic " + ownerKey}, 401},
		{"bearer without token", []string{"X-Api-Key:", "Authorization: Bearer"}, 401},
		{"two keys", []string{"+X-Api-Key: " + noneKey}, 401},
		{"two bearers", []string{"X-Api-Key:", "Authorization: Bearer " + ownerKey, "+Authorization: Bearer " + ownerKey}, 401},
		{"key with two bearers", []string{"Authorization: Bearer a", "+Authorization: Bearer b"}, 200},
		{"nothing", []string{"X-Api-Key:"}, 401},
		{"no role", []string{"X-Api-Key: " + noneKey}, 403},
		{"broken storage", []string{"X-Api-Key: broken"}, 500},
	} {
		got := s.ask(t, "GET", "/v2/corpora", "", c.header...)
		if got.StatusCode != c.status {
			t.Errorf("%s: %d %s, want %d", c.name, got.StatusCode, got.raw, c.status)
		}
		if (got.Header.Get("WWW-Authenticate") != "") != (c.status == 401) {
			t.Errorf("%s: WWW-Authenticate is %q", c.name, got.Header.Get("WWW-Authenticate"))
		}
		if strings.Contains(got.raw, "fire") {
			t.Errorf("%s: the client sees the cause: %s", c.name, got.raw)
		}
	}
	if log := s.log.String(); strings.Contains(log, ownerKey+" ") || strings.Contains(log, "=wrong") || !strings.Contains(log, "the disk is on fire") {
		t.Errorf("the log holds a secret or lacks the cause:\n%s", log)
	}
}

// TestCorpusRoles proves that a corpus role counts on the corpus of the path, and that an operation whose corpora
// stand in the body is left to its handler.
func TestCorpusRoles(t *testing.T) {
	t.Parallel()
	s := start(t, area{"getCorpus": seen, "query": seen})
	for _, c := range []struct {
		method, path, body, key string
		status                  int
	}{
		{"GET", "/v2/corpora/mine", "", viewerKey, 200},
		{"GET", "/v2/corpora/other", "", viewerKey, 403},
		{"DELETE", "/v2/corpora/mine", "", viewerKey, 403},
		{"GET", "/v2/corpora", "", viewerKey, 403},
		{"POST", "/v2/query", `{"query":"x","search":{"corpora":[{"corpus_key":"mine"}]}}`, viewerKey, 200},
		{"POST", "/v2/query", `{"query":"x","search":{"corpora":[{"corpus_key":"mine"}]}}`, noneKey, 403},
	} {
		if got := s.ask(t, c.method, c.path, c.body, "X-Api-Key: "+c.key); got.StatusCode != c.status {
			t.Errorf("%s %s with %s: %d %s, want %d", c.method, c.path, c.key, got.StatusCode, got.raw, c.status)
		}
	}
}

// TestMediaType proves which content types a JSON endpoint takes, and that one without a body is never refused.
func TestMediaType(t *testing.T) {
	t.Parallel()
	s := start(t, area{"createCorpus": seen, "resetCorpus": seen, "getCorpus": seen})
	for _, c := range []struct {
		method, path, body string
		header             []string
		status             int
	}{
		{"POST", "/v2/corpora", `{"key":"a"}`, []string{"Content-Type: application/json"}, 200},
		{"POST", "/v2/corpora", `{"key":"a"}`, []string{"Content-Type: application/json; charset=UTF-8"}, 200},
		{"POST", "/v2/corpora", `{"key":"a"}`, []string{"Content-Type: APPLICATION/JSON"}, 200},
		{"POST", "/v2/corpora", `{"key":"a"}`, []string{"Content-Type: application/merge-patch+json"}, 200},
		{"POST", "/v2/corpora", `{"key":"a"}`, nil, 200},
		{"POST", "/v2/corpora", `{"key":"a"}`, []string{"Content-Type: application/json; charset=latin1"}, 415},
		{"POST", "/v2/corpora", `{"key":"a"}`, []string{"Content-Type: text/plain"}, 415},
		{"POST", "/v2/corpora", `{"key":"a"}`, []string{"Content-Type: multipart/form-data; boundary=x"}, 415},
		{"POST", "/v2/corpora", `{"key":"a"}`, []string{"Content-Type: ;;"}, 415},
		{"POST", "/v2/corpora", `{"key":"a"}`, []string{"Content-Encoding: gzip"}, 415},
		{"POST", "/v2/corpora/k/reset", "", []string{"Content-Type: application/json"}, 200},
		{"POST", "/v2/corpora/k/reset", "{}", []string{"Content-Type: application/json"}, 200},
		{"POST", "/v2/corpora/k/reset", "not json", []string{"Content-Type: text/plain"}, 200},
		{"GET", "/v2/corpora/k", "", []string{"Content-Type: text/plain", "Accept: image/png"}, 200},
	} {
		if got := s.ask(t, c.method, c.path, c.body, c.header...); got.StatusCode != c.status {
			t.Errorf("%s %s %q: %d %s, want %d", c.method, c.path, c.header, got.StatusCode, got.raw, c.status)
		}
	}
}

// TestRequestTimeout proves that the headers bound the context, that the smaller wins, that expiry is 504 and that
// nonsense is 400.
func TestRequestTimeout(t *testing.T) {
	t.Parallel()
	s := start(t, area{
		"getCorpus": func(_ http.ResponseWriter, r *http.Request, _ *httpapi.Call) error {
			<-r.Context().Done() // only a deadline ends it
			return errors.New("the database was interrupted")
		},
		"listCorpora": func(w http.ResponseWriter, r *http.Request, _ *httpapi.Call) error {
			_, bounded := r.Context().Deadline()
			return httpapi.WriteJSON(w, 200, map[string]bool{"bounded": bounded})
		},
	})
	for _, header := range [][]string{
		{"Request-Timeout-Millis: 1"},
		{"Request-Timeout: 3600", "Request-Timeout-Millis: 1"},
	} {
		got := s.ask(t, "GET", "/v2/corpora/k", "", header...)
		if got.StatusCode != 504 || !strings.HasPrefix(got.body.Messages[0], "DEADLINE_EXCEEDED: ") {
			t.Errorf("%q: %d %s, want 504", header, got.StatusCode, got.raw)
		}
	}
	for _, bad := range []string{"0", "-1", "x", "1.5", "99999999999999999999"} {
		got := s.ask(t, "GET", "/v2/corpora", "", "Request-Timeout: "+bad)
		if got.StatusCode != 400 || got.body.FieldErrors["header.Request-Timeout"] == "" {
			t.Errorf("Request-Timeout %s: %d %s, want 400", bad, got.StatusCode, got.raw)
		}
	}
	for header, want := range map[string]string{"Request-Timeout: 9223372036854775807": "true", "X-Other: 1": "false"} {
		if got := s.ask(t, "GET", "/v2/corpora", "", header); !strings.Contains(got.raw, want) {
			t.Errorf("%s: %d %s, want bounded %s", header, got.StatusCode, got.raw, want)
		}
	}
}

// TestPanic proves that a panic is a logged 500 for its request alone, and cuts an answer that had begun.
func TestPanic(t *testing.T) {
	t.Parallel()
	s := start(t, area{
		"getCorpus": func(http.ResponseWriter, *http.Request, *httpapi.Call) error { panic("boom 17") },
		"listCorpora": func(w http.ResponseWriter, r *http.Request, _ *httpapi.Call) error {
			_, _ = w.Write([]byte("half"))
			_ = http.NewResponseController(w).Flush()
			panic("boom 18")
		},
		"deleteCorpus": seen,
	})
	got := s.ask(t, "GET", "/v2/corpora/k", "")
	if got.StatusCode != 500 || got.body.Code != "internal" || strings.Contains(got.raw, "boom") {
		t.Errorf("panic: %d %s", got.StatusCode, got.raw)
	}
	log := s.log.String()
	if !strings.Contains(log, "boom 17") || !strings.Contains(log, "chain_test.go") || !strings.Contains(log, got.body.RequestID) {
		t.Errorf("the log lacks cause, stack or request id:\n%s", log)
	}
	r, _ := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/v2/corpora", nil)
	r.Header.Set("X-Api-Key", ownerKey)
	res, err := s.Client().Do(r)
	if err == nil {
		_, err = io.ReadAll(res.Body)
		res.Body.Close()
	}
	if err == nil {
		t.Error("an answer cut in half reads as whole")
	}
	if got := s.ask(t, "DELETE", "/v2/corpora/k", ""); got.StatusCode != 200 {
		t.Errorf("the request after a panic: %d", got.StatusCode)
	}
}

// TestClientGone proves that nothing is written, and no failure logged, for a client that has left.
func TestClientGone(t *testing.T) {
	t.Parallel()
	log := &logBuffer{}
	s, err := httpapi.New(httpapi.Config{
		Authenticate: authenticate, Log: slog.New(slog.NewTextHandler(log, nil)),
		Areas: []httpapi.Area{area{"getCorpus": func(_ http.ResponseWriter, r *http.Request, _ *httpapi.Call) error {
			return r.Context().Err()
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	r := httptest.NewRequest("GET", "/v2/corpora/k", nil).WithContext(ctx)
	r.Header.Set("X-Api-Key", ownerKey)
	w := httptest.NewRecorder()
	func() {
		defer func() {
			if v := recover(); v != http.ErrAbortHandler { // or net/http would send an empty 200
				t.Errorf("the connection is not cut: %v", v)
			}
		}()
		s.ServeHTTP(w, r)
	}()
	if w.Body.Len() > 0 || strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), "status=499") {
		t.Errorf("body %q, log:\n%s", w.Body, log)
	}
}

// TestAccessLog proves what the line of a request holds.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	s := start(t, area{"getCorpus": seen})
	got := s.ask(t, "GET", "/v2/corpora/secretkey", "")
	line := s.log.String()
	for _, want := range []string{
		"msg=request", "method=GET", `route=/v2/corpora/{corpus_key}`, "status=200", "duration_ms=", "bytes=",
		"request_id=" + got.Header.Get("X-Request-Id"), "principal=user:usr_" + ownerKey,
	} {
		if !strings.Contains(line, want) {
			t.Errorf("%s is not in %s", want, line)
		}
	}
}

// TestRefusalTakesInTheBody proves that a client which sends all of a body before it reads still gets the answer,
// and that one which waits for "100 Continue" is refused without being asked for the body.
func TestRefusalTakesInTheBody(t *testing.T) {
	t.Parallel()
	s := start(t, area{"createCorpus": seen})
	big := `{"key":"` + strings.Repeat("x", 4<<20) + `"}`
	if got := s.ask(t, "POST", "/v2/corpora", big); got.StatusCode != 413 || !strings.Contains(got.raw, "max_json") || !strings.Contains(got.raw, "65536") {
		t.Errorf("%d %s, want 413 naming the setting and its value", got.StatusCode, got.raw)
	}
	if got := s.ask(t, "POST", "/v2/corpora", big, "X-Api-Key:"); got.StatusCode != 401 {
		t.Errorf("%d %s, want 401", got.StatusCode, got.raw)
	}
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = conn.Write([]byte("POST /v2/corpora HTTP/1.1\r\nHost: x\r\nX-Api-Key: " + ownerKey +
		"\r\nContent-Length: 4000000\r\nExpect: 100-continue\r\n\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute)) // against a hang
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 413 {
		t.Errorf("with Expect: %d, want 413 at once", res.StatusCode)
	}
}
