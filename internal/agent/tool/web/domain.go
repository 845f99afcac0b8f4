package web

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/idna"

	"quarry/internal/clip"
)

// host is a name of a host, in ASCII.
var host = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$`)

// parseDomain returns a domain as results are compared with it: in ASCII and lower case, perhaps behind "*.".
func parseDomain(text string) (string, error) {
	name, wild := strings.CutPrefix(ascii(text), "*.")
	if len(name) > 253 || !host.MatchString(name) {
		return "", fmt.Errorf("%q is no domain: write it without scheme, path and port, as in example.com, docs.example.com or *.example.com", clip.Head(text, 100))
	}
	if wild {
		name = "*." + name
	}
	return name, nil
}

// ascii returns the name of a host in the form in which names are compared.
func ascii(name string) string {
	name = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(name)), ".")
	rest, wild := strings.CutPrefix(name, "*.")
	if a, err := idna.Lookup.ToASCII(rest); err == nil {
		rest = a
	}
	if wild {
		return "*." + rest
	}
	return rest
}

// parseDomains reads a list of domains. The error names a place in the list.
func parseDomains(field string, all []string) ([]string, error) {
	out := make([]string, len(all))
	for i, text := range all {
		var err error
		if out[i], err = parseDomain(text); err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", field, i, err)
		}
	}
	return out, nil
}

// within reports whether a host belongs to one of some domains: is it, or a subdomain of it. Behind "*." stand subdomains alone.
func within(name string, domains []string) bool {
	return slices.ContainsFunc(domains, func(d string) bool {
		parent, wild := strings.CutPrefix(d, "*.")
		return !wild && name == d || strings.HasSuffix(name, "."+parent)
	})
}

// wanted reports whether the address of a result is one of the web that the domains of a search let through.
func wanted(address string, include, exclude []string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return false
	}
	name := ascii(u.Hostname())
	return (len(include) == 0 || within(name, include)) && !within(name, exclude)
}
