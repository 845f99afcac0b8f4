package provider

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/oauth"
)

// TokenAuth returns credentials that send an access token as bearer. fetch gets the token, with failures that are *llm.Error; it
// is kept under key, which must differ with everything that fetch depends on and hold no secret in clear, as oauth.Key does.
func (c *Client) TokenAuth(key string, fetch func(context.Context) (oauth.Token, error)) Authorizer {
	return &tokenAuth{client: c, key: key, fetch: func(ctx context.Context, _ string) (oauth.Token, error) { return fetch(ctx) }}
}

type tokenAuth struct {
	client *Client
	key    string
	fetch  oauth.Fetch
}

func (t *tokenAuth) Authorize(ctx context.Context, r *http.Request, _ []byte) error {
	token, err := t.client.shared.tokens.Get(ctx, t.key, t.fetch)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	return nil
}

func (t *tokenAuth) Renew(r *http.Request) bool {
	refused, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return false
	}
	t.client.shared.tokens.Refuse(r.Context(), t.key, refused)
	return true
}

// credentials returns those of the client credentials grant.
func credentials(a *registry.Auth) oauth.Credentials {
	return oauth.Credentials{
		Endpoint: a.TokenEndpoint, ClientID: a.ClientID, ClientSecret: a.ClientSecret, Method: a.ClientAuthMethod, Scopes: a.Scopes, Audience: a.Audience,
	}
}

// ExchangeToken asks a token endpoint. Its failures name the endpoint, not the model.
func (c *Client) ExchangeToken(ctx context.Context, endpoint string, form url.Values, header http.Header) (oauth.Token, error) {
	resp, err := c.send(ctx, request{
		method: http.MethodPost, url: endpoint, body: []byte(form.Encode()), contentType: "application/x-www-form-urlencoded",
		accept: "application/json", header: header, bare: true,
	})
	if err != nil {
		return oauth.Token{}, tokenFailure(err)
	}
	defer resp.Close()
	data, err := resp.All()
	if err != nil {
		return oauth.Token{}, tokenFailure(err)
	}
	got, err := oauth.Read(data, c.shared.now())
	if errors.Is(err, oauth.ErrNoToken) {
		return oauth.Token{}, tokenFailure(c.Failed(llm.Broken, oauth.ErrNoToken.Error()))
	}
	if err != nil {
		return oauth.Token{}, tokenFailure(resp.BadBody(data, err))
	}
	return got.Token, nil
}

// tokenFailure marks a failure as one of the token endpoint.
func tokenFailure(err error) error {
	if e, ok := err.(*llm.Error); ok {
		marked := *e
		marked.Text = strings.TrimSuffix("the token endpoint failed: "+e.Text, ": ")
		return &marked
	}
	return err
}
