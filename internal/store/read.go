package store

import (
	"context"
	"database/sql"
	"regexp"
	"sync"
	"sync/atomic"
)

// Querier reads. It is what Read and Reader give.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Reader reads single statements, each in its own snapshot.
func (db *DB) Reader() Querier {
	if db.texts == nil {
		return counting{db.read, &db.reads}
	}
	return counting{prepared{db.texts, db.read}, &db.reads}
}

// Reads is how many statements Reader and Read have run since the database was opened. What a request may cost is told
// in reads, and proven with this.
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

// Read runs fn over one snapshot of the database.
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

// texts keeps statements that SQLite has parsed, which costs more than running most of them. The driver of PostgreSQL
// does the same by itself.
type texts struct {
	db *sql.DB

	mu    sync.RWMutex
	stmts map[string]*sql.Stmt // guarded by mu
}

// statement returns the parsed statement, or nil where the text is to be used.
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
		return nil // running the text will say it again
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

// limits matches a LIMIT that is given as a parameter.
var limits = regexp.MustCompile(`\bLIMIT (\$[0-9]+)`)

// steady returns the text of a statement that SQLite does not parse again at each use. Its planner looks at the value of a
// LIMIT that is a parameter alone and plans anew whenever it is bound, which costs more than to run most statements (a
// list of corpora takes half the time without); it does not look into sums.
func steady(query string) string { return limits.ReplaceAllString(query, "LIMIT $1 + 0") }

// known returns the parsed statement if there is one.
func (t *texts) known(query string) *sql.Stmt {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.stmts[query]
}

// prepared is a Querier over parsed statements, outside transactions.
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

// inSnapshot is a Querier in a transaction. It parses nothing for others: that takes a connection of its own, and
// when every connection is in a transaction each would wait for the others. What it missed is parsed afterwards.
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
