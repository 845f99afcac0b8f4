package outbound_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"quarry/internal/outbound"
)

// TestJudge proves which addresses are refused always, which depending on the setting, and which never, in every
// notation.
func TestJudge(t *testing.T) {
	t.Parallel()
	never := []string{
		"169.254.169.254", "169.254.170.2", "169.254.1.1", "fe80::1", "fe80::1%eth0", "100.100.100.200", "168.63.129.16", "192.0.0.192",
		"fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "0.0.0.0", "0.1.2.3", "::", "224.0.0.1", "239.1.2.3", "ff02::1", "255.255.255.255", "240.0.0.1",
		"192.0.2.7", "198.51.100.7", "203.0.113.7", "2001:db8::1", "fec0::1", "2001::1",
		"::ffff:169.254.169.254", "::ffff:0.0.0.0", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a9fe:a9fe", "2002:a9fe:a9fe::1", "::169.254.169.254", "::ffff:0:169.254.169.254",
	}
	bySetting := []string{
		"127.0.0.1", "127.9.9.9", "::1", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fd12::1", "fc00::1", "100.64.0.1", "100.127.255.255", "198.18.0.1",
		"::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "2002:a00:1::1", "::127.0.0.1", "::1%lo",
	}
	always := []string{"1.1.1.1", "8.8.8.8", "172.32.0.1", "172.15.0.1", "100.63.0.1", "100.128.0.1", "11.0.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"}
	for _, c := range []struct {
		addresses        []string
		open, restricted bool // called with and without AllowPrivate
	}{{never, false, false}, {bySetting, true, false}, {always, true, true}} {
		for _, text := range c.addresses {
			a := netip.MustParseAddr(text)
			if err := (outbound.Config{AllowPrivate: true}).Judge(a); (err == nil) != c.open {
				t.Errorf("%s with private allowed: %v", text, err)
			}
			if err := (outbound.Config{}).Judge(a); (err == nil) != c.restricted {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	if (outbound.Config{AllowPrivate: true}).Judge(netip.Addr{}) == nil {
		t.Error("no address at all was let out")
	}
}

// dns answers each query for a name with the next of its answers, and repeats the last.
func dns(t *testing.T, answers map[string][][]string) *net.Resolver {
	t.Helper()
	var asked atomic.Int64
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer ours.Close()
			for {
				var size [2]byte
				if _, err := io.ReadFull(ours, size[:]); err != nil {
					return
				}
				question := make([]byte, binary.BigEndian.Uint16(size[:]))
				if _, err := io.ReadFull(ours, question); err != nil {
					return
				}
				reply := answer(question, answers, &asked)
				binary.BigEndian.PutUint16(size[:], uint16(len(reply)))
				if _, err := ours.Write(append(size[:], reply...)); err != nil {
					return
				}
			}
		}()
		return theirs, nil
	}}
}

func answer(question []byte, answers map[string][][]string, asked *atomic.Int64) []byte {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	rounds, known := answers[strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))]
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	} else if q.Type == dnsmessage.TypeA {
		n := min(int(asked.Add(1))-1, len(rounds)-1)
		for _, text := range rounds[n] {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type},
				Body:   &dnsmessage.AResource{A: netip.MustParseAddr(text).As4()},
			})
		}
	}
	out, err := m.Pack()
	if err != nil {
		return nil
	}
	return out
}

func refusal(t *testing.T, err error, address bool, says string) {
	t.Helper()
	var r *outbound.Refused
	if !errors.As(err, &r) || r.Blocked() != address || !strings.Contains(r.Error(), says) {
		t.Errorf("got %v, want a refusal (for its address: %v) that says %q", err, address, says)
	}
}

func get(c *http.Client, url string) error {
	resp, err := c.Get(url)
	if err == nil {
		_ = resp.Body.Close()
	}
	return err
}

