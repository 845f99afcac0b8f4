package origin_test

import (
	"net/http"
	"strings"
	"testing"

	"quarry/internal/origin"
)

// TestOrigins proves which origins a setting allows: those written, and for a wildcard subdomains at any depth of the
// same scheme and port and nothing that merely looks like one.
func TestOrigins(t *testing.T) {
	t.Parallel()
	const setting = "https://app.example.com,http://localhost:3000,https://*.example.org,https://*.b.test:8443,https://CAPS.test:443,http://[::1]:80,app://desktop"
	for _, c := range []struct {
		setting, origin string
		allowed         bool
	}{
		{setting, "https://app.example.com", true},
		{setting, "http://localhost:3000", true},
		{setting, "https://a.example.org", true},
		{setting, "https://a.b-2.c_d.example.org", true},
		{setting, "https://x.b.test:8443", true},
		{setting, "https://caps.test", true},
		{setting, "http://[::1]", true},
		{setting, "app://desktop", true},
		{setting, "http://app.example.com", false},
		{setting, "https://app.example.com:8443", false},
		{setting, "https://app.example.com.evil.test", false},
		{setting, "https://app.example.com/", false},
		{setting, "https://APP.example.com", false},
		{setting, "https://evil-app.example.com", false},
		{setting, "http://localhost", false},
		{setting, "https://example.org", false},
		{setting, "http://a.example.org", false},
		{setting, "https://a.example.org:444", false},
		{setting, "https://evilexample.org", false},
		{setting, "https://a.example.org.evil.test", false},
		{setting, "https://evil.test/.example.org", false},
		{setting, "https://evil.test#.example.org", false},
		{setting, "https://evil.test?.example.org", false},
		{setting, "https://u@a.example.org", false},
		{setting, "https://evil.test:80.example.org", false},
		{setting, "https://.example.org", false},
		{setting, "https://a..example.org", false},
		{setting, "https://*.example.org", false},
		{setting, "https://a\x00.example.org", false},
		{setting, "https://é.example.org", false},
		{setting, "https://x.b.test", false},
		{setting, "null", false},
		{setting, "", false},
		{setting, "*", false},
		{"", "https://app.example.com", false},
		{"*", "https://anything.test", true},
		{"*", "null", true},
		{"https://a.test,*", "http://b.test", true},
	} {
		var texts []string
		if c.setting != "" {
			texts = strings.Split(c.setting, ",")
		}
		set, err := origin.Parse(texts)
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{}
		set.Share(h, &http.Request{Header: http.Header{"Origin": {c.origin}}})
		if got := h.Get("Access-Control-Allow-Origin") != ""; got != c.allowed {
			t.Errorf("setting %.20s, origin %q: allowed is %v", c.setting, c.origin, got)
		}
		if got := h.Get("Access-Control-Allow-Origin"); c.allowed && got != c.origin && (got != "*" || !strings.Contains(c.setting, "*")) {
			t.Errorf("setting %.20s, origin %q: allowed is %q", c.setting, c.origin, got)
		}
	}
	for _, bad := range []string{
		"app.example.com", "https://", "https://a.test/", "https://a.test/x", "https://u:p@a.test", "https://a.test?", "https://a.test#x",
		"https://*", "https://*.", "https://*.com", "https://a.*.com", "https://a*.example.com", "https://*.*.example.com", "**", "*.example.com",
		"https://é.test", "https://a b.test", "null", "://a", "https://a.test:x",
	} {
		if _, err := origin.Parse([]string{bad}); err == nil || !strings.Contains(err.Error(), "allowed_origins") || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v, want an error that names the setting and the value", bad, err)
		}
	}
}

// TestClient proves that the address of a client is that of the connection unless a trusted proxy says another, and that
// what anyone can have written before the proxy is not believed.
func TestClient(t *testing.T) {
	t.Parallel()
	proxies, err := origin.ParseProxies([]string{"10.0.0.0/8", "2001:db8::1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		remote    string
		forwarded []string
		want      string
	}{
		{"192.0.2.1:5", nil, "192.0.2.1"},
		{"192.0.2.1:5", []string{"198.51.100.9"}, "192.0.2.1"},
		{"10.1.2.3:5", nil, "10.1.2.3"},
		{"10.1.2.3:5", []string{"198.51.100.9"}, "198.51.100.9"},
		{"10.1.2.3:5", []string{"127.0.0.1, 198.51.100.9"}, "198.51.100.9"},
		{"10.1.2.3:5", []string{"6.6.6.6, 198.51.100.9, 10.9.9.9"}, "198.51.100.9"},
		{"10.1.2.3:5", []string{"6.6.6.6", "198.51.100.9"}, "198.51.100.9"},
		{"10.1.2.3:5", []string{"6.6.6.6, <script>, 10.9.9.9"}, "10.9.9.9"},
		{"10.1.2.3:5", []string{""}, "10.1.2.3"},
		{"10.1.2.3:5", []string{"10.9.9.8, 10.9.9.9"}, "10.9.9.8"},
		{"[::ffff:10.1.2.3]:5", []string{"2001:db8::5"}, "2001:db8::5"},
		{"[2001:db8::1]:5", []string{"fe80::1%eth0"}, "fe80::1"},
		{"[fe80::1%eth0]:5", nil, "fe80::1"},
		{"@", []string{"198.51.100.9"}, "@"},
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{
			"X-Forwarded-For": c.forwarded, "X-Real-Ip": {"6.6.6.6"}, "Forwarded": {"for=6.6.6.6"},
		}}
		if got := proxies.Client(r); got != c.want {
			t.Errorf("%s %q: %s, want %s", c.remote, c.forwarded, got, c.want)
		}
	}
	for _, bad := range []string{"proxy.example.com", "10.0.0.0/33", "10.0.0", "*"} {
		if _, err := origin.ParseProxies([]string{bad}); err == nil || !strings.Contains(err.Error(), "trusted_proxies") {
			t.Errorf("%s: %v, want an error that names the setting", bad, err)
		}
	}
}
