package documents

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/store"
)

// gone is a deleted document: what the counters of its corpus lose.
type gone struct{ no, parts, characters, metadata int64 }

func (g *gone) scan(r store.Row) error { return r.Scan(&g.no, &g.parts, &g.characters, &g.metadata) }

// Delete removes a document that is as it was seen, as one change. See document.Store.
func (s *Store) Delete(ctx context.Context, corpusNo, epoch int64, seen *document.Document) (seq int64, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		generation, _, err := generationOf(tx, corpusNo, epoch)
		if err != nil {
			return err
		}
		var g gone
		err = g.scan(tx.QueryRow(`DELETE FROM documents WHERE shelf = $1 AND no = $2 AND updated = $3
			RETURNING no, parts, characters, metadata_characters`, generation, seen.No, micros(seen.Updated)))
		if errors.Is(err, sql.ErrNoRows) {
			return notAsSeen(tx, generation, seen.ID)
		}
		if err != nil {
			return fmt.Errorf("delete document: %w", err)
		}
		if err := dropFiles(tx, g.no); err != nil {
			return err
		}
		seq, err = tally{op: document.OpDelete, nos: []int64{g.no}, documents: -1, parts: -g.parts, characters: -g.characters,
			metadata: -g.metadata}.write(tx, corpusNo, epoch)
		return err
	})
	s.committed(seq, 1)
	return seq, err
}

// notAsSeen returns why no document matched what the caller had seen: it is missing, or was changed.
func notAsSeen(tx *store.Tx, generation int64, docID string) error {
	var no int64
	err := tx.QueryRow(`SELECT no FROM documents WHERE shelf = $1 AND id = $2`, generation, docID).Scan(&no)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return missing(docID)
	case err != nil:
		return fmt.Errorf("look for document: %w", err)
	}
	return fault.Conflict("document_changed", "document %s was changed while the request was on its way and is left in place; send it again", docID)
}

// deleteStep is how many ids one statement of DeleteMany names.
const deleteStep = 256

// deleteSome removes documents of a generation by their ids. On PostgreSQL a statement that waits for a replacement of one of
// them finds the old row gone and does not see the new one, so it is run once more where documents are missing.
func deleteSome(tx *store.Tx, generation, newest int64, ids []string) (all []gone, err error) {
	args := padded(store.Args([]any{generation, newest}, ids), 2)
	for again := false; ; again = true {
		found, err := store.Select(tx, "delete documents", func(r store.Row) (g gone, err error) { return g, g.scan(r) },
			`DELETE FROM documents WHERE shelf = $1 AND updated <= $2 AND id IN (`+store.List(3, len(args)-2)+`)
			RETURNING no, parts, characters, metadata_characters`, args...)
		if err != nil {
			return nil, err
		}
		if all = append(all, found...); again && len(found) == 0 || len(all) >= len(ids) {
			return all, nil
		}
	}
}

// DeleteMany removes documents by their ids in one transaction. See document.Store.
func (s *Store) DeleteMany(ctx context.Context, corpusNo, epoch int64, ids []string, cutoff time.Time) (seq int64, deleted int, err error) {
	newest := int64(math.MaxInt64)
	if !cutoff.IsZero() {
		newest = cutoff.UnixMicro()
	}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		generation, now, err := generationOf(tx, corpusNo, epoch)
		if err != nil {
			return err
		}
		var all []gone
		for some := range slices.Chunk(ids, deleteStep) {
			found, err := deleteSome(tx, generation, newest, some)
			if err != nil {
				return err
			}
			all = append(all, found...)
		}
		seq, deleted = now, len(all)
		if deleted == 0 {
			return nil
		}
		slices.SortFunc(all, func(a, b gone) int { return int(a.no - b.no) })
		t := tally{op: document.OpDelete, documents: -int64(len(all))}
		for _, g := range all {
			t.nos = append(t.nos, g.no)
			t.parts, t.characters, t.metadata = t.parts-g.parts, t.characters-g.characters, t.metadata-g.metadata
		}
		if err := dropFiles(tx, t.nos...); err != nil {
			return err
		}
		seq, err = t.write(tx, corpusNo, epoch)
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	s.committed(seq, int64(deleted))
	return seq, deleted, nil
}
