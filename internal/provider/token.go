package provider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"quarry/internal/llm"
	"quarry/internal/llm/registry"
)

// Token is an access token and when it ends.
type Token struct {
	Value   string
	Expires time.Time
}

// Fetch gets a new token; failures are *llm.Error.
type Fetch func(ctx context.Context) (Token, error)

// Tokens keeps access tokens between calls and connections, in memory alone. One caller at a time fetches the token of a key,
// the others wait for it.
type Tokens struct {
	now func() time.Time

	mu   sync.Mutex
	held map[string]*slot // guarded by mu
}

type slot struct {
	turn  chan struct{} // holds one element; whoever takes it may read and write token
	token Token
	used  time.Time // guarded by mu of Tokens
}

// maxTokens is how many keys are kept: those of connections long gone make room.
const maxTokens = 1024

// get returns the token of key, and fetches one when there is none or it is about to expire.
func (t *Tokens) get(ctx context.Context, key string, fetch Fetch) (string, error) {
	s := t.slot(key)
	select {
	case <-s.turn:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	defer func() { s.turn <- struct{}{} }()
	if s.token.Value != "" && t.now().Before(s.token.Expires) {
		return s.token.Value, nil
	}
	token, err := fetch(ctx)
	if err != nil {
		return "", err
	}
	// A token counts as expired a minute early, or a tenth of a short life, so that none expires on its way.
	left := token.Expires.Sub(t.now())
	token.Expires = token.Expires.Add(-min(time.Minute, left/10))
	s.token = token
	return token.Value, nil
}

// drop forgets the token of key if it still is the one that was refused.
func (t *Tokens) drop(ctx context.Context, key, refused string) {
	s := t.slot(key)
	select {
	case <-s.turn:
	case <-ctx.Done():
		return
	}
	if s.token.Value == refused {
		s.token = Token{}
	}
	s.turn <- struct{}{}
}

func (t *Tokens) slot(key string) *slot {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.held[key]
	if s == nil {
		if t.held == nil {
			t.held = map[string]*slot{}
		}
		for k, old := range t.held {
			if len(t.held) < maxTokens {
				break
			}
			if t.now().Sub(old.used) > time.Hour || len(t.held) >= 2*maxTokens {
				delete(t.held, k)
			}
		}
		s = &slot{turn: make(chan struct{}, 1)}
		s.turn <- struct{}{}
		t.held[key] = s
	}
	s.used = t.now()
	return s
}

// TokenAuth returns credentials that send an access token as bearer. fetch gets the token; it is kept under key, which must
// differ with everything that fetch depends on and hold no secret in clear. Key returns such a key.
func (c *Client) TokenAuth(key string, fetch Fetch) Authorizer {
	return &tokenAuth{client: c, key: key, fetch: fetch}
}

// Key returns the key of a token from what it depends on.
func Key(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		n := sha256.Sum256([]byte(p))
		h.Write(n[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

type tokenAuth struct {
	client *Client
	key    string
	fetch  Fetch
}

func (t *tokenAuth) Authorize(ctx context.Context, r *http.Request, _ []byte) error {
	token, err := t.client.shared.tokens.get(ctx, t.key, t.fetch)
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
	t.client.shared.tokens.drop(r.Context(), t.key, refused)
	return true
}

// grant asks the token endpoint of a connection for a token.
func (c *Client) grant(ctx context.Context, a *registry.Auth) (Token, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	header := http.Header{}
	if len(a.Scopes) > 0 {
		form.Set("scope", strings.Join(a.Scopes, " "))
	}
	if a.Audience != "" {
		form.Set("audience", a.Audience)
	}
	if a.ClientAuthMethod == postSecret {
		form.Set("client_id", a.ClientID)
		form.Set("client_secret", a.ClientSecret)
	} else {
		header.Set("Authorization", "Basic "+basic(a))
	}
	return c.ExchangeToken(ctx, a.TokenEndpoint, form, header)
}

// shortLife is the lifetime assumed for a token whose endpoint states none.
const shortLife = 5 * time.Minute

// ExchangeToken asks a token endpoint. Its failures name the endpoint, not the model.
func (c *Client) ExchangeToken(ctx context.Context, endpoint string, form url.Values, header http.Header) (Token, error) {
	resp, err := c.send(ctx, request{
		method: http.MethodPost, url: endpoint, body: []byte(form.Encode()), contentType: "application/x-www-form-urlencoded",
		accept: "application/json", header: header, bare: true,
	})
	if err != nil {
		return Token{}, tokenFailure(err)
	}
	defer resp.Close()
	var answer struct {
		AccessToken string          `json:"access_token"`
		ExpiresIn   json.RawMessage `json:"expires_in"`
	}
	if err := resp.JSON(&answer); err != nil {
		return Token{}, tokenFailure(err)
	}
	if answer.AccessToken == "" || badValue(answer.AccessToken) != "" {
		return Token{}, tokenFailure(c.Failed(llm.Broken, "its answer has no access_token"))
	}
	life := shortLife
	if s, ok := seconds(strings.Trim(string(answer.ExpiresIn), `"`)); ok && s > 0 {
		life = s
	}
	return Token{Value: answer.AccessToken, Expires: c.shared.now().Add(life)}, nil
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
