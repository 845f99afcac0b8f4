package store

import (
	"context"
	"database/sql"
	"regexp"
	"strconv"
	"sync"
)

// Querier runs statements that read: each by itself, in a snapshot (DB.Read) or in a write (Tx).
type Querier interface {
	// Query reads rows; the caller closes them before the next statement.
	Query(query string, args ...any) (*sql.Rows, error)
	// QueryRow reads at most one row.
	QueryRow(query string, args ...any) *sql.Row
}

// Reader returns a Querier whose statements each see the database as of their own start.
func (db *DB) Reader(ctx context.Context) Querier { return &reader{ctx: ctx, db: db, on: db.read} }

// Reads returns how many statements Reader and Read have run since the database was opened. Tests use it to bound what a
// request costs.
func (db *DB) Reads() int64 { return db.reads.Load() }

// reader is a Querier outside writes. Its statements are counted, and on SQLite they are prepared.
type reader struct {
	ctx    context.Context
	db     *DB
	on     runner
	tx     *sql.Tx  // of a snapshot, the same as on; nil outside of one
	missed []string // what a snapshot has run unprepared
}

// Query reads rows.
func (r *reader) Query(query string, args ...any) (*sql.Rows, error) {
	if s := r.prepared(query); s != nil {
		return s.QueryContext(r.ctx, args...)
	}
	return r.on.QueryContext(r.ctx, query, args...)
}

// QueryRow reads at most one row.
func (r *reader) QueryRow(query string, args ...any) *sql.Row {
	if s := r.prepared(query); s != nil {
		return s.QueryRowContext(r.ctx, args...)
	}
	return r.on.QueryRowContext(r.ctx, query, args...)
}

// prepared counts a statement and returns it prepared, or nil when its text must be run. In a snapshot it prepares none:
// that takes a second connection, and when every connection is in a transaction they would all wait for one another. Read
// prepares what was missed afterwards.
func (r *reader) prepared(query string) *sql.Stmt {
	r.db.reads.Add(1)
	if r.db.texts == nil {
		return nil
	}
	if r.tx == nil {
		return r.db.texts.statement(r.ctx, query)
	}
	if s := r.db.texts.known(query); s != nil {
		return r.tx.StmtContext(r.ctx, s)
	}
	r.missed = append(r.missed, query)
	return nil
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
	r := &reader{ctx: ctx, db: db, on: tx, tx: tx}
	defer func() {
		_ = tx.Rollback() // nothing was written
		for _, query := range r.missed {
			db.texts.statement(ctx, query)
		}
	}()
	return Translate(fn(r))
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
	s, err := t.db.PrepareContext(ctx, byPlace(steady(query)))
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

// parameter matches a parameter.
var parameter = regexp.MustCompile(`\$[0-9]+`)

// byPlace returns a text with ? for its parameters, if they stand in the order of their numbers and each once. The driver finds the value
// of a parameter with a number by a search through all of them, which takes milliseconds for the hundreds of a statement of many rows.
func byPlace(query string) string {
	for i, p := range parameter.FindAllString(query, -1) {
		if p != "$"+strconv.Itoa(i+1) {
			return query
		}
	}
	return parameter.ReplaceAllLiteralString(query, "?")
}

// known returns the prepared statement of a text, or nil.
func (t *texts) known(query string) *sql.Stmt {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.stmts[query]
}
