// Package signing keeps the keys that sign access tokens in SQL, their private parts sealed by store/secrets: the
// token.Store of the service. Package app creates it.
package signing

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"quarry/internal/identity/token"
	"quarry/internal/store"
	"quarry/internal/store/secrets"
)

// Store is the token.Store over a database.
type Store struct {
	db      *store.DB
	secrets *secrets.Store
}

var _ token.Store = (*Store)(nil)

// New returns a store over db.
func New(db *store.DB, s *secrets.Store) *Store { return &Store{db, s} }

// folder holds the private parts among the secrets.
const folder = "signing/"

// Keys returns every key, newest first. See token.Store.
func (s *Store) Keys(ctx context.Context) ([]token.Key, error) {
	return store.Select(s.db.Reader(ctx), "read signing keys", scan, `SELECT kid, public, created, retired FROM signing_keys
		ORDER BY retired IS NULL DESC, created DESC, kid`)
}

func scan(r store.Row) (k token.Key, err error) {
	return k, r.Scan(&k.ID, &k.Public, store.Micros(&k.Created), store.Micros(&k.Retired))
}

// Signing returns the id of the key that signs now. See token.Store.
func (s *Store) Signing(ctx context.Context) (kid string, err error) {
	err = s.db.Reader(ctx).QueryRow(`SELECT kid FROM signing_keys WHERE retired IS NULL`).Scan(&kid)
	if errors.Is(err, sql.ErrNoRows) {
		return "", token.ErrNoKey
	}
	if err != nil {
		return "", fmt.Errorf("read signing key: %w", store.Translate(err))
	}
	return kid, nil
}

// Private returns the private part of the key that signs. See token.Store.
func (s *Store) Private(ctx context.Context, kid string) ([]byte, error) {
	plain, err := s.secrets.Get(ctx, folder+kid)
	if errors.Is(err, secrets.ErrNone) {
		return nil, token.ErrNoKey
	}
	return plain, err
}

// Add writes k as the key that signs from now on. See token.Store.
func (s *Store) Add(ctx context.Context, k token.Fresh) (made bool, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Lock("signing"); err != nil {
			return err
		}
		if err := tx.Exec(`DELETE FROM signing_keys WHERE retired < $1`, k.Forget.UnixMicro()); err != nil {
			return fmt.Errorf("forget signing keys: %w", err)
		}
		var all, signing int
		if err := tx.QueryRow(`SELECT COUNT(*), COUNT(*) - COUNT(retired) FROM signing_keys`).Scan(&all, &signing); err != nil {
			return fmt.Errorf("count signing keys: %w", err)
		}
		if made = all < k.Most && (!k.First || signing == 0); !made {
			return nil
		}
		return s.replace(tx, k)
	})
	return made && err == nil, err
}

func (s *Store) replace(tx *store.Tx, k token.Fresh) error {
	if err := s.secrets.Delete(tx, folder); err != nil { // what signs no more has no use for a private part
		return err
	}
	now := k.Created.UnixMicro()
	if err := tx.Exec(`UPDATE signing_keys SET retired = $1 WHERE retired IS NULL`, now); err != nil {
		return fmt.Errorf("retire signing key: %w", err)
	}
	if err := tx.Exec(`INSERT INTO signing_keys (kid, public, created) VALUES ($1, $2, $3)`, k.ID, string(k.Public), now); err != nil {
		return fmt.Errorf("write signing key: %w", err)
	}
	return s.secrets.Put(tx, folder+k.ID, k.Private)
}
