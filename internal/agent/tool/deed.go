package tool

import (
	"context"

	"quarry/internal/id"
)

// Deed is something that a call does and that clients do by an operation of the service. It is recorded as theirs is, as done by the
// agent.
type Deed struct {
	Operation string            // id in the contract
	Target    map[string]string // what the operation names, by parameter
}

// Doer is who does a deed.
type Doer struct {
	ClientID string   // of the agent
	Agent    string   // key
	Call     id.Event // that does it
}

// Recorder records deeds.
type Recorder interface {
	// Records reports whether an operation is recorded.
	Records(operation string) bool
	// Intend records a deed before it is done. After an error it must not be done; else done has to be told what came of it.
	Intend(ctx context.Context, by Doer, d Deed) (done func(error), err error)
}

// Intend is Recorder.Intend for what the call does, with secrets masked.
func (c *Call) Intend(ctx context.Context, d Deed) (done func(error), err error) {
	if c.Recorder == nil || !c.Recorder.Records(d.Operation) {
		return func(error) {}, nil
	}
	self, err := c.Identity(ctx)
	if err != nil {
		return nil, err
	}
	target := make(map[string]string, len(d.Target))
	for name, v := range d.Target {
		target[name] = c.Mask.Text(v)
	}
	return c.Recorder.Intend(ctx, Doer{self.ClientID, c.Agent, c.Event}, Deed{d.Operation, target})
}
