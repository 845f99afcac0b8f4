package job

import (
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
	// Alone says that no other process works on the database: leases found at the start are of the dead.
	Alone bool
}

// Queue takes requests for jobs and runs them. It is safe for concurrent use, but for Handle.
type Queue struct {
	cfg      Config
	handlers map[Type]Handler
	types    []Type
	wake     chan struct{} // something may be due
	stuck    atomic.Bool   // jobs can't be claimed

	mu      sync.Mutex
	waits   map[id.Job]*wait         // guarded by mu
	running map[id.Job]chan struct{} // guarded by mu; a send makes the worker look whether the job is still its own
}

// wait is what callers of Wait for one job share.
type wait struct {
	ended   chan struct{} // closed when the job may have ended
	callers int
}

// New gives a queue; Run runs it.
func New(c Config) *Queue {
	if c.Workers == 0 {
		c.Workers = 4
	}
	return &Queue{cfg: c, handlers: map[Type]Handler{}, wake: make(chan struct{}, c.Workers),
		waits: map[id.Job]*wait{}, running: map[id.Job]chan struct{}{}}
}

// Handle says who does the work of a type; before Run. A second handler for a type is a programming error.
func (q *Queue) Handle(t Type, h Handler) {
	if q.handlers[t] != nil {
		panic("two handlers for jobs of type " + string(t))
	}
	q.handlers[t] = h
	q.types = append(q.types, t)
}

// Enqueue writes a job; it is durable when Enqueue returns and begins as soon as a worker is free.
func (q *Queue) Enqueue(ctx context.Context, r Request) (Job, error) {
	input, err := json.Marshal(r.Input)
	if err != nil {
		return Job{}, fmt.Errorf("encode input of job: %w", err)
	}
	j, err := q.cfg.Store.Add(ctx, Job{
		ID: id.NewJob(), Type: r.Type, State: Queued, Account: r.Account, CreatedBy: r.CreatedBy, CorpusKeys: r.Corpora,
		Lane: r.Exclusive, Created: clock.Now(), Input: input,
	})
	if err != nil {
		return Job{}, fmt.Errorf("enqueue job: %w", err)
	}
	q.rouse()
	return j, nil
}

// rouse makes one idle worker look for work.
func (q *Queue) rouse() {
	select {
	case q.wake <- struct{}{}:
	default: // as many calls as there are workers wait already
	}
}

// Get gives a job of an account; fault.KindNotFound "job_not_found" when there is none.
func (q *Queue) Get(ctx context.Context, account string, id id.Job) (Job, error) {
	return q.cfg.Store.Get(ctx, account, id)
}

// List gives a page of jobs, newest first, and whether more follow.
func (q *Queue) List(ctx context.Context, l List) ([]Job, bool, error) {
	return q.cfg.Store.List(ctx, l)
}

// poll is how often is looked for what other processes did: jobs to do, and ends of jobs waited for.
const poll = time.Second

// Wait gives the job when it has ended, or ctx's error before.
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
			ended = nil // it may have been a false alarm; the ticker goes on
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

// announce wakes who waits for a job.
func (q *Queue) announce(id id.Job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w := q.waits[id]; w != nil {
		close(w.ended)
		delete(q.waits, id)
	}
}

// Refresh makes this process notice at once that jobs were aborted in the store, as deleting a corpus does.
// Other processes notice at the next renewal of their leases.
func (q *Queue) Refresh() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, look := range q.running {
		select {
		case look <- struct{}{}:
		default: // it will look already
		}
	}
	for id, w := range q.waits {
		close(w.ended)
		delete(q.waits, id)
	}
	q.rouse()
}
