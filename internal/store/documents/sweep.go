package documents

import (
	"database/sql"
	"errors"
	"fmt"

	"quarry/internal/store"
)

// Sweeper is the store.Sweeper of documents: it removes the generations that a reset or a delete left behind, with
// their documents, documents that were replaced, and changes that are too old to keep.
type Sweeper struct{}

// sweepStep is how many parts or documents one step removes at most. Changes are small: a step takes ten times as many.
const (
	sweepStep       = 250
	sweepStepChange = 10 * sweepStep
)

// Of the changes of a corpus the last keptChanges stay; an index that is further behind is built from the documents.
// A sweep is scheduled whenever the sequence passes a multiple of trimEvery.
const (
	keptChanges = 100_000
	trimEvery   = 10_000
)

// committed schedules a sweep if a corpus's sequence, which now ends at seq after growing by added, passed a multiple
// of trimEvery beyond those that are kept.
func (s *Store) committed(seq, added int64) {
	if seq > keptChanges && seq/trimEvery != (seq-added)/trimEvery {
		s.db.WakeSweeper()
	}
}

// Sweep takes one step of the first kind that finds something to remove.
func (Sweeper) Sweep(tx *store.Tx) (more bool, err error) {
	for _, step := range []func(*store.Tx) (bool, error){sweepGeneration, sweepReplaced} {
		if more, err = step(tx); more || err != nil {
			return more, err
		}
	}
	return trimChanges(tx)
}

// sweepGeneration takes one step at the oldest generation that is no corpus's current one.
func sweepGeneration(tx *store.Tx) (more bool, err error) {
	var generation, corpusNo int64
	err = tx.QueryRow(`SELECT s.no, s.corpus_no FROM shelves s LEFT JOIN corpora c ON c.shelf = s.no
		WHERE c.no IS NULL ORDER BY s.no LIMIT 1`).Scan(&generation, &corpusNo)
	if err != nil {
		return false, store.OrNone(err, nil, "find generation")
	}
	for _, step := range []func(tx *store.Tx, generation, corpusNo int64) (bool, error){sweepParts, sweepDocuments, sweepChanges} {
		if did, err := step(tx, generation, corpusNo); err != nil || did {
			return true, err
		}
	}
	if err := tx.Exec(`DELETE FROM shelves WHERE no = $1`, generation); err != nil {
		return false, fmt.Errorf("remove generation: %w", err)
	}
	return true, nil
}

// sweepParts removes the last parts of the first document if it has more than a step may remove.
func sweepParts(tx *store.Tx, generation, _ int64) (bool, error) {
	var no, parts int64
	err := tx.QueryRow(`SELECT no, parts FROM documents WHERE shelf = $1 ORDER BY no LIMIT 1`, generation).Scan(&no, &parts)
	if errors.Is(err, sql.ErrNoRows) || err == nil && parts <= sweepStep {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find document: %w", err)
	}
	return true, removeLastParts(tx, no, parts)
}

// removeLastParts removes a step's parts from the end of a document that has this many.
func removeLastParts(tx *store.Tx, no, parts int64) error {
	if err := tx.Exec(`DELETE FROM parts WHERE doc_no = $1 AND ord >= $2`, no, parts-sweepStep); err != nil {
		return fmt.Errorf("remove parts: %w", err)
	}
	return store.Wrap(tx.Exec(`UPDATE documents SET parts = $2 WHERE no = $1`, no, parts-sweepStep), "count parts")
}

// sweepDocuments removes the first documents, as many as have a step's parts together and at least one.
func sweepDocuments(tx *store.Tx, generation, _ int64) (bool, error) {
	scan := func(r store.Row) (d [2]int64, err error) { return d, r.Scan(&d[0], &d[1]) }
	found, err := store.Select(tx, "find documents", scan,
		`SELECT no, parts FROM documents WHERE shelf = $1 ORDER BY no LIMIT 200`, generation)
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
	if err := dropFilesOf(tx, `SELECT no FROM documents WHERE shelf = $1 AND no <= $2`, generation, last); err != nil {
		return false, err
	}
	if err := tx.Exec(`DELETE FROM documents WHERE shelf = $1 AND no <= $2`, generation, last); err != nil {
		return false, fmt.Errorf("remove documents: %w", err)
	}
	return true, nil
}

// sweepChanges removes the first changes of a corpus that was deleted; a reset keeps them.
func sweepChanges(tx *store.Tx, _, corpusNo int64) (bool, error) {
	var first int64
	err := tx.QueryRow(`SELECT seq FROM changes WHERE corpus_no = $1 AND NOT EXISTS (SELECT 1 FROM corpora WHERE no = $1)
		ORDER BY seq LIMIT 1`, corpusNo).Scan(&first)
	if err != nil {
		return false, store.OrNone(err, nil, "find changes")
	}
	if err := tx.Exec(`DELETE FROM changes WHERE corpus_no = $1 AND seq < $2`, corpusNo, first+sweepStepChange); err != nil {
		return false, fmt.Errorf("remove changes: %w", err)
	}
	return true, nil
}

// trimChanges removes the first changes of a corpus that has more than keptChanges. The smallest number of each corpus
// is one look into the primary key.
func trimChanges(tx *store.Tx) (bool, error) {
	var corpusNo, first, last int64
	err := tx.QueryRow(`SELECT no, first, seq FROM (
			SELECT no, seq, (SELECT MIN(h.seq) FROM changes h WHERE h.corpus_no = c.no) AS first FROM corpora c WHERE seq > $1) AS long
		WHERE first <= seq - $1 ORDER BY no LIMIT 1`, keptChanges).Scan(&corpusNo, &first, &last)
	if err != nil {
		return false, store.OrNone(err, nil, "find old changes")
	}
	upto := min(first+sweepStepChange, last-keptChanges)
	if err := tx.Exec(`DELETE FROM changes WHERE corpus_no = $1 AND seq <= $2`, corpusNo, upto); err != nil {
		return false, fmt.Errorf("remove old changes: %w", err)
	}
	return true, nil
}
