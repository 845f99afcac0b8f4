// Package token issues and checks access tokens: JSON Web Tokens signed with ES256 and nothing else. All nodes of an
// installation share the signing keys, which can be replaced without logging anyone out. A token identifies its holder
// and contains no rights: these are read for each request (package account), so that revoking them works at once. The
// cryptography is go-jose's. httpapi/identity issues tokens; package app has each bearer token checked.
package token

import (
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"quarry/internal/id"
	"quarry/internal/identity/authz"
)

// Lifetime is how long a token is valid (contract: interface.md, Authentication).
const Lifetime = 30 * time.Minute

// skew is how far the clocks of two nodes may be apart.
const skew = time.Minute

// Key is a signing key as every node knows it: its public part.
type Key struct {
	ID      string // kid of the tokens
	Public  []byte // JWK
	Created time.Time
	Retired time.Time // when a newer key took over; zero for the one that signs
}

// published reports whether tokens signed by k can still be valid at now.
func (k Key) published(now time.Time) bool {
	return k.Retired.IsZero() || now.Before(k.Retired.Add(Lifetime+skew))
}

// ErrNoKey means that there is no key with that id, or no current signing key.
var ErrNoKey = errors.New("no such signing key")

// Store keeps the signing keys of an installation; private parts are unreadable at rest.
type Store interface {
	// Keys returns every key, newest first.
	Keys(ctx context.Context) ([]Key, error)
	// Signing returns the id of the key that signs now; ErrNoKey when there is none.
	Signing(ctx context.Context) (kid string, err error)
	// Private returns the private part of the signing key; ErrNoKey when kid is not the current one.
	Private(ctx context.Context, kid string) ([]byte, error)
	// Add adds k as the signing key, in one transaction: the key before it is retired at k.Created and loses its private
	// part, and keys retired before k.Forget are deleted. made is false, and nothing changes, if k.Most keys or more would
	// remain beside k or, with k.First, if there is a signing key.
	Add(ctx context.Context, k Fresh) (made bool, err error)
}

// Fresh is a signing key to add.
type Fresh struct {
	Key
	Private []byte // JWK
	First   bool
	Forget  time.Time
	Most    int
}

// Config is what a Service needs.
type Config struct {
	Store Store
	// Installation identifies this installation. It is the audience of its tokens, and their issuer if Issuer is empty.
	Installation string
	Issuer       string
	// SignIn is how long after password or code a user's tokens end at the latest; less than Lifetime counts as that.
	SignIn time.Duration
}

// Service issues and checks tokens. It is safe for concurrent use.
type Service struct {
	cfg      Config
	ring     *ring
	verified *verified

	mu     sync.Mutex
	signer signer // guarded by mu
}

// signer is the current signing key, ready for use.
type signer struct {
	kid  string
	with jose.Signer
}

// New returns a service.
func New(cfg Config) *Service {
	if cfg.Issuer == "" {
		cfg.Issuer = cfg.Installation
	}
	cfg.SignIn = max(cfg.SignIn, Lifetime)
	return &Service{cfg: cfg, ring: newRing(cfg.Store), verified: newVerified(generation)}
}

// Holder is whom a token is for.
type Holder struct {
	Kind authz.PrincipalKind
	ID   string // client id or user id
	// Epoch is the generation of the holder's sign-ins: tokens of an earlier one are invalid. 0 for clients.
	Epoch int64
	// SignedIn is when the user gave password or code, in whole seconds. Zero for clients.
	SignedIn time.Time
}

// Claims is the content of a valid token.
type Claims struct {
	Holder
	Issued, Expires time.Time // whole seconds
}

// wire is the payload of a token (contract: identity-and-access.md 1.1).
type wire struct {
	Issuer    string              `json:"iss"`
	Audience  string              `json:"aud"`
	Subject   string              `json:"sub"`
	IssuedAt  int64               `json:"iat"`
	NotBefore int64               `json:"nbf"`
	Expiry    int64               `json:"exp"`
	ID        string              `json:"jti"`
	Customer  string              `json:"customer_id"`
	Kind      authz.PrincipalKind `json:"principal_type"`
	Epoch     int64               `json:"epoch,omitempty"`
	SignedIn  int64               `json:"auth_time,omitempty"` // named as in OpenID Connect
}

// Issue returns a token for h and how many seconds it is valid: Lifetime, or until the sign-in of a user ends. It returns
// *InvalidError when that has ended.
func (s *Service) Issue(ctx context.Context, h Holder) (token string, seconds int, err error) {
	now := time.Now().Unix()
	w := wire{
		Issuer: s.cfg.Issuer, Audience: s.cfg.Installation, Subject: h.ID, IssuedAt: now, NotBefore: now,
		Expiry: now + int64(Lifetime/time.Second), ID: id.Text(22), Customer: s.cfg.Installation, Kind: h.Kind, Epoch: h.Epoch,
	}
	if h.Kind == authz.User {
		w.SignedIn = h.SignedIn.Unix()
		w.Expiry = min(w.Expiry, s.signInEnds(w))
	}
	if w.Expiry <= now {
		return "", 0, signInOver()
	}
	with, err := s.signing(ctx)
	if err != nil {
		return "", 0, err
	}
	payload, err := json.Marshal(w)
	if err != nil {
		return "", 0, fmt.Errorf("encode claims: %w", err)
	}
	signed, err := with.Sign(payload)
	if err != nil {
		return "", 0, fmt.Errorf("sign token: %w", err)
	}
	if token, err = signed.CompactSerialize(); err != nil {
		return "", 0, fmt.Errorf("write token: %w", err)
	}
	return token, int(w.Expiry - now), nil
}

// signInEnds returns when the sign-in of a user's token ends.
func (s *Service) signInEnds(w wire) int64 { return w.SignedIn + int64(s.cfg.SignIn/time.Second) }

func signInOver() error {
	return invalid("belongs to a sign-in that has reached its end (setting sign_in_hours); sign in again")
}

// signing returns the current signing key. It reads the key's id each time, so that no node continues with a key that
// another node has replaced, and starts again if the key is replaced between its two reads.
func (s *Service) signing(ctx context.Context) (jose.Signer, error) {
	for try := 0; ; try++ {
		kid, err := s.cfg.Store.Signing(ctx)
		if err != nil {
			return nil, fmt.Errorf("find signing key: %w", err)
		}
		s.mu.Lock()
		known := s.signer
		s.mu.Unlock()
		if known.kid == kid {
			return known.with, nil
		}
		with, err := s.open(ctx, kid)
		if errors.Is(err, ErrNoKey) && try < 2 {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("open signing key %s: %w", kid, err)
		}
		s.mu.Lock()
		s.signer = signer{kid, with}
		s.mu.Unlock()
		return with, nil
	}
}

func (s *Service) open(ctx context.Context, kid string) (jose.Signer, error) {
	plain, err := s.cfg.Store.Private(ctx, kid)
	if err != nil {
		return nil, err
	}
	var private jose.JSONWebKey
	if err := private.UnmarshalJSON(plain); err != nil {
		return nil, errors.New("its private part is damaged") // the library's error may contain some of it
	}
	if _, ok := private.Key.(*ecdsa.PrivateKey); !ok || private.KeyID != kid {
		return nil, errors.New("its private part is another key's")
	}
	return jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: private}, new(jose.SignerOptions).WithType("JWT"))
}
