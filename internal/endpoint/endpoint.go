// Package endpoint checks where other services are and what they are called with: addresses and headers that people register.
package endpoint

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"quarry/internal/fault"
)

// Bounds of what is sent with every call.
const (
	maxURI     = 2_048 // bytes
	maxHeaders = 50
	maxHeader  = 8_000 // bytes of a name and its value
)

// CheckURI refuses what is not an address of an HTTP service. example is one, for the message. Credentials in it would be
// shown to everyone who may read it.
func CheckURI(text, field, example string, bad *fault.Fault) {
	u, err := url.Parse(text)
	switch {
	case len(text) > maxURI:
		bad.Field(field, "must be at most %d bytes long", maxURI)
	case err == nil && u.Scheme != "" && u.Scheme != "https" && u.Scheme != "http":
		bad.Field(field, "must begin with https:// or http://")
	case err != nil || u.Hostname() == "" || u.Opaque != "" || !Visible(text) || strings.ContainsAny(text, " \\"):
		bad.Field(field, "must be an address such as %s", example)
	case u.User != nil:
		bad.Field(field, "must not hold a user or a password; they belong into auth")
	case u.Fragment != "" || strings.Contains(text, "#"):
		bad.Field(field, "must not have a fragment (#…)")
	case u.Scheme == "":
		bad.Field(field, "must begin with https:// or http://")
	case !validPort(u.Port()):
		bad.Field(field, "has a port that is none")
	}
}

func validPort(text string) bool {
	if text == "" {
		return true
	}
	n, err := strconv.Atoi(text)
	return err == nil && n >= 1 && n <= 65_535
}

// Visible reports whether a header or a form can carry a text unencoded.
func Visible(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// token matches the name of a header (RFC 9110, 5.6.2).
var token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$")

// framing are headers that belong to the connection or to the message itself: what sets them decides where a request
// ends.
var framing = []string{
	"connection", "content-encoding", "content-length", "content-type", "expect", "host", "http2-settings", "keep-alive",
	"proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "accept", "accept-encoding",
}

// CheckHeader refuses names that no header has, and those that the service sets itself.
func CheckHeader(name, field string, bad *fault.Fault) {
	if !token.MatchString(name) {
		bad.Field(field, "is no name of a header")
	} else if slices.Contains(framing, strings.ToLower(name)) {
		bad.Field(field, "belongs to the connection and is set by the service")
	}
}

// CheckHeaders refuses headers that can't be sent. field is that of all of them.
func CheckHeaders(all map[string]string, field string, bad *fault.Fault) {
	if len(all) > maxHeaders {
		bad.Field(field, "must be at most %d headers, these are %d", maxHeaders, len(all))
		return
	}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		one, lower := field+"."+name, strings.ToLower(name)
		switch value := all[name]; {
		case !token.MatchString(name):
			bad.Field(field, "has %q, which is no name of a header", name)
		case slices.Contains(framing, lower):
			CheckHeader(name, one, bad)
		case seen[lower]:
			bad.Field(one, "is there twice, in other letters")
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			bad.Field(one, "must not hold line breaks or other control characters")
		case len(name)+len(value) > maxHeader:
			bad.Field(one, "must be at most %d bytes with its name", maxHeader)
		}
		seen[lower] = true
	}
}

// credentials are headers that carry secrets.
var credentials = []string{
	"authorization", "proxy-authorization", "cookie", "set-cookie", "api-key", "x-api-key", "x-goog-api-key", "x-auth-token",
	"x-access-token", "x-amz-security-token", "ocp-apim-subscription-key", "proxy-authenticate", "www-authenticate",
}

// telling matches the names of other headers that carry secrets.
var telling = regexp.MustCompile(`(^|[-_])(authorization|api[-_]?key|apikey|access[-_]?key|auth[-_]?token|access[-_]?token|secret|password|passwd|credentials?)($|[-_])`)

// Carries reports whether a header carries credentials, by its name.
func Carries(name string) bool {
	lower := strings.ToLower(name)
	return slices.Contains(credentials, lower) || telling.MatchString(lower)
}
