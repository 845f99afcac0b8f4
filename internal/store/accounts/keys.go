package accounts

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/store"
)

// CreateKey writes a key and its grants. What a personal key may do is written nowhere: it is its owner's.
func (s *Store) CreateKey(ctx context.Context, k account.Key) error {
	if k.Owner != "" {
		k.Rights = authz.Rights{}
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if k.Owner != "" {
			var there int
			err := tx.QueryRow(`SELECT 1 FROM users WHERE id = $1`, k.Owner).Scan(&there)
			if err != nil {
				return store.OrNone(err, account.ErrNoHolder, "read owner")
			}
		}
		return insertKey(tx, k)
	})
}

// insertKey writes a key with its grants.
func insertKey(tx *store.Tx, k account.Key) error {
	if err := tx.Exec(`INSERT INTO api_keys (id, name, digest, prefix, tail, style, owner, creator, enabled, api_roles, created)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, string(k.ID), k.Name, k.Digest, k.Prefix, k.Tail, k.Style,
		orNull(string(k.Owner)), k.Creator, k.Enabled, list(k.Rights.API), k.Created.UnixMicro()); err != nil {
		return fmt.Errorf("write key: %w", err)
	}
	return PutGrants(tx, string(k.ID), &k.Rights)
}

// The statement that reads keys is put around the text that chooses them. The grants are those of the owner, where the key has
// one.
var (
	keysFrom = `WITH page AS (
		SELECT id, name, prefix, tail, style, owner, creator, enabled, api_roles, created, COALESCE(owner, id) AS holder
		FROM api_keys WHERE `
	keysRead = `)
		SELECT k.id, k.name, k.prefix, k.tail, k.style, COALESCE(k.owner, ''), k.creator, k.enabled,
			COALESCE(u.api_roles, k.api_roles), k.created, ` + GrantsSQL("k.holder") + `
		FROM page k LEFT JOIN users u ON u.id = k.owner ORDER BY k.created DESC, k.id DESC`
)

// holdsOnCorpus chooses keys with a role on corpus $n. The index by age has what it looks at, so that looking through
// 5,000 keys for the few that match stays within what a page may take; see BenchmarkListKeys.
const holdsOnCorpus = ` AND COALESCE(owner, id) IN (SELECT f.holder FROM grants f
	WHERE f.corpus_no = (SELECT no FROM corpora WHERE key = $n))`

// GetKey returns a key, without its digest.
func (s *Store) GetKey(ctx context.Context, key id.APIKey) (account.Key, error) {
	found, err := s.keys(ctx, "read key", `id = $1`, key)
	if err != nil {
		return account.Key{}, err
	}
	if len(found) == 0 {
		return account.Key{}, account.ErrNoHolder
	}
	return found[0], nil
}

// ListKeys returns up to l.Limit keys, newest first, and whether more follow.
func (s *Store) ListKeys(ctx context.Context, l account.KeyList) (page []account.Key, more bool, err error) {
	created, last := l.After.Bound()
	args := []any{created, last, l.Limit + 1}
	where := "(created, id) < ($1, $2)"
	for _, f := range []struct{ value, condition string }{
		{l.Style, " AND style = $n"}, {string(l.Owner), " AND owner = $n"}, {l.Corpus, holdsOnCorpus},
	} {
		if f.value != "" {
			args = append(args, f.value)
			where += strings.ReplaceAll(f.condition, "$n", "$"+strconv.Itoa(len(args)))
		}
	}
	all, err := s.keys(ctx, "list keys", where+` ORDER BY created DESC, id DESC LIMIT $3`, args...)
	page, more = store.Cut(all, l.Limit)
	return page, more, err
}

// keys reads the keys that a condition chooses.
func (s *Store) keys(ctx context.Context, doing, where string, args ...any) ([]account.Key, error) {
	return store.Select(s.db.Reader(ctx), doing, func(r store.Row) (k account.Key, err error) {
		return k, r.Scan(&k.ID, &k.Name, &k.Prefix, &k.Tail, &k.Style, &k.Owner, &k.Creator, &k.Enabled, (*texts)(&k.Rights.API),
			store.Micros(&k.Created), (*Grants)(&k.Rights.Corpora), (*Grants)(&k.Rights.Agents))
	}, keysFrom+where+keysRead, args...)
}

// keepKey refuses to go on when key is the only way in to the role owner.
func keepKey(tx *store.Tx, key id.APIKey) error {
	return keepWay(tx, "id", string(key), account.LastKey(key))
}

// EnableKey sets whether a key is accepted.
func (s *Store) EnableKey(ctx context.Context, key id.APIKey, enabled bool) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if !enabled {
			if err := keepKey(tx, key); err != nil {
				return err
			}
		}
		return oneKey(tx.QueryRow(`UPDATE api_keys SET enabled = $2 WHERE id = $1 RETURNING id`, key, enabled))
	})
}

// DeleteKey removes a key and its grants.
func (s *Store) DeleteKey(ctx context.Context, key id.APIKey) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if err := keepKey(tx, key); err != nil {
			return err
		}
		if err := DropGrants(tx, string(key)); err != nil {
			return err
		}
		return oneKey(tx.QueryRow(`DELETE FROM api_keys WHERE id = $1 RETURNING id`, key))
	})
}

// oneKey reads the id of the key that a statement changed.
func oneKey(row *sql.Row) error {
	var key string
	err := row.Scan(&key)
	return store.OrNone(err, account.ErrNoHolder, "write key")
}
