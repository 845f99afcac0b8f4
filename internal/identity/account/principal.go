package account

import (
	"context"
	"errors"
	"fmt"

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/authz"
)

// ErrNoHolder says that no key, client or user has the name of the credential.
var ErrNoHolder = errors.New("no such credential")

// Principals reads who a credential stands for: always as it is now, and each in one statement, since every request
// pays for it. Grants on deleted corpora are left out. What authorising a request does not need stays unread:
// description, metadata and groups. ErrNoHolder when there is none.
type Principals interface {
	// KeyByDigest gives a key and its owner: the zero User unless the key is personal. Rights are in the one whose they
	// are.
	KeyByDigest(ctx context.Context, digest string) (Key, User, error)
	// ClientByID gives the client with a client id.
	ClientByID(ctx context.Context, clientID string) (Client, error)
	// UserByID gives the user with an id.
	UserByID(ctx context.Context, user id.User) (User, error)
}

// Authenticate gives the principal of a key's secret. The look-up is by digest, so its time says nothing about how
// much of a wrong key is right.
func (s *Service) Authenticate(ctx context.Context, secret string) (authz.Principal, error) {
	k, u, err := s.store.KeyByDigest(ctx, Digest(secret))
	personal := err == nil && k.Owner != ""
	if errors.Is(err, ErrNoHolder) || err == nil && !k.Enabled || personal && !u.Enabled {
		return authz.Principal{}, fault.Unauthenticated("the API key is unknown or disabled; send a valid key in the header x-api-key")
	}
	if err != nil {
		return authz.Principal{}, fmt.Errorf("look up key: %w", err)
	}
	if personal {
		return ofUser(u, string(k.ID)), nil
	}
	p := authz.Principal{Kind: authz.APIKey, ID: k.Digest, Name: k.Name, Credential: string(k.ID)}
	return p.With(k.Rights), nil
}

// ClientPrincipal gives the principal of an application client whose token was found valid.
func (s *Service) ClientPrincipal(ctx context.Context, clientID string) (authz.Principal, error) {
	c, err := s.store.ClientByID(ctx, clientID)
	if errors.Is(err, ErrNoHolder) || err == nil && !c.Enabled {
		return authz.Principal{}, fault.Unauthenticated("the application client of the token does not exist any more or is disabled")
	}
	if err != nil {
		return authz.Principal{}, fmt.Errorf("look up client: %w", err)
	}
	p := authz.Principal{Kind: authz.AppClient, ID: c.ClientID, Name: c.Name, Credential: c.ClientID}
	return p.With(c.Rights), nil
}

// UserPrincipal gives the principal of a user whose token of that epoch was found valid otherwise.
func (s *Service) UserPrincipal(ctx context.Context, user id.User, epoch int64) (authz.Principal, error) {
	u, err := s.store.UserByID(ctx, user)
	if errors.Is(err, ErrNoHolder) || err == nil && !u.Enabled {
		return authz.Principal{}, fault.Unauthenticated("the user of the token does not exist any more or is disabled")
	}
	if err == nil && u.Epoch != epoch {
		return authz.Principal{}, fault.Unauthenticated("the token is void since the user's password changed or the user was disabled; sign in again")
	}
	if err != nil {
		return authz.Principal{}, fmt.Errorf("look up user: %w", err)
	}
	return ofUser(u, string(u.ID)), nil
}

func ofUser(u User, credential string) authz.Principal {
	p := authz.Principal{Kind: authz.User, ID: string(u.ID), Name: u.Username, Email: u.Email, Credential: credential}
	return p.With(u.Rights)
}
