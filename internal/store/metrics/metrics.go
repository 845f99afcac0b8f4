// Package metrics keeps what is counted for metrics in SQL: the metric.Store of the service. Package app creates it.
//
// Writes add batches and touch no other row, so nodes do not wait for each other. A task merges them into one block for each
// combination and hour, and those of past days into one for each day: a series over a month reads thirty rows for each combination.
package metrics

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"

	"quarry/internal/metric"
	"quarry/internal/store"
)

// Store is the metric.Store over a database.
type Store struct{ db *store.DB }

var _ metric.Store = (*Store)(nil)

// New returns a store over db.
func New(db *store.DB) *Store { return &Store{db} }

// lock serialises what moves rows, between the nodes over one database.
const lock = "metrics"

// The spans of blocks in minutes.
const (
	hour = 60
	day  = 24 * hour
)

// micros returns a minute since 1970 as the rows have times.
func micros(minute int64) int64 { return minute * time.Minute.Microseconds() }

// partSize is how many combinations a row of a batch has at most.
const partSize = 200

// Add writes a batch.
func (s *Store) Add(ctx context.Context, b metric.Batch) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		rest := b.Counted
		for part := 0; len(rest) > 0; part++ {
			n := 1
			for n < len(rest) && n < partSize && rest[n].Family == rest[0].Family {
				n++
			}
			err := tx.Exec(`INSERT INTO metric_batches (id, part, family, written, counted) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id, part) DO NOTHING`,
				b.ID, part, rest[0].Family, b.Written.UnixMicro(), join(rest[:n]))
			if err != nil {
				return store.Wrap(err, "write metrics")
			}
			rest = rest[n:]
		}
		return nil
	})
}

// join returns the combinations and blocks of a family as one text, each behind its length.
func join(all []metric.Counted) (out []byte) {
	for _, c := range all {
		out = append(binary.AppendUvarint(out, uint64(len(c.Labels))), c.Labels...)
		out = append(binary.AppendUvarint(out, uint64(len(c.Block))), c.Block...)
	}
	return out
}

var errDamaged = errors.New("a batch of metrics is damaged")

// split hands what join has joined to visit.
func split(raw []byte, visit func(metric.Combination, metric.Block) error) error {
	next := func() []byte {
		n, size := binary.Uvarint(raw)
		if size <= 0 || n > uint64(len(raw)-size) {
			return nil
		}
		out := raw[size : size+int(n)]
		raw = raw[size+int(n):]
		return out
	}
	for len(raw) > 0 {
		labels, block := next(), next()
		if labels == nil || block == nil {
			return errDamaged
		}
		if err := visit(metric.Combination(labels), block); err != nil {
			return err
		}
	}
	return nil
}

// listed is how many combinations one statement reads.
const listed = 200

// Read hands the blocks of a selection to visit.
func (s *Store) Read(ctx context.Context, sel metric.Selection, visit func(int64, metric.Block) error) error {
	return s.db.Read(ctx, func(q store.Querier) error {
		var raw sql.RawBytes
		err := store.Each(q, "read metrics", func(r store.Row) error {
			if err := r.Scan(&raw); err != nil {
				return err
			}
			return split(raw, func(labels metric.Combination, b metric.Block) error {
				if sel.Match != nil && !sel.Match(labels) {
					return nil
				}
				return visit(0, b)
			})
		}, `SELECT counted FROM metric_batches WHERE family = $1`, sel.Family)
		if err != nil {
			return err
		}
		nos, err := matching(q, sel)
		if err != nil {
			return err
		}
		block := func(r store.Row) error {
			var began int64
			if err := r.Scan(&began, &raw); err != nil {
				return err
			}
			return visit(began/time.Minute.Microseconds(), metric.Block(raw))
		}
		for len(nos) > 0 {
			n := min(listed, len(nos))
			args := store.Args([]any{sel.Family, micros(sel.From - sel.From%day), micros(sel.To)}, nos[:n])
			err := store.Each(q, "read metrics", block, `
				SELECT began, cells FROM metric_blocks WHERE family = $1 AND labels IN (`+store.List(4, n)+`) AND began >= $2 AND began < $3`, args...)
			if err != nil {
				return err
			}
			nos = nos[n:]
		}
		return nil
	})
}

// matching returns the numbers of the combinations of a selection.
func matching(q store.Querier, sel metric.Selection) (nos []int64, err error) {
	if sel.Match == nil {
		return []int64{0}, nil
	}
	err = store.Each(q, "read labels of metrics", func(r store.Row) error {
		var no int64
		var labels string
		if err := r.Scan(&no, &labels); err != nil {
			return err
		}
		if sel.Match(metric.Combination(labels)) {
			nos = append(nos, no)
		}
		return nil
	}, `SELECT no, labels FROM metric_labels WHERE family = $1 ORDER BY no`, sel.Family)
	return nos, err
}

// digest returns what tells the values of a combination from others.
func digest(c metric.Combination) string {
	sum := sha256.Sum256([]byte(c))
	return hex.EncodeToString(sum[:16])
}
