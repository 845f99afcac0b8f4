package corpora_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"quarry/internal/corpus"
	"quarry/internal/store"
	"quarry/internal/store/corpora"
	"quarry/internal/store/documents"
	"quarry/internal/store/storetest"
)

// TestRecount proves that numbers that went wrong, of a document or of the corpus, are made right from the rows, and
// that nothing is written when they are right.
func TestRecount(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); recount(t, store.Config{Dir: t.TempDir()}) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); recount(t, store.Config{URL: storetest.Postgres(t)}) })
}

func recount(t *testing.T, cfg store.Config) {
	db := storetest.Open(t, cfg)
	s, d := corpora.New(db), documents.New(db)
	empty, err := s.Create(t.Context(), storetest.Corpus("empty"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Create(t.Context(), storetest.Corpus("c"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if _, err := d.Insert(t.Context(), c.No, c.Epoch, storetest.Document(fmt.Sprint("d", i), i)); err != nil {
			t.Fatal(err)
		}
	}
	read := func(key string) corpus.Usage {
		t.Helper()
		all, err := s.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		return all[0].Usage
	}
	want := read("c")
	for _, spoil := range []string{
		`UPDATE corpora SET seq = seq`, // nothing
		`UPDATE corpora SET documents = 7, parts = -1, characters = 0, metadata_characters = 99`,
		`UPDATE documents SET parts = parts + 1, characters = characters - 5 WHERE id = 'd3'`,
		`UPDATE documents SET metadata_characters = 0`,
		`UPDATE corpora SET characters = characters + 1`,
	} {
		if err := db.Write(context.Background(), func(tx *store.Tx) error { return tx.Exec(spoil) }); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]corpus.Usage{"c": want, "empty": empty.Usage} {
			got, err := s.Recount(t.Context(), key)
			if err != nil || got.Usage != want || read(key) != want {
				t.Errorf("%s after %s: %+v, %v; want %+v", key, spoil, got.Usage, err, want)
			}
		}
		for i := range 5 { // what a document adds is what goes with it: its own numbers are right again
			seen, err := d.Get(t.Context(), c.No, fmt.Sprint("d", i), false)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := d.DeleteMany(t.Context(), c.No, c.Epoch, []string{seen.ID}, time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
		if now := read("c"); now != (corpus.Usage{}) {
			t.Errorf("after %s and all deleted: %+v", spoil, now)
		}
		for i := range 5 {
			if _, err := d.Insert(t.Context(), c.No, c.Epoch, storetest.Document(fmt.Sprint("d", i), i)); err != nil {
				t.Fatal(err)
			}
		}
	}
}
