package app

import (
	"context"
	"time"
)

// warmTime is how long /readyz waits for indexes whose files are far behind.
const warmTime = 10 * time.Second

// warmUp returns the task that brings up such indexes. a is warm from the end of it on, or after warmTime while it goes on; at once
// where there are none.
func (a *App) warmUp() func(context.Context) {
	ready := func() { a.warm.Store(true) }
	if len(a.corpus.behind) == 0 {
		ready()
	}
	return func(ctx context.Context) {
		within(ctx, warmTime, func(ctx context.Context) { a.corpus.replicas.CatchUpAll(ctx, a.corpus.behind) }, ready)
	}
}

// within runs work and calls ready at its end, or after patience, which ends nothing.
func within(ctx context.Context, patience time.Duration, work func(context.Context), ready func()) {
	defer time.AfterFunc(patience, ready).Stop()
	work(ctx)
	ready()
}
