package store

import (
	"context"
	"database/sql"
	"slices"

	"github.com/pressly/goose/v3"
)

// OpenVFS opens the SQLite database of a folder through a file layer of a test's.
func OpenVFS(ctx context.Context, dir, vfs string, sweepers ...Sweeper) (*DB, error) {
	return Open(ctx, Config{Dir: dir, Sweepers: sweepers, vfs: vfs})
}

// OpenTold is OpenVFS for a test that wants to know when the disk is full.
func OpenTold(ctx context.Context, dir, vfs string, full func(bool)) (*DB, error) {
	return Open(ctx, Config{Dir: dir, Full: full, vfs: vfs})
}

// Pragma sets something on the writing connection of SQLite, between writes.
func (db *DB) Pragma(ctx context.Context, text string) error {
	_, err := db.writer.conn.ExecContext(ctx, "PRAGMA "+text)
	return err
}

// StartError words an error of Open for the database file at path.
var StartError = startError

// Steady is the text that SQLite prepares for a statement.
var Steady = steady

// ByPlace is its text with parameters that are bound by their place.
var ByPlace = byPlace

// MigrateTo brings an empty database, opened by its driver, to an older version of the schema.
func MigrateTo(ctx context.Context, db *sql.DB, postgres bool, version int64) error {
	d := sqliteDialect
	if postgres {
		d = postgresDialect
	}
	steps, _, err := d.steps()
	if err != nil {
		return err
	}
	steps = slices.DeleteFunc(steps, func(m *goose.Migration) bool { return m.Version > version })
	p, err := goose.NewProvider(d.name, db, nil, goose.WithGoMigrations(steps...), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}
