package job

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"quarry/internal/fault"
)

// A job is tried again after firstPause, twice that, and so on up to longestPause; after maxAttempts without progress
// it has failed. Together that is about six minutes. What the storage can't do now is tried for as long as that lasts.
const (
	firstPause   = time.Second
	longestPause = 2 * time.Minute
	maxAttempts  = 10
)

// pause is how long to wait after an attempt (from 1) that failed: between half and all of the growing step, so that
// jobs that failed together don't return together.
func pause(attempt int) time.Duration {
	step := longestPause
	if attempt < 16 { // beyond, the shift is pointless
		step = min(firstPause<<(attempt-1), longestPause)
	}
	return step/2 + rand.N(step/2+1)
}

// hopeless reports whether trying again can't mend err.
func hopeless(err error) bool {
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

// comment words a failure for the user; what isn't a fault is for the log alone.
func comment(err error) string {
	if f, ok := fault.As(err); ok {
		return f.Error()
	}
	return "internal error; the log of the service says more under the id of this job"
}

// outcome says what becomes of a job whose handler returned err.
func outcome(j *Job, said string, err error, now time.Time) Outcome {
	switch {
	case err == nil:
		return Outcome{State: Completed, Comment: said, At: now}
	case errors.Is(err, ErrAborted):
		return Outcome{State: Aborted, Comment: said, At: now}
	case hopeless(err) || j.Attempt >= maxAttempts && !fault.Is(err, fault.KindUnavailable): // a full disk is not the job's failure
		return Outcome{State: Failed, Comment: comment(err), At: now}
	default:
		return Outcome{State: WillRetry, Comment: comment(err), At: now, Due: now.Add(pause(j.Attempt))}
	}
}

// closing is how long a worker tries to write what became of a job when the service is told to stop.
const closing = 5 * time.Second

// beyond gives a context that outlives ctx for the last words about a job.
func beyond(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), closing)
}
