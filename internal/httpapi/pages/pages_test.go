package pages_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"golang.org/x/net/html"

	contract "quarry/api"
	"quarry/docs"
	"quarry/internal/console"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/pages"
	"quarry/internal/identity/authz"
)

// serve starts the HTTP interface with the pages alone, where nobody has a key.
func serve(t testing.TB) *httpapi.Server {
	t.Helper()
	files, err := console.New()
	if err != nil {
		t.Fatal(err)
	}
	s, err := httpapi.New(httpapi.Config{
		Console: httpapi.Pages{Root: console.Root, Serve: files.Serve},
		Authenticate: func(context.Context, httpapi.Credential) (authz.Principal, error) {
			return authz.Principal{}, fault.Unauthenticated("nobody has a key")
		},
		Areas: []httpapi.Area{pages.New(contract.YAML, docs.Pages, console.Root)}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// get sends a request with pairs of headers.
func get(s http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// element is an element of a page.
type element struct {
	name  string
	attrs map[string]string
	text  string // directly inside, of style and script
}

// void are the elements that have no end.
var void = map[string]bool{"meta": true, "link": true, "input": true, "br": true, "hr": true, "img": true}

// elements reads a page strictly: every element ends where it should.
func elements(t testing.TB, page string) []element {
	t.Helper()
	var out []element
	var open []string
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF || len(open) > 0 {
				t.Errorf("the page ends inside %v: %v", open, z.Err())
			}
			return out
		case html.StartTagToken:
			token := z.Token()
			e := element{name: token.Data, attrs: map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Key] = a.Val
			}
			out = append(out, e)
			if !void[e.name] {
				open = append(open, e.name)
			}
		case html.EndTagToken:
			name := z.Token().Data
			if len(open) == 0 || open[len(open)-1] != name {
				t.Fatalf("</%s> inside %v", name, open)
			}
			open = open[:len(open)-1]
		case html.TextToken:
			if n := len(open); n > 0 && (open[n-1] == "style" || open[n-1] == "script") {
				out[len(out)-1].text += string(z.Raw())
			}
		}
	}
}

// TestPagesAreSealed proves that each page is well formed, has what readers and screen readers need, holds no script, loads
// nothing from elsewhere, and that its policy allows its own style and nothing beyond what it needs.
func TestPagesAreSealed(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, c := range []struct{ path, policy string }{
		{"/guide", "default-src 'none'; style-src STYLE; frame-ancestors 'none'; base-uri 'none'"},
		{"/docs", "default-src 'none'; style-src STYLE; script-src 'self'; frame-ancestors 'none'; base-uri 'none'"},
	} {
		w := get(s, "GET", c.path)
		page := w.Body.String()
		if w.Code != http.StatusOK || !strings.HasPrefix(page, "<!DOCTYPE html>\n<html lang=\"en\">") {
			t.Fatalf("%s: %d %.100s", c.path, w.Code, page)
		}
		style := ""
		ids, count := map[string]bool{}, map[string]int{}
		for _, e := range elements(t, page) {
			count[e.name]++
			if e.name == "style" {
				sum := sha256.Sum256([]byte(e.text))
				style = "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
			}
			if e.name == "script" && (e.text != "" || e.attrs["src"] != "/docs/search.js") {
				t.Errorf("%s: a script of its own: %v", c.path, e)
			}
			for name, value := range e.attrs {
				if strings.HasPrefix(name, "on") || name == "style" {
					t.Errorf("%s: <%s %s=%q>", c.path, e.name, name, value)
				}
				if (name == "href" || name == "src") && (value == "" || !strings.ContainsAny(value[:1], "/#") || strings.HasPrefix(value, "//")) {
					t.Errorf("%s: <%s> leads elsewhere: %s", c.path, e.name, value)
				}
			}
			if id := e.attrs["id"]; id != "" && ids[id] {
				t.Errorf("%s: the id %s is there twice", c.path, id)
			}
			ids[e.attrs["id"]] = true
		}
		for _, e := range elements(t, page) {
			if to, ok := strings.CutPrefix(e.attrs["href"], "#"); ok && !ids[to] {
				t.Errorf("%s: nothing stands at #%s", c.path, to)
			}
			if by := e.attrs["aria-labelledby"]; by != "" && !ids[by] {
				t.Errorf("%s: nothing is named %s", c.path, by)
			}
		}
		if count["title"] != 1 || count["main"] != 1 || count["h1"] != 1 || count["nav"] == 0 || count["img"]+count["iframe"]+count["form"]+count["base"] > 0 {
			t.Errorf("%s: elements %v", c.path, count)
		}
		for name, want := range map[string]string{
			"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": strings.Replace(c.policy, "STYLE", style, 1),
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		} {
			if got := w.Header().Get(name); got != want || strings.Contains(got, "unsafe") {
				t.Errorf("%s: %s is %q, want %q", c.path, name, got, want)
			}
		}
	}
}

// TestStart proves that / leads to the console, whatever the request says about itself and below whatever path a proxy serves
// it, that the answer names the other pages, and that each of them is open to everybody.
func TestStart(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, header := range [][]string{nil, {"Accept", "text/html"}, {"Accept", "application/json"}, {"Host", "evil.example"}, {"X-Forwarded-Host", "evil.example"}} {
		w := get(s, "GET", "/?next=//evil.example", header...)
		if w.Code != http.StatusFound || w.Header().Get("Cache-Control") != "no-store" || strings.Contains(w.Header().Get("Location"), "evil") {
			t.Fatalf("%q: %d, headers %v", header, w.Code, w.Header())
		}
		for from, want := range map[string]string{"http://h:8080/": "http://h:8080/console/", "https://h/search/": "https://h/search/console/"} {
			u, err := url.Parse(from)
			if err != nil {
				t.Fatal(err)
			}
			if to, err := u.Parse(w.Header().Get("Location")); err != nil || to.String() != want {
				t.Errorf("%s leads to %s, want %s (%v)", from, to, want, err)
			}
		}
		paths := regexp.MustCompile(`/[a-z.]+/?`).FindAllString(w.Body.String(), -1)
		if len(paths) < 4 {
			t.Errorf("it names %q", paths)
		}
		for _, path := range paths {
			if w := get(s, "GET", path); w.Code != http.StatusOK {
				t.Errorf("%s answers %d", path, w.Code)
			}
		}
	}
	if w := get(s, "POST", "/"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

// most are how many bytes each document may have, compressed.
var most = map[string]int{"/guide": 10_000, "/docs": 150_000, "/docs/search.js": 5_000, "/openapi.yaml": 150_000, "/openapi.json": 150_000}

// TestTransfer proves that every document is small when compressed, the same uncompressed, not sent again to a client that
// has it, and answered to HEAD without a body.
func TestTransfer(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for path, limit := range most {
		plain := get(s, "GET", path)
		packed := get(s, "GET", path, "Accept-Encoding", "br, gzip;q=0.8")
		t.Logf("%s: %d bytes, %d compressed", path, plain.Body.Len(), packed.Body.Len())
		if packed.Body.Len() > limit || packed.Header().Get("Content-Encoding") != "gzip" || plain.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s: %d bytes compressed, want at most %d; headers %v", path, packed.Body.Len(), limit, packed.Header())
		}
		z, err := gzip.NewReader(bytes.NewReader(packed.Body.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(raw, plain.Body.Bytes()) {
			t.Errorf("%s: compressed it is another document (%v)", path, err)
		}
		for _, refused := range []string{"", "identity", "gzip;q=0", "gzip; q=0.0", "deflate, br", "x-gzip"} {
			if w := get(s, "GET", path, "Accept-Encoding", refused); w.Header().Get("Content-Encoding") != "" || w.Body.Len() != plain.Body.Len() {
				t.Errorf("%s: Accept-Encoding %q gets %v", path, refused, w.Header())
			}
		}
		for _, w := range []*httptest.ResponseRecorder{plain, packed} {
			accept := map[bool]string{true: "gzip"}[w == packed]
			tag := w.Header().Get("ETag")
			for _, known := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
				again := get(s, "GET", path, "If-None-Match", known, "Accept-Encoding", accept)
				if again.Code != http.StatusNotModified || again.Body.Len() > 0 || again.Header().Get("ETag") != tag {
					t.Errorf("%s: If-None-Match %s gets %d", path, known, again.Code)
				}
			}
			if get(s, "GET", path, "If-None-Match", `"x"`, "Accept-Encoding", accept).Code != http.StatusOK {
				t.Errorf("%s: another tag is not answered", path)
			}
			head := httptest.NewServer(s)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, head.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Accept-Encoding", accept)
			res, err := head.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			head.Close()
			if res.StatusCode != http.StatusOK || res.ContentLength != int64(w.Body.Len()) || res.Header.Get("ETag") != tag {
				t.Errorf("HEAD %s: %d, %d bytes", path, res.StatusCode, res.ContentLength)
			}
			if w.Header().Get("Vary") != "Accept-Encoding" || w.Header().Get("CDN-Cache-Control") != "no-store" {
				t.Errorf("%s: headers %v", path, w.Header())
			}
		}
	}
	if a, b := get(s, "GET", "/docs").Header().Get("ETag"), get(s, "GET", "/docs", "Accept-Encoding", "gzip").Header().Get("ETag"); a == b {
		t.Errorf("two forms have the tag %s", a)
	}
}

// TestContractAsJSON proves that the JSON is the same contract as the YAML, which is served as it was written.
func TestContractAsJSON(t *testing.T) {
	t.Parallel()
	s := serve(t)
	if got := get(s, "GET", "/openapi.yaml").Body.Bytes(); !bytes.Equal(got, contract.YAML) {
		t.Error("the YAML is not the contract")
	}
	var fromYAML, fromJSON any
	if err := yaml.Unmarshal(contract.YAML, &fromYAML); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(fromYAML)
	if err != nil {
		t.Fatal(err)
	}
	var want any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	w := get(s, "GET", "/openapi.json")
	if err := json.Unmarshal(w.Body.Bytes(), &fromJSON); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, fromJSON); d != "" {
		t.Errorf("the documents differ (-YAML +JSON):\n%s", d)
	}
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %s", got)
	}
	if !strings.HasPrefix(w.Body.String(), `{"openapi":"3.0.3","info":{"title":"Quarry"`) {
		t.Errorf("the members have another order: %.100s", w.Body)
	}
}
