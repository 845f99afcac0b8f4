// Package site is a web for tests: pages of every kind, redirects, answers that never end, a token endpoint and services that search.
// It keeps what it was asked, so that a test can look for secrets where none should have come.
package site

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Site is one origin.
type Site struct {
	URL    string
	Server *httptest.Server

	mu     sync.Mutex
	seen   []Seen         // guarded by mu
	tokens map[string]int // the grants of each client; guarded by mu
	quit   chan struct{}
}

// Seen is a request as it came.
type Seen struct {
	Method, Path, Query, Body string
	Header                    http.Header
}

// The credentials of the token endpoint, and the key of Tavily.
const (
	Client = "reader"
	Secret = "site-secret-4711"
	Key    = "tvly-site-0815"
)

// Start serves a site until the test ends, over TLS with a certificate that nobody has signed if safe.
func Start(t testing.TB, safe bool) *Site {
	t.Helper()
	s := &Site{tokens: map[string]int{}, quit: make(chan struct{})}
	if safe {
		s.Server = httptest.NewTLSServer(s.handler())
	} else {
		s.Server = httptest.NewServer(s.handler())
	}
	s.URL = s.Server.URL
	t.Cleanup(func() {
		close(s.quit)
		s.Server.Close()
	})
	return s
}

// Seen returns the requests so far whose path begins so.
func (s *Site) Seen(path string) (out []Seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.seen {
		if strings.HasPrefix(r.Path, path) {
			out = append(out, r)
		}
	}
	return out
}

// PNG is an image of one pixel.
const PNG = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\nIDATx\x9cc\x00\x01\x00\x00\x05\x00\x01\r\n-\xb4\x00\x00\x00\x00IEND\xaeB`\x82"

// pages are those that are always the same: media type, then content.
var pages = map[string][2]string{
	"/text":      {"text/plain; charset=utf-8", "The stone\nis dressed\nevery month.\n"},
	"/latin":     {"text/plain; charset=iso-8859-1", "Gr\xfc\xdfe"},
	"/koi":       {"text/html", "<meta charset=koi8-r><p>\xe4\xc1"},
	"/xml":       {"application/xml", "<?xml version=\"1.0\" encoding=\"iso-8859-5\"?><a>\xb4\xd0</a>"},
	"/utf16":     {"text/plain", "\xff\xfeH\x00i\x00"},
	"/late":      {"text/html", strings.Repeat(" ", 2000) + "Grüße"},
	"/json":      {"application/problem+json", `{"n":12345678901234567890}`},
	"/image.png": {"image/png", PNG},
	"/nul":       {"text/plain", "a\x00b"},
	"/robots":    {"", "User-agent: *\n"},
	"/empty":     {"text/plain", ""},
}

func (s *Site) handler() http.Handler {
	mux := http.NewServeMux()
	for path, page := range pages {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{page[0]}
			if page[0] == "" {
				w.Header()["Content-Type"] = nil
			}
			_, _ = io.WriteString(w, page[1])
		})
	}
	mux.HandleFunc("/echo/", echo)
	mux.HandleFunc("/once/", func(w http.ResponseWriter, r *http.Request) { // whose first caller waits in vain
		if len(s.Seen(r.URL.Path)) == 1 {
			s.wait(r)
			return
		}
		echo(w, r)
	})
	mux.HandleFunc("/download", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="`+r.FormValue("name")+`"`)
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.WriteString(w, strings.Repeat("\x00\x01", int(number(r, "n"))))
	})
	mux.HandleFunc("/packed", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		_, _ = io.WriteString(w, "\x8b\x02\x80hi")
	})
	mux.HandleFunc("/status/{code}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("code"))
		w.WriteHeader(n)
		_, _ = io.WriteString(w, http.StatusText(n))
	})
	mux.HandleFunc("/hops/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("n"))
		if n == 0 {
			_, _ = io.WriteString(w, "arrived")
			return
		}
		http.Redirect(w, r, fmt.Sprintf("/hops/%d", n-1), http.StatusFound)
	})
	mux.HandleFunc("/away/{code}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("code"))
		http.Redirect(w, r, r.FormValue("to"), n)
	})
	mux.HandleFunc("/never", func(_ http.ResponseWriter, r *http.Request) { s.wait(r) })
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "the beginning")
		_ = http.NewResponseController(w).Flush()
		s.wait(r)
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, "the beginning")
	})
	large(mux)
	mux.HandleFunc("/token", s.token)
	mux.HandleFunc("/private", func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer granted-") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprintf(w, "for you, %s", r.Header.Get("Authorization"))
	})
	mux.HandleFunc("/search", search)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		s.mu.Lock()
		s.seen = append(s.seen, Seen{r.Method, r.URL.Path, r.URL.RawQuery, string(body), r.Header.Clone()})
		s.mu.Unlock()
		mux.ServeHTTP(w, r)
	})
}

