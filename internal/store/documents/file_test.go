package documents_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"quarry/internal/blob"
	"quarry/internal/clock"
	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/store"
	"quarry/internal/store/blobs"
	"quarry/internal/store/corpora"
	"quarry/internal/store/documents"
	"quarry/internal/store/storetest"
)

// removals are the ways in which a document goes.
var removals = map[string]func(context.Context, *store.DB, storetest.Stores, string) error{
	"deleted": func(ctx context.Context, _ *store.DB, s storetest.Stores, id string) error {
		all, err := s.Corpora.Get(ctx, "files")
		if err != nil {
			return err
		}
		d, err := s.Documents.Get(ctx, all[0].No, id, false)
		if err == nil {
			_, err = s.Documents.Delete(ctx, all[0].No, all[0].Epoch, d)
		}
		return err
	},
	"deleted among many": func(ctx context.Context, _ *store.DB, s storetest.Stores, id string) error {
		all, err := s.Corpora.Get(ctx, "files")
		if err == nil {
			_, _, err = s.Documents.DeleteMany(ctx, all[0].No, all[0].Epoch, []string{"none", id}, time.Time{})
		}
		return err
	},
	"replaced": func(ctx context.Context, db *store.DB, s storetest.Stores, id string) error {
		all, err := s.Corpora.Get(ctx, "files")
		if err == nil {
			_, err = s.Documents.Replace(ctx, all[0].No, all[0].Epoch, version(id, 2))
		}
		if err != nil {
			return err
		}
		return db.Write(ctx, func(tx *store.Tx) error {
			return tx.Exec(`UPDATE replaced SET at = $1`, clock.Now().Add(-2*document.ReplacedFor).UnixMicro())
		})
	},
	"reset": func(ctx context.Context, _ *store.DB, s storetest.Stores, _ string) error {
		_, err := s.Corpora.Reset(ctx, "files")
		return err
	},
}

// TestFiles proves that the file of a document is kept with it, and that nobody needs its bytes any more once the document is
// gone, in whatever way, while the same bytes of another document stay needed.
func TestFiles(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, func(t *testing.T, config func(testing.TB) store.Config) {
		for name, remove := range removals {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				db := sweeping(t, config, documents.Sweeper{})
				s := storetest.Stores{Corpora: corpora.New(db), Documents: documents.New(db)}
				for _, key := range []string{"files", "others"} {
					create(t, s, key)
				}
				kept := blobs.NewPieces(db)
				b, err := kept.Put(t.Context(), strings.NewReader("the bytes"), 100)
				if err != nil {
					t.Fatal(err)
				}
				want := document.File{Name: "a.txt", MIME: "text/plain", Blob: b}
				for _, key := range []string{"files", "others"} {
					d := version("a", 1)
					d.File = &want
					insert(t, s, get(t, s, key), d)
					if got, err := s.Documents.File(t.Context(), get(t, s, key).No, "a"); err != nil || got != want {
						t.Fatalf("%s: %+v, %v", key, got, err)
					}
				}
				if err := kept.Release(t.Context(), b); err != nil {
					t.Fatal(err)
				}
				needed := func() bool {
					if err := db.Sweep(t.Context()); err != nil {
						t.Fatal(err)
					}
					all, err := blobs.NewRows(db).Unused(t.Context(), 10)
					if err != nil {
						t.Fatal(err)
					}
					return len(all) == 0
				}
				if err := remove(t.Context(), db, s, "a"); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Documents.File(t.Context(), get(t, s, "files").No, "a"); !fault.Is(err, fault.KindNotFound) {
					t.Errorf("the file of what is gone: %v", err)
				}
				if !needed() {
					t.Error("the other document has lost its bytes")
				}
				other := get(t, s, "others")
				if _, _, err := s.Documents.DeleteMany(t.Context(), other.No, other.Epoch, []string{"a"}, time.Time{}); err != nil || needed() {
					t.Errorf("the bytes of no document stay: %v", err)
				}
			})
		}
	})
}

// TestFileGone proves that a document is not stored whose file is not held any more.
func TestFileGone(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, func(t *testing.T, config func(testing.TB) store.Config) {
		db := storetest.Open(t, config(t))
		s := storetest.Stores{Corpora: corpora.New(db), Documents: documents.New(db)}
		c := create(t, s, "files")
		d := version("a", 1)
		d.File = &document.File{Name: "a", MIME: "text/plain", Blob: blob.Blob{Sum: strings.Repeat("0", 64), Size: 9}}
		if _, err := s.Documents.Insert(t.Context(), c.No, c.Epoch, d); !fault.Is(err, fault.KindUnavailable) {
			t.Errorf("insert: %v", err)
		}
		if _, err := s.Documents.Get(t.Context(), c.No, "a", false); !fault.Is(err, fault.KindNotFound) {
			t.Errorf("the document: %v", err)
		}
	})
}
