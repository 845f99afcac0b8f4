package accounts

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

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
	return bad.Err()
}

// dropGrants removes the grants of holder.
func dropGrants(tx *store.Tx, holder string) error {
	return store.Wrap(tx.Exec(`DELETE FROM grants WHERE holder = $1`, holder), "delete grants")
}

// readGrants adds to the rights of each holder what it is granted, in the order in which that was given and without what
// it was granted on deleted corpora.
func readGrants(q store.Querier, of map[string]*authz.Rights) error {
	if len(of) == 0 {
		return nil
	}
	args := store.Args(nil, slices.Collect(maps.Keys(of)))
	return store.Each(q, "read grants", func(r store.Row) error {
		var holder string
		var g authz.Grant
		if err := r.Scan(&holder, &g.Key, &g.Role); err != nil {
			return err
		}
		of[holder].Corpora = append(of[holder].Corpora, g)
		return nil
	}, `SELECT g.holder, c.key, g.role FROM grants g JOIN corpora c ON c.no = g.corpus_no
		WHERE g.holder IN (`+store.List(1, len(args))+`) ORDER BY g.holder, g.ord`, args...)
}
