package account

import (
	"time"

	"quarry/internal/authz"
	"quarry/internal/id"
)

// Client is an application client; Digest is the SHA-256 hex digest of its secret, which is not kept.
type Client struct {
	ID          id.AppClient // for managing it
	ClientID    string       // for signing in with it
	Name        string
	Description string
	Digest      string
	Tail        string // the last four characters of the secret, for its mask
	Rights      authz.Rights
	Created     time.Time
	Updated     time.Time
}
