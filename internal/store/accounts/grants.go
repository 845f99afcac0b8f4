package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"quarry/internal/fault"
	"quarry/internal/identity/authz"
	"quarry/internal/store"
)

// putGrants replaces what holder (the id of a user, key or client) is granted on corpora: a fault of
// corpus_roles[n].corpus_key when one does not exist.
func putGrants(tx *store.Tx, holder string, grants []authz.Grant) error {
	if err := dropGrants(tx, holder); err != nil {
		return err
	}
	bad := fault.Invalid()
	for i, g := range grants {
		var no int64
		err := tx.QueryRow(`INSERT INTO grants (holder, ord, corpus_no, role) SELECT $1, CAST($2 AS INTEGER), no, $3 FROM corpora WHERE key = $4
			RETURNING corpus_no`, holder, i, g.Role, g.Key).Scan(&no)
		if errors.Is(err, sql.ErrNoRows) {
			bad.Field(fmt.Sprintf("corpus_roles[%d].corpus_key", i), "corpus %s does not exist", g.Key)
			continue
		}
		if err != nil {
			return fmt.Errorf("write grant: %w", err)
		}
	}
	if len(bad.Fields) > 0 {
		return bad
	}
	return nil
}

// dropGrants removes the grants of holder.
func dropGrants(tx *store.Tx, holder string) error {
	if err := tx.Exec(`DELETE FROM grants WHERE holder = $1`, holder); err != nil {
		return fmt.Errorf("delete grants: %w", err)
	}
	return nil
}

// readGrants returns the grants of each holder in the order in which they were given, without those on deleted corpora.
func readGrants(ctx context.Context, q store.Querier, holders []string) (map[string][]authz.Grant, error) {
	if len(holders) == 0 {
		return nil, nil
	}
	args := make([]any, len(holders))
	for i, h := range holders {
		args[i] = h
	}
	type held struct {
		holder string
		authz.Grant
	}
	rows, err := q.QueryContext(ctx, `SELECT g.holder, c.key, g.role FROM grants g JOIN corpora c ON c.no = g.corpus_no
		WHERE g.holder IN (`+store.List(1, len(args))+`) ORDER BY g.holder, g.ord`, args...)
	all, err := store.Collect(rows, err, func(r *sql.Rows) (h held, err error) { return h, r.Scan(&h.holder, &h.Key, &h.Role) })
	if err != nil {
		return nil, fmt.Errorf("read grants: %w", err)
	}
	out := map[string][]authz.Grant{}
	for _, h := range all {
		out[h.holder] = append(out[h.holder], h.Grant)
	}
	return out, nil
}

// inTx lets the functions that read run inside a transaction.
type inTx struct{ tx *store.Tx }

// QueryContext reads rows; the transaction has a context of its own.
func (t inTx) QueryContext(_ context.Context, query string, args ...any) (*sql.Rows, error) {
	return t.tx.Query(query, args...)
}

// QueryRowContext reads at most one row.
func (t inTx) QueryRowContext(_ context.Context, query string, args ...any) *sql.Row {
	return t.tx.QueryRow(query, args...)
}
