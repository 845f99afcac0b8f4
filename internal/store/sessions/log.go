package sessions

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"quarry/internal/agent/session"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/store"
	"quarry/internal/store/artifacts"
	"quarry/internal/store/secrets"
	"quarry/internal/store/sessions/rows"
)

// head is what every write of a session reads and holds first: the members of its row that the log moves.
type head struct {
	no, agentNo           int64
	key                   string
	enabled               bool
	step, usage           string
	turn                  int64
	last, created, active int64 // ord and milliseconds of the newest event; microseconds of the last event or change
	events, hidden        int64
	edits, failed         int64
}

// lock keeps others from writing to a session until tx ends, and returns where it stands. Without the session, the error is gone.
func lock(tx *store.Tx, no int64, gone error) (h head, err error) {
	h.no = no
	err = tx.QueryRow(`UPDATE sessions SET edits = edits WHERE no = $1 AND deleted = 0
		RETURNING agent_no, key, enabled, step, usage, turn, last_ord, last_created, active, events, hidden, edits, failed_ord`, no).
		Scan(&h.agentNo, &h.key, &h.enabled, &h.step, &h.usage, &h.turn, &h.last, &h.created, &h.active, &h.events, &h.hidden, &h.edits, &h.failed)
	return h, store.OrNone(err, gone, "lock session")
}

// save writes what has changed since lock.
func (h head) save(tx *store.Tx, was head) error {
	if h == was {
		return nil
	}
	err := tx.Exec(`UPDATE sessions SET step = $2, usage = $3, turn = $4, last_ord = $5, last_created = $6, active = $7,
		events = $8, hidden = $9, edits = $10, failed_ord = $11 WHERE no = $1`,
		h.no, h.step, h.usage, h.turn, h.last, h.created, h.active, h.events, h.hidden, h.edits, h.failed)
	return store.Wrap(err, "write session")
}

// append writes events at the end of the log, as part of a turn, and returns them as stored.
func (h *head) append(tx *store.Tx, turn int64, now time.Time, events ...session.Event) ([]session.Event, error) {
	all, err := rows.Of(events...)
	if err != nil {
		return nil, err
	}
	return h.enter(tx, turn, now, all)
}

// enter is append for events whose bodies are encoded.
func (h *head) enter(tx *store.Tx, turn int64, now time.Time, all []rows.Event) ([]session.Event, error) {
	if len(all) == 0 {
		return nil, nil
	}
	h.created, h.active = max(h.created, now.UnixMilli()), max(h.active, now.UnixMicro())
	h.failed = 0
	out := make([]session.Event, len(all))
	for i, e := range all {
		h.last++
		h.events++
		if e.Hidden != "" {
			h.hidden++
		}
		e.Ord, e.Turn, e.Created = h.last, turn, time.UnixMilli(h.created).UTC()
		if err := e.Insert(tx, h.no); err != nil {
			return nil, err
		}
		out[i] = e.Event
	}
	return out, nil
}

// locked returns what f returns, which has the session to itself; nothing if the transaction fails.
func locked[T any](ctx context.Context, s *Store, no int64, f func(*store.Tx, head) (T, error)) (out T, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		h, err := lock(tx, no, gone())
		if err != nil {
			return err
		}
		out, err = f(tx, h)
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return out, nil
}

// Accept writes an input. See session.Log.
func (s *Store) Accept(ctx context.Context, in session.Input, l session.Lease, now time.Time) (session.Accepted, error) {
	return locked(ctx, s, in.Session, func(tx *store.Tx, h head) (session.Accepted, error) { return s.accept(tx, h, in, l, now) })
}

// place is where an input meets its session.
type place struct {
	agent    string // its key
	enabled  bool   // the agent
	revision int64
	secrets  int64 // the state of those of the agent
	running  bool
}

