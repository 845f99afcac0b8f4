package sessions

import (
	"context"
	"encoding/json"

	"quarry/internal/agent/session"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/store"
	"quarry/internal/store/sessions/rows"
	"quarry/internal/store/traces"
)

func noEvent(e id.Event) error {
	return fault.NotFound("event_not_found", string(e), "event %s does not exist in this session", e)
}

func readEvent(q store.Querier, no int64, e id.Event) (session.Event, error) {
	found, err := rows.Scan(q.QueryRow(`SELECT `+rows.Columns+` FROM events WHERE session_no = $1 AND id = $2`, no, string(e)))
	if err != nil {
		return session.Event{}, store.OrNone(err, noEvent(e), "read event")
	}
	return found, nil
}

// Events returns a page of the log. See session.Store.
func (s *Store) Events(ctx context.Context, p session.Page) (found []session.Event, more bool, err error) {
	shown := ` AND hidden = ''`
	if p.Hidden {
		shown = ``
	}
	found, err = store.Select(s.db.Reader(ctx), "list events", rows.Scan,
		`SELECT `+rows.Columns+` FROM events WHERE session_no = $1 AND ord > $2`+shown+` ORDER BY ord LIMIT $3`, p.Session, p.After, p.Limit+1)
	if err != nil {
		return nil, false, err
	}
	found, more = store.Cut(found, p.Limit)
	return found, more, nil
}

// Count returns the number of events. See session.Store.
func (s *Store) Count(ctx context.Context, no int64, hidden bool) (int, error) {
	var all, left int
	err := s.db.Reader(ctx).QueryRow(`SELECT events, hidden FROM sessions WHERE no = $1 AND deleted = 0`, no).Scan(&all, &left)
	if err != nil {
		return 0, store.OrNone(err, gone(), "count events")
	}
	if hidden {
		return all, nil
	}
	return all - left, nil
}

// Event returns an event. See session.Store.
func (s *Store) Event(ctx context.Context, no int64, e id.Event) (session.Event, error) {
	return readEvent(s.db.Reader(ctx), no, e)
}

// Call returns the call that an output answers. See session.Store.
func (s *Store) Call(ctx context.Context, no int64, output *session.Event) (session.Event, error) {
	call, err := rows.CallOf(s.db.Reader(ctx), no, output)
	if err == nil && call.ID == "" {
		err = noEvent("")
	}
	return call, err
}

// DeleteEvent removes an event. See session.Store.
func (s *Store) DeleteEvent(ctx context.Context, no int64, e id.Event) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		h, err := lock(tx, no, gone())
		if err != nil {
			return err
		}
		was := h
		event, err := readEvent(tx, no, e)
		if err != nil {
			return err
		}
		if err := rows.Settle(tx, no, &event); err != nil {
			return err
		}
		var traced string
		err = tx.QueryRow(`DELETE FROM events WHERE session_no = $1 AND id = $2 RETURNING traced`, no, string(e)).Scan(&traced)
		if err != nil {
			return store.Wrap(err, "delete event")
		}
		if h.failed == event.Ord {
			h.failed = 0
		}
		if err := h.forget(tx, e, event.Hidden); err != nil {
			return err
		}
		if err := traces.Leave(tx, no, traced); err != nil {
			return err
		}
		return h.save(tx, was)
	})
}

// Hide sets why an event is hidden. See session.Store.
func (s *Store) Hide(ctx context.Context, no int64, e id.Event, why string) (out session.Event, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		h, err := lock(tx, no, gone())
		if err != nil {
			return err
		}
		was := h
		if out, err = readEvent(tx, no, e); err != nil || out.Hidden == why {
			return err
		}
		if err := tx.Exec(`UPDATE events SET hidden = $3 WHERE session_no = $1 AND id = $2`, no, string(e), why); err != nil {
			return store.Wrap(err, "hide event")
		}
		h.edits++
		switch {
		case out.Hidden == "":
			h.hidden++
		case why == "":
			h.hidden--
		}
		out.Hidden = why
		return h.save(tx, was)
	})
	if err != nil {
		return session.Event{}, err
	}
	return out, nil
}

// Latest returns the latest output of each tool. See session.Store.
func (s *Store) Latest(ctx context.Context, no int64) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	err := store.Each(s.db.Reader(ctx), "read outputs of tools", func(r store.Row) error {
		var tool, text string
		var body session.Body
		if err := r.Scan(&tool, &text); err != nil {
			return err
		}
		err := json.Unmarshal([]byte(text), &body)
		out[tool] = body.Output
		return err
	}, `SELECT e.tool, e.body FROM (SELECT MAX(ord) AS ord FROM events WHERE session_no = $1 AND tool <> '' AND hidden <> 'manual' GROUP BY tool) l
		JOIN events e ON e.session_no = $1 AND e.ord = l.ord`, no)
	if err != nil {
		return nil, err
	}
	return out, nil
}
