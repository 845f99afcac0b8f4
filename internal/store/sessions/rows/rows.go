// Package rows is the events of sessions, and the threads of their traces, as columns have them. The bodies of events are
// encoded apart from their being written, which one transaction at a time does.
package rows

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry/internal/agent/session"
	"quarry/internal/store"
	"quarry/internal/trace"
)

// Columns is what Scan reads.
const Columns = `ord, id, turn, type, created, hidden, body, state`

// Scan reads an event.
func Scan(r store.Row) (e session.Event, err error) {
	var created int64
	var body string
	if err := r.Scan(&e.Ord, &e.ID, &e.Turn, &e.Type, &created, &e.Hidden, &body, &e.State); err != nil {
		return e, err
	}
	e.Created = time.UnixMilli(created).UTC()
	return e, json.Unmarshal([]byte(body), &e.Body)
}

// Event is an event, as it is once it is read, with its body as it is stored.
type Event struct {
	session.Event
	Traced string // the trace that has texts of what the event ends; "" for none
	body   string
}

// Of encodes the bodies of events.
func Of(events ...session.Event) (out []Event, err error) {
	out = make([]Event, len(events))
	for i := range events {
		e := Event{Event: events[i]}
		if e.body, err = Encode(&e.Body); err != nil {
			return nil, err
		}
		raw := [][]byte{e.Content, e.Arguments, e.Output, e.Overrides}
		if slices.ContainsFunc(raw, func(j []byte) bool { return j != nil }) {
			e.Body = session.Body{} // JSON is stored without its blanks, and a prompt must not change when it is read from there
			if err := json.Unmarshal([]byte(e.body), &e.Body); err != nil {
				return nil, fmt.Errorf("read an event as it is stored: %w", err)
			}
		}
		out[i] = e
	}
	return out, nil
}

// Insert writes the event to the log of a session.
func (e *Event) Insert(tx *store.Tx, no int64) error {
	tool := ""
	if e.Type == session.ToolOutput && !e.Failed {
		tool = store.Text(e.Tool)
	}
	err := tx.Exec(`INSERT INTO events (session_no, ord, id, turn, type, created, hidden, tool, body, state, traced)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		no, e.Ord, string(e.ID), e.Turn, string(e.Type), e.Created.UnixMilli(), e.Hidden, tool, e.body, store.Text(e.State), e.Traced)
	return store.Wrap(err, "write event")
}

// Insert writes an event to the log of a session, and sets it as it is once it is read.
func Insert(tx *store.Tx, no int64, e *session.Event) error {
	all, err := Of(*e)
	if err != nil {
		return err
	}
	*e = all[0].Event
	return all[0].Insert(tx, no)
}

// CallsBack is how many calls before an output CallOf looks at: more than a model makes at once.
const CallsBack = 200

// CallOf returns the call that an output answers, the zero event if it was deleted.
func CallOf(q store.Querier, no int64, output *session.Event) (session.Event, error) {
	calls, err := store.Select(q, "find call", Scan, `SELECT `+Columns+` FROM events
		WHERE session_no = $1 AND ord < $2 AND type = 'tool_input' ORDER BY ord DESC LIMIT $3`, no, output.Ord, CallsBack)
	if err != nil {
		return session.Event{}, err
	}
	for i := range calls {
		if calls[i].CallID == output.CallID && calls[i].Turn == output.Turn {
			return calls[i], nil
		}
	}
	return session.Event{}, nil
}

// Settle marks the call of e, an output that is about to be deleted, as answered, so that a turn that is taken over doesn't
// make it again. It does nothing for events that answer no call.
func Settle(tx *store.Tx, no int64, e *session.Event) error {
	if !e.Answers() {
		return nil
	}
	call, err := CallOf(tx, no, e)
	if err != nil || call.ID == "" {
		return err
	}
	call.Answered = true
	body, err := Encode(&call.Body)
	if err != nil {
		return err
	}
	err = tx.Exec(`UPDATE events SET body = $3 WHERE session_no = $1 AND ord = $2`, no, call.Ord, body)
	return store.Wrap(err, "mark a call as answered")
}

// Encode returns v as JSON that both databases can hold, with the characters < > & as they are.
func Encode(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", fmt.Errorf("encode part of a session: %w", err)
	}
	return store.Text(strings.TrimSuffix(b.String(), "\n")), nil
}

// EncodeThread returns a thread as it is stored, "" for the zero one.
func EncodeThread(t *trace.Thread) (string, error) {
	if t.Zero() {
		return "", nil
	}
	return Encode(t)
}

// DecodeThread returns the thread that a column has.
func DecodeThread(text string) (t trace.Thread, err error) {
	if text == "" {
		return t, nil
	}
	return t, json.Unmarshal([]byte(text), &t)
}
