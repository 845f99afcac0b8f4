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
)

const (
	// leaseTime is how long a job stays with a worker that gives no sign of life.
	leaseTime = 30 * time.Second
	// beat is how often a worker gives one.
	beat = leaseTime / 3
	// retention is how long jobs that ended are shown (contract: Jobs).
	retention = 180 * 24 * time.Hour
	// sweepEvery is how often those beyond it are removed.
	sweepEvery = time.Hour
)

// Run does the work until ctx ends; then it gives the jobs in progress back, to be resumed by whoever runs next, and
// returns when no handler runs any more. It logs its own failures.
func (q *Queue) Run(ctx context.Context) {
	if q.cfg.Alone {
		if err := q.cfg.Store.Free(ctx, clock.Now()); err != nil && ctx.Err() == nil {
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
		if err := q.cfg.Store.Sweep(ctx, clock.Now().Add(-retention)); err != nil && ctx.Err() == nil {
			q.cfg.Log.Warn("old jobs were not removed", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// work is one worker.
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
		case <-q.wake:
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// claimed logs that jobs can't be claimed, or can again: once for all workers, however long it lasts.
func (q *Queue) claimed(err error) {
	switch {
	case err != nil && q.stuck.CompareAndSwap(false, true):
		q.cfg.Log.Error("jobs can't be claimed", "error", err)
	case err == nil && q.stuck.CompareAndSwap(true, false):
		q.cfg.Log.Info("jobs are claimed again")
	}
}

// errStolen is the cause of a handler's context when its job is no longer its own, errStopping when the service stops.
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

// Input reads what the request asked for.
func (w *Work) Input(into any) error {
	if err := json.Unmarshal(w.Job.Input, into); err != nil {
		return fmt.Errorf("read input of job %s: %w", w.Job.ID, err)
	}
	return nil
}

// Progress reads the last checkpoint; false when there is none.
func (w *Work) Progress(into any) (bool, error) {
	if len(w.Job.Progress) == 0 {
		return false, nil
	}
	if err := json.Unmarshal(w.Job.Progress, into); err != nil {
		return false, fmt.Errorf("read progress of job %s: %w", w.Job.ID, err)
	}
	return true, nil
}

// Save writes a checkpoint, from which the handler goes on after a crash, and what the user sees meanwhile. ErrAborted
// says that the job is no longer the handler's; the handler returns it.
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

// do runs the handler of one job under its lease and writes what became of it.
func (q *Queue) do(ctx context.Context, j Job, l Lease) {
	w := &Work{Job: j, queue: q, lease: l, until: l.Until}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(errStopping) })
	look := make(chan struct{}, 1)
	q.mu.Lock()
	q.running[j.ID] = look
	q.mu.Unlock()
	beating := make(chan struct{})
	go func() {
		defer close(beating)
		w.beat(own, look, cancel)
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

// beat renews the lease until ctx ends, and ends ctx when the lease is lost.
func (w *Work) beat(ctx context.Context, look <-chan struct{}, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-look:
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

// call contains a panic of the handler.
func call(ctx context.Context, h Handler, w *Work) (comment string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a job: %v\n%s", p, debug.Stack())
		}
	}()
	return h(ctx, w)
}

// end writes what became of a job. What can't be written is left to the lease: it runs out, and the job is resumed.
func (q *Queue) end(ctx context.Context, w *Work, said string, err, cause error) {
	defer q.announce(w.Job.ID)
	defer q.rouse() // the next of its lane
	log := q.cfg.Log.With("job", string(w.Job.ID), "type", string(w.Job.Type))
	if err != nil && errors.Is(cause, errStolen) {
		log.Info("job taken away")
		return
	}
	o := outcome(&w.Job, said, err, clock.Now())
	if err != nil && errors.Is(cause, errStopping) && !hopeless(err) {
		o = Outcome{State: Queued, At: clock.Now(), Due: clock.Now()}
	}
	last, done := beyond(ctx)
	defer done()
	written := q.cfg.Store.End(last, w.lease, o)
	if errors.Is(written, ErrAborted) { // with its corpus: that may be what the handler stumbled over
		log.Info("job taken away")
		return
	}
	note(log, o, w.Job.Attempt, err)
	if written != nil {
		log.Error("the end of a job was not written", "error", written)
	}
}

// note logs what becomes of a job.
func note(log *slog.Logger, o Outcome, attempt int, err error) {
	switch o.State {
	case WillRetry:
		log.Warn("job will be tried again", "error", err, "attempt", attempt, "at", o.Due)
	case Failed:
		level := slog.LevelError
		if hopeless(err) { // the user's to mend
			level = slog.LevelWarn
		}
		log.Log(context.Background(), level, "job failed", "error", err)
	default:
		log.Info("job left", "state", string(o.State))
	}
}
