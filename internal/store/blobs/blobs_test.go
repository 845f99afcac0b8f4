package blobs_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/blob"
	"quarry/internal/blob/blobtest"
	"quarry/internal/blobstore/file"
	"quarry/internal/clock"
	"quarry/internal/store"
	"quarry/internal/store/blobs"
	"quarry/internal/store/storetest"
)

// TestPieces proves that contents in rows keep the promises of blob.Store, on both databases.
func TestPieces(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, func(t *testing.T, config func(testing.TB) store.Config) {
		blobtest.Conform(t, func(t testing.TB) blobtest.Bed { return pieces(storetest.Open(t, config(t))) })
	})
}

// TestFiles proves that contents in files keep the promises of blob.Store.
func TestFiles(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, func(t *testing.T, config func(testing.TB) store.Config) {
		blobtest.Conform(t, func(t testing.TB) blobtest.Bed { return files(t, storetest.Open(t, config(t)), t.TempDir()) })
	})
}

// references returns a bed without a store, over a database.
func references(db *store.DB) blobtest.Bed {
	write := func(t testing.TB, fn func(*store.Tx) error) error {
		return db.Write(context.WithoutCancel(t.Context()), fn)
	}
	return blobtest.Bed{
		Refer: func(t testing.TB, b blob.Blob) error {
			return write(t, func(tx *store.Tx) error { return blobs.Refer(tx, b.Sum) })
		},
		Unrefer: func(t testing.TB, b blob.Blob) {
			if err := write(t, func(tx *store.Tx) error { return blobs.Unrefer(tx, b.Sum) }); err != nil {
				t.Error(err)
			}
		},
	}
}

func pieces(db *store.DB) blobtest.Bed {
	b := references(db)
	b.Store = blobs.NewPieces(db)
	exec := func(t testing.TB, query, sum string) {
		t.Helper()
		if err := db.Write(t.Context(), func(tx *store.Tx) error { return tx.Exec(query, sum) }); err != nil {
			t.Fatal(err)
		}
	}
	b.Damage = func(t testing.TB, x blob.Blob) {
		exec(t, `UPDATE blob_pieces SET data = (SELECT p.data FROM blob_pieces p WHERE p.pieces = blob_pieces.pieces AND p.n = 0)
			WHERE n = 1 AND pieces = (SELECT pieces FROM blobs WHERE sum = $1)`, x.Sum)
	}
	b.Lose = func(t testing.TB, x blob.Blob) {
		exec(t, `DELETE FROM blob_pieces WHERE n = 1 AND pieces = (SELECT pieces FROM blobs WHERE sum = $1)`, x.Sum)
	}
	b.Stored = func(t testing.TB) (sums []string, other int) {
		t.Helper()
		sums, err := store.Select(db.Reader(t.Context()), "read", store.One[string], `SELECT sum FROM blobs`)
		if err == nil {
			err = db.Reader(t.Context()).QueryRow(`SELECT (SELECT COUNT(*) FROM blob_drafts)
				+ (SELECT COUNT(*) FROM blob_pieces WHERE pieces NOT IN (SELECT pieces FROM blobs))`).Scan(&other)
		}
		if err != nil {
			t.Fatal(err)
		}
		return sums, other
	}
	b.Restart = func(testing.TB) blobtest.Bed { return pieces(db) }
	return b
}

func files(t testing.TB, db *store.DB, dir string) blobtest.Bed {
	t.Helper()
	b := references(db)
	var err error
	if b.Store, err = file.Open(t.Context(), dir, blobs.NewRows(db)); err != nil {
		t.Fatal(err)
	}
	path := func(x blob.Blob) string { return filepath.Join(dir, x.Sum[:2], x.Sum) }
	b.Damage = func(t testing.TB, x blob.Blob) {
		raw, err := os.ReadFile(path(x))
		if err != nil {
			t.Fatal(err)
		}
		raw[len(raw)/2] ^= 1
		if err := os.WriteFile(path(x), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.Lose = func(t testing.TB, x blob.Blob) {
		if err := os.Remove(path(x)); err != nil {
			t.Fatal(err)
		}
	}
	b.Stored = func(t testing.TB) (sums []string, other int) {
		t.Helper()
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || d.IsDir():
			case blob.Valid(d.Name()) && strings.HasPrefix(d.Name(), filepath.Base(filepath.Dir(p))):
				sums = append(sums, d.Name())
			default:
				other++
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return sums, other
	}
	b.Restart = func(t testing.TB) blobtest.Bed { return files(t, db, dir) }
	return b
}

// TestFilesWithoutARow proves that files which a kill has left without a row are removed by the first sweep of the next start,
// and files that are not the store's stay.
func TestFilesWithoutARow(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	dir := t.TempDir()
	sum := strings.Repeat("ab", 32)
	for _, name := range []string{filepath.Join("ab", sum), filepath.Join("ab", "notes.txt")} {
		if err := os.MkdirAll(filepath.Join(dir, "ab"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := files(t, db, dir)
	if n, err := b.Sweep(t.Context(), clock.Now()); err != nil || n != 1 {
		t.Fatalf("the sweep removes %d, %v", n, err)
	}
	if sums, other := b.Stored(t); len(sums) != 0 || other != 1 {
		t.Errorf("%d files and %d others are left", len(sums), other)
	}
}

// TestFileHeals proves that a file which is damaged is whole again when its content is put once more.
func TestFileHeals(t *testing.T) {
	t.Parallel()
	b := files(t, storetest.Open(t, store.Config{Dir: t.TempDir()}), t.TempDir())
	var x blob.Blob
	for range 2 {
		var err error
		if x, err = b.Put(t.Context(), strings.NewReader("content"), 100); err != nil {
			t.Fatal(err)
		}
		c, err := b.Open(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
		b.Damage(t, x)
	}
}
