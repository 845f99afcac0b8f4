package tool

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
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

// guard runs f with a limit of time, a negative one for none. It returns when f does, or when the time has passed or ctx has ended; then
// f has ending to return, too, and may go on afterwards, when nothing hears of it any more.
func guard[T any](ctx context.Context, limit, ending time.Duration, f func(context.Context) (T, error)) (T, error) {
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
		if ending > 0 {
			select {
			case <-done:
			case <-time.After(ending):
			}
		}
		var none T
		return none, context.Cause(ctx)
	}
}

// until returns an activity that tells until quiet is called: a tool may be left behind.
func until(tell Activity) (told Activity, quiet func()) {
	var mu sync.Mutex
	return func(p Progress) {
			mu.Lock()
			defer mu.Unlock()
			if tell != nil {
				tell(p)
			}
		}, func() {
			mu.Lock()
			defer mu.Unlock()
			tell = nil
		}
}
