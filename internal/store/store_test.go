package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/jackc/pgx/v5/pgconn"

	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/store"
	"quarry/internal/store/cutvfs"
	"quarry/internal/store/storetest"
)

func open(t testing.TB, c store.Config) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // some tests close it themselves
	return db
}

// both runs a test on each engine, from a database without a schema.
func both(t *testing.T, test func(t *testing.T, c store.Config)) {
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, store.Config{Dir: t.TempDir()}) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); test(t, store.Config{URL: storetest.Empty(t)}) })
}

func put(name string) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		return tx.Exec(`INSERT INTO meta (name, value) VALUES ($1, $2)`, name, []byte(name))
	}
}

// names lists what put wrote.
func names(t testing.TB, db *store.DB) string {
	t.Helper()
	all, err := store.Select(db.Reader(context.Background()), "names", store.One[string],
		`SELECT name FROM meta WHERE name <> 'secret' ORDER BY name`)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

// TestSecret proves that the secret is 32 random bytes, the same for every opening of one database and another for
// another database.
func TestSecret(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c store.Config) {
		db := open(t, c)
		first, err := db.Secret(t.Context())
		if err != nil || len(first) != 32 {
			t.Fatalf("secret of %d bytes, %v", len(first), err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := open(t, c).Secret(t.Context())
		if err != nil || !bytes.Equal(first, again) {
			t.Errorf("another secret after a restart, %v", err)
		}
		other, err := open(t, store.Config{Dir: t.TempDir()}).Secret(t.Context())
		if err != nil || bytes.Equal(first, other) {
			t.Errorf("two databases share a secret, %v", err)
		}
	})
}

// TestWriteOutcomes proves that a failing, a panicking and a cancelled write leave nothing and say so; their neighbours
// are not touched.
func TestWriteOutcomes(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c store.Config) {
		db := open(t, c)
		own := errors.New("own reason")
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				ctx, fn, want := t.Context(), put(fmt.Sprintf("%02d", i)), error(nil)
				switch i % 4 {
				case 1:
					fn, want = func(tx *store.Tx) error { return errors.Join(put("failed")(tx), own) }, own
				case 2:
					fn = func(tx *store.Tx) error { _ = put("panicked")(tx); panic("boom") }
				case 3:
					ctx, want = cancelled, context.Canceled
				}
				err := db.Write(ctx, fn)
				if i%4 == 2 {
					if err == nil || !strings.Contains(err.Error(), "boom") {
						t.Errorf("panic gave %v", err)
					}
				} else if !errors.Is(err, want) {
					t.Errorf("write %d: %v, want %v", i, err, want)
				}
			})
		}
		all.Wait()
		if got, want := names(t, db), "00 04 08 12 16 20 24 28 32 36"; got != want {
			t.Errorf("there is %q, want %q", got, want)
		}
	})
}

