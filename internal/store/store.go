// Package store opens the database (SQLite in the data folder, or PostgreSQL), brings its schema up to date, runs
// transactions and schedules sweeps of rows that nobody can reach any more. One SQL text serves both engines.
//
// It knows no aggregate: the tables are read and written by its sub-packages (accounts, corpora, documents), which
// implement the interfaces of the domain. Package app opens it; nothing outside internal/store sees SQL.
package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Config is where the database is and what sweeps it.
type Config struct {
	Dir string // data folder, created when missing; the SQLite file is Dir/quarry.db
	URL string // postgres://…; when set, Dir is not used

	Sweepers []Sweeper // run in this order, at the start and after WakeSweeper

	vfs string // SQLite VFS by name, "" for the default; tests inject faults here
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	read   *sql.DB
	texts  *texts       // of read on SQLite, nil on PostgreSQL
	writer *writer      // group commit on SQLite, nil on PostgreSQL
	close  func() error // runs once
	reads  atomic.Int64 // statements run outside writes; see Reads

	sweepers []Sweeper
	wake     chan struct{} // holds one element while a sweep is scheduled
	stop     context.CancelFunc
	done     sync.WaitGroup // the goroutine that sweeps
}

// Open opens the database and brings its schema up to date. Its error wraps ErrDamaged, ErrReadOnly, ErrFull or ErrNewer
// where one of them is the reason.
func Open(ctx context.Context, c Config) (*DB, error) {
	var db *DB
	var err error
	if c.URL != "" {
		db, err = openPostgres(ctx, c.URL)
	} else {
		db, err = openSQLite(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	db.close = sync.OnceValue(db.close)
	db.sweepers, db.wake = c.Sweepers, make(chan struct{}, 1)
	db.WakeSweeper()
	var sweepCtx context.Context
	sweepCtx, db.stop = context.WithCancel(context.WithoutCancel(ctx))
	db.done.Go(func() { db.sweepLoop(sweepCtx) })
	return db, nil
}

// Close waits for the write in progress and closes the database; a second call does nothing. Later writes fail with
// ErrClosed.
func (db *DB) Close() error {
	db.stop()
	db.done.Wait()
	return db.close()
}

// ErrClosed is the error of a write to a closed database.
var ErrClosed = errors.New("the database is closed")

// Secret returns 32 random bytes that belong to this database: drawn once, and the same for every node over it.
func (db *DB) Secret(ctx context.Context) ([]byte, error) {
	fresh := make([]byte, 32)
	_, _ = rand.Read(fresh) // never fails since Go 1.24
	var out []byte
	err := db.Write(ctx, func(tx *Tx) error {
		if err := tx.Exec(`INSERT INTO meta (name, value) VALUES ('secret', $1) ON CONFLICT (name) DO NOTHING`, fresh); err != nil {
			return err
		}
		return tx.QueryRow(`SELECT value FROM meta WHERE name = 'secret'`).Scan(&out)
	})
	if err != nil {
		return nil, fmt.Errorf("read secret: %w", err)
	}
	return out, nil
}

// Collect reads all rows of a query with scan and closes them. It takes the error of the query, too, so that a call of
// QueryContext can be passed on as it is.
func Collect[T any](rows *sql.Rows, err error, scan func(*sql.Rows) (T, error)) ([]T, error) {
	if err != nil {
		return nil, Translate(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err below reports what matters
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, Translate(err)
		}
		out = append(out, v)
	}
	return out, Translate(rows.Err())
}

// List returns "$from,$from+1,…" for n values of an IN list.
func List(from, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(from + i))
	}
	return b.String()
}
