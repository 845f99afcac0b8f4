// Package origin knows where requests come from: the origins whose pages may call the service from a browser, with the
// headers that browsers ask for, and the addresses of clients behind proxies.
package origin

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"quarry/internal/fault"
)

// Set is the origins whose pages may call the service from a browser.
type Set struct {
	any   bool
	exact map[string]bool
	below []subdomains
}

// subdomains are the origins of one scheme and port below a domain.
type subdomains struct{ scheme, domain string } // "https://", ".example.com:8443"

// Parse parses the setting allowed_origins: origins as browsers send them, https://*.example.com for every subdomain at
// any depth, or * for all.
func Parse(texts []string) (Set, error) {
	o := Set{exact: map[string]bool{}}
	for _, text := range texts {
		if text == "*" {
			o.any = true
			continue
		}
		if err := o.add(text); err != nil {
			return Set{}, fmt.Errorf("setting allowed_origins: %q %w", text, err)
		}
	}
	return o, nil
}

func (o *Set) add(text string) error {
	u, err := url.Parse(strings.ToLower(text))
	if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery {
		return fmt.Errorf("is no origin; one looks like https://app.example.com or http://localhost:3000, without a path")
	}
	host, port := u.Hostname(), u.Port()
	if port != "" && port != map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		port = ":" + port
	} else {
		port = ""
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	domain, wild := strings.CutPrefix(host, "*.")
	switch {
	case !printable(host):
		return fmt.Errorf("has letters that browsers send in another form; write the host as they do, in ASCII (xn--…)")
	case strings.Contains(domain, "*"):
		return fmt.Errorf("may hold one * alone, as the whole first label: https://*.example.com")
	case wild && !strings.Contains(strings.Trim(domain, "."), "."):
		return fmt.Errorf("would take in a whole top-level domain; name one below it, or allow * if you mean everyone")
	case wild:
		o.below = append(o.below, subdomains{u.Scheme + "://", "." + domain + port})
	default:
		o.exact[u.Scheme+"://"+host+port] = true
	}
	return nil
}

// printable reports whether s is ASCII without blanks.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// none reports whether no page of any origin may call.
func (o *Set) none() bool { return !o.any && len(o.exact)+len(o.below) == 0 }

// Allows reports whether pages of an origin may call. The comparison is exact: browsers spell an origin in one way.
func (o *Set) Allows(origin string) bool {
	if o.any || o.exact[origin] {
		return true
	}
	return slices.ContainsFunc(o.below, func(s subdomains) bool {
		rest, ok := strings.CutPrefix(origin, s.scheme)
		if !ok {
			return false
		}
		labels, ok := strings.CutSuffix(rest, s.domain)
		return ok && areLabels(labels)
	})
}

// areLabels reports whether s is labels of a host name, separated by dots.
func areLabels(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || strings.ContainsFunc(label, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
		}) {
			return false
		}
	}
	return true
}

const (
	// allowedHeaders are what pages may send, whether a preflight asks for them or not.
	allowedHeaders = "x-api-key, authorization, content-type, request-timeout, request-timeout-millis"
	// exposedHeaders are what pages may read beyond the few that browsers always show.
	exposedHeaders = "X-Request-Id, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, " +
		"X-Quarry-Unknown, X-Quarry-Passages, X-Quarry-Passages-Encoded, Mcp-Session-Id"
	// maxAge is how long a browser may remember a preflight, seconds; browsers cap it there.
	maxAge = "7200"
	// maxAsked is how many headers that a preflight asks for are granted beyond allowedHeaders. Published clients ask for
	// ten.
	maxAsked = 50
	// maxHeaderName is how many bytes such a name may have.
	maxHeaderName = 64
)

// Share sets the headers that let a page of an allowed origin read the answer, whatever it will be. Credentials mode,
// that is cookies, is never offered: nothing here is authenticated by a cookie.
func (o *Set) Share(h http.Header, r *http.Request) {
	if o.none() {
		return
	}
	h.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if origin == "" || !o.Allows(origin) {
		return
	}
	if o.any {
		origin = "*"
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", exposedHeaders)
}

// Preflight answers the question of a browser whether a page may send a request; done is false when r is no such
// question. methods returns what the path takes, nothing for an unknown path: that is answered too, so that the page gets
// to see the 404 of the request itself.
func (o *Set) Preflight(w http.ResponseWriter, r *http.Request, methods func() []string) (done bool, err error) {
	wanted := r.Header.Get("Access-Control-Request-Method")
	origin := r.Header.Get("Origin")
	if r.Method != http.MethodOptions || wanted == "" || origin == "" || o.none() {
		return false, nil
	}
	h := w.Header()
	h.Add("Vary", "Access-Control-Request-Headers")
	if !o.Allows(origin) {
		return true, fault.Forbidden("pages of this origin may not call the service; the setting allowed_origins lists those that may")
	}
	allowed := methods()
	if len(allowed) == 0 {
		allowed = []string{"DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"}
	}
	h.Set("Access-Control-Allow-Methods", strings.Join(allowed, ", "))
	h.Set("Access-Control-Allow-Headers", allowedHeaders+granted(strings.Join(r.Header.Values("Access-Control-Request-Headers"), ",")))
	h.Set("Access-Control-Max-Age", maxAge)
	w.WriteHeader(http.StatusNoContent)
	return true, nil
}

// granted returns the headers that a preflight asks for, in lower case, each after a comma: published clients add headers of
// their own (customer-id, x-source, x-fern-…), and a browser sends nothing if one of them is refused. What is no
// header name is left out, and so is what is granted anyway.
func granted(asked string) string {
	var out strings.Builder
	seen := strings.Split(allowedHeaders, ", ")
	most := len(seen) + maxAsked
	for name := range strings.SplitSeq(asked, ",") {
		name = strings.ToLower(strings.Trim(name, " \t"))
		if len(seen) == most {
			break
		}
		if len(name) <= maxHeaderName && httpguts.ValidHeaderFieldName(name) && !slices.Contains(seen, name) {
			seen = append(seen, name)
			out.WriteString(", " + name)
		}
	}
	return out.String()
}
