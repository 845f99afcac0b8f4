package job

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"quarry/internal/clock"
	"quarry/internal/id"
)

// Config is what a Queue needs.
type Config struct {
	Store   Store
	Log     *slog.Logger
	Workers int // jobs at once in this process; 0 is 4
	// Alone reports that no other process uses the database, so leases found at the start belong to a process that died.
	Alone bool
}

// Queue accepts requests for jobs and runs them. It is safe for concurrent use, except for Handle.
type Queue struct {
	cfg      Config
	handlers map[Type]Handler
	types    []Type
	woken    chan struct{} // a job may be due; holds at most one element per worker
	stuck    atomic.Bool   // the last claim failed

	mu      sync.Mutex
	waits   map[id.Job]*wait         // guarded by mu
	running map[id.Job]chan struct{} // guarded by mu; a send makes the worker check that it still holds the job
}

// wait is shared by the callers of Wait for one job.
type wait struct {
	ended   chan struct{} // closed when the job may have ended
	callers int
}

// New returns a queue; Run runs it.
func New(c Config) *Queue {
	if c.Workers == 0 {
		c.Workers = 4
	}
	return &Queue{cfg: c, handlers: map[Type]Handler{}, woken: make(chan struct{}, c.Workers),
		waits: map[id.Job]*wait{}, running: map[id.Job]chan struct{}{}}
}

// Handle registers the handler of a type and must be called before Run. It panics on a second handler for a type.
func (q *Queue) Handle(t Type, h Handler) {
	if q.handlers[t] != nil {
		panic("two handlers for jobs of type " + string(t))
	}
	q.handlers[t] = h
	q.types = append(q.types, t)
}

// Enqueue writes a job and returns when it is durable. The job starts as soon as a worker is free. With Once it may be one
// that was there already.
func (q *Queue) Enqueue(ctx context.Context, r Request) (Job, error) {
	input, err := json.Marshal(r.Input)
	if err != nil {
		return Job{}, fmt.Errorf("encode input of job: %w", err)
	}
	add := q.cfg.Store.Add
	if r.Once {
		add = q.cfg.Store.AddOnce
	}
	j, err := add(ctx, Job{
		ID: cmp.Or(r.ID, id.NewJob()), Type: r.Type, State: Queued, Account: r.Account, CreatedBy: r.CreatedBy, CorpusKeys: r.Corpora,
		Lane: r.Lane, Created: clock.Now(), Input: input,
	})
	if err != nil {
		return Job{}, fmt.Errorf("enqueue job: %w", err)
	}
	q.wake()
	return j, nil
}

// wake sends one idle worker to look for a job.
func (q *Queue) wake() {
	select {
	case q.woken <- struct{}{}:
	default: // every worker has been woken already
	}
}

// Get returns a job of an account; fault.KindNotFound "job_not_found" when there is none.
func (q *Queue) Get(ctx context.Context, account string, id id.Job) (Job, error) {
	return q.cfg.Store.Get(ctx, account, id)
}

// List returns a page of jobs, newest first, and whether more follow.
func (q *Queue) List(ctx context.Context, l List) ([]Job, bool, error) {
	return q.cfg.Store.List(ctx, l)
}

// poll is the interval at which the queue checks for changes made by other processes: new jobs, and the end of jobs that
// callers of Wait wait for. Changes of this process are noticed at once.
const poll = time.Second

// Wait returns the job when it has ended, or ctx's error if ctx ends first.
func (q *Queue) Wait(ctx context.Context, account string, id id.Job) (Job, error) {
	w := q.await(id)
	defer q.leave(id, w)
	tick := time.NewTicker(poll)
	defer tick.Stop()
	ended := w.ended
	for {
		j, err := q.cfg.Store.Get(ctx, account, id)
		if err != nil || j.State.Ended() {
			return j, err
		}
		select {
		case <-ended:
			ended = nil // the job may be due again instead; from here on the ticker is enough
		case <-tick.C:
		case <-ctx.Done():
			return j, ctx.Err()
		}
	}
}

func (q *Queue) await(id id.Job) *wait {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.waits[id]
	if w == nil {
		w = &wait{ended: make(chan struct{})}
		q.waits[id] = w
	}
	w.callers++
	return w
}

func (q *Queue) leave(id id.Job, w *wait) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.callers--; w.callers == 0 && q.waits[id] == w {
		delete(q.waits, id)
	}
}

// notify wakes the callers of Wait for a job.
func (q *Queue) notify(id id.Job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w := q.waits[id]; w != nil {
		close(w.ended)
		delete(q.waits, id)
	}
}

// Refresh has the workers and waiters of this process look into the store at once, for jobs that were aborted there, as
// deleting a corpus does. Other processes notice at their next heartbeat.
func (q *Queue) Refresh() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, check := range q.running {
		select {
		case check <- struct{}{}:
		default: // a check is due already
		}
	}
	for id, w := range q.waits {
		close(w.ended)
		delete(q.waits, id)
	}
	q.wake()
}
