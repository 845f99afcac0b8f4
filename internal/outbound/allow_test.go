package outbound_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"quarry/internal/outbound"
)

func allowed(t *testing.T, entries ...string) outbound.Allowed {
	t.Helper()
	a, err := outbound.ParseAllowed(entries)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAllowedEntries proves which entries of the setting are taken, and that a refused one is named with what is wrong.
func TestAllowedEntries(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"wiki.internal", "WIKI.Internal.", "wiki.internal:8080", "bücher.internal", "my_host", "localhost", "10.0.0.5", "10.0.0.5:8080", "10.0.0.0/8",
		"::1", "[::1]", "[::1]:8080", "fd00::/8", "0.0.0.0/0", "169.254.169.254",
	} {
		if _, err := outbound.ParseAllowed([]string{good}); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for bad, says := range map[string]string{
		"http://wiki.internal": "scheme", "wiki.internal/x": "no network", "10.0.0.0/33": "no network", "10.1.0.0/8": "the network is 10.0.0.0/8",
		"wiki.internal:http": "port", "wiki.internal:0": "port", "wiki.internal:70000": "port", "[::1]:x": "port", "*.internal": "has a *",
		"a b": "neither a host", "": "neither a host", "a..b": "neither a host", "ann@wiki.internal": "neither a host", "wiki.internal:": "port",
	} {
		_, err := outbound.ParseAllowed([]string{"localhost", bad})
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), `"`+bad+`"`) {
			t.Errorf("%q: %v, want %q", bad, err, says)
		}
	}
}

// TestAllowed proves what an entry lets through: a host by the name that the URL has and by no other, a port alone, a network
// by the address; and that nothing opens what is never called.
func TestAllowed(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	names := map[string][][]string{
		"wiki.internal": {{"127.0.0.1"}}, "other.internal": {{"127.0.0.1"}}, "meta.internal": {{"169.254.169.254"}}, "xn--bcher-kva.internal": {{"127.0.0.1"}},
	}
	for _, c := range []struct {
		entry, host string
		open        bool
	}{
		{"wiki.internal", "wiki.internal", true},
		{"wiki.internal", "WIKI.internal.", true},
		{"wiki.internal", "other.internal", false},
		{"wiki.internal", "127.0.0.1", false},
		{"wiki.internal:" + port, "wiki.internal", true},
		{"wiki.internal:1", "wiki.internal", false},
		{"bücher.internal", "xn--bcher-kva.internal", true},
		{"127.0.0.1", "wiki.internal", true},
		{"127.0.0.1", "127.0.0.1", true},
		{"127.0.0.1", "[::ffff:127.0.0.1]", true},
		{"127.0.0.1:" + port, "127.0.0.1", true},
		{"127.0.0.1:1", "127.0.0.1", false},
		{"127.0.0.0/8", "other.internal", true},
		{"10.0.0.0/8", "other.internal", false},
		{"::/0", "127.0.0.1", false},
		{"meta.internal", "meta.internal", false},
		{"0.0.0.0/0", "meta.internal", false},
		{"169.254.169.254", "169.254.169.254", false},
		{"169.254.0.0/16", "meta.internal", false},
		{"metadata.google.internal", "metadata.google.internal", false},
	} {
		client := outbound.New(outbound.Config{Allowed: allowed(t, c.entry), Setting: "outbound_allow", Resolver: dns(t, names)})
		before := reached.Load()
		err := get(client, "http://"+c.host+":"+port+"/")
		if (err == nil) != c.open || (reached.Load() != before) != c.open {
			t.Errorf("%s with the entry %s: %v", c.host, c.entry, err)
		}
		if !c.open && !strings.Contains(err.Error(), "never called") && !strings.Contains(err.Error(), "the setting outbound_allow") {
			t.Errorf("%s with the entry %s: %v", c.host, c.entry, err)
		}
	}
}

// TestAllowedRebinding proves that a name that is allowed gains nothing by an answer that changes, and that its connections
// serve no other name.
func TestAllowedRebinding(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	client := outbound.New(outbound.Config{Allowed: allowed(t, "wiki.internal"), Setting: "outbound_allow", Resolver: dns(t, map[string][][]string{
		"wiki.internal": {{"127.0.0.1"}, {"169.254.169.254"}}, "other.internal": {{"127.0.0.1"}},
	})})
	if err := get(client, "http://wiki.internal:"+port); err != nil {
		t.Fatal(err)
	}
	refusal(t, get(client, "http://other.internal:"+port), true, "the setting outbound_allow")
	client.CloseIdleConnections()
	refusal(t, get(client, "http://wiki.internal:"+port), true, "metadata")
}

