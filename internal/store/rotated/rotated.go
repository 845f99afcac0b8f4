// Package rotated keeps refresh tokens that their endpoints have replaced in SQL, sealed by store/secrets: the oauth.Rotated of
// the service. Package app creates it.
package rotated

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"quarry/internal/clock"
	"quarry/internal/oauth"
	"quarry/internal/store"
	"quarry/internal/store/secrets"
)

// Store is the oauth.Rotated over a database.
type Store struct {
	db      *store.DB
	secrets *secrets.Store
}

var _ oauth.Rotated = (*Store)(nil)

// New returns a store over db.
func New(db *store.DB, s *secrets.Store) *Store { return &Store{db, s} }

// folder holds the states among the secrets.
const folder = "rotated/"

// sealed is a state as it is sealed.
type sealed struct {
	Refresh string `json:"refresh"`
	Access  string `json:"access"`
	Expires int64  `json:"expires"` // microseconds
}

// Lock reserves a refresh token. See oauth.Rotated.
func (s *Store) Lock(ctx context.Context, key, holder string, until time.Time) (state oauth.State, ok bool, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		now := clock.Now().UnixMicro()
		if err := tx.Exec(`INSERT INTO rotated_tokens (id, version, holder, locked, updated) VALUES ($1, 0, $2, $3, $4)
			ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, locked = excluded.locked
			WHERE rotated_tokens.holder = '' OR rotated_tokens.locked < $5`, key, holder, until.UnixMicro(), now, now); err != nil {
			return err
		}
		var has string
		if err := tx.QueryRow(`SELECT version, holder FROM rotated_tokens WHERE id = $1`, key).Scan(&state.Version, &has); err != nil {
			return err
		}
		ok = has == holder
		return nil
	})
	if err != nil {
		return oauth.State{}, false, store.Wrap(err, "lock a refresh token")
	}
	if !ok || state.Version == 0 {
		return oauth.State{}, ok, nil
	}
	plain, err := s.secrets.Get(ctx, folder+key)
	if err != nil {
		return oauth.State{}, false, fmt.Errorf("read a refresh token: %w", err)
	}
	var v sealed
	if err := json.Unmarshal(plain, &v); err != nil {
		return oauth.State{}, false, errors.New("a stored refresh token is no JSON")
	}
	state.Refresh, state.Access = v.Refresh, oauth.Token{Value: v.Access, Expires: time.UnixMicro(v.Expires)}
	return state, true, nil
}

// keptFor is how long a state is kept that nobody uses.
const keptFor = 400 * 24 * time.Hour

// Swap stores a state. See oauth.Rotated.
func (s *Store) Swap(ctx context.Context, key string, after int64, next oauth.State) (done bool, err error) {
	plain, err := json.Marshal(sealed{next.Refresh, next.Access.Value, next.Access.Expires.UnixMicro()})
	if err != nil {
		return false, fmt.Errorf("encode a refresh token: %w", err)
	}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		done = false
		now := clock.Now()
		if err := s.forget(tx, now.Add(-keptFor)); err != nil {
			return err
		}
		var version int64
		err := tx.QueryRow(`INSERT INTO rotated_tokens (id, version, holder, locked, updated) VALUES ($1, $2, '', 0, $3)
			ON CONFLICT (id) DO UPDATE SET version = excluded.version, updated = excluded.updated
			WHERE rotated_tokens.version = $4 RETURNING version`, key, after+1, now.UnixMicro(), after).Scan(&version)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		done = true
		return s.secrets.Put(tx, folder+key, plain)
	})
	return done && err == nil, store.Wrap(err, "store a refresh token")
}

// forget removes states that nobody has used for a long time, some at a time.
func (s *Store) forget(tx *store.Tx, before time.Time) error {
	scan := func(r store.Row) (key string, err error) { return key, r.Scan(&key) }
	old, err := store.Select(tx, "find old refresh tokens", scan, `SELECT id FROM rotated_tokens WHERE updated < $1 ORDER BY updated LIMIT 10`, before.UnixMicro())
	if err != nil {
		return err
	}
	for _, key := range old {
		if err := s.secrets.DeleteOne(tx, folder+key); err != nil {
			return err
		}
		if err := tx.Exec(`DELETE FROM rotated_tokens WHERE id = $1`, key); err != nil {
			return err
		}
	}
	return nil
}

// Unlock ends the right to spend a refresh token. See oauth.Rotated.
func (s *Store) Unlock(ctx context.Context, key, holder string) error {
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Exec(`DELETE FROM rotated_tokens WHERE id = $1 AND holder = $2 AND version = 0`, key, holder); err != nil {
			return err
		}
		return tx.Exec(`UPDATE rotated_tokens SET holder = '', locked = 0 WHERE id = $1 AND holder = $2`, key, holder)
	})
	return store.Wrap(err, "unlock a refresh token")
}
