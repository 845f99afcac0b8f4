package jq

import (
	"context"
	"runtime"
	"runtime/metrics"
	"time"
)

// limitMemory returns a context that ends with ErrMemory when the heap of this process has grown by more than most bytes without
// its garbage, or by more than MaxMemory with it. What else the process does counts, too, since Go knows no memory of a goroutine.
// Whoever has called stop hears of no limit any more.
func limitMemory(ctx context.Context, most uint64) (limited context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go watch(ctx, most, cancel)
	return ctx, func() { cancel(nil) }
}

// watch calls cancel once the heap has grown by too much, and returns when ctx has ended. Beyond most, a collection finds out what is
// garbage. Waiting for it would let a value that doubles do so a few times more, so beyond MaxMemory garbage counts.
func watch(ctx context.Context, most uint64, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	collected, collecting := make(chan struct{}, 1), false
	for start, next := heap(), most; ; {
		after := false
		select {
		case <-ctx.Done():
			return
		case <-collected:
			after, collecting = true, false
		case <-tick.C:
		}
		now := heap()
		start = min(start, now)
		grown := now - start
		switch {
		case grown > MaxMemory, after && grown > most:
			cancel(ErrMemory)
		case after:
			next = max(most, grown+most/2)
		case grown > next && !collecting:
			collecting = true
			go func() {
				runtime.GC()
				collected <- struct{}{}
			}()
		}
	}
}

// heap returns the bytes of all objects, also of those that are garbage and not collected yet.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
