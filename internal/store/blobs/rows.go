// Package blobs keeps in SQL who needs a content, and contents themselves as rows of pieces, for nodes that share nothing but
// the database. Aggregates that refer to contents count their references with Refer and Unrefer in their own transactions.
package blobs

import (
	"context"
	"errors"
	"slices"
	"time"

	"quarry/internal/blob"
	"quarry/internal/clock"
	"quarry/internal/room"
	"quarry/internal/store"
)

// Rows is the blob.Rows over a database.
type Rows struct {
	db *store.DB
}

var _ blob.Rows = (*Rows)(nil)

// NewRows returns the rows of db.
func NewRows(db *store.DB) *Rows { return &Rows{db} }

// hold writes a hold of a content and returns where its pieces are: those named here, unless it has been there before.
func hold(tx *store.Tx, b blob.Blob, pieces string, now time.Time) (where string, err error) {
	err = tx.QueryRow(`INSERT INTO blobs (sum, size, refs, holds, touched, pieces) VALUES ($1, $2, 0, 1, $3, $4)
		ON CONFLICT (sum) DO UPDATE SET holds = blobs.holds + 1, touched = excluded.touched RETURNING pieces`,
		b.Sum, b.Size, now.UnixMicro(), pieces).Scan(&where)
	return where, store.Wrap(err, "hold content")
}

// Hold notes that somebody goes on to refer to a content. See blob.Rows.
func (r *Rows) Hold(ctx context.Context, b blob.Blob, now time.Time) error {
	return r.db.Write(ctx, func(tx *store.Tx) error {
		_, err := hold(tx, b, "", now)
		return err
	})
}

// Release ends a hold. See blob.Rows.
func (r *Rows) Release(ctx context.Context, sum string, now time.Time) error {
	return r.db.Write(room.Freeing(ctx), func(tx *store.Tx) error {
		err := tx.Exec(`UPDATE blobs SET holds = holds - 1, touched = $2 WHERE sum = $1 AND holds > 0`, sum, now.UnixMicro())
		return store.Wrap(err, "release content")
	})
}

// Reset ends all holds. See blob.Rows.
func (r *Rows) Reset(ctx context.Context) error {
	return r.db.Write(room.Freeing(ctx), func(tx *store.Tx) error {
		return store.Wrap(tx.Exec(`UPDATE blobs SET holds = 0 WHERE holds > 0`), "end holds")
	})
}

// Unused returns contents that nobody needs. See blob.Rows.
func (r *Rows) Unused(ctx context.Context, limit int) ([]string, error) {
	return store.Select(r.db.Reader(ctx), "find unused contents", store.One[string],
		`SELECT sum FROM blobs WHERE refs = 0 AND holds = 0 ORDER BY touched LIMIT $1`, limit)
}

// Drop removes the row of a content that nobody needs. See blob.Rows.
func (r *Rows) Drop(ctx context.Context, sum string) (gone bool, err error) {
	err = r.db.Write(room.Freeing(ctx), func(tx *store.Tx) error {
		if err := tx.Exec(`DELETE FROM blobs WHERE sum = $1 AND refs = 0 AND holds = 0`, sum); err != nil {
			return store.Wrap(err, "remove content")
		}
		err := tx.QueryRow(`SELECT NOT EXISTS (SELECT 1 FROM blobs WHERE sum = $1)`, sum).Scan(&gone)
		return store.Wrap(err, "look for content")
	})
	return gone, err
}

// Known returns which contents have a row. See blob.Rows.
func (r *Rows) Known(ctx context.Context, sums []string) (map[string]bool, error) {
	out := map[string]bool{}
	if len(sums) == 0 {
		return out, nil
	}
	err := store.Each(r.db.Reader(ctx), "look for contents", func(row store.Row) error {
		sum, err := store.One[string](row)
		out[sum] = true
		return err
	}, `SELECT sum FROM blobs WHERE sum IN (`+store.List(1, len(sums))+`)`, store.Args(nil, sums)...)
	return out, err
}

// ErrGone is the error of a reference to a content that is not there any more: its hold has ended.
var ErrGone = errors.New("the content is not held any more")

// Refer counts a reference to each of sums, one for each time that it is named. Whoever puts a content holds it meanwhile.
func Refer(tx *store.Tx, sums ...string) error {
	for _, sum := range slices.Sorted(slices.Values(sums)) { // in one order, so that two don't wait for one another
		var one int
		err := tx.QueryRow(`UPDATE blobs SET refs = refs + 1 WHERE sum = $1 RETURNING 1`, sum).Scan(&one)
		if err != nil {
			return store.OrNone(err, ErrGone, "refer to content")
		}
	}
	return nil
}

// Unrefer takes a reference back for each time that a content is named in sums.
func Unrefer(tx *store.Tx, sums ...string) error {
	for _, sum := range slices.Sorted(slices.Values(sums)) {
		err := tx.Exec(`UPDATE blobs SET refs = refs - 1, touched = $2 WHERE sum = $1`, sum, clock.Now().UnixMicro())
		if err != nil {
			return store.Wrap(err, "take a reference back")
		}
	}
	return nil
}
