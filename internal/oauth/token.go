// Package oauth gets access tokens for calls that leave the service: by the client credentials grant and by refresh tokens
// (RFC 6749, sections 4.4 and 6). Tokens are kept in memory by what they depend on, renewed before they end, and fetched once
// for any number of callers. A refresh token that an endpoint has put in the place of another is sealed and stored before
// the other is given up, and one node at a time spends it.
package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"
)

// Token is an access token and when it ends.
type Token struct {
	Value   string
	Expires time.Time
}

// String and GoString hide the value.
func (t Token) String() string   { return "token until " + t.Expires.Format(time.RFC3339) }
func (t Token) GoString() string { return t.String() }

// early returns when a token that is got at now is to be renewed: a minute before its end, or a tenth of a short life, so that none
// expires on its way.
func (t Token) early(now time.Time) time.Time {
	return t.Expires.Add(-min(time.Minute, t.Expires.Sub(now)/10))
}

// Fetch gets a new token. refused is the token that was refused before its end, "" for none.
type Fetch func(ctx context.Context, refused string) (Token, error)

// Tokens keeps access tokens between calls, in memory alone. One caller at a time fetches the token of a key, the others wait
// for it. The zero value is empty; it is safe for concurrent use.
type Tokens struct {
	mu   sync.Mutex
	held map[string]*slot // guarded by mu
}

type slot struct {
	turn    chan struct{} // holds one element; whoever takes it may read and write token, renew and refused
	token   string
	renew   time.Time
	refused string
	used    time.Time // guarded by mu of Tokens
}

// maxTokens is how many keys are kept: those of connections long gone make room.
const maxTokens = 1024

// Get returns the token of key, and fetches one when there is none or it is about to end. key must differ with everything that
// fetch depends on and hold no secret in clear; Key returns such a key.
func (t *Tokens) Get(ctx context.Context, key string, fetch Fetch) (string, error) {
	s := t.slot(key)
	select {
	case <-s.turn:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	defer func() { s.turn <- struct{}{} }()
	if s.token != "" && time.Now().Before(s.renew) {
		return s.token, nil
	}
	token, err := fetch(ctx, s.refused)
	if err != nil {
		return "", err
	}
	s.token, s.renew, s.refused = token.Value, token.early(time.Now()), ""
	return s.token, nil
}

// have returns the token of key if there is one that nobody is renewing.
func (t *Tokens) have(key string) (string, bool) {
	s := t.slot(key)
	select {
	case <-s.turn:
		defer func() { s.turn <- struct{}{} }()
		return s.token, s.token != "" && time.Now().Before(s.renew)
	default:
		return "", false
	}
}

// Refuse forgets the token of key if it still is the one that was refused.
func (t *Tokens) Refuse(ctx context.Context, key, refused string) {
	s := t.slot(key)
	select {
	case <-s.turn:
	case <-ctx.Done():
		return
	}
	if s.token == refused {
		s.token, s.refused = "", refused
	}
	s.turn <- struct{}{}
}

func (t *Tokens) slot(key string) *slot {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	s := t.held[key]
	if s == nil {
		if t.held == nil {
			t.held = map[string]*slot{}
		}
		for k, old := range t.held {
			if len(t.held) < maxTokens {
				break
			}
			if now.Sub(old.used) > time.Hour || len(t.held) >= 2*maxTokens {
				delete(t.held, k)
			}
		}
		s = &slot{turn: make(chan struct{}, 1)}
		s.turn <- struct{}{}
		t.held[key] = s
	}
	s.used = now
	return s
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
