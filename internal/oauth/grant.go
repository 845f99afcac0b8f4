package oauth

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The ways in which a client authenticates at a token endpoint.
const (
	Basic = "client_secret_basic" // id and secret by HTTP Basic
	Post  = "client_secret_post"  // id and secret in the form
)

// Credentials are what a token endpoint is asked with.
type Credentials struct {
	Endpoint     string
	ClientID     string
	ClientSecret string
	Method       string // Basic, also for "", or Post
	Scopes       []string
	Audience     string
	// Refresh is a refresh token, "" for the client credentials grant.
	Refresh string
}

// String and GoString hide what is secret.
func (c Credentials) String() string   { return "credentials for " + c.Endpoint }
func (c Credentials) GoString() string { return c.String() }

// Key returns the key under which tokens of these credentials are kept.
func (c Credentials) Key() string {
	parts := append([]string{c.Endpoint, c.ClientID, c.ClientSecret, c.Method, c.Audience}, c.Scopes...)
	if c.Refresh != "" {
		parts = append(parts, "refresh", c.Refresh)
	}
	return Key(parts...)
}

// BasicValue returns the value of the Basic scheme; id and secret are form-encoded first (RFC 6749, section 2.3.1).
func (c Credentials) BasicValue() string {
	return base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(c.ClientID) + ":" + url.QueryEscape(c.ClientSecret)))
}

// Request returns the form and the headers that ask for a token.
func (c Credentials) Request() (url.Values, http.Header) {
	form, header := url.Values{"grant_type": {"client_credentials"}}, http.Header{}
	if c.Refresh != "" {
		form = url.Values{"grant_type": {"refresh_token"}, "refresh_token": {c.Refresh}}
	}
	if len(c.Scopes) > 0 {
		form.Set("scope", strings.Join(c.Scopes, " "))
	}
	if c.Audience != "" {
		form.Set("audience", c.Audience)
	}
	if c.Method == Post {
		form.Set("client_id", c.ClientID)
		form.Set("client_secret", c.ClientSecret)
	} else {
		header.Set("Authorization", "Basic "+c.BasicValue())
	}
	return form, header
}

// CheckEndpoint refuses what can't be the address of a token endpoint.
func CheckEndpoint(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return errors.New("must be an address that begins with http:// or https://")
	}
	return nil
}

// Granted is what a token endpoint has answered.
type Granted struct {
	Token
	// Refresh is the refresh token that is valid from now on, "" where the endpoint names none.
	Refresh string
}

// shortLife is the lifetime assumed for a token whose endpoint states none.
const shortLife = 5 * time.Minute

// ErrNoToken is returned for an answer without an access token that fits into a header.
var ErrNoToken = errors.New("its answer has no access_token")

// answer is the body of a token endpoint's success.
type answer struct {
	AccessToken  string          `json:"access_token"`
	RefreshToken string          `json:"refresh_token"`
	ExpiresIn    json.RawMessage `json:"expires_in"`
}

// Read reads the answer of a token endpoint, which came at now.
func Read(body []byte, now time.Time) (Granted, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return Granted{}, err
	}
	if a.AccessToken == "" || strings.ContainsFunc(a.AccessToken, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return Granted{}, ErrNoToken
	}
	life := shortLife
	if s, err := strconv.ParseFloat(strings.Trim(string(a.ExpiresIn), `"`), 64); err == nil && s > 0 && s <= 9e9 {
		life = time.Duration(s * float64(time.Second))
	}
	return Granted{Token{a.AccessToken, now.Add(life)}, a.RefreshToken}, nil
}

// errorMember returns the member error of a refusal.
func errorMember(body []byte) string {
	var refusal struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(body, &refusal) // "" where it is none
	return refusal.Error
}
