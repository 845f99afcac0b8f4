package outbound

import (
	"context"
	"fmt"
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

// Redirects is how one call follows redirects: as a browser does, where a POST that is answered by 301, 302 or 303 becomes a
// GET. Without it, a call follows three, and none that loses what was sent.
type Redirects struct {
	// Most is how many are followed. With 0 the redirect itself is the answer.
	Most int
	// Lost are headers that another origin doesn't get, beside Authorization, cookies and the Referer.
	Lost []string
	// Held keeps what was sent at its origin: a redirect that leads it to another one is refused.
	Held bool
}

type redirectsKey struct{}

// With returns a context whose calls follow redirects so.
func (r Redirects) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, redirectsKey{}, r)
}

// lose removes what a request to another origin must not carry.
func (r Redirects) lose(h http.Header) {
	for _, name := range slices.Concat(r.Lost, []string{"Authorization", "Proxy-Authorization", "Cookie", "Cookie2", "Www-Authenticate"}) {
		maps.DeleteFunc(h, func(have string, _ []string) bool { return strings.EqualFold(have, name) })
	}
}

// redirect is the CheckRedirect of a guarded client. The address is checked when it is connected to, like any other.
func redirect(next *http.Request, via []*http.Request) error {
	r, own := next.Context().Value(redirectsKey{}).(Redirects)
	if !own {
		return follow(next, via)
	}
	switch last := via[len(via)-1]; {
	case r.Most <= 0:
		return http.ErrUseLastResponse
	case len(via) > r.Most:
		return &Refused{Reason: fmt.Sprintf("it redirects more than %d times", r.Most)}
	case last.URL.Scheme == "https" && next.URL.Scheme != "https":
		return &Refused{Reason: "it redirects from https to " + next.URL.Scheme}
	case next.URL.User != nil:
		return &Refused{Reason: "it redirects to an address with a user name in it"}
	}
	elsewhere := !sameOriginThroughout(next, via)
	if r.Held && elsewhere && next.Body != nil {
		return &Refused{Reason: "it redirects what is sent to " + next.URL.Host + ", which is not meant for that; call the other address by itself"}
	}
	next.Header.Del("Referer")
	if next.Method != via[0].Method { // what described the body goes with it
		maps.DeleteFunc(next.Header, func(name string, _ []string) bool { return strings.HasPrefix(name, "Content-") })
	}
	if elsewhere {
		r.lose(next.Header)
	}
	return nil
}

// follow checks a redirect of a call that must arrive as it was sent.
func follow(next *http.Request, via []*http.Request) error {
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

// Home returns a client that calls as c does and follows no redirect to another origin. Calls whose body is a secret need it: a
// redirect with 307 or 308 would have the body sent there.
func Home(c *http.Client) *http.Client {
	home := *c
	home.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		if !sameOriginThroughout(next, via) {
			return &Refused{Reason: "it redirects to another origin, " + next.URL.Scheme + "://" + next.URL.Host}
		}
		if c.CheckRedirect == nil {
			return follow(next, via)
		}
		return c.CheckRedirect(next, via)
	}
	return &home
}

// SameOrigin reports whether credentials for a may be sent to b.
func SameOrigin(a, b *url.URL) bool { return sameOrigin(a, b) }
