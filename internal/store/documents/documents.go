// Package documents keeps documents, their parts and the change sequences of corpora in SQL: the document.Store of
// the service. Package app creates it.
//
// A document belongs to a generation of its corpus (columns documents.shelf and corpora.shelf), and a reset gives the
// corpus a fresh generation. Every read joins the row of the corpus, so it shows nothing from before a reset.
package documents

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/store"
)

// Store is the document.Store over a database.
type Store struct{ db *store.DB }

var _ document.Store = (*Store)(nil)

// New returns a store over db.
func New(db *store.DB) *Store {
	db.WakeSweeperIn(document.ReplacedFor) // for what was replaced shortly before the last end of the program
	return &Store{db}
}

// Insert commits d with its parts as one change. See document.Store.
func (s *Store) Insert(ctx context.Context, corpusNo, epoch int64, d *document.Document) (seq int64, err error) {
	r, err := encode(d)
	if err != nil {
		return 0, err
	}
	var no int64
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		generation, _, err := generationOf(tx, corpusNo, epoch)
		if err != nil {
			return err
		}
		if no, err = r.insertHead(tx, generation); err != nil {
			return err
		}
		if err := r.insertBody(tx, no); err != nil {
			return err
		}
		seq, err = r.tally(no).write(tx, corpusNo, epoch)
		return err
	})
	if err != nil {
		return 0, err
	}
	s.committed(seq, 1)
	r.stamp(no)
	return seq, nil
}

// generationOf returns the generation of a corpus and the number of its last change; the conflict "corpus_changed" when
// the corpus does not have this epoch any more.
func generationOf(tx *store.Tx, corpusNo, epoch int64) (generation, seq int64, err error) {
	err = tx.QueryRow(`SELECT shelf, seq FROM corpora WHERE no = $1 AND epoch = $2`, corpusNo, epoch).Scan(&generation, &seq)
	if err != nil {
		return 0, 0, store.OrNone(err, corpusChanged(), "read corpus")
	}
	return generation, seq, nil
}

func corpusChanged() error {
	return fault.Conflict("corpus_changed", "the corpus was reset or deleted while the request was on its way; send it again")
}

func missing(docID string) error {
	return fault.NotFound("document_not_found", docID, "document %s does not exist", docID)
}

// Changes reads changes with after < Seq ≤ upto in order, at most limit. See document.Store.
func (s *Store) Changes(ctx context.Context, corpusNo, after, upto int64, limit int) (changes []document.Change, gap bool, err error) {
	if limit <= 0 || after >= upto {
		return nil, false, nil
	}
	err = s.db.Read(ctx, func(q store.Querier) error {
		scan := func(r store.Row) (c document.Change, err error) { return c, r.Scan(&c.Seq, &c.Op, &c.No, &c.Old) }
		changes, err = store.Select(q, "read changes", scan, `SELECT seq, op, doc_no, old_no FROM changes
			WHERE corpus_no = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4`, corpusNo, after, upto, limit)
		if err != nil {
			return err
		}
		if len(changes) > 0 {
			gap = changes[0].Seq != after+1
			return nil
		}
		var now int64
		if err := q.QueryRow(`SELECT seq FROM corpora WHERE no = $1`, corpusNo).Scan(&now); err != nil {
			return noCorpus(err, corpusNo)
		}
		gap = after < min(upto, now)
		return nil
	})
	return changes, gap, err
}

// noCorpus is the error for a corpus that was deleted meanwhile.
func noCorpus(err error, corpusNo int64) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fault.NotFound("corpus_not_found", fmt.Sprint(corpusNo), "the corpus does not exist any more")
	}
	return fmt.Errorf("read corpus: %w", err)
}
