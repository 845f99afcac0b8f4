// Package account holds who may call the service: users and their API keys. Today it makes the owner of an
// installation and authenticates keys; managing users and keys over the API comes with the identity issue.
package account

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"quarry/internal/authz"
	"quarry/internal/fault"
	"quarry/internal/id"
)

// User is a person.
type User struct {
	ID       id.User
	Username string
	Email    string
	Enabled  bool
	APIRoles []string
	Created  time.Time
}

// Key is an API key; Digest is the SHA-256 hex digest of its secret, which is not kept.
type Key struct {
	ID      id.APIKey
	Name    string
	Digest  string
	Owner   id.User // whose current roles the key has (personal keys are the only kind built)
	Enabled bool
	Created time.Time
}

// ErrNoKey says that no key has the digest asked for.
var ErrNoKey = errors.New("no such key")

// Store keeps users and keys.
type Store interface {
	// KeyByDigest gives the key and its owner in one read; ErrNoKey when there is none.
	KeyByDigest(ctx context.Context, digest string) (Key, User, error)
	// CreateOwner writes the first user and its key in one transaction unless a user exists; made says which.
	CreateOwner(ctx context.Context, u User, k Key) (made bool, err error)
}

// Service authenticates callers and sets up an installation.
type Service struct{ store Store }

// New gives a service over a store.
func New(s Store) *Service { return &Service{s} }

// personalPrefix begins the secret of a personal key; client tooling recognises it.
const personalPrefix = "zut_"

// Bootstrap makes the owner and its personal key on an installation without users. keep stores the key's secret and
// runs before the key becomes valid, so that a crash can't leave an owner whose key nobody has. made is false, and the
// secret void, when users exist already.
func (s *Service) Bootstrap(ctx context.Context, keep func(secret string) error) (made bool, err error) {
	secret := personalPrefix + id.Text(38)
	if err := keep(secret); err != nil {
		return false, err
	}
	now := time.Now().UTC()
	u := User{ID: id.NewUser(), Username: "owner", Email: "owner@localhost", Enabled: true, APIRoles: []string{"owner"}, Created: now}
	k := Key{ID: id.NewAPIKey(), Name: "owner key", Digest: Digest(secret), Owner: u.ID, Enabled: true, Created: now}
	if made, err = s.store.CreateOwner(ctx, u, k); err != nil {
		return false, fmt.Errorf("create owner: %w", err)
	}
	return made, nil
}

// Digest is what the store keeps of a key's secret.
func Digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Authenticate gives the principal of a key's secret. The look-up is by digest, so its time says nothing about how
// much of a wrong key is right.
func (s *Service) Authenticate(ctx context.Context, secret string) (authz.Principal, error) {
	k, u, err := s.store.KeyByDigest(ctx, Digest(secret))
	if errors.Is(err, ErrNoKey) || err == nil && !(k.Enabled && u.Enabled) {
		return authz.Principal{}, fault.Unauthenticated("the API key is unknown or disabled; send a valid key in the header x-api-key")
	}
	if err != nil {
		return authz.Principal{}, fmt.Errorf("look up key: %w", err)
	}
	return authz.Principal{Kind: authz.User, ID: string(u.ID), Name: u.Username, APIRoles: u.APIRoles}, nil
}
