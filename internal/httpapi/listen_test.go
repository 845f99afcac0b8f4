package httpapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"quarry/internal/httpapi/refusal"
)

// serve runs a handler on a listener of Listen and returns its address.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h, MaxHeaderBytes: 1 << 14}
	wrapped := refusal.Listen(s, l)
	done := make(chan error, 1)
	go func() { done <- s.Serve(wrapped) }()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	return l.Addr().String()
}

// exchange sends bytes on one connection and reads as many answers as there are.
func exchange(t *testing.T, address, text string) (answers []*http.Response, bodies []string) {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	for {
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return answers, bodies
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatalf("half an answer: %v", err)
		}
		answers, bodies = append(answers, res), append(bodies, string(body))
		if res.Close {
			return answers, bodies
		}
	}
}

// TestRefusedBeforeTheHandler proves that what net/http refuses by itself is answered with the contract's body and
// headers too, also on a connection that was used before.
func TestRefusedBeforeTheHandler(t *testing.T) {
	t.Parallel()
	s := start(t, area{"getCorpus": seen})
	address := serve(t, s.Config.Handler)
	const host, good = " HTTP/1.1\r\nHost: q\r\n", "GET /healthz HTTP/1.1\r\nHost: q\r\n\r\n"
	for _, tc := range []struct {
		name, text string
		status     int
		word       string
	}{
		{"half an escape", "GET /v2/users/%zz" + host + "\r\n", 400, "%"},
		{"an escape that ends", "GET /v2/users/a%" + host + "\r\n", 400, "%"},
		{"after a good request", good + "GET /v2/users/%zz" + host + "\r\n", 400, "%"},
		{"no host", "GET /v2/corpora HTTP/1.1\r\n\r\n", 400, "Host"},
		{"space in a header name", "GET /v2/corpora" + host + "x api key: a\r\n\r\n", 400, "request"},
		{"NUL in a header", "GET /v2/corpora" + host + "x-api-key: a\x00b\r\n\r\n", 400, "request"},
		{"long headers", "GET /v2/corpora" + host + "x: " + strings.Repeat("a", 1<<15) + "\r\n\r\n", 431, "too large"},
		{"unknown transfer encoding", "POST /v2/corpora" + host + "Transfer-Encoding: x\r\n\r\n", 501, "transfer encoding"},
	} {
		answers, bodies := exchange(t, address, tc.text)
		if len(answers) == 0 {
			t.Errorf("%s: no answer", tc.name)
			continue
		}
		last, body := answers[len(answers)-1], bodies[len(bodies)-1]
		var e struct {
			Messages    []string          `json:"messages"`
			Code        string            `json:"code"`
			RequestID   string            `json:"request_id"`
			FieldErrors map[string]string `json:"field_errors"`
		}
		if err := json.Unmarshal([]byte(body), &e); err != nil || last.StatusCode != tc.status || last.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s %q, want %d and JSON", tc.name, last.StatusCode, last.Header.Get("Content-Type"), body, tc.status)
			continue
		}
		if len(e.Messages) != 1 || !strings.Contains(e.Messages[0], tc.word) || e.Code == "" || len(e.RequestID) != 32 || (tc.status == 400) != (len(e.FieldErrors) == 1) {
			t.Errorf("%s: body %s", tc.name, body)
		}
		h := last.Header
		if h.Get("Cache-Control") != "no-store" || h.Get("CDN-Cache-Control") != "no-store" || h.Get("X-Request-Id") != e.RequestID || !last.Close {
			t.Errorf("%s: headers %v", tc.name, h)
		}
	}
}

// TestAnswersAreLeftAlone proves that bytes that a handler writes pass as they are, though they look like an answer
// of net/http: rewriting them would let the content of a file break the framing of its download.
func TestAnswersAreLeftAlone(t *testing.T) {
	t.Parallel()
	trap := "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
	address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(trap)))
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush() // so that the body is a write of its own
		_, _ = io.WriteString(w, trap)
	}))
	get := "GET / HTTP/1.1\r\nHost: q\r\n\r\n"
	answers, bodies := exchange(t, address, get+get+"GET / HTTP/1.1\r\nHost: q\r\nConnection: close\r\n\r\n")
	if len(answers) != 3 {
		t.Fatalf("%d answers, want 3", len(answers))
	}
	for i, body := range bodies {
		if body != trap || answers[i].StatusCode != http.StatusOK {
			t.Errorf("answer %d: %d %q", i, answers[i].StatusCode, body)
		}
	}
}
