// Package failure is how a turn fails: what those who sent its input are told.
package failure

import (
	"cmp"
	"errors"
	"time"

	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/trace"
	"quarry/internal/usage"
)

// Explain returns a failure as whoever sent the input is told of it: with one of the statuses of the contract
// (sessions-and-events, section 3.4). What a client can do nothing about stays as it is.
func Explain(err error) error {
	var failure *llm.Error
	if errors.As(err, &failure) {
		switch f := failure.Fault(); failure.Failure {
		case llm.TimedOut, llm.Unreachable:
			return f
		case llm.Limited:
			return f.After(max(failure.After, time.Second))
		}
		return Broken("%s", failure).Because(failure.Cause)
	}
	f, ok := fault.As(err)
	if !ok {
		return err
	}
	var over *usage.Refused
	if errors.As(err, &over) {
		out := *f
		return out.After(max(over.After, time.Second))
	}
	return f
}

// ErrInterrupted is the cause of a turn that was asked to end.
var ErrInterrupted = errors.New("the turn was interrupted")

// errTooMany is what TooMany is because of.
var errTooMany = errors.New("too many calls of the model")

// TooMany returns the failure of a turn that has called the model as often as it may.
func TooMany(calls int) *fault.Fault {
	return Broken("the turn has called the language model %d times, the setting max_model_calls of this service, without an answer", calls).Because(errTooMany)
}

// errStuck is what Stuck is because of.
var errStuck = errors.New("no progress")

// Stuck returns the failure of what was taken over again and again and comes no further.
func Stuck(format string, args ...any) *fault.Fault { return Broken(format, args...).Because(errStuck) }

// Of returns a failure as the trace of its turn has it.
func Of(err error) session.Failure {
	var model *llm.Error
	var over *usage.Refused
	out := session.Failure{Class: trace.Internal, Text: "the turn has failed; the log of the service has the reason"}
	switch {
	case errors.Is(err, errTooMany):
		out.Class = trace.ActionsLimit
	case errors.As(err, &model) && model.Begun:
		out.Class = trace.StreamError
	case errors.As(err, &model), errors.As(err, &over):
		out.Class = trace.GenerationError
	}
	if f, ok := fault.As(Explain(err)); ok {
		out.Text = cmp.Or(f.Text, f.Error())
		if out.Class == trace.Internal && (f.Code == Unusable || f.Kind == fault.KindUpstream && !errors.Is(err, errStuck)) {
			out.Class = trace.GenerationError
		}
	}
	return out
}

// Limit returns the failure of a turn that has ended at a limit of which readers are told so, or none.
func Limit(n *feed.Note) session.Failure {
	switch n.Kind {
	case feed.ContextLimit:
		return session.Failure{Class: trace.ContextLimit, Text: n.Text}
	case feed.TransitionLimit:
		return session.Failure{Class: trace.TransitionLimit, Text: n.Text}
	}
	return session.Failure{}
}

// Unusable is the code of a turn whose model can't be used.
const Unusable = "model_unavailable"

// Broken returns the failure of a turn that is nobody's request to blame for: 500, with its reason.
func Broken(format string, args ...any) *fault.Fault {
	return fault.UpstreamStatus(500, format, args...)
}
