// Package tools keeps the tools that people create in SQL: the catalog.Store of the service. Package app creates it.
package tools

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"quarry/internal/agent/tool/catalog"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/page"
	"quarry/internal/store"
)

// Store is the catalog.Store over a database.
type Store struct{ db *store.DB }

var _ catalog.Store = (*Store)(nil)

// New returns a store over db.
func New(db *store.DB) *Store { return &Store{db} }

// shown are the columns that scan reads: the last one is whether the server is enabled, for a tool of one.
const shown = `no, id, version, definition, created, updated, (SELECT s.enabled FROM tool_servers s WHERE s.id = tools.server)`

// columns reads tools.
const columns = `SELECT ` + shown + ` FROM tools `

func scan(r store.Row) (t catalog.Tool, err error) {
	var definition string
	var on sql.NullBool
	if err := r.Scan(&t.No, &t.ID, &t.Version, &definition, store.Micros(&t.Created), store.Micros(&t.Updated), &on); err != nil {
		return t, err
	}
	if err := json.Unmarshal([]byte(definition), &t.Definition); err != nil {
		return t, fmt.Errorf("read the definition of tool %s: %w", t.ID, err)
	}
	if t.Remote != nil {
		t.Remote.Off = !on.Bool
	}
	return t, nil
}

// Create writes a tool. See catalog.Store.
func (s *Store) Create(ctx context.Context, t catalog.Tool) (out catalog.Tool, err error) {
	definition, err := store.JSON(&t.Definition, "a tool")
	if err != nil {
		return catalog.Tool{}, err
	}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		var no int64
		err := tx.QueryRow(`INSERT INTO tools (id, name, version, definition, created, updated) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (name) DO NOTHING RETURNING no`, string(t.ID), t.Name, t.Version, definition, t.Created.UnixMicro(), t.Updated.UnixMicro()).Scan(&no)
		if err != nil {
			return store.OrNone(err, catalog.ErrTaken, "write tool")
		}
		out, err = scan(tx.QueryRow(columns+`WHERE no = $1`, no))
		return store.Wrap(err, "read tool")
	})
	return out, err
}

// Get returns a tool. See catalog.Store.
func (s *Store) Get(ctx context.Context, which id.Tool) (catalog.Tool, error) {
	t, err := scan(s.db.Reader(ctx).QueryRow(columns+`WHERE id = $1`, string(which)))
	if err != nil {
		return catalog.Tool{}, store.OrNone(err, catalog.Missing(which), "read tool")
	}
	return t, nil
}

// atOnce is how many tools one statement looks up.
const atOnce = 500