// TestNames proves that the addresses of a name are checked on every call: of a name with a private address, of one
// with addresses of both kinds, and of one whose address changes between two calls.
func TestNames(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	resolver := func(answers ...[]string) *net.Resolver {
		return dns(t, map[string][][]string{"name.example": answers})
	}
	url := "http://name.example:" + port + "/"

	refusal(t, get(outbound.New(outbound.Config{Resolver: resolver([]string{"127.0.0.1"})}), url), true, "127.0.0.1 is a private address")
	refusal(t, get(outbound.New(outbound.Config{AllowPrivate: true, Resolver: resolver([]string{"169.254.169.254"})}), url), true, "metadata")
	if reached.Load() != 0 {
		t.Fatal("a refused call reached the server")
	}
	if err := get(outbound.New(outbound.Config{AllowPrivate: true, Resolver: resolver([]string{"127.0.0.1"})}), url); err != nil {
		t.Errorf("an allowed one: %v", err)
	}
	if err := get(outbound.New(outbound.Config{AllowPrivate: true, Resolver: resolver([]string{"169.254.169.254", "127.0.0.1"})}), url); err != nil || reached.Load() != 2 {
		t.Errorf("of two answers the allowed one was not called: %v", err)
	}

	rebinding := outbound.New(outbound.Config{AllowPrivate: true, Resolver: resolver([]string{"127.0.0.1"}, []string{"169.254.169.254"})})
	if err := get(rebinding, url); err != nil {
		t.Fatal(err)
	}
	rebinding.CloseIdleConnections()
	refusal(t, get(rebinding, url), true, "169.254.169.254")
}

// TestAddresses proves that addresses are checked in every notation that a URL allows.
func TestAddresses(t *testing.T) {
	t.Parallel()
	none := dns(t, nil)
	for url, says := range map[string]string{
		"http://169.254.169.254/latest/meta-data/": "metadata",
		"http://[::ffff:169.254.169.254]/":         "metadata",
		"http://[fe80::1%25eth0]/":                 "link-local",
		"http://metadata.google.internal/":         "metadata",
		"http://METADATA.google.internal./":        "metadata",
		"http://[64:ff9b::a9fe:a9fe]/":             "metadata",
		"http://0.0.0.0:8080/":                     "unspecified",
		"http://[::]:8080/":                        "unspecified",
		"file:///etc/passwd":                       "file://",
		"gopher://127.0.0.1:25/":                   "gopher://",
	} {
		refusal(t, get(outbound.New(outbound.Config{AllowPrivate: true, Resolver: none}), url), true, says)
	}
	// Forms that other programs take for addresses are names here, which nobody has.
	for _, url := range []string{"http://2130706433/", "http://0177.0.0.1/", "http://0x7f.1/", "http://127.1/"} {
		if err := get(outbound.New(outbound.Config{Resolver: none}), url); err == nil {
			t.Errorf("%s was called", url)
		}
	}
}

// hop is a handler that redirects.
func hop(status int, to string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(status)
	}
}

func post(t *testing.T, c *http.Client, url string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, bytes.NewReader([]byte(`{"a":1}`)))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Authorization": "Bearer s", "X-Api-Key": "s", "Cookie": "s", "X-Goog-Api-Key": "s", "Content-Type": "application/json"} {
		r.Header.Set(name, value)
	}
	return c.Do(r)
}

