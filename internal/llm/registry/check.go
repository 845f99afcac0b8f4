package registry

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"quarry/internal/fault"
	"quarry/internal/llm"
)

// The bounds of a registration (contract: LLM configuration, Limits). Where the contract has none they keep what is sent
// with every call within reason.
const (
	maxName        = 255   // characters
	maxDescription = 1_000 // characters
	maxModel       = 500   // characters
	maxURI         = 2_048 // bytes
	maxHeaders     = 50
	maxHeader      = 8_000 // bytes of a name and its value
	maxIdle        = time.Hour
)

func checkName(name string, bad *fault.Fault) {
	switch n := utf8.RuneCountInString(name); {
	case strings.TrimSpace(name) == "":
		bad.Field("name", "must not be empty")
	case n > maxName:
		bad.Field("name", "must be at most %d characters long, it has %d", maxName, n)
	}
}

// check holds a model with its credentials, nil for none, to what its type needs.
func (l *LLM) check(auth *Auth, bad *fault.Fault) {
	f, ok := l.Type.find()
	if !ok {
		bad.Field("type", "%q is no type of language models", l.Type)
		return
	}
	if n := utf8.RuneCountInString(l.Description); n > maxDescription {
		bad.Field("description", "must be at most %d characters long, it has %d", maxDescription, n)
	}
	switch {
	case strings.TrimSpace(l.Model) == "":
		bad.Field("model", "must not be empty")
	case utf8.RuneCountInString(l.Model) > maxModel || strings.ContainsFunc(l.Model, func(r rune) bool { return r < ' ' || r == 0x7f }):
		bad.Field("model", "must be at most %d characters, without line breaks", maxModel)
	}
	if l.URI != "" {
		checkURI(l.URI, "uri", bad)
	} else if f.needsURI {
		bad.Field("uri", "must not be empty")
	}
	f.checkAuth(auth, bad)
	checkHeaders(l.Headers, bad)
	l.checkNumbers(bad)
}

// checkAuth holds credentials, nil for none, to the kinds that the format takes and to their kind.
func (f *format) checkAuth(auth *Auth, bad *fault.Fault) {
	switch {
	case !f.takes(auth):
		f.refuse(auth, bad)
	case auth != nil:
		auth.check(bad)
	}
}

// refuse adds the fault of credentials, nil for none, that the format does not take.
func (f *format) refuse(auth *Auth, bad *fault.Fault) {
	if auth == nil {
		bad.Field("auth", "is required for type %s", f.name)
		return
	}
	bad.Field("auth.type", "must be %s for type %s, not %q", strings.Join(f.auth, " or "), f.name, auth.Type)
}

func (l *LLM) checkNumbers(bad *fault.Fault) {
	if l.Idle < 0 || l.Idle > maxIdle {
		bad.Field("idle_timeout_seconds", "must be between 1 and %d", int(maxIdle.Seconds()))
	}
	if n := l.Capabilities.ContextLimit; n != nil && *n < llm.MinContext {
		bad.Field("capabilities.context_limit", "must be at least %d", llm.MinContext)
	}
	l.Budget.Check("", bad)
}

// checkURI refuses what is not an address of an HTTP service. Credentials in it would be shown to everyone who may list
// models.
func checkURI(text, field string, bad *fault.Fault) {
	u, err := url.Parse(text)
	switch {
	case len(text) > maxURI:
		bad.Field(field, "must be at most %d bytes long", maxURI)
	case err != nil || u.Hostname() == "" || u.Opaque != "" || !visible(text) || strings.ContainsAny(text, " \\"):
		bad.Field(field, "must be an address such as https://models.example.com/v1/chat/completions")
	case u.Scheme != "https" && u.Scheme != "http":
		bad.Field(field, "must begin with https:// or http://")
	case u.User != nil:
		bad.Field(field, "must not hold a user or a password; they belong into auth")
	case u.Fragment != "" || strings.Contains(text, "#"):
		bad.Field(field, "must not have a fragment (#…)")
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

// token matches the name of a header (RFC 9110, 5.6.2).
var token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$")

// framing are headers that belong to the connection or to the message itself: what sets them decides where a request
// ends.
var framing = []string{
	"connection", "content-encoding", "content-length", "content-type", "expect", "host", "http2-settings", "keep-alive",
	"proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "accept", "accept-encoding",
}

// credentialHeaders are headers that carry secrets. Headers are shown to everyone who may list models.
var credentialHeaders = []string{
	"authorization", "proxy-authorization", "cookie", "set-cookie", "api-key", "x-api-key", "x-goog-api-key", "x-auth-token",
	"x-access-token", "x-amz-security-token", "ocp-apim-subscription-key", "proxy-authenticate", "www-authenticate",
}

// telling matches the names of other headers that carry secrets.
var telling = regexp.MustCompile(`(^|[-_])(authorization|api[-_]?key|apikey|access[-_]?key|auth[-_]?token|access[-_]?token|secret|password|passwd|credentials?)($|[-_])`)

func checkHeaders(all map[string]string, bad *fault.Fault) {
	if len(all) > maxHeaders {
		bad.Field("headers", "must be at most %d headers, these are %d", maxHeaders, len(all))
		return
	}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		field, lower := "headers."+name, strings.ToLower(name)
		switch value := all[name]; {
		case !token.MatchString(name):
			bad.Field("headers", "has %q, which is no name of a header", name)
		case slices.Contains(framing, lower):
			bad.Field(field, "belongs to the connection and is set by the service")
		case slices.Contains(credentialHeaders, lower) || telling.MatchString(lower):
			bad.Field(field, "carries credentials, which belong into auth: there they are sealed, headers are shown in lists")
		case seen[lower]:
			bad.Field(field, "is there twice, in other letters")
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			bad.Field(field, "must not hold line breaks or other control characters")
		case len(name)+len(value) > maxHeader:
			bad.Field(field, "must be at most %d bytes with its name", maxHeader)
		}
		seen[lower] = true
	}
}

// checkCredentialHeader refuses headers that can't carry credentials.
func checkCredentialHeader(name, field string, bad *fault.Fault) {
	if name == "" {
		return // said already
	}
	if !token.MatchString(name) {
		bad.Field(field, "is no name of a header")
	} else if slices.Contains(framing, strings.ToLower(name)) {
		bad.Field(field, "belongs to the connection and is set by the service")
	}
}
