// Package provider makes one HTTP call of a language model: it adds the credentials of the connection, bounds the silence and
// the size of the answer, and returns failures as *llm.Error without any secret of ours. Calls go out through the client that
// it is given, which guards them. The wire formats, each in a sub-package (openai, anthropic, gemini), build bodies and read
// answers with it; provider/dial picks one for a connection. It does not retry, count or choose: that is registry.Service.
package provider

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"quarry/internal/fault"
	"quarry/internal/llm/registry"
	"quarry/internal/oauth"
	"quarry/internal/outbound"
)

// Shared is what all connections use together. It is safe for concurrent use.
type Shared struct {
	http   *http.Client
	home   *http.Client // for token endpoints, whose secrets stay at their origin
	now    func() time.Time
	tokens oauth.Tokens

	learned learned
}

// NewShared returns what connections share. client, of package outbound, makes every call, those for tokens included.
func NewShared(client *http.Client) *Shared {
	return &Shared{http: client, home: outbound.Home(client), now: time.Now}
}

// Client calls the model of one connection. It is safe for concurrent use.
type Client struct {
	shared *Shared
	conn   registry.Connection
	auth   Authorizer
	clean  *Cleaner
}

// NewClient returns the client of a connection; it calls nobody. A nil auth stands for the credentials that are the same
// for every wire format: none, bearer, header, oauth_client_credentials; others are a fault of "auth.type".
func NewClient(s *Shared, c registry.Connection, auth Authorizer) (*Client, error) {
	if c.Idle <= 0 {
		c.Idle = registry.DefaultIdle
	}
	for name, value := range c.Headers {
		if reason := badHeader(name, value); reason != "" {
			return nil, fault.InvalidField("headers."+name, "%s", reason)
		}
	}
	client := &Client{shared: s, conn: c, auth: auth, clean: NewCleaner(secrets(c)...)}
	if auth == nil {
		var err error
		if client.auth, err = client.standard(); err != nil {
			return nil, err
		}
	}
	return client, nil
}

// Connection returns the connection that the client was made for.
func (c *Client) Connection() registry.Connection { return c.conn }

// ours are the headers that a call sets itself.
var ours = map[string]bool{
	"host": true, "content-length": true, "transfer-encoding": true, "connection": true, "content-type": true,
	"accept": true, "accept-encoding": true, "upgrade": true, "te": true, "trailer": true, "expect": true,
}

func badHeader(name, value string) string {
	switch {
	case ours[strings.ToLower(name)]:
		return "is set by the call itself"
	case name == "" || strings.ContainsFunc(name, func(r rune) bool { return !tokenRune(r) }):
		return "is no name of a header"
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return "must be one line of text"
	}
	return ""
}

// tokenRune reports whether r may stand in a header's name (RFC 9110, section 5.6.2).
func tokenRune(r rune) bool {
	return r > ' ' && r < 0x7f && !strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

// ParseURI checks the address of a connection: absolute, http or https, with a host. The fault names "uri".
func ParseURI(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil:
		return nil, fault.InvalidField("uri", "is no address")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fault.InvalidField("uri", "must be an address that begins with http:// or https://")
	case u.User != nil:
		return nil, fault.InvalidField("uri", "must not hold a user name or password; state them in auth")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// secrets returns what this connection must not disclose: its credentials, and headers and parameters of its address that
// hold credentials.
func secrets(c registry.Connection) []string {
	out := c.Auth.Secrets()
	for name, value := range c.Headers {
		if secretName(name) {
			out = append(out, value)
		}
	}
	if u, err := url.Parse(c.URI); err == nil {
		for name, values := range u.Query() {
			if secretName(name) {
				out = append(out, values...)
			}
		}
		if p, ok := u.User.Password(); ok {
			out = append(out, p)
		}
	}
	if a := c.Auth; a != nil && a.ClientSecret != "" {
		out = append(out, credentials(a).BasicValue())
	}
	return out
}

// secretName reports whether a header or parameter of this name is likely to hold a credential.
func secretName(name string) bool {
	return Mentions(strings.ToLower(name), "auth", "key", "token", "secret", "cookie", "password", "sig", "code", "credential")
}
