// Package llms keeps registered language models in SQL: the registry.Store of the service. Their credentials are sealed by
// store/secrets in the same transactions. Package app creates it.
package llms

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"quarry/internal/id"
	"quarry/internal/llm/registry"
	"quarry/internal/store"
	"quarry/internal/store/named"
	"quarry/internal/store/secrets"
)

// Store is the registry.Store over a database.
type Store struct {
	db      *store.DB
	rows    named.Table[registry.LLM]
	secrets *secrets.Store
}

var _ registry.Store = (*Store)(nil)

// New returns a store over db that keeps credentials in sealed.
func New(db *store.DB, sealed *secrets.Store) *Store {
	return &Store{db, named.Table[registry.LLM]{
		DB: db, Kind: "llm", Columns: columns, What: "language model", None: registry.ErrNone, Taken: registry.ErrTaken, Write: row, Read: scan,
	}, sealed}
}

// secretName is where the credentials of a model are sealed.
func secretName(l id.LLM) string { return "llm/" + string(l) + "/auth" }

// Create writes a model with its credentials. See registry.Store.
func (s *Store) Create(ctx context.Context, l registry.LLM, auth *registry.Auth) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if err := s.rows.Insert(tx, &l, l.Default); err != nil {
			return err
		}
		return s.putAuth(tx, l.ID, auth)
	})
}

func (s *Store) putAuth(tx *store.Tx, l id.LLM, auth *registry.Auth) error {
	if auth == nil {
		return s.secrets.DeleteOne(tx, secretName(l))
	}
	plain, err := json.Marshal(auth)
	if err != nil {
		return fmt.Errorf("encode credentials: %w", err)
	}
	return s.secrets.Put(tx, secretName(l), plain)
}

// Get returns a model. See registry.Store.
func (s *Store) Get(ctx context.Context, l id.LLM) (registry.LLM, error) {
	return s.rows.Get(ctx, string(l))
}

// Named returns the models of these names and the default one. See registry.Store.
func (s *Store) Named(ctx context.Context, names ...string) ([]registry.LLM, error) {
	return s.rows.Named(ctx, names...)
}

// List returns a page of models. See registry.Store.
func (s *Store) List(ctx context.Context, q registry.List) (page []registry.LLM, more bool, err error) {
	var match func(*registry.LLM) bool
	if q.Match != nil {
		match = q.Matches
	}
	return store.Matching(q.Limit, match, func(last *registry.LLM, n int) ([]registry.LLM, error) {
		after := q.After
		if last != nil {
			after = last.Position()
		}
		return s.rows.After(ctx, after, n)
	})
}

// Update writes a model if the stored revision is still the one expected. See registry.Store.
func (s *Store) Update(ctx context.Context, l registry.LLM, keep bool, auth *registry.Auth) (registry.LLM, error) {
	was := l.Revision
	l.Revision++
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		values, err := row(&l)
		if err != nil {
			return err
		}
		var now int64
		err = tx.QueryRow(`UPDATE llms SET (`+columns+`) = (`+store.List(1, len(values))+`)
			WHERE id = $1 AND revision = `+fmt.Sprintf("$%d", len(values)+1)+` RETURNING revision`, append(values, was)...).Scan(&now)
		if errors.Is(err, sql.ErrNoRows) {
			return missing(tx, l.ID)
		}
		if err != nil {
			return fmt.Errorf("update language model: %w", err)
		}
		if !keep {
			if err := s.putAuth(tx, l.ID, auth); err != nil {
				return err
			}
		}
		return s.rows.SetDefault(tx, string(l.ID), l.Default)
	})
	if err != nil {
		return registry.LLM{}, err
	}
	return l, nil
}

// missing returns why no model has the id with the revision expected: registry.ErrNone or registry.ErrChanged.
func missing(tx *store.Tx, l id.LLM) error {
	var n int
	if err := tx.QueryRow(`SELECT COUNT(*) FROM llms WHERE id = $1`, string(l)).Scan(&n); err != nil {
		return fmt.Errorf("read language model: %w", err)
	}
	if n == 0 {
		return registry.ErrNone
	}
	return registry.ErrChanged
}

// Delete removes a model with its credentials. See registry.Store.
func (s *Store) Delete(ctx context.Context, l id.LLM) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := s.rows.Delete(tx, string(l)); err != nil {
			return err
		}
		return s.secrets.DeleteOne(tx, secretName(l))
	})
}

// Auth returns the credentials of a model. See registry.Store.
func (s *Store) Auth(ctx context.Context, l id.LLM) (*registry.Auth, error) {
	plain, err := s.secrets.Get(ctx, secretName(l))
	if errors.Is(err, secrets.ErrNone) {
		_, err := s.Get(ctx, l) // distinguishes a model without credentials from none
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	auth := new(registry.Auth)
	if err := json.Unmarshal(plain, auth); err != nil {
		return nil, fmt.Errorf("read credentials of language model %s: they are damaged", l) // the cause may quote them
	}
	return auth, nil
}
