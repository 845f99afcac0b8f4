package app

import (
	"context"
	"testing"
	"time"
)

// TestWithin proves that what takes long does not keep the service from becoming ready, and is not ended by it; and that what is
// done makes it ready at once.
func TestWithin(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}, 2), make(chan struct{})
	go func() {
		defer close(ended)
		within(ctx, time.Microsecond, func(ctx context.Context) { <-ctx.Done() }, func() { ready <- struct{}{} })
	}()
	<-ready
	select {
	case <-ended:
		t.Error("the work ended with the patience")
	default:
	}
	cancel()
	<-ended

	within(t.Context(), time.Hour, func(context.Context) {}, func() { ready <- struct{}{} })
	if len(ready) != 2 { // the first work has told so at its end, too
		t.Errorf("told to be ready %d times, want twice", len(ready))
	}
}
