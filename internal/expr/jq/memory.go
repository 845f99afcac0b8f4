package jq

import (
	"context"
	"runtime/metrics"
	"time"
)

// limitMemory returns a context that ends with ErrMemory when the heap of this process has grown by more than most
// bytes. What else the process does counts, too, since Go knows no memory of a goroutine: the bound is far above what both
// need. Whoever has called stop hears of no limit any more.
func limitMemory(ctx context.Context, most uint64) (limited context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go watch(ctx, most, cancel)
	return ctx, func() { cancel(nil) }
}

// watch calls cancel once the heap has grown by more than most bytes, and returns when ctx has ended. Garbage counts: what a
// program throws away while another collection is due is little beside what one that is in time makes, and waiting for a
// collection would let a value that doubles do so a few times more.
func watch(ctx context.Context, most uint64, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for start := heap(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := heap()
		if start = min(start, now); now-start > most {
			cancel(ErrMemory)
		}
	}
}

// heap returns the bytes of all objects, also of those that are garbage and not collected yet.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
