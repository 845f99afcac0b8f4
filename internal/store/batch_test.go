package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"quarry/internal/store"
)

// noted returns a batch that writes names, and the parts in which it was run.
func noted(refuse string, failed error) (b *store.Batch[string], parts *[]string) {
	parts = &[]string{}
	return store.NewBatch(func(tx *store.Tx, all []string) error {
		*parts = append(*parts, strings.Join(all, " "))
		if slices.Contains(all, refuse) {
			return failed
		}
		for _, name := range all {
			if err := put(name)(tx); err != nil {
				return err
			}
		}
		return nil
	}), parts
}

// TestBatch proves that what a write adds to a batch is written with it, all at once, and not at all if the write fails; and that an
// error or a panic of the batch is that of the write, of which nothing is left then.
func TestBatch(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c store.Config) {
		db, failed := open(t, c), errors.New("failed")
		b, parts := noted("bad", failed)
		write := func(err error, all ...string) error {
			return db.Write(t.Context(), func(tx *store.Tx) error {
				for _, name := range all {
					b.Add(tx, name)
				}
				return errors.Join(put("own "+all[0])(tx), err)
			})
		}
		if err := write(nil, "a", "b"); err != nil {
			t.Error(err)
		}
		if err := write(failed, "c"); !errors.Is(err, failed) {
			t.Errorf("a write that fails: %v", err)
		}
		if err := write(nil, "d", "bad"); !errors.Is(err, failed) {
			t.Errorf("a batch that fails: %v", err)
		}
		broken := store.NewBatch(func(*store.Tx, []int) error { panic("boom") })
		err := db.Write(t.Context(), func(tx *store.Tx) error { broken.Add(tx, 1); return put("e")(tx) })
		if err == nil || !strings.Contains(err.Error(), "boom") {
			t.Errorf("a batch that panics: %v", err)
		}
		if got, want := names(t, db), "a b own a"; got != want {
			t.Errorf("there is %q, want %q", got, want)
		}
		if want := []string{"a b", "d bad"}; !slices.Equal(*parts, want) {
			t.Errorf("run for %q, want %q", *parts, want)
		}
	})
}

// TestBatchOfGroup proves that writes that share a commit share the run of a batch, that one which fails takes no part, and that after
// a run that has failed each write is judged by itself.
func TestBatchOfGroup(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]string{"run": "", "failed": "3"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) { // tells when all writers wait
				db, err := store.Open(context.Background(), store.Config{Dir: dir})
				if err != nil {
					t.Fatal(err)
				}
				failed := errors.New("failed")
				b, parts := noted(refuse, failed)
				release := make(chan struct{})
				var all sync.WaitGroup
				all.Go(func() { _ = db.Write(context.Background(), func(*store.Tx) error { <-release; return nil }) })
				synctest.Wait()
				for i := range 6 {
					all.Go(func() {
						var want error
						if i == 4 || fmt.Sprint(i) == refuse {
							want = failed
						}
						err := db.Write(context.Background(), func(tx *store.Tx) error {
							if b.Add(tx, fmt.Sprint(i)); i == 4 {
								return failed
							}
							return nil
						})
						if !errors.Is(err, want) {
							t.Errorf("write %d: %v, want %v", i, err, want)
						}
					})
					synctest.Wait()
				}
				close(release)
				all.Wait()
				written, runs := "0 1 2 3 5", []string{"0 1 2 3 5"}
				if refuse != "" {
					written, runs = "0 1 2 5", append(runs, "0", "1", "2", "3", "5")
				}
				if got := names(t, db); got != written {
					t.Errorf("there is %q, want %q", got, written)
				}
				if !slices.Equal(*parts, runs) {
					t.Errorf("run for %q, want %q", *parts, runs)
				}
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestByPlace proves which texts have their parameters bound by their place: those that have each once and in order.
func TestByPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"INSERT INTO t VALUES ($1, $2), ($3, $4)":   "INSERT INTO t VALUES (?, ?), (?, ?)",
		"SELECT 1 FROM t WHERE a = $1 OR b = $1":    "SELECT 1 FROM t WHERE a = $1 OR b = $1",
		"UPDATE t SET a = $2 WHERE no = $1":         "UPDATE t SET a = $2 WHERE no = $1",
		"SELECT a FROM t WHERE no = $2":             "SELECT a FROM t WHERE no = $2",
		"SELECT 1":                                  "SELECT 1",
		"SELECT a FROM t WHERE b = $1 LIMIT $2 + 0": "SELECT a FROM t WHERE b = ? LIMIT ? + 0",
	} {
		if got := store.ByPlace(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
