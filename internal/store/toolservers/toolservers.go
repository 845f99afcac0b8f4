// Package toolservers keeps tool servers in SQL: the server.Store of the service. Their secrets are sealed by store/secrets in the
// same transactions, their tools are rows of store/tools. Package app creates it.
package toolservers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"quarry/internal/agent/tool/server"
	"quarry/internal/id"
	"quarry/internal/page"
	"quarry/internal/store"
	"quarry/internal/store/secrets"
	"quarry/internal/store/tools"
)

// Store is the server.Store over a database.
type Store struct {
	db     *store.DB
	sealed *secrets.Store
}

var _ server.Store = (*Store)(nil)

// New returns a store over db that keeps secrets in sealed.
func New(db *store.DB, sealed *secrets.Store) *Store { return &Store{db, sealed} }

// shown are the columns that scan reads, columns reads servers.
const (
	shown   = `no, id, revision, definition, status, message, synced, created, updated`
	columns = `SELECT ` + shown + ` FROM tool_servers `
)

func scan(r store.Row) (s server.Server, err error) {
	var definition string
	if err := r.Scan(&s.No, &s.ID, &s.Revision, &definition, &s.Sync.Status, &s.Sync.Message, store.Micros(&s.Sync.At),
		store.Micros(&s.Created), store.Micros(&s.Updated)); err != nil {
		return s, err
	}
	if err := json.Unmarshal([]byte(definition), &s.Definition); err != nil {
		return s, fmt.Errorf("read the definition of tool server %s: %w", s.ID, err)
	}
	return s, nil
}

// secretName is where the secrets of a server are sealed.
func secretName(which id.ToolServer) string { return "tool_server/" + string(which) }

// seal writes the secrets of a server.
func (s *Store) seal(tx *store.Tx, which id.ToolServer, v *server.Secrets) error {
	if v.Auth == nil && len(v.Headers) == 0 {
		return s.sealed.DeleteOne(tx, secretName(which))
	}
	plain, err := json.Marshal(v)
	if err != nil {
		return errors.New("encode the secrets of a tool server") // the cause may quote them
	}
	return s.sealed.Put(tx, secretName(which), plain)
}

// number returns 1 for true.
func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

// Create writes a server. See server.Store.
func (s *Store) Create(ctx context.Context, v server.Server, sealed server.Secrets, due bool) (out server.Server, err error) {
	definition, err := store.JSON(&v.Definition, "a tool server")
	if err != nil {
		return server.Server{}, err
	}
	err = s.db.Write(ctx, func(tx *store.Tx) (err error) {
		out, err = scan(tx.QueryRow(`INSERT INTO tool_servers
			(id, name, revision, enabled, definition, status, message, synced, due, holder, held_until, attempts, created, updated)
			VALUES ($1, $2, $3, $4, $5, $6, '', 0, $7, '', 0, 0, $8, $9) ON CONFLICT (name) DO NOTHING RETURNING `+shown,
			string(v.ID), v.Name, v.Revision, v.Enabled, definition, string(v.Sync.Status), number(due), v.Created.UnixMicro(), v.Updated.UnixMicro()))
		if err != nil {
			return store.OrNone(err, server.ErrTaken, "write tool server")
		}
		return s.seal(tx, v.ID, &sealed)
	})
	return out, err
}

// Get returns a server. See server.Store.
func (s *Store) Get(ctx context.Context, which id.ToolServer) (server.Server, error) {
	v, err := scan(s.db.Reader(ctx).QueryRow(columns+`WHERE id = $1`, string(which)))
	if err != nil {
		return server.Server{}, store.OrNone(err, server.Missing(which), "read tool server")
	}
	return v, nil
}

// Secrets returns the secrets of a server. See server.Store.
func (s *Store) Secrets(ctx context.Context, which id.ToolServer) (out server.Secrets, err error) {
	plain, err := s.sealed.Get(ctx, secretName(which))
	if errors.Is(err, secrets.ErrNone) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	if json.Unmarshal(plain, &out) != nil {
		return out, fmt.Errorf("read the secrets of tool server %s: they are damaged", which) // the cause may quote them
	}
	return out, nil
}

// List returns servers behind a place, newest first. See server.Store.
func (s *Store) List(ctx context.Context, after *page.Position, limit int, match func(*server.Server) bool) ([]server.Server, bool, error) {
	return store.Matching(limit, match, func(last *server.Server, n int) ([]server.Server, error) {
		created, which := after.Bound()
		if last != nil {
			created, which = last.Created.UnixMicro(), string(last.ID)
		}
		return store.Select(s.db.Reader(ctx), "list tool servers", scan,
			columns+`WHERE (created, id) < ($1, $2) ORDER BY created DESC, id DESC LIMIT $3`, created, which, n)
	})
}

// Replace writes the next revision of a server. See server.Store.
func (s *Store) Replace(ctx context.Context, v server.Server, sealed *server.Secrets, due bool) (out server.Server, err error) {
	definition, err := store.JSON(&v.Definition, "a tool server")
	if err != nil {
		return server.Server{}, err
	}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Lock("tool_servers"); err != nil { // one rename at a time
			return err
		}
		var others bool
		if err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM tool_servers WHERE name = $1 AND no <> $2)`, v.Name, v.No).Scan(&others); err != nil {
			return store.Wrap(err, "look for the name of a tool server")
		}
		if others {
			return server.ErrTaken
		}
		out, err = scan(tx.QueryRow(`UPDATE tool_servers SET revision = revision + 1, name = $3, enabled = $4, definition = $5, updated = $6,
			due = CASE WHEN $7 = 1 THEN 1 ELSE due END WHERE no = $1 AND revision = $2 RETURNING `+shown,
			v.No, v.Revision, v.Name, v.Enabled, definition, v.Updated.UnixMicro(), number(due)))
		if err != nil {
			return store.OrNone(err, server.ErrChanged, "write tool server")
		}
		if sealed == nil {
			return nil
		}
		return s.seal(tx, v.ID, sealed)
	})
	return out, err
}

// Delete removes a server with its tools. See server.Store.
func (s *Store) Delete(ctx context.Context, v server.Server) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		var was int64
		if err := tx.QueryRow(`DELETE FROM tool_servers WHERE no = $1 RETURNING no`, v.No).Scan(&was); err != nil {
			return store.OrNone(err, server.Missing(v.ID), "delete tool server")
		}
		if err := tools.Drop(tx, v.ID); err != nil {
			return err
		}
		return s.sealed.DeleteOne(tx, secretName(v.ID))
	})
}
