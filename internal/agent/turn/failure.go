package turn

import (
	"errors"
	"time"

	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/usage"
)

// explain returns a failure as whoever sent the input is told of it: with one of the statuses of the contract
// (sessions-and-events, section 3.4). What a client can do nothing about stays as it is.
func explain(err error) error {
	var failure *llm.Error
	if errors.As(err, &failure) {
		switch f := failure.Fault(); failure.Failure {
		case llm.TimedOut, llm.Unreachable:
			return f
		case llm.Limited:
			return f.After(max(failure.After, time.Second))
		}
		return broken("%s", failure).Because(failure.Cause)
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

// broken returns the failure of a turn that is nobody's request to blame for: 500, with its reason.
func broken(format string, args ...any) *fault.Fault {
	return fault.UpstreamStatus(500, format, args...)
}
