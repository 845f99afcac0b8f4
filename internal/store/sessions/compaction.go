package sessions

import (
	"encoding/json"
	"time"

	"quarry/internal/agent/session"
	"quarry/internal/store"
	"quarry/internal/store/sessions/rows"
)

// measured is a usage as it is stored.
type measured struct {
	session.Usage
	Ord   int64 `json:"ord"`
	Edits int64 `json:"edits"`
}

// compacting returns the compaction that an input asks for, nil for a message.
func compacting(in *session.Input) *session.Compacting {
	if in.Compaction == nil {
		return nil
	}
	return &session.Compacting{Event: in.Event, Wish: *in.Compaction}
}

func encodeCompacting(c *session.Compacting) (string, error) {
	if c == nil {
		return "", nil
	}
	return rows.Encode(c)
}

func decodeCompacting(text string) (c *session.Compacting, err error) {
	if text == "" {
		return nil, nil
	}
	return c, json.Unmarshal([]byte(text), &c)
}

// compact begins the run of a compaction, or lets it wait.
func compact(tx *store.Tx, h head, p place, in session.Input, l session.Lease, now time.Time) (session.Accepted, error) {
	if err := h.open(p); err != nil {
		return session.Accepted{}, err
	}
	in.Queue = true
	if p.running {
		return session.Accepted{Outcome: session.Waiting, Event: in.Event, Last: h.last}, h.enqueue(tx, in)
	}
	if in.Full != nil {
		return session.Accepted{}, in.Full
	}
	if err := h.isParked(tx); err != nil {
		return session.Accepted{}, err
	}
	was := h
	h.turn++
	if err := h.save(tx, was); err != nil {
		return session.Accepted{}, err
	}
	run, err := h.begin(tx, p, session.Event{Ord: h.last + 1, Turn: h.turn}, 0, in, l, now)
	return session.Accepted{Outcome: session.Began, Event: in.Event, Last: h.last, Run: run}, err
}

// hide hides what a compaction has summed up.
func (w *work) hide(spans []session.Span) error {
	for _, s := range spans {
		hidden, err := store.Select(w.tx, "hide events", store.One[int64],
			`UPDATE events SET hidden = $4 WHERE session_no = $1 AND ord BETWEEN $2 AND $3 AND hidden = '' RETURNING ord`, w.no, s.From, s.To, session.Compacted)
		if err != nil {
			return err
		}
		w.hidden += int64(len(hidden))
	}
	if len(spans) > 0 {
		w.edits++
	}
	return nil
}
