// Package toolconfigurations keeps configurations of tools that several agents refer to in SQL: the configuration.Store of the
// service. Package app creates it.
package toolconfigurations

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/configuration"
	"quarry/internal/fault"
	"quarry/internal/page"
	"quarry/internal/store"
	"quarry/internal/store/secrets"
	"quarry/internal/store/tools"
)

// Store is the configuration.Store over a database.
type Store struct {
	db      *store.DB
	secrets *secrets.Store // nil: entries have no credentials
	needs   Namer          // nil: what entries name is not written
}

var _ configuration.Store = (*Store)(nil)

// New returns a store over db.
func New(db *store.DB) *Store { return &Store{db: db} }

// Sealing returns s with the credentials that stand in entries sealed in rows of their own.
func (s *Store) Sealing(in *secrets.Store) *Store {
	out := *s
	out.secrets = in
	return &out
}

// columns reads configurations.
const columns = `SELECT no, key, version, definition, created, updated FROM tool_configurations `

func scan(r store.Row) (c configuration.Configuration, err error) {
	var definition string
	if err := r.Scan(&c.No, &c.Key, &c.Version, &definition, store.Micros(&c.Created), store.Micros(&c.Updated)); err != nil {
		return c, err
	}
	if err := json.Unmarshal([]byte(definition), &c.Definition); err != nil {
		return c, fmt.Errorf("read the definition of tool configuration %s: %w", c.Key, err)
	}
	return c, nil
}

// Create writes a configuration. See configuration.Store.
func (s *Store) Create(ctx context.Context, c configuration.Configuration) (out configuration.Configuration, err error) {
	marked, taken := split(c.Definition)
	definition, err := store.JSON(&marked, "a configuration of a tool")
	if err != nil {
		return configuration.Configuration{}, err
	}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		var no int64
		err := tx.QueryRow(`INSERT INTO tool_configurations (key, version, definition, created, updated) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (key) DO NOTHING RETURNING no`, c.Key, c.Version, definition, c.Created.UnixMicro(), c.Updated.UnixMicro()).Scan(&no)
		if err != nil {
			return store.OrNone(err, configuration.Taken(c.Key), "write configuration of tool")
		}
		if out, err = scan(tx.QueryRow(columns+`WHERE no = $1`, no)); err != nil {
			return store.Wrap(err, "read configuration of tool")
		}
		if err := s.keep(tx, no, out.Version, taken); err != nil {
			return err
		}
		return s.names(tx, &out)
	})
	out.Entry = c.Entry
	return out, err
}

// names writes which tools a configuration refers to, and which corpora and agents.
func (s *Store) names(tx *store.Tx, c *configuration.Configuration) error {
	err := tools.Name(tx, c.No, catalog.Created(catalog.Configured(map[string]json.RawMessage{c.Key: c.Entry})), c.Version == 1)
	if err != nil {
		return err
	}
	return s.name(tx, c)
}

// Get returns a configuration. See configuration.Store.
func (s *Store) Get(ctx context.Context, key string) (configuration.Configuration, error) {
	c, err := scan(s.db.Reader(ctx).QueryRow(columns+`WHERE key = $1`, key))
	if err != nil {
		return configuration.Configuration{}, store.OrNone(err, configuration.Missing(key), "read configuration of tool")
	}
	err = s.open(ctx, &c)
	return c, err
}

// atOnce is how many configurations one statement looks up.
const atOnce = 500

