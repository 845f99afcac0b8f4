// Package token makes and checks access tokens: JSON Web Tokens signed with ES256 and with nothing else, by keys of the
// installation that its nodes share and that can be replaced without logging anyone out. A token says who its holder
// is, never what the holder may do: rights are read anew for each request (package account), so that taking them away
// works at once. The cryptography is go-jose's. httpapi/identity gives tokens out; package app has each bearer checked.
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

// published reports whether tokens of k can still be valid at now.
func (k Key) published(now time.Time) bool {
	return k.Retired.IsZero() || now.Before(k.Retired.Add(Lifetime+skew))
}

// ErrNoKey says that there is no key of that id, or none that signs.
var ErrNoKey = errors.New("no such signing key")

// Store keeps the signing keys of an installation; private parts are unreadable at rest.
type Store interface {
	// Keys gives every key that there is, newest first.
	Keys(ctx context.Context) ([]Key, error)
	// Signing gives the id of the key that signs now; ErrNoKey when there is none.
	Signing(ctx context.Context) (kid string, err error)
	// Private gives the private part of the key that signs; ErrNoKey when kid does not sign (any more).
	Private(ctx context.Context, kid string) ([]byte, error)
	// Add makes k the key that signs, in one transaction: the one before is retired at k.Created and its private part
	// forgotten, and keys retired before k.Forget are deleted. It does so only where the keys that stay are fewer than
	// k.Most, and with k.First only where no key signs; made says whether it did.
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
	// Installation tells this installation's tokens from those of any other: their audience, and their issuer where
	// Issuer is empty.
	Installation string
	Issuer       string
}

// Service makes and checks tokens. It is safe for concurrent use.
type Service struct {
	cfg      Config
	ring     *ring
	verified *verified

	mu     sync.Mutex
	signer signer // guarded by mu
}

// signer is the key that signs, opened.
type signer struct {
	kid  string
	with jose.Signer
}

// New gives a service.
func New(cfg Config) *Service {
	if cfg.Issuer == "" {
		cfg.Issuer = cfg.Installation
	}
	return &Service{cfg: cfg, ring: newRing(cfg.Store), verified: newVerified(generation)}
}

// Holder is whom a token is for.
type Holder struct {
	Kind authz.PrincipalKind
	ID   string // client id or user id
	// Epoch tells the life of the holder's password: a token is void once the holder has another. 0 where there is none.
	Epoch int64
}

// Claims is what a valid token says.
type Claims struct {
	Holder
	Issued time.Time // whole seconds
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
}

// Issue gives a token for h and how many seconds it is valid.
func (s *Service) Issue(ctx context.Context, h Holder) (token string, seconds int, err error) {
	with, err := s.signing(ctx)
	if err != nil {
		return "", 0, err
	}
	now := time.Now().Unix()
	payload, err := json.Marshal(wire{
		Issuer: s.cfg.Issuer, Audience: s.cfg.Installation, Subject: h.ID, IssuedAt: now, NotBefore: now,
		Expiry: now + int64(Lifetime/time.Second), ID: id.Text(22), Customer: s.cfg.Installation, Kind: h.Kind, Epoch: h.Epoch,
	})
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
	return token, int(Lifetime / time.Second), nil
}

// signing gives the key that signs now. Its id is asked for each time, so that no node goes on with a key that another
// has replaced; a key replaced between the two reads is asked for again.
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
		return nil, errors.New("its private part is damaged") // the library's text may show some of it
	}
	if _, ok := private.Key.(*ecdsa.PrivateKey); !ok || private.KeyID != kid {
		return nil, errors.New("its private part is another key's")
	}
	return jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: private}, new(jose.SignerOptions).WithType("JWT"))
}