// TestOwnRedirects proves that a call may bring its own rules for redirects: none, or so many, with its credentials and the
// headers that it names lost at another origin, and never into what is not called.
func TestOwnRedirects(t *testing.T) {
	t.Parallel()
	var last *http.Request
	var body string
	end := func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		last, body = r, string(b)
	}
	other := httptest.NewServer(http.HandlerFunc(end))
	t.Cleanup(other.Close)
	mux := http.NewServeMux()
	home := httptest.NewServer(mux)
	t.Cleanup(home.Close)
	back := httptest.NewServer(hop(307, home.URL+"/end"))
	t.Cleanup(back.Close)
	mux.HandleFunc("/end", end)
	mux.HandleFunc("/same", hop(302, "/end"))
	mux.HandleFunc("/kept", hop(308, "/end"))
	mux.HandleFunc("/other", hop(307, other.URL))
	mux.HandleFunc("/back", hop(307, back.URL))
	mux.HandleFunc("/loop", hop(302, "/loop"))
	mux.HandleFunc("/meta", hop(302, "http://169.254.169.254/latest/"))
	mux.HandleFunc("/inside", hop(302, "http://10.0.0.1/"))
	mux.HandleFunc("/file", hop(302, "file:///etc/passwd"))
	mux.HandleFunc("/user", hop(302, "http://a:b@localhost/"))
	client := outbound.New(outbound.Config{Allowed: allowed(t, "127.0.0.1"), Setting: "outbound_allow"})
	send := func(path string, rules outbound.Redirects) (*http.Response, error) {
		r, err := http.NewRequestWithContext(rules.With(t.Context()), "POST", home.URL+path, strings.NewReader("sent"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Authorization", "Cookie", "X-Pinned", "X-Free", "Content-Type"} {
			r.Header.Set(name, "s")
		}
		last = nil
		resp, err := client.Do(r)
		if err == nil {
			_ = resp.Body.Close()
		}
		return resp, err
	}
	rules := outbound.Redirects{Most: 10, Lost: []string{"x-pinned"}}
	for path, want := range map[string]struct {
		method, body string
		credentials  bool
	}{"/same": {"GET", "", true}, "/kept": {"POST", "sent", true}, "/other": {"POST", "sent", false}, "/back": {"POST", "sent", false}} {
		if _, err := send(path, rules); err != nil || last == nil || last.Method != want.method || body != want.body || (last.Header.Get("Content-Type") != "") != (body != "") {
			t.Fatalf("%s: %v, arrived %v with %q", path, err, last, body)
		}
		for _, name := range []string{"Authorization", "Cookie", "X-Pinned"} {
			if (last.Header.Get(name) != "") != want.credentials {
				t.Errorf("%s: %s is %q", path, name, last.Header.Get(name))
			}
		}
		if last.Header.Get("X-Free") == "" || last.Header.Get("Referer") != "" {
			t.Errorf("%s: headers %v", path, last.Header)
		}
	}
	if resp, err := send("/same", outbound.Redirects{}); err != nil || resp.StatusCode != 302 || resp.Header.Get("Location") != "/end" || last != nil {
		t.Errorf("without redirects: %v, %v", resp, err)
	}
	for path, c := range map[string]struct {
		says    string
		address bool
	}{
		"/loop": {"more than 10 times", false}, "/meta": {"metadata", true}, "/inside": {"the setting outbound_allow", true}, "/file": {"file://", true}, "/user": {"user name", false},
	} {
		_, err := send(path, rules)
		refusal(t, err, c.address, c.says)
	}
}

// TestInsecure proves that certificates are looked at unless the client was made without.
func TestInsecure(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	if err := get(outbound.New(outbound.Config{AllowPrivate: true}), server.URL); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate that nobody signed: %v", err)
	}
	if err := get(outbound.New(outbound.Config{AllowPrivate: true, Insecure: true}), server.URL); err != nil {
		t.Error(err)
	}
	refusal(t, get(outbound.New(outbound.Config{Insecure: true, Setting: "outbound_allow"}), server.URL), true, "private")
}
