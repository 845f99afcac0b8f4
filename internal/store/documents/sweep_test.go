package documents_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/store"
	"quarry/internal/store/corpora"
	"quarry/internal/store/documents"
	"quarry/internal/store/storetest"
)

// sweeping returns an open database that runs a sweeper.
func sweeping(t *testing.T, config func(testing.TB) store.Config, s store.Sweeper) *store.DB {
	t.Helper()
	c := config(t)
	c.Sweepers = []store.Sweeper{s}
	return storetest.Open(t, c)
}

// grow creates a corpus whose sequence has so many changes, the last of which schedules a sweep.
func grow(t *testing.T, db *store.DB, key string, changes int64) corpus.Corpus {
	t.Helper()
	c, err := corpora.New(db).Create(t.Context(), storetest.Corpus(key))
	if err != nil {
		t.Fatal(err)
	}
	err = db.Write(t.Context(), func(tx *store.Tx) error {
		if err := tx.Exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2)
			INSERT INTO changes (corpus_no, seq, op, doc_no) SELECT CAST($1 AS BIGINT), i, 2, i FROM n`, c.No, changes-1); err != nil {
			return err
		}
		return tx.Exec(`UPDATE corpora SET seq = $2 WHERE no = $1`, c.No, changes-1)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := documents.New(db).Insert(t.Context(), c.No, c.Epoch, &document.Document{ID: "one more"}); err != nil {
		t.Fatal(err)
	}
	return c
}

// wantTrimmed checks that of a sequence of changes the last KeptChanges are there, and that a reader of older ones
// learns that they are missing.
func wantTrimmed(t *testing.T, db *store.DB, c corpus.Corpus, changes int64) {
	t.Helper()
	docs, first := documents.New(db), max(0, changes-documents.KeptChanges)
	found, missing, err := docs.Changes(t.Context(), c.No, first, changes, documents.KeptChanges+1)
	if err != nil || missing || int64(len(found)) != changes-first {
		t.Errorf("%s: %d changes, missing %v, %v; want %d to %d", c.Key, len(found), missing, err, first+1, changes)
	}
	if first == 0 {
		return
	}
	if _, missing, err := docs.Changes(t.Context(), c.No, first-1, changes, 10); err != nil || !missing {
		t.Errorf("%s, one more: missing %v, %v", c.Key, missing, err)
	}
}

// TestTrim proves that of a long sequence of changes the last ones stay and a short one stays whole, and that a sweep
// returns when this is so, whether it did the work itself or others that sweep at the same time did.
func TestTrim(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, func(t *testing.T, config func(testing.TB) store.Config) {
		db := sweeping(t, config, documents.Sweeper{})
		const many, few = documents.KeptChanges + 10_000, 10_000
		short, long := grow(t, db, "short", few), grow(t, db, "long", many) // the goroutine of the database begins to sweep
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := db.Sweep(t.Context()); err != nil {
					t.Error(err)
				}
				wantTrimmed(t, db, long, many)
			})
		}
		all.Wait()
		wantTrimmed(t, db, short, few)
	})
}

// cutShort is a Sweeper that is interrupted in the step that first finds something, as at a stop of the service.
type cutShort struct {
	documents.Sweeper
	called    chan struct{} // holds one element after each step that found nothing
	interrupt context.CancelFunc
}

func (c *cutShort) Sweep(tx *store.Tx) (bool, error) {
	more, err := c.Sweeper.Sweep(tx)
	if more {
		c.interrupt()
	} else {
		c.called <- struct{}{}
	}
	return more, err
}

// TestSweepCutShort proves that what a sweep leaves that was cut short is removed by the next one.
func TestSweepCutShort(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, func(t *testing.T, config func(testing.TB) store.Config) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &cutShort{called: make(chan struct{}, 8), interrupt: cancel}
		db := sweeping(t, config, s)
		<-s.called                                 // the sweep of the start is over,
		const many = documents.KeptChanges + 9_999 // and this is not a number at which another is scheduled
		long := grow(t, db, "long", many)
		if err := db.Sweep(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("a sweep that was cut short: %v", err)
		}
		if err := db.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		wantTrimmed(t, db, long, many)
	})
}

// TestSweep proves that what a reset and a delete leave behind is removed to the last row, and nothing else.
func TestSweep(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, func(t *testing.T, config func(testing.TB) store.Config) {
		db := sweeping(t, config, documents.Sweeper{})
		made := map[string]corpus.Corpus{}
		for _, key := range []string{"reset", "deleted", "kept"} {
			c, err := corpora.New(db).Create(t.Context(), storetest.Corpus(key))
			if err != nil {
				t.Fatal(err)
			}
			for i, parts := range []int{3, 2*documents.SweepStep + 500, 0, documents.SweepStep} {
				d := &document.Document{ID: fmt.Sprint(i), Images: []document.Image{{ID: "i", Data: []byte("pixels")}}}
				for ord := range parts {
					d.Parts = append(d.Parts, document.Part{Ord: ord, Text: "x"})
				}
				if _, err := documents.New(db).Insert(t.Context(), c.No, c.Epoch, d); err != nil {
					t.Fatal(err)
				}
			}
			made[key] = c
		}
		if _, err := corpora.New(db).Reset(t.Context(), "reset"); err != nil {
			t.Fatal(err)
		}
		if err := corpora.New(db).Delete(t.Context(), "deleted"); err != nil {
			t.Fatal(err)
		}
		if err := db.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		kept := made["kept"]
		for query, want := range map[string]int{
			`SELECT COUNT(*) FROM shelves`: 2, `SELECT COUNT(*) FROM documents`: 4, `SELECT COUNT(*) FROM images`: 4,
			`SELECT COUNT(*) FROM parts`: 3*documents.SweepStep + 503, `SELECT COUNT(*) FROM changes`: 4 + 5,
		} {
			var n int
			if err := db.Reader(t.Context()).QueryRow(query).Scan(&n); err != nil || n != want {
				t.Errorf("%s gives %d, %v; want %d", query, n, err, want)
			}
		}
		docs, seq, _, err := documents.New(db).Scan(t.Context(), kept.No, 0, 10)
		if err != nil || len(docs) != 4 || seq != 4 || len(docs[1].Parts) != 2*documents.SweepStep+500 {
			t.Errorf("the other corpus: %d documents, number %d, %v", len(docs), seq, err)
		}
	})
}

// TestImage proves that an image's bytes come back by the ids of document and image.
func TestImage(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, func(t *testing.T, config func(testing.TB) store.Config) {
		db := storetest.Open(t, config(t))
		made, err := corpora.New(db).Create(t.Context(), storetest.Corpus("c"))
		if err != nil {
			t.Fatal(err)
		}
		s := documents.New(db)
		d := &document.Document{ID: "d", Images: []document.Image{{ID: "a", Data: []byte("A\x00\xff")}, {ID: "b", Caption: "B", Data: []byte("bb")}}}
		if _, err := s.Insert(t.Context(), made.No, made.Epoch, d); err != nil {
			t.Fatal(err)
		}
		for _, want := range d.Images {
			got, err := s.Image(t.Context(), made.No, "d", want.ID)
			if err != nil || got.Caption != want.Caption || !bytes.Equal(got.Data, want.Data) {
				t.Errorf("image %s: %+v, %v", want.ID, got, err)
			}
		}
		for _, ids := range [][2]string{{"d", "x"}, {"x", "a"}} {
			if _, err := s.Image(t.Context(), made.No, ids[0], ids[1]); !fault.Is(err, fault.KindNotFound) {
				t.Errorf("image %v: %v, want not found", ids, err)
			}
		}
	})
}
