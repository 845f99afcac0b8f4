package traces

import (
	"cmp"
	"context"
	"slices"
	"time"

	"quarry/internal/room"
	"quarry/internal/store"
	"quarry/internal/trace"
)

var _ trace.Store = (*Store)(nil)

// Sweep removes the texts of at most limit blocks of a session that is deleted.
func Sweep(tx *store.Tx, session int64, limit int) (removed int, err error) {
	var of string
	err = tx.QueryRow(`SELECT trace FROM trace_texts WHERE session_no = $1 ORDER BY trace LIMIT 1`, session).Scan(&of)
	if err != nil {
		return 0, store.OrNone(err, nil, "find contents of spans")
	}
	gone, err := store.Select(tx, "sweep contents of spans", store.One[int64], `UPDATE trace_blocks SET sealed = NULL WHERE no IN
		(SELECT no FROM trace_blocks WHERE trace = $1 AND session_no = $2 AND sealed IS NOT NULL LIMIT $3) RETURNING no`, of, session, limit)
	if err != nil || len(gone) == limit {
		return len(gone), err
	}
	return len(gone) + 1, store.Wrap(tx.Exec(`DELETE FROM trace_texts WHERE session_no = $1 AND trace = $2`, session, of), "sweep contents of spans")
}

// Expire removes old traces, then blocks of old traces, also of those that have not ended. See trace.Store.
func (s *Store) Expire(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	var some bool
	err = s.db.Reader(ctx).QueryRow(`SELECT EXISTS (SELECT 1 FROM trace_marks WHERE mark = $1 AND started < $2) OR EXISTS (SELECT 1 FROM trace_blocks WHERE trace < $3)`,
		every, ceilMicro(before), trace.Oldest(before)).Scan(&some)
	if err != nil || !some {
		return 0, store.Wrap(err, "find old traces")
	}
	err = s.db.Write(room.Freeing(ctx), func(tx *store.Tx) (err error) {
		if removed, err = expireTraces(tx, ceilMicro(before), limit); removed > 0 || err != nil {
			return err
		}
		removed, err = expireBlocks(tx, trace.Oldest(before), limit)
		return err
	})
	return removed, err
}

func expireTraces(tx *store.Tx, before int64, limit int) (int, error) {
	type old struct {
		no, started int64
		marks       string
	}
	scan := func(r store.Row) (o old, err error) { return o, r.Scan(&o.no, &o.started, &o.marks) }
	all, err := store.Select(tx, "remove old traces", scan, `DELETE FROM traces WHERE no IN
		(SELECT trace_no FROM trace_marks WHERE mark = $1 AND started < $2 ORDER BY started LIMIT $3) RETURNING no, started, marks`, every, before, limit)
	if err != nil {
		return 0, err
	}
	for _, o := range all {
		if err := deleteMarks(tx, o.no, o.started, o.marks); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

// expireBlocks removes the first blocks of traces whose ids come before one, with their texts.
func expireBlocks(tx *store.Tx, before string, limit int) (int, error) {
	scan := func(r store.Row) (o textsOf, err error) { return o, r.Scan(&o.session, &o.trace) }
	all, err := store.Select(tx, "remove old spans", scan, `DELETE FROM trace_blocks WHERE no IN
		(SELECT no FROM trace_blocks WHERE trace < $1 ORDER BY trace LIMIT $2) RETURNING session_no, trace`, before, limit)
	if err != nil {
		return 0, err
	}
	slices.SortFunc(all, func(a, b textsOf) int {
		return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.trace, b.trace))
	})
	for _, o := range slices.Compact(all) {
		if err := tx.Exec(`DELETE FROM trace_texts WHERE session_no = $1 AND trace = $2`, o.session, o.trace); err != nil {
			return 0, store.Wrap(err, "remove old contents of spans")
		}
	}
	return len(all), nil
}
