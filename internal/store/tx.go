package store

import (
	"context"
	"database/sql"
)

// Tx is a transaction under way, for the function given to Write alone. It carries no context of the caller's: on
// SQLite an interrupted statement would void the whole group of writes that shares the commit.
type Tx struct {
	on    runner
	ctx   context.Context
	stmts map[string]*sql.Stmt // prepared on the writer's connection; nil on PostgreSQL, whose driver keeps its own
}

type runner interface {
	Querier
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// maxStatements bounds the prepared statements of the writer; texts beyond it are parsed at each use.
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

// prepared returns the statement for a text, or nil where it is to be run as text; an error of preparing shows again
// when the text is run.
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
	s, err := t.on.PrepareContext(t.ctx, steady(query))
	if err != nil {
		return nil
	}
	t.stmts[query] = s
	return s
}
