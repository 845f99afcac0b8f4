package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/authz"
	"quarry/internal/page"
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

// The prefixes of secrets, which client tooling recognises. A key that can only read begins as a serving key does.
const (
	prefixReads  = "zqt_"
	prefixWrites = "zwt_"
)

// secretLength is the number of random characters after the prefix.
const secretLength = 38

// Keys stores API keys. The rights of a personal key are those of its owner. Grants on deleted corpora and agents are left out.
// A key that does not exist is ErrNoHolder.
type Keys interface {
	// CreateKey writes a key and its grants. It returns ErrNoHolder when the owner was deleted, and a fault of
	// corpus_roles[n].corpus_key for a grant on a corpus that does not exist.
	CreateKey(ctx context.Context, k Key) error
	// GetKey returns a key.
	GetKey(ctx context.Context, key id.APIKey) (Key, error)
	// ListKeys returns up to l.Limit keys, newest first, and whether more follow.
	ListKeys(ctx context.Context, l KeyList) (page []Key, more bool, err error)
	// EnableKey sets whether a key is accepted. LastKey where nobody could manage the installation afterwards.
	EnableKey(ctx context.Context, key id.APIKey, enabled bool) error
	// DeleteKey removes a key and its grants, or fails as EnableKey does.
	DeleteKey(ctx context.Context, key id.APIKey) error
}

// KeyList selects the keys to list; a zero field selects all.
type KeyList struct {
	Limit  int
	After  *page.Position // the last one shown, nil for the first page
	Style  string
	Corpus string  // only those with a role on this corpus
	Owner  id.User // only personal keys of this user
}

// Masked returns the form in which the secret is shown once the key was created.
func (k *Key) Masked() string { return k.Prefix + "****" + k.Tail }

// CreateKey is the command to create a key, either of a style or with rights of its own.
type CreateKey struct {
	Name    string
	Style   string
	Corpora []string // the corpora that a key of style serving or serving_and_indexing reaches; nil when not given
	Rights  authz.Rights
}

// CreateKey creates a key for the caller and returns its secret, which is not stored. A caller can grant only rights
// that they hold, and only people have personal keys.
func (s *Service) CreateKey(ctx context.Context, p authz.Principal, c CreateKey) (k Key, secret string, err error) {
	if err := c.check(); err != nil {
		return Key{}, "", err
	}
	k = Key{
		ID: id.NewAPIKey(), Name: c.Name, Style: c.Style, Rights: c.rights(), Creator: creator(p), Enabled: true,
		Created: clock.Now(),
	}
	if c.Style == StylePersonal {
		if p.Machine() {
			return Key{}, "", fault.Forbidden("only a person can have personal keys, and the caller is %s; sign in, or use a personal key", kindText(p.Kind))
		}
		k.Owner = id.User(p.ID)
	} else if err := authz.Covers(p, k.Rights); err != nil {
		return Key{}, "", err
	}
	k.Prefix = c.prefix()
	secret = k.Prefix + id.Text(secretLength)
	k.Digest, k.Tail = Digest(secret), Tail(secret)
	if err := s.store.CreateKey(ctx, k); err != nil {
		return Key{}, "", c.storeError(&k, err)
	}
	if k.Owner != "" { // its rights are the owner's
		if k, err = s.store.GetKey(ctx, k.ID); err != nil {
			return Key{}, "", keyError(k.ID, err)
		}
	}
	return k, secret, nil
}

// check returns a fault that names every invalid field.
func (c *CreateKey) check() error {
	bad := fault.Invalid()
	checkName(c.Name, bad)
	switch {
	case c.Style == "" && c.Corpora != nil:
		bad.Field("corpus_keys", "goes with api_key_role serving or serving_and_indexing only; use corpus_roles")
	case c.Style == StylePersonal && c.Corpora != nil:
		bad.Field("corpus_keys", "must be left out of a personal key, which reaches what its owner reaches")
	case len(c.Corpora) > authz.MaxGrants:
		bad.Field("corpus_keys", "must have at most %d items, it has %d", authz.MaxGrants, len(c.Corpora))
	}
	if c.Style != "" && !c.Rights.None() {
		bad.Field("api_key_role", "can't be given together with api_roles, corpus_roles or agent_roles; a key has either a style or roles of its own")
	}
	c.Rights.Check(bad)
	return bad.Err()
}

// styleRoles are the roles that the older styles of keys grant on each corpus named.
var styleRoles = map[string]string{StyleServing: "viewer", StyleServingAndIndexing: "editor"}

// rights returns the rights of the key itself, none for a personal key.
func (c *CreateKey) rights() authz.Rights {
	role, ok := styleRoles[c.Style]
	if !ok {
		return c.Rights
	}
	var r authz.Rights
	seen := make(map[string]bool, len(c.Corpora))
	for _, key := range c.Corpora {
		if !seen[key] {
			r.Corpora = append(r.Corpora, authz.Grant{Key: key, Role: role})
		}
		seen[key] = true
	}
	return r
}

// readRoles are the roles that change no settings and no documents.
var readRoles = []string{
	"viewer", "corpus_viewer", "agent_viewer", "pipeline_viewer", "metrics_viewer", "agent_user", "agent_end_user",
	"billing_administrator",
}

