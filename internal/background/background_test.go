package background_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/background"
)

// TestDo proves that a pool runs all that it is given, at most as much at once as there are cores, and that its threads end.
func TestDo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := background.NewPool()
		var running, most, done atomic.Int64
		var callers sync.WaitGroup
		for range 20 * background.Cores() {
			callers.Go(func() {
				if err := p.Do(t.Context(), func(bool) {
					if n := running.Add(1); n > most.Load() {
						most.Store(n)
					}
					time.Sleep(time.Millisecond)
					running.Add(-1)
					done.Add(1)
				}); err != nil {
					t.Error(err)
				}
			})
		}
		callers.Wait()
		if n := int64(background.Cores()); most.Load() != n || done.Load() != 20*n {
			t.Errorf("%d at once, %d in all, with %d cores", most.Load(), done.Load(), n)
		}
		time.Sleep(time.Minute) // now all threads have ended: a bubble must not have any left
	})
}

// TestDoWaits proves that what waits for a thread ends with its context and is not run, and that a thread is used again.
func TestDoWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := background.NewPool()
		release := make(chan struct{})
		var holders sync.WaitGroup
		for range background.Cores() {
			holders.Go(func() { _ = p.Do(context.Background(), func(bool) { <-release }) })
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		waited := make(chan error)
		go func() { waited <- p.Do(ctx, func(bool) { t.Error("it was run") }) }()
		synctest.Wait()
		cancel()
		if err := <-waited; !errors.Is(err, context.Canceled) {
			t.Errorf("waiting ends with %v", err)
		}
		close(release)
		holders.Wait()
		ran := false
		if err := p.Do(t.Context(), func(bool) { ran = true }); err != nil || !ran {
			t.Errorf("a free thread: %v, %v", ran, err)
		}
		if err := p.Do(ctx, func(bool) { t.Error("it was run") }); !errors.Is(err, context.Canceled) {
			t.Errorf("after its context has ended: %v", err)
		}
		time.Sleep(time.Minute)
	})
}
