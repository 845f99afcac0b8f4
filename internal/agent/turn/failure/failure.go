// Package failure is how a turn fails: what those who sent its input are told.
package failure

import (
	"errors"
	"time"

	"quarry/internal/fault"
	"quarry/internal/llm"
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

// Broken returns the failure of a turn that is nobody's request to blame for: 500, with its reason.
func Broken(format string, args ...any) *fault.Fault {
	return fault.UpstreamStatus(500, format, args...)
}