// TestGroupCommit proves that writes that wait while another one commits share one commit, that is one sync, and a
// failing one among them costs only itself.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	layer, err := cutvfs.Register()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) { // tells when all writers wait
		db, err := store.OpenVFS(context.Background(), dir, layer.Name())
		if err != nil {
			t.Fatal(err)
		}
		release := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			err := db.Write(context.Background(), func(tx *store.Tx) error { <-release; return put("first")(tx) })
			if err != nil {
				t.Errorf("first write: %v", err)
			}
		})
		synctest.Wait()
		for i := range 20 {
			all.Go(func() {
				fn := put(fmt.Sprintf("%02d", i))
				if i == 7 {
					fn = func(tx *store.Tx) error { return errors.Join(put("bad")(tx), errors.New("no")) }
				}
				if err := db.Write(context.Background(), fn); (err != nil) != (i == 7) {
					t.Errorf("write %d: %v", i, err)
				}
			})
		}
		synctest.Wait()
		before := syncs(layer)
		close(release)
		all.Wait()
		if n := syncs(layer) - before; n != 2 {
			t.Errorf("21 writes took %d syncs, want 2: one for the first, one for those that waited", n)
		}
		if got := names(t, db); strings.Count(got, " ") != 19 || strings.Contains(got, "bad") {
			t.Errorf("there is %q, want 20 names without bad", got)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

func syncs(layer *cutvfs.VFS) (n int) {
	for _, op := range layer.Log() {
		if op.Kind == cutvfs.Sync {
			n++
		}
	}
	return n
}

// wantUnavailable checks for the fault that transports answer with 503.
func wantUnavailable(t *testing.T, err error, word string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Kind != fault.KindUnavailable || f.Code != "storage_unavailable" || !strings.Contains(f.Text, word) || f.RetryAfter <= 0 {
		t.Errorf("error %v, want storage_unavailable with the word %q", err, word)
	}
}

// TestFullDisk proves that on a full or broken disk writes are refused as unavailable, reads go on, and writes go on
// without a restart when the disk is well again; what was acknowledged is all there, also after a restart.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		kind cutvfs.Kind
		code int32
		word string
	}{
		{"full", cutvfs.Write, cutvfs.Full, "full"},
		{"write error", cutvfs.Write, cutvfs.IOError, "check the disk"},
		{"sync error", cutvfs.Sync, cutvfs.NoSync, "check the disk"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			layer, err := cutvfs.Register()
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			db, err := store.OpenVFS(t.Context(), dir, layer.Name())
			if err != nil {
				t.Fatal(err)
			}
			for round := range 3 {
				if err := db.Write(t.Context(), put(fmt.Sprint("ok", round))); err != nil {
					t.Fatalf("write on a sound disk: %v", err)
				}
				layer.Fail(func(k cutvfs.Kind, _ string) int32 {
					if k == c.kind {
						return c.code
					}
					return 0
				})
				for range 3 {
					wantUnavailable(t, db.Write(t.Context(), put(fmt.Sprint("refused", round))), c.word)
				}
				if got := strings.Count(names(t, db), "ok"); got != round+1 {
					t.Errorf("%d names are read from the full disk, want %d", got, round+1)
				}
				layer.Fail(nil)
			}
			if err := db.Write(t.Context(), put("ok3")); err != nil {
				t.Fatalf("write after the space came back: %v", err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			if got := names(t, open(t, store.Config{Dir: dir})); got != "ok0 ok1 ok2 ok3" {
				t.Errorf("after a restart there is %q", got)
			}
		})
	}
}

