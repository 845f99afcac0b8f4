package oauth

import (
	"context"
	"time"
)

// State is what is stored for the credentials of a refresh token that its endpoint has replaced. The access token is part of
// it, since some endpoints end the former one when they give out the next: nodes then share it.
type State struct {
	// Version counts the changes, 0 for nothing stored.
	Version int64
	Refresh string
	Access  Token // ends when it is to be renewed
}

// String and GoString hide the tokens.
func (s State) String() string   { return "state of a refresh token" }
func (s State) GoString() string { return s.String() }

// Rotated keeps refresh tokens that endpoints have put in the place of others, sealed, by the key of the credentials that they
// came from. All nodes of an installation see the same.
type Rotated interface {
	// Lock reserves the refresh token of key for holder alone until an instant, and returns its state; it reports false while
	// another has it.
	Lock(ctx context.Context, key, holder string, until time.Time) (State, bool, error)
	// Swap stores next if the state still has the version after, and reports whether it did. It stores the version after+1.
	Swap(ctx context.Context, key string, after int64, next State) (bool, error)
	// Unlock ends the right of holder, if it still has it.
	Unlock(ctx context.Context, key, holder string) error
}
