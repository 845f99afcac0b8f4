package room

import (
	"context"
	"time"
)

const (
	// expireEvery is the interval between searches for what has expired.
	expireEvery = 10 * time.Minute
	// retryFirst is the pause after the first failure, as of a full disk; it doubles with each one that follows, up to expireEvery.
	retryFirst = 5 * time.Second
)

// Expire calls remove at once and every ten minutes until ctx ends, with the time of the call, to remove what has expired by then.
// After a failure it calls kept with the error and the pause until it tries again. Several nodes may run it at once.
func Expire(ctx context.Context, remove func(context.Context, time.Time) (int, error), kept func(err error, again time.Duration)) {
	ctx = Freeing(ctx)
	for retry := retryFirst; ; {
		wait := expireEvery
		if _, err := remove(ctx, time.Now()); err == nil {
			retry = retryFirst
		} else if ctx.Err() == nil {
			kept(err, retry)
			wait, retry = retry, min(2*retry, expireEvery)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}
