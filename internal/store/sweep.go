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

// Sweep clears away every shelf without a corpus. It is done by a goroutine of the database after each reset and
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
			return nil
		}
	}
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
