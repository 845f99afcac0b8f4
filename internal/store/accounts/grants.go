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

// kind is what grants are roles on.
type kind struct {
	table, no string // of the grants, and the column with the row that they are on
	rows      string // that exist, which have a no and a key
	field     string // of faults: n is the place of the grant
	noun      string
	of        func(*authz.Rights) *[]authz.Grant
}

var kinds = []kind{
	{"grants", "corpus_no", "corpora", "corpus_roles[%d].corpus_key", "corpus", func(r *authz.Rights) *[]authz.Grant { return &r.Corpora }},
	{"agent_grants", "agent_no", "agents", "agent_roles[%d].agent_key", "agent", func(r *authz.Rights) *[]authz.Grant { return &r.Agents }},
}

// PutGrants replaces what holder (the id of a user, key or client) is granted on corpora and agents: a fault of
// corpus_roles[n].corpus_key or agent_roles[n].agent_key when one does not exist.
func PutGrants(tx *store.Tx, holder string, rights *authz.Rights) error {
	if err := DropGrants(tx, holder); err != nil {
		return err
	}
	bad := fault.Invalid()
	for _, k := range kinds {
		for i, g := range *k.of(rights) {
			var no int64
			err := tx.QueryRow(`INSERT INTO `+k.table+` (holder, ord, `+k.no+`, role) SELECT $1, CAST($2 AS INTEGER), no, $3 FROM `+k.rows+` WHERE key = $4
				RETURNING `+k.no, holder, i, g.Role, g.Key).Scan(&no)
			if errors.Is(err, sql.ErrNoRows) {
				bad.Field(fmt.Sprintf(k.field, i), "%s %s does not exist", k.noun, g.Key)
				continue
			}
			if err != nil {
				return fmt.Errorf("write grant: %w", err)
			}
		}
	}
	return bad.Err()
}

// DropGrants removes the grants of holder.
func DropGrants(tx *store.Tx, holder string) error {
	for _, k := range kinds {
		if err := tx.Exec(`DELETE FROM `+k.table+` WHERE holder = $1`, holder); err != nil {
			return store.Wrap(err, "delete grants")
		}
	}
	return nil
}

// readGrants adds to the rights of each holder what it is granted, in the order in which that was given and without what
// it was granted on deleted corpora and agents.
func readGrants(q store.Querier, of map[string]*authz.Rights) error {
	if len(of) == 0 {
		return nil
	}
	args := store.Args(nil, slices.Collect(maps.Keys(of)))
	for _, k := range kinds {
		err := store.Each(q, "read grants", func(r store.Row) error {
			var holder string
			var g authz.Grant
			if err := r.Scan(&holder, &g.Key, &g.Role); err != nil {
				return err
			}
			all := k.of(of[holder])
			*all = append(*all, g)
			return nil
		}, `SELECT g.holder, x.key, g.role FROM `+k.table+` g JOIN `+k.rows+` x ON x.no = g.`+k.no+`
			WHERE x.key IS NOT NULL AND g.holder IN (`+store.List(1, len(args))+`) ORDER BY g.holder, g.ord`, args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// sameGrants reports whether nothing changes on corpora and agents.
func sameGrants(was, now authz.Rights) bool {
	return slices.Equal(was.Corpora, now.Corpora) && slices.Equal(was.Agents, now.Agents)
}