// prefix returns the prefix of the secret, which shows what kind of key it is and whether it can write.
func (c *CreateKey) prefix() string {
	if c.Style == StylePersonal {
		return personalPrefix
	}
	r := c.rights()
	writes := c.Style == StyleServingAndIndexing ||
		slices.ContainsFunc(r.API, func(role string) bool { return !slices.Contains(readRoles, role) })
	for _, g := range slices.Concat(r.Corpora, r.Agents) {
		writes = writes || !slices.Contains(readRoles, g.Role)
	}
	if writes {
		return prefixWrites
	}
	return prefixReads
}

// storeError returns the error of the store in terms of the command.
func (c *CreateKey) storeError(k *Key, err error) error {
	f, expected := fault.As(err)
	switch {
	case errors.Is(err, ErrNoHolder):
		return fault.Unauthenticated("the user who called was deleted")
	case !expected || f.Kind != fault.KindInvalid:
		return fmt.Errorf("create key: %w", err)
	case c.Style == "":
		return err
	}
	reasons := make(map[string]string, len(f.Fields))
	for i, g := range k.Rights.Corpora {
		reasons[g.Key] = f.Fields[fmt.Sprintf("corpus_roles[%d].corpus_key", i)]
	}
	bad := fault.Invalid() // the roles were derived from a list of corpora, which may name one twice
	for i, key := range c.Corpora {
		if reason := reasons[key]; reason != "" {
			bad.Field(fmt.Sprintf("corpus_keys[%d]", i), "%s", reason)
		}
	}
	return bad
}

// GetKey returns a key that the caller may see.
func (s *Service) GetKey(ctx context.Context, p authz.Principal, key id.APIKey) (Key, error) {
	k, err := s.store.GetKey(ctx, key)
	if err == nil && !p.Holds(manager) && !own(p, &k) {
		err = ErrNoHolder
	}
	if err != nil {
		return Key{}, keyError(key, err)
	}
	return k, nil
}

// ListKeys returns up to l.Limit keys, newest first, and whether more follow. A caller who may not manage keys can list
// only their own personal keys.
func (s *Service) ListKeys(ctx context.Context, p authz.Principal, l KeyList) (page []Key, more bool, err error) {
	if !p.Holds(manager) {
		if l.Style != StylePersonal {
			return nil, false, fault.Forbidden("listing the keys of others needs one of the API roles corpus_administrator, administrator, owner; add api_key_role=personal to list your own")
		}
		if p.Machine() {
			return nil, false, nil // a machine has no personal keys
		}
		l.Owner = id.User(p.ID)
	}
	page, more, err = s.store.ListKeys(ctx, l)
	if err != nil {
		return nil, false, fmt.Errorf("list keys: %w", err)
	}
	return page, more, nil
}

// EnableKey sets whether a key is accepted, from the next request on. Enabling a key restores its rights, so the caller
// must hold them, even for a key of their own making.
func (s *Service) EnableKey(ctx context.Context, p authz.Principal, key id.APIKey, enabled bool) (Key, error) {
	k, err := s.toChange(ctx, p, key)
	if err == nil && enabled && !k.Enabled {
		err = authz.Covers(p, k.Rights)
	}
	if err != nil {
		return Key{}, err
	}
	if err := s.store.EnableKey(ctx, key, enabled); err != nil {
		return Key{}, keyError(key, err)
	}
	k.Enabled = enabled
	return k, nil
}

// DeleteKey removes a key; the next request with it is refused.
func (s *Service) DeleteKey(ctx context.Context, p authz.Principal, key id.APIKey) error {
	if _, err := s.toChange(ctx, p, key); err != nil {
		return err
	}
	if err := s.store.DeleteKey(ctx, key); err != nil {
		return keyError(key, err)
	}
	return nil
}

// toChange returns a key that the caller may disable or delete: their own, or one whose rights they hold. Otherwise a
// caller could lock out somebody with more rights.
func (s *Service) toChange(ctx context.Context, p authz.Principal, key id.APIKey) (Key, error) {
	k, err := s.GetKey(ctx, p, key)
	if err != nil || own(p, &k) {
		return k, err
	}
	return k, authz.Covers(p, k.Rights)
}

// manager is the API role that may see every key.
const manager = "corpus_administrator"

// own reports whether a key is the caller's: the personal key of the person, one that the caller made, or the key
// with which the request was made.
func own(p authz.Principal, k *Key) bool {
	return p.Kind == authz.User && string(k.Owner) == p.ID || k.Creator != "" && k.Creator == creator(p) || p.Credential != "" && string(k.ID) == p.Credential
}

// creator returns the id under which a caller is recorded as the creator of a key: the user id of a person, the
// credential of a machine.
func creator(p authz.Principal) string {
	if p.Kind == authz.User {
		return p.ID
	}
	return p.Credential
}

func kindText(k authz.PrincipalKind) string {
	if k == authz.APIKey {
		return "a key with roles of its own"
	}
	return "a " + strings.ReplaceAll(string(k), "_", " ")
}

func keyError(key id.APIKey, err error) error {
	if errors.Is(err, ErrNoHolder) {
		return fault.NotFound("api_key_not_found", string(key), "API key %s does not exist", key)
	}
	return fmt.Errorf("key %s: %w", key, err)
}
