package pages_test

import (
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"quarry/docs"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/pages"
)

// TestGuide proves that every page of the guide is served under its name, is well formed and sealed, loads nothing, and
// that what it links to inside the service is there, sections included.
func TestGuide(t *testing.T) {
	t.Parallel()
	s := serve(t)
	names, err := fs.Glob(docs.Pages, "*/*.md")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d pages, %v", len(names), err)
	}
	ids := map[string]map[string]bool{}
	read := func(address string) []element {
		w := get(s, "GET", address)
		if w.Code != http.StatusOK {
			t.Errorf("%s answers %d", address, w.Code)
			return nil
		}
		var all []element
		if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			all = elements(t, w.Body.String())
		}
		ids[address] = map[string]bool{"": true}
		for _, e := range all {
			ids[address][e.attrs["id"]] = true
		}
		return all
	}
	var addresses []string
	for _, name := range names {
		addresses = append(addresses, strings.TrimSuffix("/guide/"+strings.TrimSuffix(path.Base(name), ".md"), "/README"))
	}
	for _, address := range addresses {
		w := get(s, "GET", address, "Accept-Encoding", "gzip")
		if p := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none'; style-src 'sha256-") || strings.Contains(p, "script") || w.Body.Len() > 60_000 {
			t.Errorf("%s: %d bytes, policy %s", address, w.Body.Len(), p)
		}
		current := false
		for _, e := range read(address) {
			current = current || e.attrs["href"] == address && e.attrs["aria-current"] == "page"
			if e.name == "script" || e.name == "img" || e.attrs["style"] != "" || e.attrs["src"] != "" {
				t.Errorf("%s: %v", address, e)
			}
			to := e.attrs["href"]
			u, err := url.Parse(to)
			switch {
			case to == "" || u.Scheme == "https":
				continue
			case err != nil || u.IsAbs() || u.Path != "" && !strings.HasPrefix(u.Path, "/"):
				t.Errorf("%s leads to %q", address, to)
				continue
			case u.Path == "":
				u.Path = address
			}
			if ids[u.Path] == nil {
				read(u.Path)
			}
			if !ids[u.Path][u.Fragment] {
				t.Errorf("%s: nothing stands at %s", address, to)
			}
		}
		if !current {
			t.Errorf("%s is not marked in the contents", address)
		}
	}
	if w := get(s, "GET", "/guide/nothing"); w.Code != http.StatusNotFound || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("an unknown page: %d %s", w.Code, w.Body)
	}
}

// TestGuideLinks proves what becomes of links between files, of images and of HTML.
func TestGuideLinks(t *testing.T) {
	t.Parallel()
	s, err := httpapi.New(httpapi.Config{Areas: []httpapi.Area{pages.New(nil, fstest.MapFS{
		"guide/one.md": {Data: []byte("# One\n\n[two](two.md#part) [tab](../reference/tab.md) [code `x`](../../deploy/x.service) [ops](../reference/operations.md)\n" +
			"[here](#one) [top](README.md) [readme](../../README.md#start) [away](https://example.com/a) [odd](javascript:alert(1)) ![pic](pic.png) <script>alert(1)</script>\n")},
		"guide/README.md":  {Data: []byte("# All\n\n[two](two.md), [one](one.md)")},
		"guide/two.md":     {Data: []byte("# Two\n\n## Part\n")},
		"reference/tab.md": {Data: []byte("# Tab & <b>\n\n| a |\n|---|\n| b |\n")},
	}, "")}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	page := get(s, "GET", "/guide/one").Body.String()
	for _, want := range []string{
		`<h1 id="one">One</h1>`, `<a href="/guide/two#part">two</a>`, `<a href="/guide/tab">tab</a>`, ` code <code>x</code> `,
		`<a href="/docs">ops</a>`, `<a href="#one">here</a>`, `<a href="/guide">top</a> readme `, `<a href="https://example.com/a">away</a>`, "\n", " odd pic ", "Tab &amp; &lt;b&gt;",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in %s", want, page)
		}
	}
	if one, two := strings.Index(page, ">One</a>"), strings.Index(page, ">Two</a>"); one < two {
		t.Errorf("the contents have another order than the list: %s", page)
	}
	for _, bad := range []string{"<script", "<img", "javascript:", "deploy/"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q is in %s", bad, page)
		}
	}
}
