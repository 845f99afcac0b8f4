package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"database/sql"

	"quarry/internal/agent/session"
	"quarry/internal/agent/tool"
	"quarry/internal/id"
	"quarry/internal/store"
	"quarry/internal/store/secrets"
	"quarry/internal/store/sessions/rows"
)

// runColumns are the columns of runs, the session first.
const runColumns = `session_no, agent_no, holder, node, until, turn, first_ord, opening, revision, step, transitions, calls, began, caller, resolved, interrupted, recovered, compaction, trace, secrets`

// resolvedName is the name, in the folder of a turn, of what it has resolved, if that is a secret. No event has it.
const resolvedName = "resolved"

// sealedMark stands in the place of what a turn has resolved where that is a secret. Texts of others begin otherwise.
const sealedMark = "sealed"

// column returns what of k stands with the run.
func column(k tool.Kept) string {
	if k.Secret {
		return sealedMark
	}
	return store.Text(k.Text)
}

// kept returns what a column has; the text of a secret is read by Resolved.
func kept(column string) tool.Kept {
	if column == sealedMark {
		return tool.Kept{Secret: true}
	}
	return tool.Kept{Text: column}
}

// Resolved returns what a turn has resolved and sealed. See session.Log.
func (s *Store) Resolved(ctx context.Context, no int64) (string, error) {
	plain, err := s.secrets.Get(ctx, turnFolder(no)+resolvedName)
	if errors.Is(err, secrets.ErrNone) {
		return "", nil
	}
	return string(plain), err
}

// runValues returns the values of runColumns.
func runValues(r *session.Run) ([]any, error) {
	caller, err := rows.Encode(r.Caller)
	if err != nil {
		return nil, err
	}
	compaction, err := encodeCompacting(r.Compaction)
	if err != nil {
		return nil, err
	}
	thread, err := rows.EncodeThread(&r.Trace)
	if err != nil {
		return nil, err
	}
	return []any{
		r.Session, r.AgentNo, r.Holder, r.Node, r.Until.UnixMicro(), r.Turn, r.First, int64(r.Opening), r.Revision, r.Step, int64(r.Transitions), int64(r.Calls),
		r.Began.UnixMicro(), caller, column(r.Resolved), r.Interrupted, int64(r.Recovered), compaction, thread, r.Secrets,
	}, nil
}

func insertRun(tx *store.Tx, r *session.Run) error {
	values, err := runValues(r)
	if err != nil {
		return err
	}
	return store.Wrap(tx.Exec(`INSERT INTO runs (`+runColumns+`) VALUES (`+store.List(1, len(values))+`)`, values...), "write run")
}

// scanRun reads runColumns, and what else was selected behind them.
func scanRun(row store.Row, more ...any) (r session.Run, err error) {
	var caller, resolved, compaction, thread string
	err = row.Scan(append([]any{
		&r.Session, &r.AgentNo, &r.Holder, &r.Node, store.Micros(&r.Until), &r.Turn, &r.First, &r.Opening, &r.Revision, &r.Step, &r.Transitions, &r.Calls,
		store.Micros(&r.Began), &caller, &resolved, &r.Interrupted, &r.Recovered, &compaction, &thread, &r.Secrets,
	}, more...)...)
	if err != nil {
		return r, err
	}
	r.Resolved = kept(resolved)
	if r.Compaction, err = decodeCompacting(compaction); err != nil {
		return r, err
	}
	if r.Trace, err = rows.DecodeThread(thread); err != nil {
		return r, err
	}
	return r, json.Unmarshal([]byte(caller), &r.Caller)
}

// Interrupted returns the sessions whose turn was asked to end. See session.Log.
func (s *Store) Interrupted(ctx context.Context, node string) ([]int64, error) {
	return store.Select(s.db.Reader(ctx), "read interrupts", store.One[int64],
		`SELECT session_no FROM runs WHERE node = $1 AND interrupted ORDER BY session_no`, node)
}

// Renew extends the leases of a process. See session.Log.
func (s *Store) Renew(ctx context.Context, node string, until time.Time) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		return store.Wrap(tx.Exec(`UPDATE runs SET until = $2 WHERE node = $1`, node, until.UnixMicro()), "renew leases")
	})
}

// Release ends the leases of a process. See session.Log.
func (s *Store) Release(ctx context.Context, node string) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		return store.Wrap(tx.Exec(`UPDATE runs SET until = 0 WHERE node = $1`, node), "release leases")
	})
}

