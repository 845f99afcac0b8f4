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
	"sync"
	"sync/atomic"
)

// Config is where the database is and what sweeps it.
type Config struct {
	Dir string // data folder, created when missing; the SQLite file is Dir/quarry.db
	URL string // postgres://…; when set, Dir is not used

	Sweepers []Sweeper // run in this order, at the start and after WakeSweeper

	// Full is called when the disk of the data folder has become full, and when there is space again; nil for nobody.
	Full func(full bool)

	vfs string // SQLite VFS by name, "" for the default; tests inject faults here
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	read    *sql.DB
	texts   *texts       // of read on SQLite, nil on PostgreSQL
	writer  *writer      // group commit on SQLite, nil on PostgreSQL
	reserve *reserve     // of writer
	close   func() error // runs once
	reads   atomic.Int64 // statements run outside writes; see Reads

	sweepers []Sweeper
	wake     chan struct{} // holds one element while a sweep is scheduled
	alarm    alarm
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
	switch err := db.Reader(ctx).QueryRow(`SELECT value FROM meta WHERE name = 'secret'`).Scan(&out); {
	case err == nil:
		return out, nil
	case !errors.Is(err, sql.ErrNoRows):
		return nil, Wrap(err, "read secret")
	}
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
