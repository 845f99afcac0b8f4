package sessions

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"quarry/internal/agent/session"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/store"
	"quarry/internal/store/artifacts"
	"quarry/internal/store/sessions/rows"
)

// turnFolder is what the names of the secrets of the turn of a session begin with, of one in progress and of one that is parked.
func turnFolder(no int64) string { return fmt.Sprintf("parked/%d/", no) }

// callColumns is what scanPending reads.
const callColumns = `event_id, call_id, tool, tool_name, overrides, output`

func scanPending(r store.Row) (c session.Pending, err error) {
	var overrides, output string
	err = r.Scan(&c.Event, &c.CallID, &c.Tool, &c.ToolName, &overrides, &output)
	c.Overrides, c.Output = json.RawMessage(overrides), json.RawMessage(output) // empty for none
	return c, err
}

func pending(q store.Querier, no int64) ([]session.Pending, error) {
	return store.Select(q, "read pending calls", scanPending, `SELECT `+callColumns+` FROM pending_calls WHERE session_no = $1 ORDER BY ord`, no)
}

// park stops the turn until the client has made its calls, unless something is there that ends it.
func (w *work) park(p *session.Park) error {
	if w.interrupted {
		return nil
	}
	var waiting bool
	if err := w.tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM inputs WHERE session_no = $1)`, w.no).Scan(&waiting); err != nil {
		return store.Wrap(err, "read inputs")
	}
	if waiting {
		return w.passOver(p)
	}
	thread, err := rows.EncodeThread(&p.Trace)
	if err != nil {
		return err
	}
	err = w.tx.Exec(`INSERT INTO parked (session_no, agent_no, turn, first_ord, opening, revision, step, transitions, calls, began, caller, next_step, trace, resolved, secrets)
		SELECT session_no, agent_no, turn, first_ord, opening, revision, step, transitions, calls, began, caller, $2, $3, resolved, secrets FROM runs WHERE session_no = $1`, w.no, p.Next, thread)
	if err != nil {
		return store.Wrap(err, "park turn")
	}
	for i, c := range p.Calls {
		err := w.tx.Exec(`INSERT INTO pending_calls (session_no, ord, `+callColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, w.no, int64(i),
			string(c.Event), store.Text(c.CallID), store.Text(c.Tool), store.Text(c.ToolName), store.Text(string(c.Overrides)), store.Text(string(c.Output)))
		if err != nil {
			return store.Wrap(err, "write pending call")
		}
		plain, err := json.Marshal(c.Delivery)
		if err != nil {
			return fmt.Errorf("encode a pending call: %w", err)
		}
		if err := w.secrets.Put(w.tx, turnFolder(w.no)+string(c.Event), plain); err != nil {
			return err
		}
	}
	w.out.Ended, w.out.Parked, w.step = true, true, p.Next // the step is shown while the session waits
	return store.Wrap(w.tx.Exec(`DELETE FROM runs WHERE session_no = $1`, w.no), "end run")
}

// passOver goes on without the calls, since an input waits.
func (w *work) passOver(p *session.Park) error {
	events, err := w.superseded(w.tx, &w.run, p.Calls, w.now)
	if err != nil {
		return err
	}
	w.out.Events = append(w.out.Events, events...)
	if w.steers > 0 {
		return w.steer()
	}
	return w.end(&session.End{Step: p.Next})
}

// supersede ends a parked turn: its calls have error outputs. It returns what its run was, nil if there is no such turn.
func (s *Store) supersede(tx *store.Tx, h *head, now time.Time) (*session.Run, error) {
	p, err := readParked(tx, h.no)
	if p == nil || err != nil {
		return nil, err
	}
	if _, err := h.superseded(tx, &p.Run, p.Calls, now); err != nil {
		return nil, err
	}
	h.step = p.Next
	return &p.Run, s.unpark(tx, h.no)
}

// superseded writes the outputs of the open calls of a turn, some of which the client was to make.
func (h *head) superseded(tx *store.Tx, r *session.Run, calls []session.Pending, now time.Time) ([]session.Event, error) {
	events, err := store.Select(tx, "read calls", rows.Scan, `SELECT `+rows.Columns+` FROM events
		WHERE session_no = $1 AND ord >= $2 AND turn = $3 AND type IN ('tool_input', 'tool_output', 'skill_load') ORDER BY ord`, h.no, r.First, r.Turn)
	if err != nil {
		return nil, err
	}
	return h.append(tx, r.Turn, now, session.Superseded(events, calls)...)
}

// unpark removes a parked turn with all it has.
func (s *Store) unpark(tx *store.Tx, no int64) error {
	if err := tx.Exec(`DELETE FROM parked WHERE session_no = $1`, no); err != nil {
		return store.Wrap(err, "end parked turn")
	}
	return s.secrets.Delete(tx, turnFolder(no))
}

// isParked returns the fault of what a session can't do while its turn waits for the client.
func (h *head) isParked(tx *store.Tx) error {
	var parked bool
	err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM parked WHERE session_no = $1)`, h.no).Scan(&parked)
	if err == nil && parked {
		return fault.Conflict("session_parked", "session %s waits for the outputs of client tools; send them, interrupt the turn, or send a message, which "+
			"answers them, and compact then", h.key)
	}
	return store.Wrap(err, "read parked turn")
}