// Find returns those configurations that there are. See configuration.Finder.
func (s *Store) Find(ctx context.Context, keys []string) (out []configuration.Configuration, err error) {
	for some := range slices.Chunk(keys, atOnce) {
		found, err := store.Select(s.db.Reader(ctx), "read configurations of tools", scan,
			columns+`WHERE key IN (`+store.List(1, len(some))+`)`, store.Args(nil, some)...)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	for i := range out {
		if err := s.open(ctx, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// List returns configurations behind a place, newest first. See configuration.Store.
func (s *Store) List(ctx context.Context, after *page.Position, limit int, match func(*configuration.Configuration) bool) ([]configuration.Configuration, bool, error) {
	found, more, err := store.Matching(limit, match, func(last *configuration.Configuration, n int) ([]configuration.Configuration, error) {
		created, key := after.Bound()
		if last != nil {
			created, key = last.Created.UnixMicro(), last.Key
		}
		return store.Select(s.db.Reader(ctx), "list configurations of tools", scan,
			columns+`WHERE (created, key) < ($1, $2) ORDER BY created DESC, key DESC LIMIT $3`, created, key, n)
	})
	for i := range found {
		if err == nil {
			err = s.open(ctx, &found[i])
		}
	}
	return found, more, err
}

// Replace writes the next version of a configuration. See configuration.Store.
func (s *Store) Replace(ctx context.Context, c configuration.Configuration) (out configuration.Configuration, err error) {
	marked, taken := split(c.Definition)
	definition, err := store.JSON(&marked, "a configuration of a tool")
	if err != nil {
		return configuration.Configuration{}, err
	}
	err = s.db.Write(ctx, func(tx *store.Tx) (err error) {
		if err := tx.Lock(tools.UseLock); err != nil { // before the row, as a deletion does
			return err
		}
		out, err = scan(tx.QueryRow(`UPDATE tool_configurations SET version = version + 1, definition = $3, updated = $4 WHERE no = $1 AND version = $2
			RETURNING no, key, version, definition, created, updated`, c.No, c.Version, definition, c.Updated.UnixMicro()))
		if err != nil {
			return store.OrNone(err, configuration.ErrChanged, "write configuration of tool")
		}
		if err := s.keep(tx, out.No, out.Version, taken); err != nil {
			return err
		}
		return s.names(tx, &out)
	})
	out.Entry = c.Entry
	return out, err
}

// maxNamed is how many agents a refusal names at most.
const maxNamed = 5

// Delete removes a configuration. See configuration.Store.
func (s *Store) Delete(ctx context.Context, c configuration.Configuration) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Lock(tools.UseLock); err != nil {
			return err
		}
		agents, err := store.Select(tx, "read who refers to the configuration", store.One[string], `SELECT a.key FROM tool_configuration_uses u
			JOIN agents a ON a.no = u.agent_no WHERE u.configuration_no = $1 AND a.deleted = 0 ORDER BY a.key LIMIT $2`, c.No, maxNamed)
		if err != nil {
			return err
		}
		if len(agents) > 0 {
			return &configuration.InUseError{Agents: agents}
		}
		var was int64
		err = tx.QueryRow(`DELETE FROM tool_configurations WHERE no = $1 RETURNING no`, c.No).Scan(&was)
		if err == nil && s.secrets != nil {
			err = s.secrets.Delete(tx, folder(c.No))
		}
		return store.OrNone(err, configuration.Missing(c.Key), "delete configuration of tool")
	})
}

// Use writes which configurations an agent refers to, in the transaction that writes its own. One that was deleted meanwhile is
// fault.KindConflict. fresh is whether the agent is new.
func Use(tx *store.Tx, agentNo int64, keys []string, fresh bool) error {
	if !fresh {
		if err := tx.Exec(`DELETE FROM tool_configuration_uses WHERE agent_no = $1`, agentNo); err != nil {
			return store.Wrap(err, "remove uses of configurations of tools")
		}
	}
	if len(keys) == 0 {
		return nil
	}
	if err := tx.Lock(tools.UseLock); err != nil {
		return err
	}
	for _, key := range keys {
		var no int64
		if err := tx.QueryRow(`SELECT no FROM tool_configurations WHERE key = $1`, key).Scan(&no); err != nil {
			return store.OrNone(err, fault.Conflict("tool_configuration_not_found",
				"the tool configuration %s was deleted just now; send the agent again without it", key), "read configuration of tool")
		}
		if err := tx.Exec(`INSERT INTO tool_configuration_uses (agent_no, configuration_no) VALUES ($1, $2)`, agentNo, no); err != nil {
			return store.Wrap(err, "write use of configuration of tool")
		}
	}
	return nil
}
