package blobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"quarry/internal/blob"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/room"
	"quarry/internal/store"
)

// pieceSize is how many bytes a row has.
const pieceSize = 512 << 10

// patience is how long a hold, or a content that is being written, lasts without a sign of life of the process that it is of.
const patience = time.Hour

// Pieces is the blob.Store whose contents are rows.
type Pieces struct {
	db   *store.DB
	rows *Rows
}

var _ blob.Store = (*Pieces)(nil)

// NewPieces returns a store in db.
func NewPieces(db *store.DB) *Pieces { return &Pieces{db, NewRows(db)} }

// Put writes a content, piece by piece. See blob.Store.
func (p *Pieces) Put(ctx context.Context, r io.Reader, limit int64) (out blob.Blob, err error) {
	pieces := id.Text(20)
	defer func() {
		if err != nil {
			_ = p.discard(context.WithoutCancel(ctx), pieces) // else the sweep does
		}
	}()
	named := blob.NewReader(r, limit)
	buffer := make([]byte, pieceSize)
	for n := int64(0); ; n++ {
		k, err := io.ReadFull(named, buffer)
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return blob.Blob{}, err
		}
		if k > 0 {
			if err := p.write(ctx, pieces, n, buffer[:k]); err != nil {
				return blob.Blob{}, err
			}
		}
		if last {
			return named.Blob(), p.keep(ctx, named.Blob(), pieces)
		}
	}
}

// write writes one piece.
func (p *Pieces) write(ctx context.Context, pieces string, n int64, data []byte) error {
	query := `UPDATE blob_drafts SET touched = $2 WHERE pieces = $1 RETURNING pieces`
	if n == 0 {
		query = `INSERT INTO blob_drafts (pieces, touched) VALUES ($1, $2) RETURNING pieces`
	}
	return p.db.Write(ctx, func(tx *store.Tx) error {
		if err := tx.QueryRow(query, pieces, clock.Now().UnixMicro()).Scan(new(string)); err != nil {
			return store.OrNone(err, errSwept, "write content")
		}
		return store.Wrap(tx.Exec(`INSERT INTO blob_pieces (pieces, n, data) VALUES ($1, $2, $3)`, pieces, n, data), "write content")
	})
}

// errSwept is the error of a content whose writer was taken for one that was killed.
var errSwept = fault.Unavailable("storage_unavailable", "the file came so slowly that it was given up; send it again")

// keep holds a content that is written; pieces go if it has been there before.
func (p *Pieces) keep(ctx context.Context, b blob.Blob, pieces string) error {
	return p.db.Write(ctx, func(tx *store.Tx) error {
		where, err := hold(tx, b, pieces, clock.Now())
		if err != nil {
			return err
		}
		if where != pieces || b.Size == 0 {
			return discard(tx, pieces)
		}
		err = tx.QueryRow(`DELETE FROM blob_drafts WHERE pieces = $1 RETURNING pieces`, pieces).Scan(new(string))
		return store.OrNone(err, errSwept, "keep content")
	})
}

// discard removes what was written of a content.
func (p *Pieces) discard(ctx context.Context, pieces string) error {
	return p.db.Write(room.Freeing(ctx), func(tx *store.Tx) error { return discard(tx, pieces) })
}

func discard(tx *store.Tx, pieces string) error {
	err := tx.Exec(`DELETE FROM blob_pieces WHERE pieces = $1`, pieces)
	if err == nil {
		err = tx.Exec(`DELETE FROM blob_drafts WHERE pieces = $1`, pieces)
	}
	return store.Wrap(err, "remove content")
}

// Release ends a hold. See blob.Store.
func (p *Pieces) Release(ctx context.Context, b blob.Blob) error {
	return p.rows.Release(ctx, b.Sum, clock.Now())
}