// large adds what is larger than anybody wants.
func large(mux *http.ServeMux) {
	mux.HandleFunc("/large", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.FormValue("type"))
		fill(w, number(r, "mib"), strings.Repeat("line of a long page\n", 52429)) // 1 MiB
	})
	mux.HandleFunc("/declared", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(1<<30))
		_, _ = io.WriteString(w, "the beginning")
	})
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/plain")
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		fill(z, 1024, strings.Repeat("0", 1<<20))
		_ = z.Close()
	})
}

// wait returns when whoever asks goes, or the site closes.
func (s *Site) wait(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.quit:
	case <-time.After(time.Minute):
	}
}

func number(r *http.Request, name string) int64 {
	n, _ := strconv.ParseInt(r.FormValue(name), 10, 64)
	return n
}

// fill writes n times a text, until nobody reads it.
func fill(w io.Writer, n int64, text string) {
	for range n {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}

// echo answers with the request.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	header := map[string]string{}
	for name, values := range r.Header {
		header[name] = strings.Join(values, ", ")
	}
	w.Header().Set("Content-Type", "application/json")
	if kind := r.FormValue("as"); kind != "" && r.Method == http.MethodGet {
		w.Header().Set("Content-Type", kind)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"method": r.Method, "path": r.URL.Path, "header": header, "body": string(body)})
}

// token is a token endpoint, which gives refresh-1 for refresh-0, and so on.
func (s *Site) token(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	id, secret, ok := r.BasicAuth()
	if !ok || id != Client || secret != Secret {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":"invalid_client"}`)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[id]++
	out := map[string]any{"access_token": fmt.Sprintf("granted-%d", s.tokens[id]), "token_type": "Bearer", "expires_in": 3600}
	if old, ok := strings.CutPrefix(r.FormValue("refresh_token"), "refresh-"); ok {
		n, _ := strconv.Atoi(old)
		out["refresh_token"] = fmt.Sprintf("refresh-%d", n+1)
	}
	_ = json.NewEncoder(w).Encode(out)
}

// results are what a search finds, whatever it is for.
const results = `{"results":[
	{"title":"Mills","url":"https://example.com/mills","content":"How to dress a stone.","score":0.9},
	{"title":"Docs","url":"https://docs.example.com/stones","content":"All about stones.","score":0.8},
	{"title":"Other","url":"https://other.test/","content":"Something else.","score":0.7},
	{"title":"No page","url":"ftp://example.com/x","content":"No.","score":0.6},
	{"title":"Mills again","url":"https://example.com/mills","content":"Twice.","score":0.5},
	{"title":"Near","url":"https://notexample.com/","content":"Near by name.","score":0.4}
]}`

// search answers as Tavily (POST) and as SearXNG (GET) do.
func search(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method == http.MethodPost && r.Header.Get("Authorization") != "Bearer "+Key:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"detail":{"error":"Unauthorized: `+r.Header.Get("Authorization")+`"}}`)
	case r.Method == http.MethodGet && r.FormValue("format") != "json":
		w.WriteHeader(http.StatusForbidden)
	default:
		_, _ = io.WriteString(w, results)
	}
}