// Claim takes over runs. See session.Log.
func (s *Store) Claim(ctx context.Context, now time.Time, all bool, limit int, lease func(session int64) session.Lease) (out []session.Run, err error) {
	query, args := `SELECT r.session_no, r.holder FROM runs r JOIN agents a ON a.no = r.agent_no WHERE a.deleted = 0`, []any(nil)
	if !all {
		query, args = query+` AND r.until <= $1 ORDER BY r.until, r.session_no LIMIT $2`, []any{now.UnixMicro(), limit}
	}
	candidates, err := store.Select(s.db.Reader(ctx), "find runs", func(r store.Row) (l session.Lease, err error) {
		return l, r.Scan(&l.Session, &l.Holder)
	}, query, args...)
	if err != nil {
		return nil, err
	}
	for _, c := range candidates {
		var run session.Run
		err := s.db.Write(ctx, func(tx *store.Tx) (err error) {
			run, err = claim(tx, c, lease(c.Session), now, all)
			return err
		})
		switch {
		case errors.Is(err, session.ErrLost):
		case err != nil:
			return out, err
		default:
			out = append(out, run)
		}
	}
	return out, nil
}

// claim takes over one run, unless it has ended or has found another holder, or its process has renewed its lease meanwhile.
func claim(tx *store.Tx, was, l session.Lease, now time.Time, all bool) (session.Run, error) {
	if _, err := lock(tx, was.Session, session.ErrLost); err != nil {
		return session.Run{}, err
	}
	run, err := scanRun(tx.QueryRow(`UPDATE runs SET recovered = recovered + CASE WHEN until > 0 THEN 1 ELSE 0 END, holder = $3, node = $4, until = $5
		WHERE session_no = $1 AND holder = $2 AND ($6 OR until <= $7) RETURNING `+runColumns,
		was.Session, was.Holder, l.Holder, l.Node, l.Until.UnixMicro(), all, now.UnixMicro()))
	return run, store.OrNone(err, session.ErrLost, "claim run")
}

// Standing returns where a session stands. See session.Log.
func (s *Store) Standing(ctx context.Context, no int64) (out session.Standing, err error) {
	err = s.db.Read(ctx, func(q store.Querier) error {
		out = session.Standing{}
		var causes string
		err := q.QueryRow(`SELECT last_ord, edits, causes FROM sessions WHERE no = $1 AND deleted = 0`, no).Scan(&out.Last, &out.Edits, &causes)
		if err != nil {
			return store.OrNone(err, gone(), "read session")
		}
		if causes != "" {
			out.Causes = strings.Split(causes, "\n")
		}
		run, err := scanRun(q.QueryRow(`SELECT `+runColumns+` FROM runs WHERE session_no = $1`, no))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		out.Run = &run
		return store.Wrap(err, "read run")
	})
	if err != nil {
		return session.Standing{}, err
	}
	return out, nil
}

// Awaited reports whether an input is queued or its turn is in progress. See session.Log.
func (s *Store) Awaited(ctx context.Context, no int64, input id.Event) (bool, error) {
	var waits bool
	var running string
	err := s.db.Reader(ctx).QueryRow(`SELECT EXISTS (SELECT 1 FROM inputs WHERE session_no = $1 AND event_id = $2)
		OR EXISTS (SELECT 1 FROM runs r JOIN events e ON e.session_no = r.session_no AND e.turn = r.turn WHERE r.session_no = $1 AND e.id = $2),
		COALESCE((SELECT r.compaction FROM runs r WHERE r.session_no = $1), '') FROM sessions WHERE no = $1 AND deleted = 0`, no, string(input)).Scan(&waits, &running)
	if err != nil {
		return false, store.OrNone(err, gone(), "read input")
	}
	c, err := decodeCompacting(running)
	return waits || c != nil && c.Event == input, err
}

// cause adds why the turn did not come to its end to those of the turns before it.
func (w *work) cause(one string) error {
	if one == "" {
		return nil
	}
	var kept string
	if err := w.tx.QueryRow(`SELECT causes FROM sessions WHERE no = $1`, w.no).Scan(&kept); err != nil {
		return store.Wrap(err, "read causes of turns")
	}
	all := []string{one}
	if kept != "" {
		all = append(strings.Split(kept, "\n"), one)
	}
	all = all[max(0, len(all)-session.MaxQueued):]
	return store.Wrap(w.tx.Exec(`UPDATE sessions SET causes = $2 WHERE no = $1`, w.no, store.Text(strings.Join(all, "\n"))), "write causes of turns")
}
