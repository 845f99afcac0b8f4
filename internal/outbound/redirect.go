package outbound

import (
	"net/http"
	"net/url"
	"strings"
)

// maxRedirects is how many redirects a call follows.
const maxRedirects = 3

// plain are the headers that go along to another origin: they say what is asked, not who asks. Everything else may be a
// credential, since every provider has a header of its own for that.
var plain = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Accept-Language": true, "Content-Type": true, "User-Agent": true, "Range": true,
	"If-Modified-Since": true, "If-None-Match": true,
}

// redirect decides on one redirect. The address itself is judged when it is called, as every address is.
func redirect(next *http.Request, via []*http.Request) error {
	first, last := via[0], via[len(via)-1]
	if len(via) > maxRedirects {
		return &Refused{Reason: "it redirects more than three times"}
	}
	if last.URL.Scheme == "https" && next.URL.Scheme != "https" {
		return &Refused{Reason: "it redirects from https to " + next.URL.Scheme}
	}
	// 301, 302 and 303 turn what was sent into a request without a body, whose answer would mean something else.
	if next.Method != first.Method {
		return &Refused{Reason: "it redirects in a way that loses what was sent; the address is probably not the final one"}
	}
	if next.URL.User != nil {
		return &Refused{Reason: "it redirects to an address with a user name in it"}
	}
	next.Header.Del("Referer") // its parameters may hold a key
	if !home(next, via) {
		for name := range next.Header {
			if !plain[name] {
				delete(next.Header, name)
			}
		}
	}
	return nil
}

// home reports whether a call never left the origin that it began at: one that comes back from elsewhere is no longer ours.
func home(next *http.Request, via []*http.Request) bool {
	for _, hop := range via {
		if !sameOrigin(via[0].URL, hop.URL) {
			return false
		}
	}
	return sameOrigin(via[0].URL, next.URL)
}

// sameOrigin reports whether credentials for a may go to b: the same host and port, or the step from http to https on
// their usual ports.
func sameOrigin(a, b *url.URL) bool {
	if !strings.EqualFold(a.Hostname(), b.Hostname()) {
		return false
	}
	return a.Scheme == b.Scheme && port(a) == port(b) || a.Scheme == "http" && b.Scheme == "https" && port(a) == "80" && port(b) == "443"
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}