// TestRedirects proves which redirects are followed, that the body is kept and that credentials do not leave their
// origin.
func TestRedirects(t *testing.T) {
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
	mux.HandleFunc("/same", hop(307, "/end?x=1"))
	mux.HandleFunc("/other", hop(308, other.URL+"/"))
	mux.HandleFunc("/back", hop(307, back.URL))
	mux.HandleFunc("/loop", hop(307, "/loop"))
	mux.HandleFunc("/found", hop(302, "/end"))
	mux.HandleFunc("/see", hop(303, "/end"))
	mux.HandleFunc("/meta", hop(307, "http://169.254.169.254/latest/"))
	mux.HandleFunc("/name", hop(307, "http://metadata.google.internal/"))
	mux.HandleFunc("/file", hop(307, "file:///etc/passwd"))
	mux.HandleFunc("/user", hop(307, "http://a:b@localhost/"))
	client := outbound.New(outbound.Config{AllowPrivate: true})

	for path, kept := range map[string]bool{"/same": true, "/other": false, "/back": false} {
		last = nil
		resp, err := post(t, client, home.URL+path+"?key=secret")
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		_ = resp.Body.Close()
		if last == nil || last.Method != "POST" || body != `{"a":1}` || last.Header.Get("Content-Type") != "application/json" {
			t.Fatalf("%s: the call arrived as %v with %q", path, last, body)
		}
		for _, name := range []string{"Authorization", "X-Api-Key", "Cookie", "X-Goog-Api-Key"} {
			if (last.Header.Get(name) != "") != kept {
				t.Errorf("%s: %s is %q", path, name, last.Header.Get(name))
			}
		}
		if last.Header.Get("Referer") != "" {
			t.Errorf("%s: Referer tells %s", path, last.Header.Get("Referer"))
		}
	}
	for path, c := range map[string]struct {
		says    string
		address bool
	}{
		"/loop": {"more than three", false}, "/found": {"loses what was sent", false}, "/see": {"loses what was sent", false},
		"/meta": {"metadata", true}, "/name": {"metadata", true}, "/file": {"file://", true}, "/user": {"user name", false},
	} {
		_, err := post(t, client, home.URL+path)
		refusal(t, err, c.address, c.says)
	}
	if err := get(client, home.URL+"/found"); err != nil {
		t.Errorf("a call that sends nothing follows 302: %v", err)
	}

	safe := httptest.NewTLSServer(hop(307, other.URL))
	t.Cleanup(safe.Close)
	trusting := outbound.New(outbound.Config{AllowPrivate: true, Transport: func(t *http.Transport) {
		t.TLSClientConfig = safe.Client().Transport.(*http.Transport).TLSClientConfig
	}})
	_, err := post(t, trusting, safe.URL)
	refusal(t, err, false, "from https to http")
}

// TestRedirectInside proves that a redirect from an allowed to a private address is refused.
func TestRedirectInside(t *testing.T) {
	t.Parallel()
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the inside was reached") }))
	t.Cleanup(inside.Close)
	client := outbound.New(outbound.Config{Transport: func(t *http.Transport) {
		judged := t.DialContext
		t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if address == "8.8.8.8:80" { // a public server of the test
				ours, theirs := net.Pipe()
				go func() {
					_, _ = ours.Read(make([]byte, 4096))
					_, _ = io.WriteString(ours, "HTTP/1.1 307 Temporary Redirect\r\nLocation: "+inside.URL+"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
					_ = ours.Close()
				}()
				return theirs, nil
			}
			return judged(ctx, network, address)
		}
	}})
	refusal(t, get(client, "http://8.8.8.8/"), true, "127.0.0.1 is a private address")
}

// TestNoProxy proves that the proxies of the environment are not used.
func TestNoProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") }))
	t.Cleanup(proxy.Close)
	t.Setenv("HTTP_PROXY", proxy.URL) // not parallel: of the process
	t.Setenv("http_proxy", proxy.URL)
	refusal(t, get(outbound.New(outbound.Config{}), "http://10.0.0.1/"), true, "private")
}

// TestBounds proves that a body beyond the limit is an error and that one within it is complete.
func TestBounds(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", len(r.URL.Path)))
	}))
	t.Cleanup(server.Close)
	client := outbound.New(outbound.Config{AllowPrivate: true, MaxBody: 10})
	for path, whole := range map[string]bool{"/123456789": true, "/1234567890": false} {
		resp, err := client.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if whole != (err == nil) || !whole && !errors.Is(err, outbound.ErrTooLarge) || len(got) != 10 {
			t.Errorf("%s: %d bytes, %v", path, len(got), err)
		}
	}
}

// FuzzJudge proves that no notation of an address hides that of a metadata service.
func FuzzJudge(f *testing.F) {
	f.Add([]byte{0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, 169, 254, 169, 254})
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := netip.AddrFromSlice(b)
		if !ok {
			return
		}
		err := outbound.Config{AllowPrivate: true}.Judge(a)
		if un := a.Unmap(); err == nil && (un.IsLinkLocalUnicast() || un.IsMulticast() || un.IsUnspecified()) {
			t.Fatalf("%s was let out", a)
		}
		if (outbound.Config{}).Judge(a) == nil && (a.Unmap().IsPrivate() || a.Unmap().IsLoopback()) {
			t.Fatalf("%s was let out though private", a)
		}
	})
}
