package account

import (
	"context"
	"errors"
	"fmt"

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/authz"
)

// ErrNoHolder means that no key, client or user has the name of the credential.
var ErrNoHolder = errors.New("no such credential")

// Principals reads whom a credential belongs to, in its present state. Each method is one statement, as every request
// runs one. Grants on deleted corpora and agents are left out, and so are description, metadata and groups, which authorisation
// does not need. ErrNoHolder when the credential is unknown.
type Principals interface {
	// KeyByDigest returns a key and, for a personal key, its owner. The rights are in the owner of a personal key and in
	// the key otherwise.
	KeyByDigest(ctx context.Context, digest string) (Key, User, error)
	// ClientByID returns the client with a client id.
	ClientByID(ctx context.Context, clientID string) (Client, error)
	// UserByID returns the user with an id.
	UserByID(ctx context.Context, user id.User) (User, error)
}

// Authenticate returns the principal of a key's secret. The look-up is by digest, so that its time reveals
// nothing about how much of a wrong key is right.
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

// ClientPrincipal returns the principal of an application client whose token has been verified.
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

// UserPrincipal returns the principal of a user whose token has been verified, unless the token is of an earlier epoch.
func (s *Service) UserPrincipal(ctx context.Context, user id.User, epoch int64) (authz.Principal, error) {
	u, err := s.store.UserByID(ctx, user)
	if errors.Is(err, ErrNoHolder) || err == nil && !u.Enabled {
		return authz.Principal{}, fault.Unauthenticated("the user of the token does not exist any more or is disabled")
	}
	if err == nil && u.Epoch != epoch {
		return authz.Principal{}, fault.Unauthenticated("the token is void since the user signed out, got another password or was disabled; sign in again")
	}
	if err != nil {
		return authz.Principal{}, fmt.Errorf("look up user: %w", err)
	}
	return ofUser(u, string(u.ID)), nil
}

func ofUser(u User, credential string) authz.Principal {
	p := authz.Principal{Kind: authz.User, ID: string(u.ID), Name: u.Username, Email: u.Email, Credential: credential, Epoch: u.Epoch}
	return p.With(u.Rights)
}

// Groups returns the groups of a caller, none of one that is no user.
func (s *Service) Groups(ctx context.Context, by authz.Principal) ([]string, error) {
	if by.Machine() {
		return nil, nil
	}
	u, err := s.UserByName(ctx, by.Name)
	if fault.Is(err, fault.KindNotFound) || err == nil && string(u.ID) != by.ID { // deleted since the call was let in
		return nil, fault.Unauthenticated("the user of this call does not exist any more")
	}
	return u.Groups, err
}
