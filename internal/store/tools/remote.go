package tools

import (
	"database/sql"
	"errors"

	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/server"
	"quarry/internal/id"
	"quarry/internal/store"
)

// Of returns the tools of a tool server.
func Of(q store.Querier, which id.ToolServer) ([]catalog.Tool, error) {
	return store.Select(q, "read tools of a server", scan, columns+`WHERE server = $1`, string(which))
}

// Sync writes what has changed of the tools of a server, in the transaction of the sync. A tool for which every name is taken is
// server.ErrNames.
func Sync(tx *store.Tx, c *server.Changes) error {
	for i := range c.Changed {
		t := &c.Changed[i]
		definition, err := store.JSON(&t.Definition, "a tool")
		if err != nil {
			return err
		}
		if err := tx.Exec(`UPDATE tools SET version = version + 1, definition = $2, updated = $3 WHERE no = $1`, t.No, definition, t.Updated.UnixMicro()); err != nil {
			return store.Wrap(err, "write tool")
		}
	}
	for i := range c.Added {
		if err := add(tx, &c.Added[i]); err != nil {
			return err
		}
	}
	return nil
}

// add writes a tool under the first of its names that is free.
func add(tx *store.Tx, a *server.Added) error {
	t := a.Tool
	for _, name := range a.Names {
		t.Name = name
		definition, err := store.JSON(&t.Definition, "a tool")
		if err != nil {
			return err
		}
		var no int64
		err = tx.QueryRow(`INSERT INTO tools (id, name, version, definition, created, updated, server) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (name) DO NOTHING RETURNING no`, string(t.ID), t.Name, t.Version, definition, t.Created.UnixMicro(), t.Updated.UnixMicro(), string(t.Remote.Server)).Scan(&no)
		if !errors.Is(err, sql.ErrNoRows) {
			return store.Wrap(err, "write tool")
		}
	}
	return server.ErrNames
}

// Drop removes the tools of a server, in the transaction that removes it. A *catalog.InUseError if somebody uses one of them.
func Drop(tx *store.Tx, which id.ToolServer) error {
	if err := unused(tx, usersOfServer, string(which)); err != nil {
		return err
	}
	return store.Wrap(tx.Exec(`DELETE FROM tools WHERE server = $1`, string(which)), "delete tools of a server")
}
