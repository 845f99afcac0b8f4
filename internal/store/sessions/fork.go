package sessions

import (
	"context"

	"quarry/internal/agent/session"
	"quarry/internal/id"
	"quarry/internal/store"
	"quarry/internal/store/artifacts"
	"quarry/internal/store/sessions/rows"
)

// Fork writes a session with copies of events of another one, and of all its files. See session.Store.
//
// The copies keep their numbers, so they are made by one statement: their ids are a random beginning with the number behind it.
func (s *Store) Fork(ctx context.Context, x session.Session, values map[string]string, c session.Copy) (out session.Session, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		from, err := source(tx, c.Source)
		if err != nil {
			return err
		}
		if c.To == 0 {
			c.To = from.last
		}
		x.Step = ""
		if c.Step {
			x.Step = from.step
		}
		no, err := s.create(tx, &x, values)
		if err != nil {
			return err
		}
		if err := fill(tx, no, &c, from.failed); err != nil {
			return err
		}
		if err := artifacts.Copy(tx, c.Source, no); err != nil {
			return err
		}
		if _, err := source(tx, c.Source); err != nil { // it was still there when its events were read
			return err
		}
		out, err = read(tx, no)
		return err
	})
	if err != nil {
		return session.Session{}, err
	}
	return out, nil
}

// source reads what a fork takes over of the row of a session. It is not locked: a turn that runs goes on.
func source(tx *store.Tx, no int64) (h head, err error) {
	err = tx.QueryRow(`SELECT step, last_ord, failed_ord FROM sessions WHERE no = $1 AND deleted = 0`, no).Scan(&h.step, &h.last, &h.failed)
	return h, store.OrNone(err, gone(), "read session")
}

// fill writes the events of a fork, their external ids, and what the row of the session says of them.
func fill(tx *store.Tx, no int64, c *session.Copy, failed int64) error {
	left, err := unanswered(tx, c)
	if err != nil {
		return err
	}
	left = append(left, c.But...)
	if c.Opens != nil {
		if err := rows.Insert(tx, no, c.Opens); err != nil {
			return err
		}
	}
	query, args := `INSERT INTO events (session_no, ord, id, turn, type, created, hidden, tool, body, state)
		SELECT $1, ord, $2 || substr(CAST(1000000000000 + ord AS TEXT), 2), turn, type, created, hidden, tool, body, state
		FROM events WHERE session_no = $3 AND ord BETWEEN $4 AND $5 AND hidden = ''`, []any{no, id.NewEvents(), c.Source, c.From, c.To}
	if len(left) > 0 {
		query, args = query+` AND ord NOT IN (`+store.List(6, len(left))+`)`, store.Args(args, left)
	}
	if err := tx.Exec(query, args...); err != nil {
		return store.Wrap(err, "copy events")
	}
	err = tx.Exec(`INSERT INTO external_ids (session_no, external_id, event_id)
		SELECT $1, x.external_id, n.id FROM external_ids x JOIN events o ON o.session_no = x.session_no AND o.id = x.event_id
		JOIN events n ON n.session_no = $1 AND n.ord = o.ord AND n.type = o.type WHERE x.session_no = $2`, no, c.Source)
	if err != nil {
		return store.Wrap(err, "copy external ids")
	}
	var all head
	err = tx.QueryRow(`SELECT COUNT(*), COALESCE(MAX(ord), 0), COALESCE(MAX(turn), 0), COALESCE(MAX(created), 0) FROM events WHERE session_no = $1`, no).
		Scan(&all.events, &all.last, &all.turn, &all.created)
	if err != nil {
		return store.Wrap(err, "count copies")
	}
	if failed != all.last {
		failed = 0
	}
	err = tx.Exec(`UPDATE sessions SET events = $2, last_ord = $3, turn = $4, last_created = $5, failed_ord = $6 WHERE no = $1`,
		no, all.events, all.last, all.turn, all.created, failed)
	return store.Wrap(err, "write session")
}

// unanswered returns the ords of the calls that a fork leaves out: those of the last turn without an output among what is copied.
func unanswered(tx *store.Tx, c *session.Copy) ([]int64, error) {
	var turn int64
	err := tx.QueryRow(`SELECT turn FROM events WHERE session_no = $1 AND ord BETWEEN $2 AND $3 AND hidden = '' AND type <> 'compaction'
		ORDER BY ord DESC LIMIT 1`, c.Source, c.From, c.To).Scan(&turn)
	if err != nil {
		return nil, store.OrNone(err, nil, "read event")
	}
	calls, err := store.Select(tx, "read calls", rows.Scan, `SELECT `+rows.Columns+` FROM events WHERE session_no = $1 AND ord BETWEEN $2 AND $3
		AND hidden = '' AND type IN ('tool_input', 'tool_output', 'skill_load') ORDER BY ord DESC LIMIT $4`, c.Source, c.From, c.To, 2*rows.CallsBack)
	if err != nil {
		return nil, err
	}
	var out []int64
	done := map[string]bool{}
	for _, e := range calls {
		switch {
		case e.Turn != turn:
		case e.Type != session.ToolInput:
			done[e.CallID] = true
		case !done[e.CallID]:
			out = append(out, e.Ord)
		}
	}
	return out, nil
}
