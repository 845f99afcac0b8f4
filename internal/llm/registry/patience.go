package registry

import (
	"cmp"
	"context"
	"errors"
	"time"

	"quarry/internal/llm"
)

// patience is how much longer than its idle timeout a model may keep a call alive before the answer begins: comments and
// empty events break the silence that adapters measure, so that a call could wait for ever.
const patience = 10 * time.Minute

var errPatience = errors.New("nothing of an answer came")

// waiting returns the context of a call that is canceled when no answer begins. heard is to be called with the first event
// of the answer, done with the error of the call: it returns a timeout where that was the cause.
func (m *metered) waiting(ctx context.Context) (_ context.Context, heard func(), done func(error) error) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(cmp.Or(m.llm.Idle, DefaultIdle)+patience, func() { cancel(errPatience) })
	return ctx, func() { timer.Stop() }, func(err error) error {
		timer.Stop()
		impatient := context.Cause(ctx) == errPatience
		cancel(nil)
		if err != nil && impatient {
			return &llm.Error{Failure: llm.TimedOut, Model: m.llm.Name, Text: "it keeps the line alive and says nothing of an answer"}
		}
		return err
	}
}