func (s *Store) accept(tx *store.Tx, h head, in session.Input, l session.Lease, now time.Time) (session.Accepted, error) {
	var p place
	err := tx.QueryRow(`SELECT key, enabled, revision, secrets, EXISTS (SELECT 1 FROM runs WHERE session_no = $2) FROM agents WHERE no = $1 AND deleted = 0`,
		h.agentNo, h.no).Scan(&p.agent, &p.enabled, &p.revision, &p.secrets, &p.running)
	if err != nil {
		return session.Accepted{}, store.OrNone(err, agentGone(), "read agent")
	}
	if in.Compaction != nil {
		return compact(tx, h, p, in, l, now)
	}
	parts, known, err := fresh(tx, h.no, in.Parts)
	if err != nil {
		return session.Accepted{}, err
	}
	if len(parts) == 0 && (len(in.Parts) > 0 || len(in.Files) == 0) { // files that come with known parts have come before, too
		return again(tx, h, p, known, in, l, now)
	}
	in.Parts = parts
	if err := h.open(p); err != nil {
		return session.Accepted{}, err
	}
	if !p.running && in.Full != nil {
		return session.Accepted{}, in.Full
	}
	for _, x := range parts {
		if x.ExternalID == "" {
			continue
		}
		err := tx.Exec(`INSERT INTO external_ids (session_no, external_id, event_id) VALUES ($1, $2, $3)`, h.no, x.ExternalID, string(in.Event))
		if err != nil {
			return session.Accepted{}, store.Wrap(err, "write external id")
		}
	}
	if p.running {
		if err := h.mayWait(tx, in); err != nil {
			return session.Accepted{}, err
		}
	}
	if in.Files, err = artifacts.Upload(tx, h.no, in.Files); err != nil {
		return session.Accepted{}, err
	}
	if p.running {
		return session.Accepted{Outcome: session.Waiting, Event: in.Event}, h.enqueue(tx, in)
	}
	was := h
	if _, err := s.supersede(tx, &h, now); err != nil {
		return session.Accepted{}, err
	}
	h.turn++
	stored, err := h.append(tx, h.turn, now, inputEvents(&in)...)
	if err != nil {
		return session.Accepted{}, err
	}
	if err := h.save(tx, was); err != nil {
		return session.Accepted{}, err
	}
	run, err := h.begin(tx, p, stored[0], len(stored), in, l, now)
	return session.Accepted{Outcome: session.Began, Event: in.Event, Begun: stored[0], Last: h.last, Run: run}, err
}

// inputEvents returns the events of an input: its files, then its parts, then the skills that these load.
func inputEvents(in *session.Input) (out []session.Event) {
	if len(in.Files) > 0 {
		e := in.Upload
		if len(in.Parts) == 0 {
			e = in.Event
		}
		out = append(out, session.Upload(e, in.Files))
	}
	if len(in.Parts) == 0 {
		return out
	}
	parts, loads := slices.Clone(in.Parts), []session.Event{}
	for i, x := range in.Parts {
		if x.Skill != "" {
			loads = append(loads, session.Event{ID: id.NewEvent(), Type: session.SkillLoad, Body: session.Body{Skill: x.Skill, Text: x.Text}})
			parts[i].Text = ""
		}
	}
	out = append(out, session.Event{ID: in.Event, Type: session.InputMessage, Body: session.Body{Parts: parts}})
	return append(out, loads...)
}

// fresh returns those parts of an input that the session does not have yet, and the event that has the first of the others.
// The row of the session is locked, so nobody writes an external id meanwhile.
func fresh(tx *store.Tx, no int64, parts []session.Part) (out []session.Part, known id.Event, err error) {
	taken := map[string]id.Event{}
	var ask []string
	for i, x := range parts {
		parts[i].ExternalID = store.Text(x.ExternalID)
		if x.ExternalID != "" {
			ask = append(ask, parts[i].ExternalID)
		}
	}
	if len(ask) > 0 {
		err = store.Each(tx, "read external ids", func(r store.Row) error {
			var ext string
			var e id.Event
			err := r.Scan(&ext, &e)
			taken[ext] = e
			return err
		}, `SELECT external_id, event_id FROM external_ids WHERE session_no = $1 AND external_id IN (`+store.List(2, len(ask))+`)`,
			store.Args([]any{no}, ask)...)
		if err != nil {
			return nil, "", err
		}
	}
	for _, x := range parts {
		e, there := taken[x.ExternalID]
		switch {
		case there && known == "":
			known = e
		case !there:
			out = append(out, x)
		}
		if x.ExternalID != "" && !there {
			taken[x.ExternalID] = "" // the same id twice in one input: the first one counts
		}
	}
	return out, known, nil
}