// TestTooLargeInGroup proves that a write too large for the space that is left takes the transaction of its group down,
// and yet its neighbours, which fit, are written.
func TestTooLargeInGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		db, err := store.Open(context.Background(), store.Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Pragma(context.Background(), "max_page_count=60"); err != nil { // half a megabyte
			t.Fatal(err)
		}
		release := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() { _ = db.Write(context.Background(), func(*store.Tx) error { <-release; return nil }) })
		synctest.Wait()
		for i := range 9 {
			all.Go(func() {
				if i == 4 {
					wantUnavailable(t, db.Write(context.Background(), func(tx *store.Tx) error {
						return tx.Exec(`INSERT INTO meta (name, value) VALUES ('large', $1)`, make([]byte, 1<<20))
					}), "full")
				} else if err := db.Write(context.Background(), put(fmt.Sprint(i))); err != nil {
					t.Errorf("write %d: %v", i, err)
				}
			})
			synctest.Wait()
		}
		close(release)
		all.Wait()
		if got, want := names(t, db), "0 1 2 3 5 6 7 8"; got != want {
			t.Errorf("there is %q, want %q", got, want)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestRetry proves that a transaction that PostgreSQL ends because of a conflict is run again, a few times.
func TestRetry(t *testing.T) {
	t.Parallel()
	db := open(t, store.Config{URL: storetest.Postgres(t)})
	tries := 0
	err := db.Write(t.Context(), func(tx *store.Tx) error {
		tries++
		if err := put("x")(tx); err != nil || tries == 3 {
			return err
		}
		return &pgconn.PgError{Code: []string{"", "40001", "40P01"}[tries]}
	})
	if got := names(t, db); err != nil || tries != 3 || got != "x" {
		t.Errorf("%d tries, %v, there is %q; want 3 tries and x", tries, err, got)
	}
	tries = 0
	err = db.Write(t.Context(), func(*store.Tx) error { tries++; return &pgconn.PgError{Code: "40001"} })
	if err == nil || tries > 10 {
		t.Errorf("an endless conflict: %d tries, %v; want a few and an error", tries, err)
	}
}

// TestClosed proves that a write to a closed database says so.
func TestClosed(t *testing.T) {
	t.Parallel()
	db := open(t, store.Config{Dir: t.TempDir()})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Write(t.Context(), put("x")); !errors.Is(err, store.ErrClosed) {
		t.Errorf("write after close: %v, want ErrClosed", err)
	}
}

// TestReadSnapshot proves that Read shows one state, whatever is written meanwhile.
func TestReadSnapshot(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c store.Config) {
		db := open(t, c)
		count := func(q store.Querier) (n int) {
			if err := q.QueryRow(`SELECT COUNT(*) FROM meta`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		err := db.Read(t.Context(), func(q store.Querier) error {
			before := count(q)
			if err := db.Write(t.Context(), put("x")); err != nil {
				return err
			}
			if inside, outside := count(q), count(db.Reader(t.Context())); inside != before || outside != before+1 {
				t.Errorf("%d rows before, %d in the same snapshot, %d outside", before, inside, outside)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestStartAtOnce proves that several nodes that start at once on one empty PostgreSQL database all come up on one
// schema.
func TestStartAtOnce(t *testing.T) {
	t.Parallel()
	url := storetest.Empty(t)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			db, err := store.Open(t.Context(), store.Config{URL: url})
			if err != nil {
				t.Errorf("node %d: %v", i, err)
				return
			}
			if err := db.Close(); err != nil {
				t.Errorf("node %d: %v", i, err)
			}
		})
	}
	all.Wait()
}

// TestNewerSchema proves that a schema that is newer than the program is refused in words that say so.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c store.Config) {
		db := open(t, c)
		err := db.Write(t.Context(), func(tx *store.Tx) error {
			return tx.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, $1)`, true)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(t.Context(), c); !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), "9999") {
			t.Errorf("open: %v, want ErrNewer that names schema 9999", err)
		}
	})
}

// wound creates a closed database of some size in a folder and lets harm change its file.
func wound(t *testing.T, harm func(content []byte) []byte) store.Config {
	t.Helper()
	dir := t.TempDir()
	db := open(t, store.Config{Dir: dir})
	for i := range 20 {
		if err := db.Write(t.Context(), func(tx *store.Tx) error {
			return tx.Exec(`INSERT INTO meta (name, value) VALUES ($1, $2)`, fmt.Sprint(i), make([]byte, 20000))
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "quarry.db")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, harm(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return store.Config{Dir: dir}
}

// TestDamaged proves that a damaged database stops the start with ErrDamaged and a text that names the file and says
// what to do.
func TestDamaged(t *testing.T) {
	t.Parallel()
	scribble := func(from, n int) func([]byte) []byte {
		return func(c []byte) []byte {
			for i := range n {
				c[from+i] = 0xa5
			}
			return c
		}
	}
	for name, harm := range map[string]func([]byte) []byte{
		"another file":   func([]byte) []byte { return []byte(strings.Repeat("not a database\n", 1000)) },
		"a short header": func(c []byte) []byte { return c[:10] },
		"cut in half":    func(c []byte) []byte { return c[:len(c)/2] },
		"a broken head":  scribble(0, 100),
		"broken schema":  scribble(100, 8000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := store.Open(t.Context(), wound(t, harm))
			if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "quarry.db") || !strings.Contains(err.Error(), "restore") {
				t.Errorf("open: %v, want ErrDamaged with the file and what to do", err)
			}
		})
	}
}

// TestLogAlone proves that a log without its database is not taken for a new installation: SQLite would throw the log
// away.
func TestLogAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	wal := filepath.Join(dir, "quarry.db-wal")
	if err := os.WriteFile(wal, []byte("frames"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), store.Config{Dir: dir}); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("open: %v, want ErrDamaged", err)
	}
	if left, err := os.ReadFile(wal); err != nil || string(left) != "frames" {
		t.Errorf("the log was touched: %q, %v", left, err)
	}
}

// TestDamagedLater proves that damage that shows only when its page is read is named then, as an error that is not the
// client's.
func TestDamagedLater(t *testing.T) {
	t.Parallel()
	c := wound(t, func(content []byte) []byte {
		at := bytes.Index(content, []byte("CREATE TABLE meta")) // the first page stays
		if at < 0 || at > 8192 {
			t.Fatalf("the schema is at %d", at)
		}
		for i := 8192; i < len(content); i++ {
			if i%8192 < 64 && content[i-i%8192] != 0 { // heads of tree pages but those of overflow
				content[i] = 0xff
			}
		}
		return content
	})
	db, err := store.Open(t.Context(), c)
	if err == nil {
		_, err = db.Secret(t.Context())
		_ = db.Close()
	}
	if !errors.Is(err, store.ErrDamaged) {
		t.Errorf("error %v, want ErrDamaged", err)
	}
}

// TestStartErrors proves that each reason for a failed start is told apart and explained; an unknown one stays as it
// is.
func TestStartErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cause error
		want  error
		word  string
	}{
		{syscall.ENOSPC, store.ErrFull, "free some space"}, {syscall.EDQUOT, store.ErrFull, "free some space"},
		{syscall.EROFS, store.ErrReadOnly, "permissions"}, {syscall.EACCES, store.ErrReadOnly, "permissions"},
		{store.ErrNewer, store.ErrNewer, "quarry.db"}, {syscall.EIO, syscall.EIO, "quarry.db"},
	} {
		err := store.StartError("/x/quarry.db", fmt.Errorf("touch: %w", c.cause))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.word) || !strings.Contains(err.Error(), "/x") {
			t.Errorf("%v gives %v, want %v with the word %q and the place", c.cause, err, c.want, c.word)
		}
	}
}

// TestStartOnFullDisk proves that a disk that is full or fails while the database is made stops the start with the
// reason.
func TestStartOnFullDisk(t *testing.T) {
	t.Parallel()
	layer, err := cutvfs.Register()
	if err != nil {
		t.Fatal(err)
	}
	layer.Fail(func(k cutvfs.Kind, _ string) int32 {
		if k == cutvfs.Write {
			return cutvfs.Full
		}
		return 0
	})
	dir := t.TempDir()
	if _, err := store.OpenVFS(t.Context(), dir, layer.Name()); !errors.Is(err, store.ErrFull) {
		t.Errorf("open on a full disk: %v, want ErrFull", err)
	}
	layer.Fail(nil)
	db, err := store.OpenVFS(t.Context(), dir, layer.Name())
	if err != nil {
		t.Fatalf("open when the space came back: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestReadOnlyFolder proves that a folder that can't be made or written is ErrReadOnly; nothing but the reason and the
// place is told.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	dir := "/proc/self/quarry" // refused to root, too
	if os.Geteuid() != 0 {
		dir = t.TempDir()
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	_, err := store.Open(t.Context(), store.Config{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("open: %v, want an error that names %s", err, dir)
	}
	if os.Geteuid() != 0 && !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("open: %v, want ErrReadOnly", err)
	}
}

// TestNoServer proves that a PostgreSQL that isn't there stops the start, and the text keeps the password to itself.
func TestNoServer(t *testing.T) {
	t.Parallel()
	_, err := store.Open(t.Context(), store.Config{URL: "postgres://me:hush@127.0.0.1:1/none?connect_timeout=2"})
	if err == nil || strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("open: %v, want an error that names the server without the password", err)
	}
}

// TestCancelledWaiting proves that a write that is cancelled while it waits for its turn never runs; in the queue its
// caller is told at once.
func TestCancelledWaiting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		db, err := store.Open(context.Background(), store.Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		release := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() { _ = db.Write(context.Background(), func(*store.Tx) error { <-release; return nil }) })
		synctest.Wait()
		ctx, cancel := context.WithCancel(context.Background())
		answer := make(chan error, 1)
		all.Go(func() { answer <- db.Write(ctx, put("cancelled")) })
		synctest.Wait()
		cancel()
		synctest.Wait()
		select {
		case err := <-answer:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled in the queue: %v", err)
			}
		default:
			t.Error("the caller still waits after its context was cancelled")
		}
		close(release)
		all.Wait()
		late, cancelLate := context.WithCancel(context.Background())
		if err := db.Write(late, func(tx *store.Tx) error { cancelLate(); return put("begun")(tx) }); err != nil {
			t.Errorf("cancelled when its turn had come: %v, want success", err)
		}
		if got := names(t, db); got != "begun" {
			t.Errorf("there is %q, want begun alone", got)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestTranslate proves that what a driver reports becomes a fault where the storage can't do it now, and stays itself
// where it is no such thing.
func TestTranslate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		word string // of the fault; "" where err stays
	}{
		{syscall.ENOSPC, "full"}, {syscall.EROFS, "cannot be written"}, {driver.ErrBadConn, "not reached"},
		{&pgconn.PgError{Code: "53100"}, "full"}, {&pgconn.PgError{Code: "25006"}, "cannot be written"},
		{&pgconn.PgError{Code: "57P01"}, "not reached"}, {&pgconn.PgError{Code: "53300"}, "not reached"},
		{&pgconn.PgError{Code: "08006"}, "not reached"}, {fmt.Errorf("deallocate: %w", pgconn.ErrConnClosed), "not reached"}, {sql.ErrConnDone, "not reached"},
		{&pgconn.PgError{Code: "57014"}, ""}, {&pgconn.PgError{Code: "23505"}, ""},
		{sql.ErrNoRows, ""}, {context.Canceled, ""}, {context.DeadlineExceeded, ""},
		{fault.Conflict("x", "taken"), ""}, {&document.Exists{ID: "d"}, ""},
	} {
		wrapped := fmt.Errorf("read: %w", c.err)
		got := store.Translate(wrapped)
		if c.word == "" {
			if got != wrapped {
				t.Errorf("%v became %v", c.err, got)
			}
			continue
		}
		wantUnavailable(t, got, c.word)
		if !errors.Is(got, c.err) {
			t.Errorf("%v lost its cause", c.err)
		}
	}
	if got := store.Translate(&pgconn.PgError{Code: "XX001"}); !errors.Is(got, store.ErrDamaged) {
		t.Errorf("data_corrupted became %v, want ErrDamaged", got)
	}
	if store.Translate(nil) != nil {
		t.Error("nil became an error")
	}
}

// TestLostConnections proves that when PostgreSQL drops the connections, as on its restart, writes are refused as
// unavailable at worst, and soon go on.
func TestLostConnections(t *testing.T) {
	t.Parallel()
	db := open(t, store.Config{URL: storetest.Postgres(t)})
	for round := range 3 {
		_, err := store.Select(db.Reader(t.Context()), "terminate", store.One[bool],
			`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`)
		if err != nil && !fault.Is(err, fault.KindUnavailable) {
			t.Errorf("terminate: %v", err)
		}
		// Several at once, so that every connection of the pool is met.
		results := make(chan error, 8)
		for i := range 8 {
			go func() { results <- db.Write(t.Context(), put(fmt.Sprintf("%d/%d", round, i))) }()
		}
		for range 8 {
			if err := <-results; err != nil && !fault.Is(err, fault.KindUnavailable) {
				t.Errorf("write over a lost connection: %v, want success or unavailable", err)
			}
		}
		for range 20 { // the pool may still hold a dead connection or two
			if err = db.Write(t.Context(), put(fmt.Sprintf("%d/after", round))); err == nil {
				break
			}
		}
		if err != nil {
			t.Errorf("writes do not go on: %v", err)
		}
	}
}

// TestSteady proves that a LIMIT which is a parameter alone, for which SQLite would plan again at each use, is prepared as
// a sum, and that nothing else of a text changes.
func TestSteady(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"SELECT no FROM t ORDER BY no LIMIT $3":          "SELECT no FROM t ORDER BY no LIMIT $3 + 0",
		"DELETE FROM t WHERE no IN (SELECT 1 LIMIT $12)": "DELETE FROM t WHERE no IN (SELECT 1 LIMIT $12 + 0)",
		"SELECT 1 LIMIT 1":                               "SELECT 1 LIMIT 1",
		"SELECT limits, $1 FROM t":                       "SELECT limits, $1 FROM t",
	} {
		if got := store.Steady(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