// Open opens a content. See blob.Store.
func (p *Pieces) Open(ctx context.Context, b blob.Blob) (*blob.Content, error) {
	var pieces string
	var size int64
	err := p.db.Reader(ctx).QueryRow(`SELECT pieces, size FROM blobs WHERE sum = $1`, b.Sum).Scan(&pieces, &size)
	if err != nil {
		return nil, store.OrNone(err, blob.ErrMissing, "read content")
	}
	if size != b.Size {
		return nil, blob.ErrDamaged
	}
	r := &reader{ctx: ctx, db: p.db, pieces: pieces}
	return blob.NewContent(r, r, b)
}

// reader reads the pieces of a content. It keeps the last one, as contents are mostly read from one end to the other.
type reader struct {
	ctx    context.Context
	db     *store.DB
	pieces string

	mu   sync.Mutex
	n    int64  // guarded by mu
	data []byte // of piece n, nil for none; guarded by mu
}

// piece returns a piece.
func (r *reader) piece(n int64) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.data != nil && r.n == n {
		return r.data, nil
	}
	var data []byte
	err := r.db.Reader(r.ctx).QueryRow(`SELECT data FROM blob_pieces WHERE pieces = $1 AND n = $2`, r.pieces, n).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: piece %d is missing", blob.ErrDamaged, n)
	}
	if err != nil {
		return nil, store.Wrap(err, "read content")
	}
	r.n, r.data = n, data
	return data, nil
}

// ReadAt implements io.ReaderAt.
func (r *reader) ReadAt(p []byte, at int64) (done int, err error) {
	for done < len(p) {
		n, from := at/pieceSize, int(at%pieceSize)
		data, err := r.piece(n)
		if err != nil {
			return done, err
		}
		if from >= len(data) {
			return done, io.EOF
		}
		k := copy(p[done:], data[from:])
		done, at = done+k, at+int64(k)
	}
	return done, nil
}

// Close implements io.Closer.
func (r *reader) Close() error { return nil }

// sweepStep is how many contents a sweep looks for at once.
const sweepStep = 200

// Sweep removes what nobody needs. See blob.Store.
func (p *Pieces) Sweep(ctx context.Context, now time.Time) (removed int, err error) {
	ctx = room.Freeing(ctx)
	before := now.Add(-patience).UnixMicro()
	for _, one := range []struct {
		find string
		drop func(*store.Tx, string, int64) (bool, error)
	}{
		{`SELECT sum FROM blobs WHERE refs = 0 AND (holds = 0 OR touched < $1) ORDER BY touched LIMIT $2`, dropUnused},
		{`SELECT pieces FROM blob_drafts WHERE touched < $1 LIMIT $2`, dropDraft},
	} {
		for more := true; more; {
			found, err := store.Select(p.db.Reader(ctx), "find unused contents", store.One[string], one.find, before, sweepStep)
			if err != nil {
				return removed, err
			}
			did := 0
			for _, name := range found {
				var dropped bool
				err := p.db.Write(ctx, func(tx *store.Tx) (err error) {
					dropped, err = one.drop(tx, name, before)
					return err
				})
				if err != nil {
					return removed + did, err
				}
				if dropped {
					did++
				}
			}
			removed += did
			more = did > 0 && len(found) == sweepStep
		}
	}
	return removed, nil
}

// dropUnused removes a content that nobody needs.
func dropUnused(tx *store.Tx, sum string, before int64) (bool, error) {
	var pieces string
	err := tx.QueryRow(`DELETE FROM blobs WHERE sum = $1 AND refs = 0 AND (holds = 0 OR touched < $2) RETURNING pieces`, sum, before).Scan(&pieces)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil // somebody needs it since
	}
	if err != nil {
		return false, store.Wrap(err, "remove content")
	}
	return true, discard(tx, pieces)
}

// dropDraft removes what a writer that was killed has written.
func dropDraft(tx *store.Tx, pieces string, before int64) (bool, error) {
	err := tx.QueryRow(`DELETE FROM blob_drafts WHERE pieces = $1 AND touched < $2 RETURNING pieces`, pieces, before).Scan(&pieces)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, store.Wrap(err, "remove content")
	}
	return true, discard(tx, pieces)
}