// readParked reads a parked turn without what is sealed; nil for none.
func readParked(q store.Querier, no int64) (*session.Parked, error) {
	var caller, thread, resolved string
	p := &session.Parked{Run: session.Run{Lease: session.Lease{Session: no}}}
	r := &p.Run
	err := q.QueryRow(`SELECT agent_no, turn, first_ord, opening, revision, step, transitions, calls, began, caller, next_step, trace, resolved, secrets
		FROM parked WHERE session_no = $1`, no).
		Scan(&r.AgentNo, &r.Turn, &r.First, &r.Opening, &r.Revision, &r.Step, &r.Transitions, &r.Calls, store.Micros(&r.Began), &caller, &p.Next, &thread, &resolved, &r.Secrets)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, store.Wrap(err, "read parked turn")
	}
	r.Resolved = kept(resolved)
	if r.Trace, err = rows.DecodeThread(thread); err != nil {
		return nil, err
	}
	if p.Calls, err = pending(q, no); err != nil {
		return nil, err
	}
	return p, json.Unmarshal([]byte(caller), &r.Caller)
}

// Parked returns the turn that waits for the client. See session.Log.
func (s *Store) Parked(ctx context.Context, no int64) (p *session.Parked, err error) {
	err = s.db.Read(ctx, func(q store.Querier) error {
		p, err = readParked(q, no)
		return err
	})
	if p == nil || err != nil {
		return nil, err
	}
	found, err := s.secrets.List(ctx, turnFolder(no))
	if err != nil {
		return nil, err
	}
	sealed := map[string][]byte{}
	for _, one := range found {
		sealed[one.Name[len(turnFolder(no)):]] = one.Plain
	}
	if p.Run.Resolved.Secret {
		p.Run.Resolved.Text = string(sealed[resolvedName])
	}
	for i := range p.Calls {
		c := &p.Calls[i]
		if plain := sealed[string(c.Event)]; plain != nil {
			if err := json.Unmarshal(plain, &c.Delivery); err != nil {
				return nil, fmt.Errorf("read a pending call: %w", err)
			}
		}
	}
	// those without were answered since their rows were read
	p.Calls = slices.DeleteFunc(p.Calls, func(c session.Pending) bool { return c.Arguments == nil })
	if len(p.Calls) == 0 {
		return nil, nil
	}
	return p, nil
}

// Answer writes outputs of pending calls. See session.Log.
func (s *Store) Answer(ctx context.Context, a session.Answers, l session.Lease, now time.Time) (session.Answered, error) {
	return locked(ctx, s, a.Session, func(tx *store.Tx, h head) (session.Answered, error) { return s.answer(tx, h, a, l, now) })
}

func (s *Store) answer(tx *store.Tx, h head, a session.Answers, l session.Lease, now time.Time) (out session.Answered, err error) {
	var at place
	err = tx.QueryRow(`SELECT key, enabled FROM agents WHERE no = $1 AND deleted = 0`, h.agentNo).Scan(&at.agent, &at.enabled)
	if err != nil {
		return out, store.OrNone(err, agentGone(), "read agent")
	}
	p, err := readParked(tx, h.no)
	switch {
	case err != nil:
		return out, err
	case p == nil || p.Run.Turn != a.Turn:
		return out, session.ErrAnswered
	}
	if err := h.open(at); err != nil {
		return out, err
	}
	for _, e := range a.Calls {
		if err := s.close(tx, h.no, e); err != nil {
			return out, err
		}
	}
	left, err := pending(tx, h.no)
	switch {
	case err != nil:
		return out, err
	case len(left) == 0 && a.Full != nil:
		return out, a.Full
	}
	if err := artifacts.Keep(tx, h.no, a.Artifacts); err != nil {
		return out, err
	}
	was := h
	if out.Events, err = h.append(tx, p.Run.Turn, now, a.Outputs...); err != nil {
		return out, err
	}
	if err := h.save(tx, was); err != nil || len(left) > 0 {
		return out, err
	}
	l.Session = h.no
	run := p.Run
	run.Lease, run.Trace.Began = l, stored(now)
	out.Run = &run
	if err := tx.Exec(`DELETE FROM parked WHERE session_no = $1`, h.no); err != nil {
		return out, store.Wrap(err, "end parked turn")
	}
	return out, insertRun(tx, &run)
}

// close removes a pending call with its arguments.
func (s *Store) close(tx *store.Tx, no int64, e id.Event) error {
	var was string
	err := tx.QueryRow(`DELETE FROM pending_calls WHERE session_no = $1 AND event_id = $2 RETURNING event_id`, no, string(e)).Scan(&was)
	if err != nil {
		return store.OrNone(err, session.ErrAnswered, "answer call")
	}
	return s.secrets.DeleteOne(tx, turnFolder(no)+string(e))
}
