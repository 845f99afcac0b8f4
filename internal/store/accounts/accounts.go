// Package accounts keeps users and API keys in SQL: the account.Store of the service. Package app makes it.
package accounts

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"quarry/internal/account"
	"quarry/internal/store"
)

// Store is the account.Store over a database.
type Store struct{ db *store.DB }

var _ account.Store = (*Store)(nil)

// New gives a store over db.
func New(db *store.DB) *Store { return &Store{db} }

// KeyByDigest gives the key and its owner in one read; account.ErrNoKey when there is none.
func (s *Store) KeyByDigest(ctx context.Context, digest string) (account.Key, account.User, error) {
	var k account.Key
	var u account.User
	var roles string
	var keyMade, userMade int64
	err := s.db.Reader().QueryRowContext(ctx, `
		SELECT k.id, k.name, k.digest, k.owner, k.enabled, k.created, u.id, u.username, u.email, u.enabled, u.api_roles, u.created
		FROM api_keys k JOIN users u ON u.id = k.owner WHERE k.digest = $1`, digest).
		Scan(&k.ID, &k.Name, &k.Digest, &k.Owner, &k.Enabled, &keyMade, &u.ID, &u.Username, &u.Email, &u.Enabled, &roles, &userMade)
	if errors.Is(err, sql.ErrNoRows) {
		return k, u, account.ErrNoKey
	}
	if err != nil {
		return k, u, fmt.Errorf("read key: %w", store.Translate(err))
	}
	if err := json.Unmarshal([]byte(roles), &u.APIRoles); err != nil {
		return k, u, fmt.Errorf("read roles of %s: %w", u.ID, err)
	}
	k.Created, u.Created = time.UnixMicro(keyMade).UTC(), time.UnixMicro(userMade).UTC()
	return k, u, nil
}

// CreateOwner writes the first user and its key in one transaction unless a user exists; made says which.
func (s *Store) CreateOwner(ctx context.Context, u account.User, k account.Key) (made bool, err error) {
	roles, err := json.Marshal(u.APIRoles)
	if err != nil {
		return false, fmt.Errorf("encode roles: %w", err)
	}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		// The row serialises nodes that start at once on PostgreSQL; SQLite has one writer anyway.
		if err := tx.Exec(`INSERT INTO meta (name, value) VALUES ('owner', $1)
			ON CONFLICT (name) DO UPDATE SET value = meta.value`, []byte(u.ID)); err != nil {
			return fmt.Errorf("lock owner: %w", err)
		}
		var users int
		if err := tx.QueryRow(`SELECT COUNT(*) FROM users`).Scan(&users); err != nil {
			return fmt.Errorf("count users: %w", err)
		}
		if made = users == 0; !made {
			return nil
		}
		if err := tx.Exec(`INSERT INTO users (id, username, email, enabled, api_roles, created) VALUES ($1, $2, $3, $4, $5, $6)`,
			u.ID, u.Username, u.Email, u.Enabled, string(roles), u.Created.UnixMicro()); err != nil {
			return fmt.Errorf("write user: %w", err)
		}
		if err := tx.Exec(`INSERT INTO api_keys (id, name, digest, owner, enabled, created) VALUES ($1, $2, $3, $4, $5, $6)`,
			k.ID, k.Name, k.Digest, k.Owner, k.Enabled, k.Created.UnixMicro()); err != nil {
			return fmt.Errorf("write key: %w", err)
		}
		return nil
	})
	return made && err == nil, err
}
