package httpapi_test

import (
	"net/http"
	"testing"
)

// TestUnknownPathsAndMethods proves the standard body for 404 and 405 and the Allow header of the latter.
func TestUnknownPathsAndMethods(t *testing.T) {
	t.Parallel()
	s := start(t, area{"getCorpus": seen})
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "//", 404, ""},
		{"GET", "/index.html", 404, ""},
		{"GET", "/docs/nothing", 404, ""},
		{"GET", "/favicon.ico", 404, ""},
		{"POST", "/", 405, "GET, HEAD"},
		{"PUT", "/docs", 405, "GET, HEAD"},
		{"DELETE", "/openapi.json", 405, "GET, HEAD"},
		{"POST", "/health", 405, "GET, HEAD"},
		{"GET", "/v2", 404, ""},
		{"GET", "/v3/corpora", 404, ""},
		{"GET", "/v2//corpora", 404, ""},
		{"GET", "/v2/corpora//documents", 404, ""},
		{"GET", "/v2/corpora/a%2Freset/x/y", 404, ""},
		{"GET", "/v2/corp%00ra", 404, ""},
		{"GET", "/v2/%ff", 404, ""},
		{"GET", "/v2/corpora/k/nothing", 404, ""},
		{"DELETE", "/v2/corpora", 405, "GET, HEAD, POST"},
		{"PUT", "/v2/corpora/k", 405, "DELETE, GET, HEAD, PATCH"},
		{"GET", "/v2/corpora/k/reset", 405, "POST"},
		{"GET", "/v2/corpora/k/documents/d/metadata", 405, "PUT"},
		{"OPTIONS", "/healthz", 405, "GET, HEAD"},
	} {
		got := s.ask(t, c.method, c.path, "")
		if got.StatusCode != c.status || got.Header.Get("Allow") != c.allow {
			t.Errorf("%s %s: %d with Allow %q, want %d with %q", c.method, c.path, got.StatusCode, got.Header.Get("Allow"), c.status, c.allow)
		}
		if len(got.body.Messages) == 0 || got.body.Code == "" || got.body.RequestID == "" {
			t.Errorf("%s %s: body %s", c.method, c.path, got.raw)
		}
		if c.status == http.StatusNotFound && (got.body.ID == nil || got.body.Code != "path_not_found") {
			t.Errorf("%s %s: not the body of NotFoundError: %s", c.method, c.path, got.raw)
		}
	}
}
