package job

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"quarry/internal/clock"
	"quarry/internal/id"
	"quarry/internal/room"
)

const (
	// leaseTime is how long a job stays with a worker that no longer renews its lease.
	leaseTime = 30 * time.Second
	// heartbeat is the interval at which a worker renews its lease: two renewals may fail before the lease runs out.
	heartbeat = leaseTime / 3
	// retention is how long ended jobs are shown (contract: Jobs).
	retention = 180 * 24 * time.Hour
	// sweepEvery is the interval at which older jobs are removed.
	sweepEvery = time.Hour
)

// Run runs jobs until ctx ends. It then puts the jobs in progress back into the queue, to be resumed after the next start
// or by another process, and returns when no handler is running any more. It logs its own failures.
func (q *Queue) Run(ctx context.Context) {
	if q.cfg.Alone {
		if err := q.cfg.Store.Free(room.Freeing(ctx), clock.Now()); err != nil && ctx.Err() == nil {
			q.cfg.Log.Warn("jobs under way at the last stop wait for their leases to run out", "error", err)
		}
	}
	var all sync.WaitGroup
	for range q.cfg.Workers {
		all.Go(func() { q.work(ctx) })
	}
	all.Go(func() { q.sweep(ctx) })
	all.Wait()
}

func (q *Queue) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if err := q.cfg.Store.Sweep(room.Freeing(ctx), clock.Now().Add(-retention)); err != nil && ctx.Err() == nil {
			q.cfg.Log.Warn("old jobs were not removed", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// work is the loop of one worker: claim a job and run it, or wait until one may be due.
func (q *Queue) work(ctx context.Context) {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for ctx.Err() == nil {
		l := Lease{Holder: id.Text(16), Until: clock.Now().Add(leaseTime)}
		j, ok, err := q.cfg.Store.Claim(ctx, q.types, clock.Now(), l)
		if ctx.Err() == nil {
			q.claimed(err)
		}
		if err == nil && ok {
			l.No = j.No
			q.do(ctx, j, l)
			continue
		}
		select {
		case <-q.woken:
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// claimed logs that claiming jobs fails, and that it works again: one line each for all workers, however long an outage
// lasts.
func (q *Queue) claimed(err error) {
	switch {
	case err != nil && q.stuck.CompareAndSwap(false, true):
		q.cfg.Log.Error("jobs can't be claimed", "error", err)
	case err == nil && q.stuck.CompareAndSwap(true, false):
		q.cfg.Log.Info("jobs are claimed again")
	}
}

// The causes with which a handler's context ends: errStolen when the worker no longer holds the job, errStopping when the
// service stops.
var (
	errStolen   = fmt.Errorf("lease lost: %w", ErrAborted)
	errStopping = errors.New("the service stops")
)

// Work is a job in the hands of its handler.
type Work struct {
	Job   Job // as claimed, with the progress saved since
	queue *Queue
	lease Lease
	mu    sync.Mutex
	until time.Time // guarded by mu: end of the lease as last renewed
}

// Input decodes the input of the request.
func (w *Work) Input(into any) error {
	if err := json.Unmarshal(w.Job.Input, into); err != nil {
		return fmt.Errorf("read input of job %s: %w", w.Job.ID, err)
	}
	return nil
}

// Progress decodes the last checkpoint; it returns false when there is none.
func (w *Work) Progress(into any) (bool, error) {
	if len(w.Job.Progress) == 0 {
		return false, nil
	}
	if err := json.Unmarshal(w.Job.Progress, into); err != nil {
		return false, fmt.Errorf("read progress of job %s: %w", w.Job.ID, err)
	}
	return true, nil
}

// Save writes a checkpoint, from which the handler continues after a crash, and the comment that the user sees meanwhile.
// It returns ErrAborted when the worker no longer holds the job; the handler then returns that error.
func (w *Work) Save(ctx context.Context, progress any, comment string) error {
	text, err := json.Marshal(progress)
	if err != nil {
		return fmt.Errorf("encode progress of job: %w", err)
	}
	if err := w.renew(ctx, Checkpoint{Progress: text, Comment: &comment}); err != nil {
		return fmt.Errorf("save progress of job: %w", err)
	}
	if !bytes.Equal(text, w.Job.Progress) {
		w.Job.Progress, w.Job.Attempt = text, 1
	}
	return nil
}

func (w *Work) renew(ctx context.Context, c Checkpoint) error {
	l := w.lease
	l.Until = clock.Now().Add(leaseTime)
	if err := w.queue.cfg.Store.Save(ctx, l, c); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.until = l.Until
	return nil
}

func (w *Work) expired() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !clock.Now().Before(w.until)
}

// do runs the handler of one job under its lease and writes the outcome.
func (q *Queue) do(ctx context.Context, j Job, l Lease) {
	w := &Work{Job: j, queue: q, lease: l, until: l.Until}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(errStopping) })
	check := make(chan struct{}, 1)
	q.mu.Lock()
	q.running[j.ID] = check
	q.mu.Unlock()
	beating := make(chan struct{})
	go func() {
		defer close(beating)
		w.heartbeat(own, check, cancel)
	}()
	said, err := call(own, q.handlers[j.Type], w)
	stop()
	cause := context.Cause(own)
	cancel(nil)
	<-beating
	q.mu.Lock()
	delete(q.running, j.ID)
	q.mu.Unlock()
	q.end(ctx, w, said, err, cause)
}

// heartbeat renews the lease until ctx ends, and cancels ctx when the lease is lost: taken by another worker, or run out
// because it could not be renewed in time.
func (w *Work) heartbeat(ctx context.Context, check <-chan struct{}, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-check:
		case <-ctx.Done():
			return
		}
		err := w.renew(ctx, Checkpoint{})
		switch {
		case errors.Is(err, ErrAborted), w.expired():
			cancel(errStolen)
			return
		case err != nil && ctx.Err() == nil:
			w.queue.cfg.Log.Warn("the lease of a job was not renewed", "job", string(w.Job.ID), "error", err)
		}
	}
}

