package provider

import (
	"context"
	"net/http"
	"strings"

	"quarry/internal/fault"
	"quarry/internal/llm/registry"
	"quarry/internal/oauth"
)

// Authorizer puts the credentials of a connection on its calls. It is safe for concurrent use. Failures to get
// credentials are *llm.Error.
type Authorizer interface {
	// Authorize adds the credentials to r; body is what r carries, for schemes that sign it.
	Authorize(ctx context.Context, r *http.Request, body []byte) error
	// Renew is called when the provider answered 401 to r, and reports whether there are other credentials for one more try.
	Renew(r *http.Request) bool
}

// standard returns the credentials that are the same for every wire format.
func (c *Client) standard() (Authorizer, error) {
	a := c.conn.Auth
	if a == nil {
		return Static(nil), nil
	}
	switch a.Type {
	case registry.Bearer:
		if reason := badValue(a.Token); reason != "" {
			return nil, fault.InvalidField("auth.token", "%s", reason)
		}
		return Static{"Authorization": "Bearer " + a.Token}, nil
	case registry.Header:
		if reason := badHeader(a.Header, ""); reason != "" {
			return nil, fault.InvalidField("auth.header", "%s", reason)
		}
		if reason := badValue(a.Value); reason != "" {
			return nil, fault.InvalidField("auth.value", "%s", reason)
		}
		return Static{a.Header: a.Value}, nil
	case registry.ClientCredentials:
		return c.clientCredentials(a)
	}
	return nil, fault.InvalidField("auth.type", "%q is no way to authenticate with a model of type %q", a.Type, c.conn.Type)
}

// CheckSecret refuses a secret that does not fit into a header. The fault names the member of auth.
func CheckSecret(member, secret string) error {
	if secret == "" || strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fault.InvalidField("auth."+member, "must be one line of text without blanks")
	}
	return nil
}

func badValue(v string) string {
	if v == "" {
		return "must not be empty"
	}
	return badHeader("X", v)
}

// Static is credentials that are headers which never change.
type Static map[string]string

// Authorize sets the headers.
func (s Static) Authorize(_ context.Context, r *http.Request, _ []byte) error {
	for name, value := range s {
		r.Header.Set(name, value)
	}
	return nil
}

// Renew reports that there are no other credentials.
func (s Static) Renew(*http.Request) bool { return false }

// clientCredentials returns the credentials of the OAuth client credentials grant (RFC 6749, section 4.4).
func (c *Client) clientCredentials(a *registry.Auth) (Authorizer, error) {
	f := fault.Invalid()
	if err := oauth.CheckEndpoint(a.TokenEndpoint); err != nil {
		f.Field("auth.token_endpoint", "%s", err)
	}
	if a.ClientID == "" {
		f.Field("auth.client_id", "must not be empty")
	}
	if a.ClientSecret == "" {
		f.Field("auth.client_secret", "must not be empty")
	}
	switch a.ClientAuthMethod {
	case "", oauth.Post, oauth.Basic:
	default:
		f.Field("auth.client_auth_method", "must be client_secret_basic or client_secret_post")
	}
	if len(f.Fields) > 0 {
		return nil, f
	}
	by := credentials(a)
	return c.TokenAuth(by.Key(), func(ctx context.Context) (oauth.Token, error) {
		form, header := by.Request()
		return c.ExchangeToken(ctx, by.Endpoint, form, header)
	}), nil
}
