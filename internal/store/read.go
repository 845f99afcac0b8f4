package store

import (
	"context"
	"database/sql"
	"regexp"
	"sync"
	"sync/atomic"
)

// Querier runs statements that read.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Reader returns a Querier whose statements each see the database as of their own start.
func (db *DB) Reader() Querier {
	if db.texts == nil {
		return counting{db.read, &db.reads}
	}
	return counting{prepared{db.texts, db.read}, &db.reads}
}

// Reads returns how many statements Reader and Read have run since the database was opened. Tests use it to bound what a
// request costs.
func (db *DB) Reads() int64 { return db.reads.Load() }

// counting is a Querier whose statements are counted.
type counting struct {
	on Querier
	n  *atomic.Int64
}

// QueryContext reads rows.
func (c counting) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	c.n.Add(1)
	return c.on.QueryContext(ctx, query, args...)
}

// QueryRowContext reads at most one row.
func (c counting) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	c.n.Add(1)
	return c.on.QueryRowContext(ctx, query, args...)
}

// Read runs fn over one snapshot of the database: all its statements see the same committed state. On SQLite a read
// transaction is a snapshot; PostgreSQL needs REPEATABLE READ for it, and never refuses one that only reads.
func (db *DB) Read(ctx context.Context, fn func(Querier) error) error {
	opts := &sql.TxOptions{ReadOnly: true}
	if db.writer == nil {
		opts.Isolation = sql.LevelRepeatableRead
	}
	tx, err := db.read.BeginTx(ctx, opts)
	if err != nil {
		return Translate(err)
	}
	var missed []string
	defer func() {
		_ = tx.Rollback() // nothing was written
		for _, query := range missed {
			db.texts.statement(ctx, query)
		}
	}()
	if db.texts == nil {
		return Translate(fn(counting{tx, &db.reads}))
	}
	return Translate(fn(counting{inSnapshot{db.texts, tx, &missed}, &db.reads}))
}

// texts keeps the prepared statements of the readers of SQLite, where parsing a statement costs more than running it in
// most cases. The driver of PostgreSQL keeps its own.
type texts struct {
	db *sql.DB

	mu    sync.RWMutex
	stmts map[string]*sql.Stmt // guarded by mu
}

// statement returns the prepared statement of a text, or nil when the text itself must be run.
func (t *texts) statement(ctx context.Context, query string) *sql.Stmt {
	t.mu.RLock()
	s, ok := t.stmts[query]
	full := len(t.stmts) >= maxStatements
	t.mu.RUnlock()
	if ok || full {
		return s
	}
	s, err := t.db.PrepareContext(ctx, steady(query))
	if err != nil {
		return nil // running the text reports the error again
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if first, ok := t.stmts[query]; ok {
		_ = s.Close() // another reader was faster
		return first
	}
	t.stmts[query] = s
	return s
}

// limits matches a LIMIT whose value is a parameter.
var limits = regexp.MustCompile(`\bLIMIT (\$[0-9]+)`)

// steady returns a text that SQLite plans once and not at each use. When a LIMIT is nothing but a parameter, SQLite's
// planner uses its value and therefore prepares the statement again whenever the parameter is bound, which doubles the time
// of a list of corpora. It does not look into sums, so "LIMIT $1 + 0" avoids that.
func steady(query string) string { return limits.ReplaceAllString(query, "LIMIT $1 + 0") }

// known returns the prepared statement of a text, or nil.
func (t *texts) known(query string) *sql.Stmt {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.stmts[query]
}

// prepared is a Querier over prepared statements, outside transactions.
type prepared struct {
	texts *texts
	plain *sql.DB
}

// QueryContext reads rows.
func (p prepared) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if s := p.texts.statement(ctx, query); s != nil {
		return s.QueryContext(ctx, args...)
	}
	return p.plain.QueryContext(ctx, query, args...)
}

// QueryRowContext reads at most one row.
func (p prepared) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if s := p.texts.statement(ctx, query); s != nil {
		return s.QueryRowContext(ctx, args...)
	}
	return p.plain.QueryRowContext(ctx, query, args...)
}

// inSnapshot is a Querier inside a read transaction. It prepares no shared statements: that takes a second connection, and
// when every connection is in a transaction they would all wait for one another. Read prepares what it missed afterwards.
type inSnapshot struct {
	texts  *texts
	tx     *sql.Tx
	missed *[]string
}

func (p inSnapshot) statement(ctx context.Context, query string) *sql.Stmt {
	s := p.texts.known(query)
	if s == nil {
		*p.missed = append(*p.missed, query)
		return nil
	}
	return p.tx.StmtContext(ctx, s)
}

// QueryContext reads rows.
func (p inSnapshot) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if s := p.statement(ctx, query); s != nil {
		return s.QueryContext(ctx, args...)
	}
	return p.tx.QueryContext(ctx, query, args...)
}

// QueryRowContext reads at most one row.
func (p inSnapshot) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if s := p.statement(ctx, query); s != nil {
		return s.QueryRowContext(ctx, args...)
	}
	return p.tx.QueryRowContext(ctx, query, args...)
}
