package account

import (
	"time"

	"quarry/internal/id"
	"quarry/internal/identity/authz"
)

// The styles of keys. A key without a style has its own roles.
const (
	StylePersonal           = "personal"
	StyleServing            = "serving"
	StyleServingAndIndexing = "serving_and_indexing"
)

// Key is an API key; Digest is the SHA-256 hex digest of its secret, which is not kept.
type Key struct {
	ID      id.APIKey
	Name    string
	Digest  string
	Prefix  string // of the secret
	Tail    string // the last four characters of the secret, for its mask; empty when they were not kept
	Style   string
	Owner   id.User // of a personal key, which has the rights of its owner; empty for other keys
	Creator string  // the user or credential that created it
	Enabled bool
	Rights  authz.Rights // of a key that is not personal
	Created time.Time
}
