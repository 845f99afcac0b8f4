package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// sweepStep is how many parts, documents or changes one step of the sweeper removes at most, so that other writes
// wait some ten milliseconds and no transaction grows large.
const sweepStep = 250

// sweepRetry is how long the sweeper rests after an error, such as a full disk.
const sweepRetry = time.Minute

// Of a corpus's changes the last keptChanges stay; an index that is further behind is built from the documents. It is
// looked at whenever the sequence passes a multiple of trimEvery.
const (
	keptChanges = 100_000
	trimEvery   = 10_000
)

// Changed tells that changes were committed to a corpus: so many, the last of which is seq.
func (db *DB) Changed(corpusNo, seq, added int64) {
	if seq/trimEvery == (seq-added)/trimEvery || seq <= keptChanges {
		return
	}
	db.mu.Lock()
	if db.long == nil {
		db.long = map[int64]bool{}
	}
	db.long[corpusNo] = true
	db.mu.Unlock()
	db.WakeSweeper()
}

// WakeSweeper tells the sweeper that a shelf was left behind.
func (db *DB) WakeSweeper() {
	select {
	case db.sweep <- struct{}{}:
	default: // it has been told already
	}
}

func (db *DB) sweepLoop(ctx context.Context) {
	var again <-chan time.Time // nil, which never fires, but after an error
	for {
		select {
		case <-db.sweep:
		case <-again:
		case <-ctx.Done():
			return
		}
		again = nil
		if err := db.Sweep(ctx); err != nil && ctx.Err() == nil {
			again = time.After(sweepRetry)
		}
	}
}

// Sweep clears away every shelf without a corpus, and the changes that are too old to keep. It is done by a goroutine of the database after each reset and
// delete and after a start; a call of its own waits for the work. Several nodes may sweep at once.
func (db *DB) Sweep(ctx context.Context) error {
	for {
		more := false
		err := db.Write(ctx, func(tx *Tx) error {
			var err error
			more, err = sweepSome(tx)
			return err
		})
		if err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
		if !more {
			break
		}
	}
	for no, ok := db.nextLong(); ok; no, ok = db.nextLong() {
		if err := db.trim(ctx, no); err != nil {
			return fmt.Errorf("trim changes: %w", err)
		}
	}
	return nil
}

func (db *DB) nextLong() (no int64, ok bool) {
	db.mu.Lock()
	defer db.mu.Unlock()
	for no = range db.long {
		delete(db.long, no)
		return no, true
	}
	return 0, false
}

// trim removes the first changes of a corpus but for the last keptChanges, in small steps. What is left after an error
// goes with the next trim.
func (db *DB) trim(ctx context.Context, corpusNo int64) error {
	for more := true; more; {
		err := db.Write(ctx, func(tx *Tx) error {
			more = false
			var first, last int64
			err := tx.QueryRow(`SELECT h.seq, c.seq FROM corpora c JOIN changes h ON h.corpus_no = c.no WHERE c.no = $1
				ORDER BY h.seq LIMIT 1`, corpusNo).Scan(&first, &last)
			if errors.Is(err, sql.ErrNoRows) || err == nil && first > last-keptChanges {
				return nil // the sweep of shelves removes what a deleted corpus leaves
			}
			if err != nil {
				return err
			}
			more = true
			return tx.Exec(`DELETE FROM changes WHERE corpus_no = $1 AND seq <= $2`, corpusNo, min(first+10*sweepStep, last-keptChanges))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sweepSome takes one step; more is false when nothing is left to do.
func sweepSome(tx *Tx) (more bool, err error) {
	var shelf, corpusNo int64
	err = tx.QueryRow(`SELECT s.no, s.corpus_no FROM shelves s LEFT JOIN corpora c ON c.shelf = s.no
		WHERE c.no IS NULL ORDER BY s.no LIMIT 1`).Scan(&shelf, &corpusNo)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find shelf: %w", err)
	}
	for _, step := range []func(*Tx, int64, int64) (bool, error){sweepParts, sweepDocuments, sweepChanges} {
		if did, err := step(tx, shelf, corpusNo); err != nil || did {
			return true, err
		}
	}
	if err := tx.Exec(`DELETE FROM shelves WHERE no = $1`, shelf); err != nil {
		return false, fmt.Errorf("remove shelf: %w", err)
	}
	return true, nil
}

// sweepParts removes the last parts of the first document that has more than a step holds.
func sweepParts(tx *Tx, shelf, _ int64) (bool, error) {
	var no, parts int64
	err := tx.QueryRow(`SELECT no, parts FROM documents WHERE shelf = $1 ORDER BY no LIMIT 1`, shelf).Scan(&no, &parts)
	if errors.Is(err, sql.ErrNoRows) || err == nil && parts <= sweepStep {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find document: %w", err)
	}
	if err := tx.Exec(`DELETE FROM parts WHERE doc_no = $1 AND ord >= $2`, no, parts-sweepStep); err != nil {
		return false, fmt.Errorf("remove parts: %w", err)
	}
	if err := tx.Exec(`UPDATE documents SET parts = $2 WHERE no = $1`, no, parts-sweepStep); err != nil {
		return false, fmt.Errorf("count parts: %w", err)
	}
	return true, nil
}

// sweepDocuments removes the first documents, as many as hold a step's parts together.
func sweepDocuments(tx *Tx, shelf, _ int64) (bool, error) {
	rows, err := tx.Query(`SELECT no, parts FROM documents WHERE shelf = $1 ORDER BY no LIMIT 200`, shelf)
	found, err := Collect(rows, err, func(r *sql.Rows) (d [2]int64, err error) { return d, r.Scan(&d[0], &d[1]) })
	if err != nil || len(found) == 0 {
		return false, err
	}
	last, parts := found[0][0], found[0][1]
	for _, d := range found[1:] {
		if parts += d[1] + 1; parts > sweepStep {
			break
		}
		last = d[0]
	}
	if err := tx.Exec(`DELETE FROM documents WHERE shelf = $1 AND no <= $2`, shelf, last); err != nil {
		return false, fmt.Errorf("remove documents: %w", err)
	}
	return true, nil
}

// sweepChanges removes the first changes of a corpus that is gone; after a reset the changes stay.
func sweepChanges(tx *Tx, _, corpusNo int64) (bool, error) {
	var first int64
	err := tx.QueryRow(`SELECT seq FROM changes WHERE corpus_no = $1 AND NOT EXISTS (SELECT 1 FROM corpora WHERE no = $1)
		ORDER BY seq LIMIT 1`, corpusNo).Scan(&first)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find changes: %w", err)
	}
	if err := tx.Exec(`DELETE FROM changes WHERE corpus_no = $1 AND seq < $2`, corpusNo, first+10*sweepStep); err != nil {
		return false, fmt.Errorf("remove changes: %w", err)
	}
	return true, nil
}
