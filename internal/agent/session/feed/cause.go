package feed

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/secret/redact"
)

// cause is a note in the row of its session, for readers in other processes. An error that is none for clients has no fault.
type cause struct {
	Turn   int64        `json:"turn"`
	Kind   Kind         `json:"kind"`
	ID     id.Event     `json:"id"`
	At     time.Time    `json:"at"`
	Limit  int64        `json:"limit,omitempty"`
	Actual int64        `json:"actual,omitempty"`
	Text   string       `json:"text,omitempty"`
	Fault  *fault.Fault `json:"fault,omitempty"`
}

// Cause returns the one of notes that says why a turn did not come to its end, as the store keeps it; "" if none does.
func Cause(notes []Note) string {
	for _, n := range notes {
		if n.Kind != Interrupted && n.Kind != Failed && n.Kind != ContextLimit && n.Kind != TransitionLimit {
			continue
		}
		o := cause{Turn: n.Turn, Kind: n.Kind, ID: n.ID, At: n.At, Limit: n.Limit, Actual: n.Actual, Text: n.Text}
		if f, ok := fault.As(n.Err); ok {
			told := *f
			told.Text = redact.Text(f.Text)
			o.Fault = &told
		}
		raw, _ := json.Marshal(o) // texts, numbers and instants always encode
		return string(raw)
	}
	return ""
}

// errUnknown is the error of a turn that failed in another process in a way that is for the log there.
var errUnknown = errors.New("the turn has failed in another process")

// CauseOf returns what the causes of a session say of a turn, nil for nothing.
func CauseOf(turn int64, causes []string) (*Note, error) {
	for _, stored := range slices.Backward(causes) {
		var o cause
		if err := json.Unmarshal([]byte(stored), &o); err != nil {
			return nil, fmt.Errorf("read the cause of a turn: %w", err)
		}
		if o.Turn != turn {
			continue
		}
		n := &Note{Kind: o.Kind, ID: o.ID, At: o.At, Limit: o.Limit, Actual: o.Actual, Text: o.Text, Turn: o.Turn}
		switch {
		case o.Fault != nil:
			n.Err = o.Fault
		case o.Kind == Failed:
			n.Err = errUnknown
		}
		return n, nil
	}
	return nil, nil
}
