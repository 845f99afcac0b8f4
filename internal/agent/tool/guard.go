package tool

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// panicked is the error of what has panicked.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

// errLate is the error of what took longer than it may.
var errLate = errors.New("time limit")

// guard runs f with a limit of time, a negative one for none. It returns when f does, when the time has passed, or when ctx has ended; in the last two
// cases f may go on, and nothing hears of it any more.
func guard[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	cancel := func() {}
	if limit >= 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errLate)
	}
	defer cancel()
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = &panicked{p, debug.Stack()}
			}
			done <- r
		}()
		r.value, r.err = f(ctx)
	}()
	select {
	case r := <-done:
		if r.err != nil && ctx.Err() != nil {
			r.err = errors.Join(context.Cause(ctx), r.err)
		}
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
