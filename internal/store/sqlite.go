package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	_ "modernc.org/sqlite" // driver "sqlite"
)

const (
	fileName = "quarry.db"
	// cheapCheck is the size in bytes up to which the whole database is checked at the start, which takes about a quarter
	// of a second. The pages of a larger one are checked as they are read.
	cheapCheck = 64 << 20
	// pageSize, in bytes, holds four parts with their vectors; the default of 4096 holds two and wastes a quarter.
	pageSize = 8192
	// writerCache is large enough for the upper pages of every tree.
	writerCache = "cache_size(-16000)"
)

func openSQLite(ctx context.Context, c Config) (*DB, error) {
	path, err := filepath.Abs(filepath.Join(c.Dir, fileName))
	if err != nil {
		return nil, fmt.Errorf("locate database: %w", err)
	}
	if err := prepareFolder(filepath.Dir(path)); err != nil && !(isFull(err) && begun(path)) {
		return nil, startError(path, err)
	}
	if err := inspect(path); err != nil {
		return nil, startError(path, err)
	}
	if c.vfs == "" {
		if err := makePrivate(path); err != nil {
			return nil, startError(path, err)
		}
	}
	db, err := connectReserved(ctx, path, c)
	if err != nil {
		return nil, startError(path, err)
	}
	return db, nil
}

// connectReserved connects with a reserve, and with the room of the reserve where that is all there is.
func connectReserved(ctx context.Context, path string, c Config) (*DB, error) {
	kept := &reserve{path: filepath.Join(filepath.Dir(path), reserveName), tell: c.Full}
	if c.Full == nil {
		kept.tell = func(bool) {}
	}
	db, err := connectSQLite(ctx, path, c.vfs)
	for _, to := range []int64{startReserve, 0} {
		if kept.size() > to && kept.met(err, to) {
			db, err = connectSQLite(ctx, path, c.vfs)
		}
	}
	if err != nil {
		return nil, err
	}
	setUp, err := db.setUp(ctx)
	if err != nil {
		return nil, errors.Join(err, db.close())
	}
	kept.open(setUp)
	db.reserve = kept
	disconnect := db.close
	db.close = func() error {
		err := disconnect()
		kept.close()
		return err
	}
	return db, nil
}

// setUp reports whether a start has come as far as to draw the secret of the database.
func (db *DB) setUp(ctx context.Context) (yes bool, err error) {
	err = db.Reader(ctx).QueryRow(`SELECT COUNT(*) > 0 FROM meta WHERE name = 'secret'`).Scan(&yes)
	return yes, err
}

// begun reports whether there is a database at path, be it all in its log.
func begun(path string) bool {
	for _, name := range []string{path, path + "-wal"} {
		if info, err := os.Stat(name); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

func connectSQLite(ctx context.Context, path, vfs string) (_ *DB, err error) {
	w, err := sql.Open("sqlite", dsn(path, vfs, false))
	if err != nil {
		return nil, err
	}
	r, err := sql.Open("sqlite", dsn(path, vfs, true))
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close(), w.Close())
		}
	}()
	w.SetMaxOpenConns(1)
	if err := quickCheck(ctx, w, path); err != nil {
		return nil, err
	}
	if _, err := w.ExecContext(ctx, "PRAGMA "+writerCache); err != nil {
		return nil, err
	}
	if err := migrate(ctx, w, sqliteDialect); err != nil {
		return nil, err
	}
	readers := max(4, runtime.GOMAXPROCS(0))
	r.SetMaxOpenConns(readers)
	r.SetMaxIdleConns(readers) // opening one costs a parse of the schema, and may fail on a full disk
	if err := r.PingContext(ctx); err != nil {
		return nil, err
	}
	conn, err := w.Conn(ctx)
	if err != nil {
		return nil, err
	}
	db := &DB{read: r, texts: &texts{db: r, stmts: map[string]*sql.Stmt{}}, writer: newWriter(conn)}
	db.close = func() error {
		db.writer.stop()
		return errors.Join(r.Close(), conn.Close(), w.Close())
	}
	return db, nil
}

