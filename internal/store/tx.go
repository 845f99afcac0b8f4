package store

import (
	"context"
	"database/sql"
)

// Tx is an open transaction; only the function passed to Write may use it. Its methods take no context: on SQLite an
// interrupted statement would roll back the whole group of writes that shares the commit.
//
// The two engines isolate differently. On SQLite writes run one after another, so what a transaction has read stays true
// until it commits. On PostgreSQL they run side by side at READ COMMITTED: each statement sees what others have committed
// by then, and an UPDATE or DELETE waits for the row locks of others and then works on the rows as those left them. What
// must not change between two statements therefore needs a row lock first or a condition in the statement that writes.
type Tx struct {
	on    runner
	ctx   context.Context
	stmts map[string]*sql.Stmt // prepared on the writer's connection; nil on PostgreSQL, whose driver keeps its own
	rest  rest                 // what is left for the end
}

// runner is what sql.DB, sql.Conn and sql.Tx have in common.
type runner interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// maxStatements bounds the prepared statements of the writer, and those of all readers; when that many are prepared,
// further texts are parsed at each use.
const maxStatements = 256

// Exec runs a statement for its effect.
func (t *Tx) Exec(query string, args ...any) error {
	if s := t.prepared(query); s != nil {
		_, err := s.ExecContext(t.ctx, args...)
		return err
	}
	_, err := t.on.ExecContext(t.ctx, query, args...)
	return err
}

// Query reads rows; the caller closes them before the next statement.
func (t *Tx) Query(query string, args ...any) (*sql.Rows, error) {
	if s := t.prepared(query); s != nil {
		return s.QueryContext(t.ctx, args...)
	}
	return t.on.QueryContext(t.ctx, query, args...)
}

// QueryRow reads at most one row.
func (t *Tx) QueryRow(query string, args ...any) *sql.Row {
	if s := t.prepared(query); s != nil {
		return s.QueryRowContext(t.ctx, args...)
	}
	return t.on.QueryRowContext(t.ctx, query, args...)
}

// Lock locks a name until the transaction ends, so that what is done under it follows one another, also between the nodes
// over one PostgreSQL. SQLite has one writer anyway.
func (t *Tx) Lock(name string) error {
	err := t.Exec(`INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = meta.value`, name, []byte{})
	return Wrap(err, "lock "+name)
}

// prepared returns the prepared statement of a text, or nil when the text itself must be run. An error of preparing is
// dropped: running the text reports it again.
func (t *Tx) prepared(query string) *sql.Stmt {
	if t.stmts == nil {
		return nil
	}
	if s, ok := t.stmts[query]; ok {
		return s
	}
	if len(t.stmts) >= maxStatements {
		return nil
	}
	s, err := t.on.PrepareContext(t.ctx, byPlace(steady(query)))
	if err != nil {
		return nil
	}
	t.stmts[query] = s
	return s
}
