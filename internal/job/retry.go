package job

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"quarry/internal/fault"
)

// A job is tried again after firstPause, then twice that, and so on up to longestPause; after maxAttempts without progress
// it fails. The nine pauses between them take three to six minutes together. An outage of the
// storage (fault.KindUnavailable) does not count: such a job is tried until the outage is over.
const (
	firstPause   = time.Second
	longestPause = 2 * time.Minute
	maxAttempts  = 10
)

// pause returns the time between a failed attempt, counted from 1, and the next one: a random time between half the step
// and the whole step, so that jobs that failed together do not come back together.
func pause(attempt int) time.Duration {
	step := longestPause
	if attempt < 16 { // longestPause is reached long before, and a larger shift would overflow
		step = min(firstPause<<(attempt-1), longestPause)
	}
	return step/2 + rand.N(step/2+1)
}

// permanent reports whether the same work would fail with err again.
func permanent(err error) bool {
	f, ok := fault.As(err)
	if !ok {
		return false
	}
	switch f.Kind {
	case fault.KindInvalid, fault.KindUnauthenticated, fault.KindForbidden, fault.KindNotFound, fault.KindConflict,
		fault.KindTooLarge, fault.KindMediaType, fault.KindUnprocessable, fault.KindNotBuilt:
		return true
	}
	return false
}

// comment returns the text of a failure for the user. Only faults are shown; other errors go to the log.
func comment(err error) string {
	if f, ok := fault.As(err); ok {
		return f.Error()
	}
	return "internal error; the log of the service says more under the id of this job"
}

// outcome returns how a job ends whose handler returned said and err.
func outcome(j *Job, said string, err error, now time.Time) Outcome {
	switch {
	case err == nil:
		return Outcome{State: Completed, Comment: said, At: now}
	case errors.Is(err, ErrAborted):
		return Outcome{State: Aborted, Comment: said, At: now}
	case permanent(err) || j.Attempt >= maxAttempts && !fault.Is(err, fault.KindUnavailable): // a full disk is not the job's failure
		return Outcome{State: Failed, Comment: comment(err), At: now}
	default:
		return Outcome{State: WillRetry, Comment: comment(err), At: now, Due: now.Add(pause(j.Attempt))}
	}
}

// closing is how long a worker tries to write the outcome of a job while the service stops.
const closing = 5 * time.Second

// detached returns a context that survives the end of ctx for long enough to write an outcome.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), closing)
}
