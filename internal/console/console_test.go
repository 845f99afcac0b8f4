package console_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"quarry/internal/app/apptest"
	"quarry/internal/console"
	"quarry/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// get asks for a path of the console and returns the answer with its body, as it came.
func get(t *testing.T, method, address, encoding string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", encoding)
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

// wants are the headers of every page.
var wants = map[string]string{
	"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
	"X-Content-Type-Options": "nosniff",
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; form-action 'none'; " +
		"require-trusted-types-for 'script'; frame-ancestors 'none'; base-uri 'none'",
}

func TestConsole(t *testing.T) {
	// Proves that every address of the console is the same page under its policy, to anyone; that the files it names are kept by
	// browsers for a year, compressed or not; that files of another version are missing; and that nothing is written to it.
	t.Parallel()
	a, _ := apptest.Start(t, nil)
	service := httptest.NewServer(a.Handler())
	defer service.Close()
	base := service.URL
	var page string
	for _, path := range []string{"", "/", "/corpora", "/corpora/a%2Fb?q=x%20y", "/nothing/here.js"} {
		answer, body := get(t, "GET", base+console.Root+path, "identity")
		if answer.StatusCode != 200 || !strings.Contains(body, `<div id="root">`) || page != "" && body != page {
			t.Errorf("%s: status %d, %.200s", path, answer.StatusCode, body)
		}
		page = body
		for name, want := range wants {
			if got := answer.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
	files := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(files) < 3 {
		t.Fatalf("the page names %d files: %s", len(files), page)
	}
	for _, f := range files {
		plain, body := get(t, "GET", base+f[1], "identity")
		packed, short := get(t, "GET", base+f[1], "gzip")
		z, err := gzip.NewReader(strings.NewReader(short))
		if err != nil {
			t.Fatalf("%s: %v", f[1], err)
		}
		whole, err := io.ReadAll(z)
		if err != nil || string(whole) != body || plain.StatusCode != 200 || body == "" || len(short) > len(body) && len(body) > 1000 {
			t.Errorf("%s: status %d, %d bytes, %d compressed (%v)", f[1], plain.StatusCode, len(body), len(short), err)
		}
		if got := packed.Header.Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
			t.Errorf("%s: Cache-Control %q", f[1], got)
		}
		if kind := packed.Header.Get("Content-Type"); kind == "" || strings.HasPrefix(kind, "text/html") {
			t.Errorf("%s: Content-Type %q", f[1], kind)
		}
	}
	for _, c := range []struct {
		method, path string
		want         int
	}{{"GET", "/assets/index-old.js", 404}, {"GET", "/assets/", 404}, {"HEAD", "/corpora", 200}, {"POST", "/", 405}, {"DELETE", "/assets/x.js", 405}} {
		if answer, _ := get(t, c.method, base+console.Root+c.path, "identity"); answer.StatusCode != c.want {
			t.Errorf("%s %s: status %d, want %d", c.method, c.path, answer.StatusCode, c.want)
		}
	}
	if answer, _ := get(t, "GET", base+"/consoles", "identity"); answer.StatusCode != 404 {
		t.Errorf("/consoles: status %d", answer.StatusCode)
	}
}

// The most bytes that browsers load, compressed, and that the program carries.
const (
	mostFirst = 190 << 10 // before anything is shown
	mostArea  = 60 << 10  // more, for the pages of an area
	mostBuilt = 1500 << 10
)

// TestSize proves that the console stays small: what the first page loads, what each area adds, and what is in the program.
func TestSize(t *testing.T) {
	t.Parallel()
	packed, imports, lazy, total := map[string]int{}, map[string][]string{}, []string{}, 0
	static := regexp.MustCompile(`(?:from|import)"\./([^"]+)"`)
	dynamic := regexp.MustCompile("import\\([`\"]\\./([^`\"]+\\.js)[`\"]\\)")
	dir := "dist/assets/"
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		raw, err := os.ReadFile(dir + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		total += len(raw)
		var z strings.Builder
		w := gzip.NewWriter(&z)
		if _, err := w.Write(raw); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		packed[f.Name()] = z.Len()
		if !strings.HasSuffix(f.Name(), ".js") {
			continue
		}
		for _, m := range static.FindAllStringSubmatch(string(raw), -1) {
			imports[f.Name()] = append(imports[f.Name()], m[1])
		}
		for _, m := range dynamic.FindAllStringSubmatch(string(raw), -1) {
			lazy = append(lazy, m[1])
		}
	}
	var load func(name string, into map[string]bool)
	load = func(name string, into map[string]bool) {
		if into[name] {
			return
		}
		if packed[name] == 0 {
			t.Fatalf("%s is loaded and not there", name)
		}
		into[name] = true
		for _, next := range imports[name] {
			load(next, into)
		}
	}
	sum := func(names map[string]bool) (n int) {
		for name := range names {
			n += packed[name]
		}
		return n
	}
	page, err := os.ReadFile("dist/index.html")
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]bool{}
	for _, m := range regexp.MustCompile(`/console/assets/([^"]+)"`).FindAllStringSubmatch(string(page), -1) {
		load(m[1], first)
	}
	began := sum(first)
	t.Logf("first load: %d bytes compressed in %d files; all: %d bytes", began, len(first), total)
	if len(first) < 3 || began > mostFirst || total > mostBuilt {
		t.Errorf("the first load has %d bytes of at most %d, everything %d of %d", began, mostFirst, total, mostBuilt)
	}
	if len(lazy) < 2 {
		t.Fatalf("areas: %q", lazy)
	}
	for _, name := range lazy {
		area := map[string]bool{}
		for loaded := range first {
			area[loaded] = true
		}
		load(name, area)
		if more := sum(area) - began; more > mostArea {
			t.Errorf("%s loads %d bytes more, at most %d are allowed", name, more, mostArea)
		} else {
			t.Logf("%s: %d bytes more", name, more)
		}
	}
}