// call runs a handler and turns a panic into an error.
func call(ctx context.Context, h Handler, w *Work) (comment string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a job: %v\n%s", p, debug.Stack())
		}
	}()
	return h(ctx, w)
}

// end writes the outcome of a job. If that fails the lease runs out by itself and the job is resumed.
func (q *Queue) end(ctx context.Context, w *Work, said string, err, cause error) {
	defer q.notify(w.Job.ID)
	defer q.wake() // the next job of its lane may be due
	log := q.cfg.Log.With("job", string(w.Job.ID), "type", string(w.Job.Type))
	if err != nil && errors.Is(cause, errStolen) {
		log.Info("job taken away")
		return
	}
	o := outcome(&w.Job, said, err, clock.Now())
	if err != nil && errors.Is(cause, errStopping) && !permanent(err) {
		o = Outcome{State: Queued, At: clock.Now(), Due: clock.Now()}
	}
	last, done := detached(ctx)
	defer done()
	written := q.cfg.Store.End(last, w.lease, o)
	if errors.Is(written, ErrAborted) { // its corpus was deleted, which may be why the handler failed
		log.Info("job taken away")
		return
	}
	note(log, o, w.Job.Attempt, err)
	if written != nil {
		log.Error("the end of a job was not written", "error", written)
	}
}

// note logs the outcome of a job.
func note(log *slog.Logger, o Outcome, attempt int, err error) {
	switch o.State {
	case WillRetry:
		log.Warn("job will be tried again", "error", err, "attempt", attempt, "at", o.Due)
	case Failed:
		level := slog.LevelError
		if permanent(err) { // the user must act, not the operator
			level = slog.LevelWarn
		}
		log.Log(context.Background(), level, "job failed", "error", err)
	default:
		log.Info("job left", "state", string(o.State))
	}
}
