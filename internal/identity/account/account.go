// Package account manages who may call the service: users, their API keys and application clients, and the rights of
// each. It turns credentials into principals and enforces who may change users and rights. Whether a request is allowed
// is decided by package authz. Handlers of httpapi/identity and the chain call it.
package account

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"quarry/internal/clock"
	"quarry/internal/id"
	"quarry/internal/identity/authz"
)

// Store keeps users, keys and clients with their rights.
type Store interface {
	Principals
	Directory
	Users
	Keys
	Clients
	// CreateOwner writes the first user and its key in one transaction, unless a user exists: then made is false.
	CreateOwner(ctx context.Context, u User, k Key) (made bool, err error)
}

// Directory shows users and clients; nobody who may call it is refused a part of it.
type Directory interface {
	// UserByName returns the user with a name, in any spelling, with all its fields; fault.KindNotFound "user_not_found"
	// when there is none.
	UserByName(ctx context.Context, username string) (User, error)
	// ListUsers returns up to l.Limit users, newest first, and whether more follow.
	ListUsers(ctx context.Context, l UserList) (page []User, more bool, err error)
	// GetClient returns a client with all its fields.
	GetClient(ctx context.Context, client id.AppClient) (Client, error)
	// ListClients returns up to l.Limit clients, newest first, and whether more follow.
	ListClients(ctx context.Context, l ClientList) (page []Client, more bool, err error)
}

// Service authenticates callers, manages who they are, and sets up an installation. It is safe for concurrent use.
type Service struct {
	Directory
	store Store
	codes Codes // nil: new users get no one-time code
}

// New returns a service. Without codes, new users get no one-time code.
func New(s Store, c Codes) *Service { return &Service{s, s, c} }

// personalPrefix is the prefix of the secrets of personal keys, by which client tooling recognises them.
const personalPrefix = "zut_"

// Bootstrap creates the owner and its personal key on an installation without users. keep stores the key's secret and
// runs before the key becomes valid, so that a crash can't leave an owner whose key nobody has. made is false, and the
// secret void, when users exist already.
func (s *Service) Bootstrap(ctx context.Context, keep func(secret string) error) (made bool, err error) {
	if some, _, err := s.store.ListUsers(ctx, UserList{Limit: 1}); err != nil || len(some) > 0 {
		return false, err // nothing needs to be written, on a disk that may be full
	}
	secret := personalPrefix + id.Text(secretLength)
	if err := keep(secret); err != nil {
		return false, err
	}
	now := clock.Now()
	u := User{
		ID: id.NewUser(), Username: "owner", Email: "owner@localhost", Enabled: true,
		Rights: authz.Rights{API: []string{authz.Owner}}, Created: now, Updated: now,
	}
	if made, err = s.store.CreateOwner(ctx, u, ownerKey(u.ID, secret, now)); err != nil {
		return false, fmt.Errorf("create owner: %w", err)
	}
	return made, nil
}

// ownerKey returns a personal key of an owner, made by the installation itself rather than by a request.
func ownerKey(owner id.User, secret string, now time.Time) Key {
	return Key{
		ID: id.NewAPIKey(), Name: "owner key", Digest: Digest(secret), Prefix: personalPrefix, Tail: Tail(secret),
		Style: StylePersonal, Owner: owner, Creator: string(owner), Enabled: true, Created: now,
	}
}

// ErrNoOwner means that an installation has no enabled owner. This is only so before its first start.
var ErrNoOwner = errors.New("no enabled owner")

// Recover creates a personal key of the oldest enabled owner, for an operator who has access to the database but no
// working key. keep stores the secret and runs before the key becomes valid, as in Bootstrap.
func (s *Service) Recover(ctx context.Context, keep func(secret string) error) (User, Key, error) {
	owner, err := s.firstOwner(ctx)
	if err != nil {
		return User{}, Key{}, err
	}
	secret := personalPrefix + id.Text(secretLength)
	if err := keep(secret); err != nil {
		return User{}, Key{}, err
	}
	k := ownerKey(owner.ID, secret, clock.Now())
	if err := s.store.CreateKey(ctx, k); err != nil {
		return User{}, Key{}, fmt.Errorf("create key of owner: %w", err)
	}
	return owner, k, nil
}

func (s *Service) firstOwner(ctx context.Context) (found User, err error) {
	for l := (UserList{Limit: 100}); ; {
		page, more, err := s.store.ListUsers(ctx, l)
		if err != nil {
			return User{}, fmt.Errorf("look for an owner: %w", err)
		}
		for _, u := range page { // newest first, so the last match is the oldest
			if u.Enabled && slices.Contains(u.Rights.API, authz.Owner) {
				found = u
			}
		}
		if !more {
			break
		}
		l.After = page[len(page)-1].Position()
	}
	if found.ID == "" {
		return User{}, ErrNoOwner
	}
	return found, nil
}

// Digest returns the SHA-256 digest of a secret in hex, which the store keeps instead of the secret. Secrets are random
// enough to need no salt.
func Digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Tail returns the last four characters of a secret, which its mask shows.
func Tail(secret string) string { return secret[max(0, len(secret)-4):] }
