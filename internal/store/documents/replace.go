package documents

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"quarry/internal/clock"
	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/store"
)

// Replace commits d in the place of the document that has its id, if there is one. See document.Store.
func (s *Store) Replace(ctx context.Context, corpusNo, epoch int64, d *document.Document) (seq int64, err error) {
	r, err := encode(d)
	if err != nil {
		return 0, err
	}
	var no int64
	var old predecessor
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		generation, _, err := generationOf(tx, corpusNo, epoch)
		if err != nil {
			return err
		}
		if no, old, err = r.takePlace(tx, generation); err != nil {
			return err
		}
		if err := r.insertBody(tx, no); err != nil {
			return err
		}
		t := r.tally(no)
		if old.no != 0 {
			t.op, t.old = document.OpReplace, old.no
			t.documents, t.parts = 0, t.parts-old.parts
			t.characters, t.metadata = t.characters-old.characters, t.metadata-old.metadata
		}
		seq, err = t.write(tx, corpusNo, epoch)
		return err
	})
	if err != nil {
		return 0, err
	}
	s.committed(seq, 1)
	if old.no != 0 {
		s.db.WakeSweeperIn(document.ReplacedFor)
	}
	r.stamp(no)
	return seq, nil
}

// predecessor is the document that was replaced; no is 0 when there was none.
type predecessor struct {
	gone
	created, updated int64
}

// placeTries bounds how often an id is taken and freed by others between two statements, which only PostgreSQL can show.
const placeTries = 8

// takePlace moves the document that has the id out of the generation and writes the row of the new one.
func (r *record) takePlace(tx *store.Tx, generation int64) (no int64, old predecessor, err error) {
	for range placeTries {
		if old, err = retire(tx, generation, r.d.ID); err != nil {
			return 0, old, err
		}
		r.created, r.updated = r.now, r.now
		if old.no != 0 {
			r.created, r.updated = old.created, max(r.now, old.updated+1)
		}
		no, err = r.insertHead(tx, generation)
		var taken *document.Exists
		if !errors.As(err, &taken) {
			break
		}
	}
	return no, old, err
}

// retire moves a document from its generation to the replaced ones. On PostgreSQL its row is locked from here on, so a
// deletion or an update that comes later finds the new document.
func retire(tx *store.Tx, generation int64, docID string) (old predecessor, err error) {
	var digest string
	err = tx.QueryRow(`UPDATE documents SET shelf = -no WHERE shelf = $1 AND id = $2
		RETURNING no, parts, characters, metadata_characters, created, updated, digest`, generation, docID).
		Scan(&old.no, &old.parts, &old.characters, &old.metadata, &old.created, &old.updated, &digest)
	if errors.Is(err, sql.ErrNoRows) {
		return predecessor{}, nil
	}
	if err != nil {
		return old, fmt.Errorf("retire document: %w", err)
	}
	err = tx.Exec(`INSERT INTO replaced (doc_no, shelf, at, digest) VALUES ($1, $2, $3, $4)`,
		old.no, generation, clock.Now().UnixMicro(), digest)
	return old, store.Wrap(err, "note replaced document")
}

// sweepReplaced removes the first documents that were replaced long enough ago: as many as have a step's parts together,
// or the last parts of one that has more.
func sweepReplaced(tx *store.Tx) (bool, error) {
	scan := func(r store.Row) (d [2]int64, err error) { return d, r.Scan(&d[0], &d[1]) }
	found, err := store.Select(tx, "find replaced documents", scan, `SELECT r.doc_no, d.parts FROM replaced r
		JOIN documents d ON d.no = r.doc_no WHERE r.at <= $1 ORDER BY r.at, r.doc_no LIMIT 200`,
		clock.Now().Add(-document.ReplacedFor).UnixMicro())
	if err != nil || len(found) == 0 {
		return false, err
	}
	if no, parts := found[0][0], found[0][1]; parts > sweepStep {
		return true, removeLastParts(tx, no, parts)
	}
	var nos []any
	parts := int64(0)
	for _, d := range found {
		if parts += d[1] + 1; parts > sweepStep && len(nos) > 0 {
			break
		}
		nos = append(nos, d[0])
	}
	nos = padded(nos, 0)
	if err := dropFilesOf(tx, store.List(1, len(nos)), nos...); err != nil {
		return false, err
	}
	if err := tx.Exec(`DELETE FROM documents WHERE no IN (`+store.List(1, len(nos))+`)`, nos...); err != nil {
		return false, fmt.Errorf("remove replaced documents: %w", err)
	}
	return true, nil
}

// Kin reads the documents that a new one may share vectors with. See document.Store.
func (s *Store) Kin(
	ctx context.Context, corpusNo int64, docID, digest string, visit func(no int64, p *document.Part) error,
) (former *document.Document, err error) {
	err = s.db.Read(ctx, func(q store.Querier) (err error) {
		var nos []any
		former, err = head(q, corpusNo, docID)
		switch {
		case err == nil:
			nos = append(nos, former.No)
		case !fault.Is(err, fault.KindNotFound):
			return err
		}
		same, err := newestOf(q, corpusNo, digest)
		if err != nil {
			return err
		}
		if same != 0 && (former == nil || former.No != same) {
			nos = append(nos, same)
		}
		if len(nos) == 0 {
			return nil
		}
		return store.Each(q, "read parts", func(r store.Row) error {
			no, p, err := scanPart(r, true)
			if err != nil {
				return err
			}
			return visit(no, &p)
		}, `SELECT `+partColumns+`, vector FROM parts WHERE doc_no IN (`+store.List(1, len(nos))+`) ORDER BY doc_no, ord`, nos...)
	})
	return former, err
}

// newestOf returns the newest document with a digest, be it one that was replaced a short while ago; 0 when there is none.
func newestOf(q store.Querier, corpusNo int64, digest string) (no int64, err error) {
	if digest == "" {
		return 0, nil
	}
	const shelf = `(SELECT shelf FROM corpora WHERE no = $1)`
	err = q.QueryRow(`SELECT COALESCE(MAX(no), 0) FROM (
			SELECT MAX(no) AS no FROM documents WHERE shelf = `+shelf+` AND digest = $2
			UNION ALL SELECT MAX(doc_no) FROM replaced WHERE shelf = `+shelf+` AND digest = $2) AS newest`, corpusNo, digest).Scan(&no)
	return no, store.Wrap(err, "look for a document with the digest")
}

// stamp sets what the store gives a document.
func (r *record) stamp(no int64) {
	r.d.No, r.d.Created, r.d.Updated = no, atMicros(r.created), atMicros(r.updated)
}

// atMicros is the reverse of micros.
func atMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}