// dsn returns the data source name of a connection: the file and its settings. cache_size is in KiB when negative. The
// writer's is small until the file is checked, which reads each page once: filling a cache with them took a third of
// that time, and 16 MB. synchronous(FULL) syncs the log at each commit, without which
// an acknowledged write could be lost in a power cut.
func dsn(path, vfs string, reader bool) string {
	q := url.Values{"_pragma": {
		"busy_timeout(10000)", fmt.Sprintf("page_size(%d)", pageSize), "journal_mode(WAL)", "synchronous(FULL)",
		"foreign_keys(1)", "wal_autocheckpoint(1000)", "journal_size_limit(67108864)",
	}}
	if reader {
		q["_pragma"] = append(q["_pragma"], "cache_size(-4000)", "query_only(1)")
	} else {
		q["_pragma"] = append(q["_pragma"], "cache_size(-1000)", "temp_store(MEMORY)")
	}
	if vfs != "" {
		q.Set("vfs", vfs)
	}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: q.Encode()}).String()
}

// makePrivate creates the file with mode 0600 before SQLite would create it readable for everybody; SQLite copies the mode
// to the log and its index.
func makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// prepareFolder creates the data folder durably and checks that it can be written: otherwise a full or read-only disk would
// appear as one of several errors inside SQLite.
func prepareFolder(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		syncFolder(filepath.Dir(dir))
	}
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, pageSize))
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
}

// syncFolder writes new names in a folder to disk where the platform can do so. SQLite itself syncs the data folder.
func syncFolder(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

// inspect reads the header of the database file, so that a file of another kind or a truncated one is refused with a clear
// error. It does not judge a file with a log beside it: the last process did not close it, and SQLite must apply the log
// first.
func inspect(path string) error {
	for _, left := range []string{"-wal", "-journal"} {
		info, err := os.Stat(path + left)
		if err != nil || info.Size() == 0 {
			continue
		}
		if _, err := os.Stat(path); left == "-wal" && errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%w: its log %s%s is there and the file itself is not", ErrDamaged, fileName, left)
		}
		return nil
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return nil // created by a process that stopped before it wrote the first page
	}
	head := make([]byte, 32)
	if _, err := f.ReadAt(head, 0); err != nil || !bytes.HasPrefix(head, []byte("SQLite format 3\x00")) {
		return fmt.Errorf("%w: its first bytes are not those of a database", ErrDamaged)
	}
	size := int64(binary.BigEndian.Uint16(head[16:]))
	if size == 1 {
		size = 65536
	}
	if pages := int64(binary.BigEndian.Uint32(head[28:])); pages*size > info.Size() {
		return fmt.Errorf("%w: the file ends after %d bytes of %d", ErrDamaged, info.Size(), pages*size)
	}
	return nil
}

func quickCheck(ctx context.Context, w *sql.DB, path string) error {
	if info, err := os.Stat(path); err != nil || info.Size() > cheapCheck {
		return nil // the file may not exist before its log is applied
	}
	found, err := Select(&Tx{on: w, ctx: ctx}, "check the database", One[string], "PRAGMA quick_check(5)")
	if err != nil {
		return err
	}
	if len(found) != 1 || found[0] != "ok" {
		return fmt.Errorf("%w: %s", ErrDamaged, found)
	}
	return nil
}

// startError adds advice to the error of a database that can't be opened.
func startError(path string, err error) error {
	advice := []struct {
		reason error
		text   string
	}{
		{ErrDamaged, "restore the newest backup of the data folder, or move the files " + fileName + "* away to start empty"},
		{ErrNewer, "nothing was changed"},
		{ErrFull, "free some space and start again"},
		{ErrReadOnly, "check the owner and the permissions of the folder, and that its disk is not mounted read-only"},
	}
	found := reasonOf(err)
	if isFull(err) {
		err = ErrFull // the rest is about writes of a running service
	}
	for _, a := range advice {
		switch {
		case errors.Is(err, a.reason):
			return fmt.Errorf("open database %s: %w; %s", path, err, a.text)
		case errors.Is(found, a.reason):
			return fmt.Errorf("open database %s: %w: %w; %s", path, a.reason, err, a.text)
		}
	}
	return fmt.Errorf("open database %s: %w", path, err)
}
