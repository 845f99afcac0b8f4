package sessions

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"quarry/internal/agent/session"
	"quarry/internal/clock"
	"quarry/internal/id"
	"quarry/internal/store"
	"quarry/internal/store/artifacts"
)

// Interrupt asks the turn in progress to end, and ends a parked one. See session.Log.
func (s *Store) Interrupt(ctx context.Context, no int64) (*session.Run, error) {
	return s.stop(ctx, no, func(*store.Tx) (int64, bool, error) { return 0, true, nil })
}

// Withdraw ends what an input has led to. See session.Log.
func (s *Store) Withdraw(ctx context.Context, no int64, input id.Event) (*session.Run, error) {
	return s.stop(ctx, no, func(tx *store.Tx) (turn int64, goesOn bool, err error) {
		waiting, err := store.Select(tx, "withdraw input", scanQueued,
			`DELETE FROM inputs WHERE session_no = $1 AND event_id = $2 RETURNING `+queuedColumns, no, string(input))
		if err != nil {
			return 0, false, err
		}
		if len(waiting) > 0 {
			return 0, false, withdrawn(tx, no, &waiting[0])
		}
		err = tx.QueryRow(`SELECT turn FROM events WHERE session_no = $1 AND id = $2`, no, string(input)).Scan(&turn)
		return turn, err == nil, store.OrNone(err, nil, "read input")
	})
}

// queued is an input that waits.
type queued struct {
	no int64
	session.Input
}

// queuedColumns is what scanQueued reads.
const queuedColumns = `no, event_id, caller, parts, upload_id, files, compaction`

func scanQueued(r store.Row) (q queued, err error) {
	var caller, parts, files, compaction string
	if err := r.Scan(&q.no, &q.Event, &caller, &parts, &q.Upload, &files, &compaction); err != nil {
		return q, err
	}
	c, err := decodeCompacting(compaction)
	if c != nil {
		q.Compaction = &c.Wish
	}
	if err != nil {
		return q, err
	}
	return q, errors.Join(json.Unmarshal([]byte(caller), &q.Caller), json.Unmarshal([]byte(parts), &q.Parts), json.Unmarshal([]byte(files), &q.Files))
}

// withdrawn removes what else there is of an input that has waited.
func withdrawn(tx *store.Tx, no int64, q *queued) error {
	files := make([]session.File, len(q.Files))
	for i := range q.Files {
		files[i].ID = q.Files[i].ID
	}
	if err := artifacts.Remove(tx, no, files); err != nil {
		return err
	}
	err := tx.Exec(`DELETE FROM external_ids WHERE session_no = $1 AND event_id = $2`, no, string(q.Event))
	return store.Wrap(err, "delete external ids")
}

// stop asks the turn that which names to end, 0 for whichever there is, and returns its run.
func (s *Store) stop(ctx context.Context, no int64, which func(*store.Tx) (turn int64, goesOn bool, err error)) (run *session.Run, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		run = nil
		h, err := lock(tx, no, errUsed)
		if err != nil {
			return err
		}
		turn, goesOn, err := which(tx)
		if err != nil || !goesOn {
			return err
		}
		found, err := scanRun(tx.QueryRow(`UPDATE runs SET interrupted = TRUE WHERE session_no = $1 AND ($2 = 0 OR turn = $2) RETURNING `+runColumns,
			no, turn))
		if !errors.Is(err, sql.ErrNoRows) {
			run = &found
			return store.Wrap(err, "interrupt run")
		}
		p, err := readParked(tx, no)
		if err != nil || p == nil || turn != 0 && p.Run.Turn != turn {
			return err
		}
		was := h
		if run, err = s.supersede(tx, &h, clock.Now()); err != nil {
			return err
		}
		return h.save(tx, was)
	})
	if errors.Is(err, errUsed) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return run, nil
}
