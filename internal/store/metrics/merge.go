package metrics

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"
	"time"

	"quarry/internal/metric"
	"quarry/internal/store"
)

// mergeRows is how many rows of batches one transaction merges, mergeLabels how many combinations they may have before it takes no
// more, packRows how many blocks it packs or removes. They keep the wait of other writes short.
const (
	mergeRows   = 300
	mergeLabels = 300
	packRows    = 500
)

// series is what blocks belong to.
type series struct {
	family string
	labels int64
}

// Merge moves batches into blocks of hours.
func (s *Store) Merge(ctx context.Context, before time.Time) (more bool, err error) {
	if some, err := s.some(ctx, `metric_batches WHERE written < $1`, before.UnixMicro()); err != nil || !some {
		return false, err
	}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		more = false
		if err := tx.Lock(lock); err != nil {
			return err
		}
		rows, err := batches(tx, before)
		if err != nil || len(rows) == 0 {
			return err
		}
		cells, taken, err := gather(rows)
		if err != nil {
			return err
		}
		more = taken < len(rows) || len(rows) == mergeRows
		for _, r := range rows[:taken] {
			if err := tx.Exec(`DELETE FROM metric_batches WHERE id = $1 AND part = $2`, r.id, r.part); err != nil {
				return err
			}
		}
		return mergeCells(tx, cells)
	})
	return more, store.Wrap(err, "merge metrics")
}

// batch is a row of metric_batches.
type batch struct {
	id      int64
	part    int
	family  string
	counted []byte
}

// batches returns the oldest rows that were written before a moment.
func batches(tx *store.Tx, before time.Time) ([]batch, error) {
	return store.Select(tx, "read metrics", func(r store.Row) (b batch, err error) {
		return b, r.Scan(&b.id, &b.part, &b.family, &b.counted)
	}, `SELECT id, part, family, counted FROM metric_batches WHERE written < $1 ORDER BY written, id, part LIMIT $2`, before.UnixMicro(), mergeRows)
}

// counted is a combination of a family.
type counted struct {
	family string
	labels metric.Combination
}

