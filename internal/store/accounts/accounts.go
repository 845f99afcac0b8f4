// Package accounts keeps users, API keys, application clients and their grants in SQL: the account.Store of the
// service. Package app creates it.
package accounts

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"quarry/internal/identity/account"
	"quarry/internal/store"
)

// Store is the account.Store over a database.
type Store struct{ db *store.DB }

var _ account.Store = (*Store)(nil)

// New returns a store over db.
func New(db *store.DB) *Store { return &Store{db} }

// CreateOwner writes the first user and its key in one transaction unless a user exists; made reports whether it did.
func (s *Store) CreateOwner(ctx context.Context, u account.User, k account.Key) (made bool, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Lock(owners); err != nil {
			return err
		}
		var users int
		if err := tx.QueryRow(`SELECT COUNT(*) FROM users`).Scan(&users); err != nil {
			return fmt.Errorf("count users: %w", err)
		}
		if made = users == 0; !made {
			return nil
		}
		if err := insertUser(tx, u); err != nil {
			return err
		}
		return insertKey(tx, k)
	})
	return made && err == nil, err
}

// owners is the lock that every change of the owners takes first.
const owners = "owner"

// list returns a list of texts as it is stored.
func list(all []string) string {
	if len(all) == 0 {
		return "[]"
	}
	raw, _ := json.Marshal(all) // texts always encode
	return string(raw)
}

// texts is a destination for what list returns; an empty list, like NULL, is nil.
type texts []string

// Scan parses the list.
func (t *texts) Scan(src any) error {
	var kept sql.NullString
	if err := kept.Scan(src); err != nil || !kept.Valid || kept.String == "[]" {
		return err
	}
	return json.Unmarshal([]byte(kept.String), (*[]string)(t))
}

func orNull(s string) any {
	return sql.NullString{String: s, Valid: s != ""}
}