// again answers an input that the session has already. Where its turn has failed with nothing behind it, the turn runs again.
func again(tx *store.Tx, h head, p place, known id.Event, in session.Input, l session.Lease, now time.Time) (session.Accepted, error) {
	out := session.Accepted{Outcome: session.Known, Event: known}
	if h.failed == 0 || p.running {
		return out, nil
	}
	e, err := readEvent(tx, h.no, known)
	if fault.Is(err, fault.KindNotFound) || err == nil && (e.Ord > h.failed || e.Hidden != "") {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	first, last, err := opening(tx, h.no, &e, h.failed)
	if err != nil || last.Ord != h.failed {
		return out, err
	}
	if err := h.open(p); err != nil {
		return session.Accepted{}, err
	}
	if in.Full != nil {
		return session.Accepted{}, in.Full
	}
	was := h
	h.failed = 0
	if err := h.save(tx, was); err != nil {
		return session.Accepted{}, err
	}
	out.Outcome, out.Begun, out.Last = session.Again, first, last.Ord
	out.Run, err = h.begin(tx, p, first, int(last.Ord-first.Ord)+1, in, l, now)
	return out, err
}

// open returns the fault of an input that session or agent do not take.
func (h *head) open(p place) error {
	switch {
	case !h.enabled:
		return fault.Conflict("session_disabled", "session %s is disabled and takes no input; enable it or open another session", h.key)
	case !p.enabled:
		return fault.Conflict("agent_disabled", "agent %s is disabled, so its sessions take no input; enable it first", p.agent)
	}
	return nil
}

// opening returns the first and the last event of the input that ends at an ord, e among them: its files stand before e, the skills
// that it loads behind it. The last is another one where e is of another input.
func opening(tx *store.Tx, no int64, e *session.Event, end int64) (first, last session.Event, err error) {
	all, err := store.Select(tx, "read input", rows.Scan,
		`SELECT `+rows.Columns+` FROM events WHERE session_no = $1 AND ord BETWEEN $2 AND $3 AND turn = $4 ORDER BY ord`, no, e.Ord-1, end, e.Turn)
	if err != nil || len(all) == 0 {
		return first, last, err
	}
	return all[0], all[len(all)-1], nil
}

// mayWait returns the fault of an input that can't wait behind the turn in progress.
func (h *head) mayWait(tx *store.Tx, in session.Input) error {
	if !in.Queue {
		return fault.Conflict("session_busy", "a turn of session %s is running; send the input with since, such as \"since\": \"start\", to queue it behind "+
			"that turn, or wait until the turn has ended", h.key)
	}
	var waiting int
	if err := tx.QueryRow(`SELECT COUNT(*) FROM inputs WHERE session_no = $1`, h.no).Scan(&waiting); err != nil {
		return store.Wrap(err, "count inputs")
	}
	if waiting >= session.MaxQueued {
		return fault.Conflict("session_queue_full", "%d inputs wait behind the turn of session %s, which is the most; wait until one has been taken, "+
			"then send the input again", waiting, h.key)
	}
	return nil
}

// enqueue writes an input that waits behind the turn in progress.
func (h *head) enqueue(tx *store.Tx, in session.Input) error {
	caller, err := rows.Encode(in.Caller)
	if err != nil {
		return err
	}
	parts, err := rows.Encode(in.Parts)
	if err != nil {
		return err
	}
	files, err := rows.Encode(in.Files)
	if err != nil {
		return err
	}
	compaction, err := encodeCompacting(compacting(&in))
	if err != nil {
		return err
	}
	err = tx.Exec(`INSERT INTO inputs (session_no, event_id, steer, caller, parts, upload_id, files, compaction) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		h.no, string(in.Event), in.Steer, caller, parts, string(in.Upload), files, compaction)
	return store.Wrap(err, "write input")
}

// begin writes the run whose first turn answers an input, or which makes a compaction. first has ord and turn of the first of its
// opening events.
func (h *head) begin(tx *store.Tx, p place, first session.Event, opening int, in session.Input, l session.Lease, now time.Time) (session.Run, error) {
	l.Session = h.no
	r := session.Run{
		Lease: l, AgentNo: h.agentNo, Turn: first.Turn, First: first.Ord, Opening: opening, Revision: p.revision, Secrets: p.secrets, Step: h.step,
		Began: stored(now), Caller: in.Caller, Compaction: compacting(&in),
	}
	return r, insertRun(tx, &r)
}

// Commit writes what a turn has come to. See session.Log.
func (s *Store) Commit(ctx context.Context, l session.Lease, c session.Commit, now time.Time) (out session.Committed, err error) {
	expected, err := s.expect(&c)
	if err != nil {
		return session.Committed{}, err
	}
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		h, err := lock(tx, l.Session, session.ErrLost)
		if err != nil {
			return err
		}
		w := work{tx: tx, secrets: s.secrets, head: h, was: h, now: now}
		if err := w.fence(l, &c, expected.thread); err != nil {
			return err
		}
		if err := w.commit(&c, expected.entries); err != nil {
			return err
		}
		w.out.Edits, w.out.Interrupted = w.edits, w.interrupted
		if err := s.record(tx, &c, expected, &w.out); err != nil {
			return err
		}
		out = w.out
		return w.save(tx, w.was)
	})
	if err != nil {
		return session.Committed{}, err
	}
	return out, nil
}

// work is one commit while it is made.
type work struct {
	head
	tx          *store.Tx
	secrets     *secrets.Store
	was         head
	now         time.Time
	run         session.Run
	steers      int64 // inputs that wait to steer the turn
	interrupted bool
	out         session.Committed
}

// fenceColumns are runColumns without the thread of the trace, which a commit does not look at.
var fenceColumns = strings.Replace(runColumns, " trace,", " '',", 1)

// fence takes the run for this commit, or fails with session.ErrLost.
func (w *work) fence(l session.Lease, c *session.Commit, thread any) error {
	var step, transitions, calls, resolved any
	if p := c.Progress; p != nil {
		step, transitions, calls = p.Step, p.Transitions, p.Calls
	}
	if c.Resolved != nil {
		resolved = column(*c.Resolved)
	}
	run, err := scanRun(w.tx.QueryRow(`UPDATE runs SET step = COALESCE($3, step), transitions = COALESCE($4, transitions), calls = COALESCE($5, calls),
		resolved = COALESCE($6, resolved), recovered = CASE WHEN $7 > 0 THEN 0 ELSE recovered END,
		trace = COALESCE($8, trace)
		WHERE session_no = $1 AND holder = $2 AND EXISTS (SELECT 1 FROM agents a WHERE a.no = runs.agent_no AND a.deleted = 0)
		RETURNING `+fenceColumns+`, (SELECT COUNT(*) FROM inputs i WHERE i.session_no = runs.session_no AND i.steer)`,
		l.Session, l.Holder, step, transitions, calls, resolved, int64(len(c.Events)), thread), &w.steers)
	if errors.Is(err, sql.ErrNoRows) {
		return session.ErrLost
	}
	if w.run, w.interrupted = run, run.Interrupted; err != nil {
		return store.Wrap(err, "write run")
	}
	if c.Resolved != nil && c.Resolved.Secret {
		return w.secrets.Put(w.tx, turnFolder(w.no)+resolvedName, []byte(c.Resolved.Text))
	}
	return nil
}

func (w *work) commit(c *session.Commit, events []rows.Event) (err error) {
	if err := w.hide(c.Hide); err != nil {
		return err
	}
	if c.Usage != nil {
		if w.usage, err = rows.Encode(measured{*c.Usage, w.last + int64(len(c.Events)), w.edits}); err != nil {
			return err
		}
	}
	if err := artifacts.Keep(w.tx, w.no, c.Artifacts); err != nil {
		return err
	}
	if c.Rendered != nil {
		texts, err := rows.Encode(c.Rendered)
		if err != nil {
			return err
		}
		if err := w.tx.Exec(`UPDATE sessions SET reminders = $2 WHERE no = $1`, w.no, texts); err != nil {
			return store.Wrap(err, "write reminders of session")
		}
	}
	if w.out.Events, err = w.enter(w.tx, w.run.Turn, w.now, events); err != nil {
		return err
	}
	if c.Park != nil {
		return w.park(c.Park)
	}
	stop := c.End != nil && c.End.Stop
	if w.steers > 0 && !stop && (c.Steer || c.End != nil) {
		return w.steer()
	}
	if c.End != nil {
		return w.end(c.End)
	}
	w.out.Steers = w.steers > 0
	return nil
}

// take takes what has waited from the queue, and an input into the log.
func (w *work) take(q *queued) error {
	if err := w.tx.Exec(`DELETE FROM inputs WHERE no = $1`, q.no); err != nil {
		return store.Wrap(err, "take input")
	}
	stored, err := w.append(w.tx, w.turn, w.now, inputEvents(&q.Input)...)
	w.out.Inputs = append(w.out.Inputs, stored...)
	return err
}

// steer goes on in this turn with the inputs that were sent to steer it.
func (w *work) steer() error {
	waiting, err := store.Select(w.tx, "read inputs", scanQueued,
		`SELECT `+queuedColumns+` FROM inputs WHERE session_no = $1 AND steer ORDER BY no`, w.no)
	if err != nil {
		return err
	}
	for i := range waiting {
		if err := w.take(&waiting[i]); err != nil {
			return err
		}
	}
	if w.run.Recovered == 0 {
		return nil
	}
	return store.Wrap(w.tx.Exec(`UPDATE runs SET recovered = 0 WHERE session_no = $1`, w.no), "write run")
}

// end ends the turn, and the run unless an input waits.
func (w *work) end(e *session.End) error {
	w.out.Ended = true
	w.step = e.Step
	if err := w.cause(e.Cause); err != nil {
		return err
	}
	if w.run.Resolved.Secret {
		if err := w.secrets.DeleteOne(w.tx, turnFolder(w.no)+resolvedName); err != nil {
			return err
		}
	}
	if w.last == w.run.Base() {
		switch {
		case w.run.Compaction != nil: // it has come to nothing
			w.turn--
		case e.TakeBack:
			if err := w.takeBack(); err != nil {
				return err
			}
		case e.Failed:
			w.failed = w.last
		}
	}
	next, err := store.Select(w.tx, "read inputs", scanQueued,
		`SELECT `+queuedColumns+` FROM inputs WHERE session_no = $1 ORDER BY no LIMIT 1`, w.no)
	if err != nil {
		return err
	}
	if len(next) == 0 {
		return store.Wrap(w.tx.Exec(`DELETE FROM runs WHERE session_no = $1`, w.no), "end run")
	}
	return w.next(&next[0])
}

// takeBack removes the input of the turn as if it had not been sent, with its files. Its place in the log stays empty, since
// readers may have seen what stood there.
func (w *work) takeBack() error {
	events, err := store.Select(w.tx, "take input back", rows.Scan,
		`DELETE FROM events WHERE session_no = $1 AND ord >= $2 RETURNING `+rows.Columns, w.no, w.run.First)
	if err != nil {
		return err
	}
	if len(events) == 0 {
		return nil // a client was faster
	}
	w.turn--
	for i := range events {
		if err := w.forget(w.tx, events[i].ID, events[i].Hidden); err != nil {
			return err
		}
		if err := artifacts.Remove(w.tx, w.no, events[i].Files); err != nil {
			return err
		}
	}
	return nil
}

// forget removes what else there is of an event whose row is gone.
func (h *head) forget(tx *store.Tx, e id.Event, hidden string) error {
	h.edits++
	h.events--
	if hidden != "" {
		h.hidden--
	}
	return store.Wrap(tx.Exec(`DELETE FROM external_ids WHERE session_no = $1 AND event_id = $2`, h.no, string(e)), "delete external ids")
}

// next goes on with what has waited, in a turn of its own and with the agent's current configuration.
func (w *work) next(q *queued) error {
	w.turn++
	r := session.Run{
		Lease: w.run.Lease, AgentNo: w.agentNo, Turn: w.turn, First: w.last + 1, Step: w.step, Began: stored(w.now), Caller: q.Caller,
		Compaction: compacting(&q.Input),
	}
	if err := w.take(q); err != nil {
		return err
	}
	r.Opening = len(w.out.Inputs)
	if err := w.tx.QueryRow(`SELECT revision, secrets FROM agents WHERE no = $1`, w.agentNo).Scan(&r.Revision, &r.Secrets); err != nil {
		return store.Wrap(err, "read agent")
	}
	values, err := runValues(&r)
	if err != nil {
		return err
	}
	w.out.Next = &r
	err = w.tx.Exec(`UPDATE runs SET (`+runColumns+`) = (`+store.List(1, len(values))+`) WHERE session_no = $1`, values...)
	return store.Wrap(err, "write run")
}
