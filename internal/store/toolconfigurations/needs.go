package toolconfigurations

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"

	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool/configuration"
	"quarry/internal/store"
)

// Namer returns the corpora and agents that configurations of tools name.
type Namer func(configurations map[string]json.RawMessage) []permit.Need

// Naming returns s with what each configuration names written beside it.
func (s *Store) Naming(by Namer) *Store {
	out := *s
	out.needs = by
	return &out
}

// PutNeeds writes what a row names, in the place of what it has named. table has its number in column.
func PutNeeds(tx *store.Tx, table, column string, no int64, needs []permit.Need) error {
	if err := tx.Exec(`DELETE FROM `+table+` WHERE `+column+` = $1`, no); err != nil {
		return store.Wrap(err, "remove what a configuration names")
	}
	for _, n := range needs {
		err := tx.Exec(`INSERT INTO `+table+` (`+column+`, key, role) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
			no, store.Text(cmp.Or(n.Corpus, n.Agent)), n.Level.Role())
		if err != nil {
			return store.Wrap(err, "write what a configuration names")
		}
	}
	return nil
}

// name writes what a configuration names.
func (s *Store) name(tx *store.Tx, c *configuration.Configuration) error {
	if s.needs == nil {
		return nil
	}
	if err := PutNeeds(tx, "tool_configuration_needs", "configuration_no", c.No, s.needs(map[string]json.RawMessage{one: c.Entry})); err != nil {
		return err
	}
	return store.Wrap(tx.Exec(`UPDATE tool_configurations SET derived = version WHERE no = $1`, c.No), "write what a configuration names")
}

// Name writes what those configurations name of which that is not written as they are, such as those of an earlier program, among those
// that an agent refers to.
func (s *Store) Name(tx *store.Tx, agentNo int64) error {
	if s.needs == nil {
		return nil
	}
	stale, err := store.Select(tx, "read configurations of tools", scan, columns+`WHERE derived <> version
		AND no IN (SELECT u.configuration_no FROM tool_configuration_uses u WHERE u.agent_no = $1) ORDER BY no`, agentNo)
	if err != nil {
		return err
	}
	for i := range stale {
		c := &stale[i]
		// from here on it stays as it is; one that was written meanwhile is for the next look
		err := tx.QueryRow(`UPDATE tool_configurations SET version = version WHERE no = $1 AND version = $2 RETURNING no`, c.No, c.Version).Scan(&c.No)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return store.Wrap(err, "read configuration of tool")
		}
		if err := s.name(tx, c); err != nil {
			return err
		}
	}
	return nil
}