// gather returns the cells of rows by combination, and of how many rows they are.
func gather(rows []batch) (cells map[counted][]metric.Cell, taken int, err error) {
	cells = map[counted][]metric.Cell{}
	for ; taken < len(rows) && len(cells) < mergeLabels; taken++ {
		r := &rows[taken]
		err := split(r.counted, func(labels metric.Combination, b metric.Block) error {
			of, err := b.Decode(0)
			c := counted{r.family, labels}
			cells[c] = append(cells[c], of...)
			return err
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return cells, taken, nil
}

// mergeCells adds cells to the blocks of hours of their combinations, and to those of everything that their families count.
func mergeCells(tx *store.Tx, cells map[counted][]metric.Cell) error {
	all := map[series][]metric.Cell{}
	for c, of := range cells {
		newest := slices.MaxFunc(of, func(a, b metric.Cell) int { return cmp.Compare(a.Minute, b.Minute) }).Minute
		no, err := number(tx, c, micros(newest-newest%day))
		if err != nil {
			return err
		}
		all[series{c.family, no}] = of
		total := series{c.family, 0}
		all[total] = append(all[total], of...)
	}
	return addAll(tx, hour, all)
}

// number returns the number of a combination that is seen on a day.
func number(tx *store.Tx, c counted, seen int64) (no int64, err error) {
	err = tx.QueryRow(`
		INSERT INTO metric_labels (family, digest, labels, seen) VALUES ($1, $2, $3, $4)
		ON CONFLICT (family, digest) DO UPDATE SET seen = CASE WHEN metric_labels.seen < $4 THEN $4 ELSE metric_labels.seen END
		RETURNING no`, c.family, digest(c.labels), string(c.labels), seen).Scan(&no)
	return no, err
}

// addAll adds cells to blocks of a span, in an order that is the same on every node.
func addAll(tx *store.Tx, span int64, all map[series][]metric.Cell) error {
	for s, cells := range all {
		cells = metric.Merge(cells)
		for len(cells) > 0 {
			began := cells[0].Minute - cells[0].Minute%span
			n := 1
			for n < len(cells) && cells[n].Minute < began+span {
				n++
			}
			if err := add(tx, s, began, span, cells[:n]); err != nil {
				return err
			}
			cells = cells[n:]
		}
	}
	return nil
}

// add adds cells to a block.
func add(tx *store.Tx, s series, began, span int64, cells []metric.Cell) error {
	var old []byte
	err := tx.QueryRow(`SELECT cells FROM metric_blocks WHERE family = $1 AND labels = $2 AND began = $3 AND span = $4`,
		s.family, s.labels, micros(began), span).Scan(&old)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return err
	default:
		have, err := metric.Block(old).Decode(began)
		if err != nil {
			return err
		}
		cells = metric.Merge(append(have, cells...))
	}
	return tx.Exec(`
		INSERT INTO metric_blocks (family, labels, began, span, cells) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (family, labels, began, span) DO UPDATE SET cells = $5`,
		s.family, s.labels, micros(began), span, []byte(metric.Encode(began, len(cells[0].Sums), cells)))
}

// block is a row of metric_blocks.
type block struct {
	series
	began, span int64
	cells       []byte
}

// blocks returns rows that a condition selects, some at a time, those of a day behind each other.
func blocks(tx *store.Tx, condition string, args ...any) ([]block, error) {
	return store.Select(tx, "read metrics", func(r store.Row) (b block, err error) {
		return b, r.Scan(&b.family, &b.labels, &b.began, &b.span, &b.cells)
	}, `SELECT family, labels, began, span, cells FROM metric_blocks WHERE `+condition+`
		ORDER BY began - began % `+strconv.FormatInt(micros(day), 10)+`, family, labels, began LIMIT `+strconv.Itoa(packRows), args...)
}

// remove deletes a row.
func (b *block) remove(tx *store.Tx) error {
	return tx.Exec(`DELETE FROM metric_blocks WHERE family = $1 AND labels = $2 AND began = $3 AND span = $4`, b.family, b.labels, b.began, b.span)
}

// Pack moves blocks of hours into blocks of days.
func (s *Store) Pack(ctx context.Context, before time.Time) (more bool, err error) {
	const due = `span = $1 AND began < $2`
	args := []any{hour, before.UnixMicro()}
	if some, err := s.some(ctx, `metric_blocks WHERE `+due, args...); err != nil || !some {
		return false, err
	}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Lock(lock); err != nil {
			return err
		}
		rows, err := blocks(tx, due, args...)
		if err != nil {
			return err
		}
		more = len(rows) == packRows
		all := map[series][]metric.Cell{}
		for _, r := range rows {
			cells, err := metric.Block(r.cells).Decode(r.began / time.Minute.Microseconds())
			if err != nil {
				return err
			}
			all[r.series] = append(all[r.series], cells...)
			if err := r.remove(tx); err != nil {
				return err
			}
		}
		return addAll(tx, day, all)
	})
	return more, store.Wrap(err, "pack metrics")
}

// Expire removes the blocks of days that had ended before a moment, and a day later the combinations that none counts under.
func (s *Store) Expire(ctx context.Context, before time.Time) (more bool, err error) {
	last := before.UnixMicro() - micros(day)
	const due = `span IN ($1, $2) AND began <= $3`
	args := []any{hour, day, last}
	some, err := s.some(ctx, `metric_blocks WHERE `+due, args...)
	if err != nil {
		return false, err
	}
	if !some {
		some, err = s.some(ctx, `metric_labels WHERE seen <= $1`, last-micros(day))
	}
	if err != nil || !some {
		return false, err
	}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Lock(lock); err != nil {
			return err
		}
		rows, err := blocks(tx, due, args...)
		if err != nil {
			return err
		}
		for i := range rows {
			if err := rows[i].remove(tx); err != nil {
				return err
			}
		}
		if more = len(rows) == packRows; more {
			return nil
		}
		return tx.Exec(`DELETE FROM metric_labels WHERE seen <= $1`, last-micros(day))
	})
	return more, store.Wrap(err, "remove old metrics")
}

// some reports whether a table has rows under a condition: where there is nothing to do, nothing is written.
func (s *Store) some(ctx context.Context, condition string, args ...any) (found bool, err error) {
	err = s.db.Reader(ctx).QueryRow(`SELECT EXISTS (SELECT 1 FROM `+condition+`)`, args...).Scan(&found)
	return found, store.Wrap(err, "read metrics")
}
