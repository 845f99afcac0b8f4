// Package google is access to Google's APIs with the key of a service account: the key file read and checked, and
// access tokens got for it by a signed assertion (RFC 7523). It knows no API; provider/gemini and provider/anthropic
// authenticate with it on Vertex.
package google

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/url"
	"time"

	"quarry/internal/fault"
	"quarry/internal/llm/registry"
	"quarry/internal/oauth"
	"quarry/internal/provider"
)

// Key is the key of a service account.
type Key struct {
	Email    string
	Project  string // "" when the file doesn't say
	TokenURI string

	id      string
	private *rsa.PrivateKey
}

const (
	defaultTokenURI = "https://oauth2.googleapis.com/token"
	// Vertex is the scope that Vertex wants.
	Vertex = "https://www.googleapis.com/auth/cloud-platform"
	// life is the longest that Google lets an assertion live.
	life = time.Hour
	// maxKey bounds what is read as a key file, in bytes.
	maxKey = 64 << 10
)

// Parse reads a key file, as Google's console gives it out. The fault names "auth.key_json" and repeats nothing of
// the file.
func Parse(keyJSON string) (*Key, error) {
	var file struct {
		Type     string `json:"type"`
		Email    string `json:"client_email"`
		Project  string `json:"project_id"`
		ID       string `json:"private_key_id"`
		Private  string `json:"private_key"`
		TokenURI string `json:"token_uri"`
	}
	if len(keyJSON) > maxKey || json.Unmarshal([]byte(keyJSON), &file) != nil {
		return nil, bad("is not the JSON of a key file")
	}
	switch {
	case file.Type != "service_account":
		return nil, bad("must be the key file of a service account; its type must be service_account")
	case file.Email == "":
		return nil, bad("has no client_email")
	}
	if file.TokenURI == "" {
		file.TokenURI = defaultTokenURI
	}
	if u, err := url.Parse(file.TokenURI); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return nil, bad("has a token_uri that is no address")
	}
	private := parsePrivate(file.Private)
	if private == nil {
		return nil, bad("has a private_key that is no RSA key in PEM")
	}
	return &Key{Email: file.Email, Project: file.Project, TokenURI: file.TokenURI, id: file.ID, private: private}, nil
}

func bad(reason string) error { return fault.InvalidField("auth.key_json", "%s", reason) }

func parsePrivate(text string) *rsa.PrivateKey {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil
	}
	if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		private, _ := key.(*rsa.PrivateKey)
		return private
	}
	private, _ := x509.ParsePKCS1PrivateKey(block.Bytes)
	return private
}

// Client returns the client of a connection that sends access tokens of the account, which are got through the same
// guard and kept as long as they live.
func (k *Key) Client(s *provider.Shared, c registry.Connection) (*provider.Client, error) {
	// The endpoint of tokens is no part of the connection: it gets no headers of it.
	bare, err := provider.NewClient(s, c, provider.Static(nil))
	if err != nil {
		return nil, err
	}
	held := oauth.Key("google", k.Email, k.id, k.TokenURI, string(x509.MarshalPKCS1PrivateKey(k.private)))
	return provider.NewClient(s, c, bare.TokenAuth(held, func(ctx context.Context) (oauth.Token, error) {
		assertion, err := k.Assertion(time.Now(), Vertex)
		if err != nil {
			return oauth.Token{}, err
		}
		form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}}
		return bare.ExchangeToken(ctx, k.TokenURI, form, nil)
	}))
}

// Assertion is a token, signed by the key, that asks for an access token of a scope.
func (k *Key) Assertion(now time.Time, scope string) (string, error) {
	header := map[string]string{"alg": "RS256", "typ": "JWT"}
	if k.id != "" {
		header["kid"] = k.id
	}
	claims := map[string]any{
		"iss": k.Email, "scope": scope, "aud": k.TokenURI,
		// A clock that is a little ahead of Google's must not make the token one of the future.
		"iat": now.Add(-10 * time.Second).Unix(), "exp": now.Add(life - time.Minute).Unix(),
	}
	text := encoded(header) + "." + encoded(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, k.private, crypto.SHA256, sum[:])
	if err != nil {
		return "", fmt.Errorf("sign assertion: %w", err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

func encoded(v any) string {
	raw, _ := json.Marshal(v) // maps of strings and numbers
	return base64.RawURLEncoding.EncodeToString(raw)
}