// Find returns those tools that there are. See catalog.Store.
func (s *Store) Find(ctx context.Context, which []id.Tool) (out []catalog.Tool, err error) {
	for some := range slices.Chunk(which, atOnce) {
		args := make([]any, len(some))
		for i, one := range some {
			args[i] = string(one)
		}
		found, err := store.Select(s.db.Reader(ctx), "read tools", scan, columns+`WHERE id IN (`+store.List(1, len(args))+`)`, args...)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// List returns tools behind a place, newest first. See catalog.Store.
func (s *Store) List(ctx context.Context, after *page.Position, limit int, match func(*catalog.Tool) bool) ([]catalog.Tool, bool, error) {
	return store.Matching(limit, match, func(last *catalog.Tool, n int) ([]catalog.Tool, error) {
		created, which := after.Bound()
		if last != nil {
			created, which = last.Created.UnixMicro(), string(last.ID)
		}
		return store.Select(s.db.Reader(ctx), "list tools", scan,
			columns+`WHERE (created, id) < ($1, $2) ORDER BY created DESC, id DESC LIMIT $3`, created, which, n)
	})
}

// Replace writes the next version of a tool. See catalog.Store.
func (s *Store) Replace(ctx context.Context, t catalog.Tool) (out catalog.Tool, err error) {
	definition, err := store.JSON(&t.Definition, "a tool")
	if err != nil {
		return catalog.Tool{}, err
	}
	err = s.db.Write(ctx, func(tx *store.Tx) (err error) {
		out, err = scan(tx.QueryRow(`UPDATE tools SET version = version + 1, definition = $3, updated = $4 WHERE no = $1 AND version = $2
			RETURNING `+shown, t.No, t.Version, definition, t.Updated.UnixMicro()))
		return store.OrNone(err, catalog.ErrChanged, "write tool")
	})
	return out, err
}

// UseLock is the lock under which agents and stored configurations write which tools they use, agents which configurations they refer
// to, and tools and configurations are deleted that nobody uses.
const UseLock = "tool_uses"

// maxNamed is how many agents, and how many configurations, a refusal names at most.
const maxNamed = 5

// The statements that read who uses a tool, and who uses one of those of a server.
const (
	usersOfTool   = ` WHERE u.tool = $1`
	usersOfServer = ` JOIN tools t ON t.id = u.tool WHERE t.server = $1`
)

// unused returns a *catalog.InUseError if anybody uses a tool. It takes UseLock, so that nobody begins to in this transaction.
func unused(tx *store.Tx, which, id string) error {
	if err := tx.Lock(UseLock); err != nil {
		return err
	}
	agents, err := store.Select(tx, "read who uses a tool", store.One[string],
		`SELECT DISTINCT a.key FROM tool_uses u JOIN agents a ON a.no = u.agent_no`+which+` AND a.deleted = 0 ORDER BY a.key LIMIT $2`, id, maxNamed)
	if err != nil {
		return err
	}
	stored, err := store.Select(tx, "read which configurations have a tool", store.One[string],
		`SELECT DISTINCT c.key FROM tool_configuration_tools u JOIN tool_configurations c ON c.no = u.configuration_no`+which+` ORDER BY c.key LIMIT $2`, id, maxNamed)
	if err != nil {
		return err
	}
	if len(agents)+len(stored) > 0 {
		return &catalog.InUseError{Agents: agents, Configurations: stored}
	}
	return nil
}

// Delete removes a tool. See catalog.Store.
func (s *Store) Delete(ctx context.Context, t catalog.Tool) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if err := unused(tx, usersOfTool, string(t.ID)); err != nil {
			return err
		}
		var was int64
		err := tx.QueryRow(`DELETE FROM tools WHERE no = $1 RETURNING no`, t.No).Scan(&was)
		return store.OrNone(err, catalog.Missing(t.ID), "delete tool")
	})
}

// uses are the statements about which tools something uses.
type uses struct{ noun, remove, write string }

var (
	byAgents = uses{"agent", `DELETE FROM tool_uses WHERE agent_no = $1`, `INSERT INTO tool_uses (agent_no, tool) VALUES ($1, $2)`}
	byStored = uses{"tool configuration", `DELETE FROM tool_configuration_tools WHERE configuration_no = $1`,
		`INSERT INTO tool_configuration_tools (configuration_no, tool) VALUES ($1, $2)`}
)

// Use writes which tools an agent uses, in the transaction that writes its configuration. One that was deleted meanwhile is
// fault.KindConflict. fresh is whether the agent is new.
func Use(tx *store.Tx, agentNo int64, which []id.Tool, fresh bool) error {
	return byAgents.of(tx, agentNo, which, fresh)
}

// Name is Use for a configuration that several agents refer to.
func Name(tx *store.Tx, configurationNo int64, which []id.Tool, fresh bool) error {
	return byStored.of(tx, configurationNo, which, fresh)
}

func (u uses) of(tx *store.Tx, no int64, which []id.Tool, fresh bool) error {
	if !fresh {
		if err := tx.Exec(u.remove, no); err != nil {
			return store.Wrap(err, "remove uses of tools")
		}
	}
	if len(which) == 0 {
		return nil
	}
	if err := tx.Lock(UseLock); err != nil {
		return err
	}
	for _, one := range which {
		var there bool
		if err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM tools WHERE id = $1)`, string(one)).Scan(&there); err != nil {
			return store.Wrap(err, "read tool")
		}
		if !there {
			return fault.Conflict("tool_not_found", "the tool %s was deleted just now; send the %s again without it", one, u.noun)
		}
		if err := tx.Exec(u.write, no, string(one)); err != nil {
			return store.Wrap(err, "write use of tool")
		}
	}
	return nil
}
