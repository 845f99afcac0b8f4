package store

import "context"

// OpenVFS opens the SQLite database of a folder through a file layer of a test's.
func OpenVFS(ctx context.Context, dir, vfs string) (*DB, error) {
	return Open(ctx, Config{Dir: dir, vfs: vfs})
}

// Pragma sets something on the writing connection of SQLite, between writes.
func (db *DB) Pragma(ctx context.Context, text string) error {
	_, err := db.writer.conn.ExecContext(ctx, "PRAGMA "+text)
	return err
}

// StartError words an error of Open for the database file at path.
var StartError = startError

// SweepStep is how much one step of the sweeper removes.
const SweepStep = sweepStep

// KeptChanges is how many changes of a corpus are kept.
const KeptChanges = keptChanges
