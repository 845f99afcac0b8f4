package server

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/endpoint"
	"quarry/internal/fault"
)

// Bounds of a definition. Where the contract has none they keep what is stored within reason.
const (
	maxName        = 50     // characters
	maxDescription = 5_000  // characters
	maxMetadata    = 65_535 // bytes
	maxSecret      = 20_000 // bytes of a member of the credentials
)

// check adds what is wrong to bad.
func (d *Definition) check(bad *fault.Fault) {
	switch n := utf8.RuneCountInString(d.Name); {
	case strings.TrimSpace(d.Name) == "":
		bad.Field("name", "must not be empty")
	case n > maxName:
		bad.Field("name", "must be at most %d characters long, it has %d", maxName, n)
	case strings.ContainsFunc(d.Name, unicode.IsControl):
		bad.Field("name", "must not hold line breaks or other control characters")
	}
	if n := utf8.RuneCountInString(d.Description); n > maxDescription {
		bad.Field("description", "must be at most %d characters long, it has %d", maxDescription, n)
	}
	endpoint.CheckURI(d.URI, "uri", "https://tools.example.com/mcp", bad)
	if d.Transport != SSE && d.Transport != Streamable {
		bad.Field("transport", "must be %s or %s, not %q", SSE, Streamable, d.Transport)
	}
	if n := len(d.Metadata); n > maxMetadata {
		bad.Field("metadata", "must have at most %d bytes as JSON, it has %d", maxMetadata, n)
	}
}

// hiding matches the names of headers that are kept like credentials beside those of endpoint.Carries: a name that is hidden
// for nothing does no harm.
var hiding = regexp.MustCompile(`token|secret|passw|credential|api[-_]?key|jwt|(^|[-_])(auth|key|session|sid|signature|pat)($|[-_])`)

// hidden reports whether the value of a header is kept sealed and shown as Mask.
func hidden(name string) bool {
	return endpoint.Carries(name) || hiding.MatchString(strings.ToLower(name))
}

// isMask reports whether a value is what reads show instead of one.
func isMask(v string) bool { return v != "" && strings.Trim(v, "*") == "" }

func checkHeaders(all map[string]string, bad *fault.Fault) {
	for name, value := range all {
		if hidden(name) && isMask(value) {
			bad.Field("headers."+name, "is the mask that reads show instead of the value; leave headers out to keep them as they are, or send the value itself")
		}
	}
	endpoint.CheckHeaders(all, "headers", bad)
}

// divide returns headers as they are shown, and those that carry credentials.
func divide(all map[string]string) (shown, sealed map[string]string) {
	if len(all) == 0 {
		return nil, nil
	}
	shown = maps.Clone(all)
	for name, value := range all {
		if !hidden(name) || value == "" {
			continue
		}
		if sealed == nil {
			sealed = map[string]string{}
		}
		shown[name], sealed[name] = Mask, value
	}
	return shown, sealed
}

// checked returns the credentials with the members of their kind alone, and adds what is wrong with them to bad.
func (a Auth) checked(bad *fault.Fault) *Auth {
	out := &Auth{Type: a.Type}
	secret := func(field, v string) string {
		if isMask(v) {
			bad.Field("auth."+field, "is a mask and no secret; leave auth out to keep the credentials as they are, or send the secret itself")
		}
		return visible(field, v, bad)
	}
	switch a.Type {
	case Bearer:
		out.Token = secret("token", a.Token)
	case Header:
		out.Value = secret("value", a.Value)
		if out.Header = visible("header", a.Header, bad); out.Header != "" {
			endpoint.CheckHeader(out.Header, "auth.header", bad)
		}
	case ClientCredentials:
		out.ClientID, out.ClientSecret = visible("client_id", a.ClientID, bad), secret("client_secret", a.ClientSecret)
		out.TokenEndpoint, out.Scopes, out.ClientAuthMethod, out.Audience = a.TokenEndpoint, slices.Clone(a.Scopes), a.ClientAuthMethod, a.Audience
		out.checkClient(bad)
	default:
		bad.Field("auth.type", "must be %s, %s or %s, not %q", Bearer, Header, ClientCredentials, a.Type)
	}
	return out
}

// visible returns v, which a header or a form must be able to carry.
func visible(field, v string, bad *fault.Fault) string {
	switch {
	case v == "":
		bad.Field("auth."+field, "must not be empty")
	case len(v) > maxSecret:
		bad.Field("auth."+field, "must be at most %d bytes long", maxSecret)
	case !endpoint.Visible(v):
		bad.Field("auth."+field, "must be printable ASCII characters, without line breaks")
	}
	return v
}

func (a *Auth) checkClient(bad *fault.Fault) {
	endpoint.CheckURI(a.TokenEndpoint, "auth.token_endpoint", "https://login.example.com/token", bad)
	switch a.ClientAuthMethod {
	case "", "client_secret_basic", "client_secret_post":
	default:
		bad.Field("auth.client_auth_method", "must be client_secret_basic or client_secret_post, not %q", a.ClientAuthMethod)
	}
	for _, s := range a.Scopes {
		if s == "" || strings.ContainsRune(s, ' ') || !endpoint.Visible(s) {
			bad.Field("auth.scopes", "holds %q, which is no scope: printable ASCII characters without blanks", s)
		}
	}
	if len(a.Audience) > maxSecret || !endpoint.Visible(a.Audience) {
		bad.Field("auth.audience", "must be at most %d printable ASCII characters, without line breaks", maxSecret)
	}
}
