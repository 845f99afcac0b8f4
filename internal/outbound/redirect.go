package outbound

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxRedirects is the number of redirects that a call follows.
const maxRedirects = 3

// safeHeaders are the headers that are kept on a redirect to another origin. Any other may hold a credential, since
// every provider has a header of its own for that.
var safeHeaders = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Accept-Language": true, "Content-Type": true, "User-Agent": true, "Range": true,
	"If-Modified-Since": true, "If-None-Match": true,
}

// redirect is the CheckRedirect of a guarded client. The address is checked when it is connected to, like any other.
func redirect(next *http.Request, via []*http.Request) error {
	first, last := via[0], via[len(via)-1]
	if len(via) > maxRedirects {
		return &Refused{Reason: "it redirects more than three times"}
	}
	if last.URL.Scheme == "https" && next.URL.Scheme != "https" {
		return &Refused{Reason: "it redirects from https to " + next.URL.Scheme}
	}
	// net/http turns a POST that is answered by 301, 302 or 303 into a GET without a body, a different call.
	if next.Method != first.Method {
		return &Refused{Reason: "it redirects in a way that loses what was sent; the address is probably not the final one"}
	}
	if next.URL.User != nil {
		return &Refused{Reason: "it redirects to an address with a user name in it"}
	}
	next.Header.Del("Referer") // its parameters may hold a key
	if !sameOriginThroughout(next, via) {
		maps.DeleteFunc(next.Header, func(name string, _ []string) bool { return !safeHeaders[name] })
	}
	return nil
}

// sameOriginThroughout reports whether no redirect so far left the origin of the first request. A redirect back from
// another origin does not count, since that origin chose where it leads.
func sameOriginThroughout(next *http.Request, via []*http.Request) bool {
	left := func(hop *http.Request) bool { return !sameOrigin(via[0].URL, hop.URL) }
	return !slices.ContainsFunc(via, left) && !left(next)
}

// sameOrigin reports whether credentials for a may be sent to b: it has the same scheme, host and port, or upgrades the
// same host from http to https on the default ports.
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
