package session

import (
	"encoding/json"
	"errors"
	"slices"

	"quarry/internal/agent/artifact"
	"quarry/internal/id"
	"quarry/internal/trace"
)

// Pending is a call that the client has to make.
type Pending struct {
	Event    id.Event // of the call
	CallID   string
	Tool     string // the name that the model sees
	ToolName string
	// Overrides are the values of the pinned arguments, with secrets masked, which the output will have; empty for none.
	Overrides json.RawMessage
	Output    json.RawMessage // a JSON Schema that the output has to fit; empty for any object
	Delivery
}

// Delivery is what of a call is for the client alone, and sealed at rest. The JSON names are those of the store.
type Delivery struct {
	Arguments json.RawMessage `json:"arguments"`
	Secrets   []string        `json:"secrets,omitempty"` // values in Arguments that are masked elsewhere
}

// Park stops a turn until the client has made calls.
type Park struct {
	Calls []Pending    // in order
	Next  string       // the step that the next turn begins at if this one ends here
	Trace trace.Thread // Run.Trace of the turn when it goes on
}

// Parked is a turn that waits for the client: what its run was, without a lease.
type Parked struct {
	Run  Run
	Park // with the calls that are left
}

// Answers are outputs of calls that a parked turn waits for.
type Answers struct {
	Session   int64
	Turn      int64 // that was parked when they were made
	Calls     []id.Event
	Outputs   []Event // one for each of Calls
	Artifacts []artifact.Artifact
	Full      error // why no turn may go on now, which then is the error; nil if one may
}

// Answered is outputs that are durable.
type Answered struct {
	Events []Event
	Run    *Run // the same turn, with the lease; nil while calls are left
}

// ErrAnswered is the error of answers to calls that don't wait any more, or to a turn that is not parked.
var ErrAnswered = errors.New("the call doesn't wait for the client any more")

// Superseded returns the outputs of the calls that are open among the events of a turn which goes on or ends without them: those
// that the client has not made, and those that wait for these.
func Superseded(events []Event, calls []Pending) []Event {
	open := Unanswered(events)
	out := CutOff(open, "superseded by new input")
	for i := range out {
		if n := slices.IndexFunc(calls, func(c Pending) bool { return c.Event == open[i].ID }); n >= 0 {
			out[i].Overrides = calls[n].Overrides
		}
	}
	return out
}
