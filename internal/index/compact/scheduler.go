package compact

import (
	"container/heap"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"quarry/internal/background"
)

const (
	// merges is how many merges run at once in a process.
	merges = 2
	// quantum is how long a merge works before it looks for searches, and patience how long it then waits for their end
	// at most, so that it goes on under searches that never end.
	quantum  = 2 * time.Millisecond
	patience = 10 * time.Millisecond
	// doze is how often it looks meanwhile.
	doze = time.Millisecond
)

// Scheduler runs the merges of all indexes of a process: one at a time of each index, and few in all. It holds a goroutine
// for each merge that runs, and one timer while something is due later; for what is not due it holds nothing. Safe for
// concurrent use. A nil scheduler runs nothing.
type Scheduler struct {
	// Rest is how long nothing must be written to an index before it is merged into as few segments as possible.
	Rest time.Duration

	searches atomic.Int64 // in flight

	mu      sync.Mutex
	due     tasks       // guarded by mu
	running int         // guarded by mu
	timer   *time.Timer // for the first of due; nil while there is none, or no room for it; guarded by mu
}

// NewScheduler returns a scheduler without tasks.
func NewScheduler(rest time.Duration) *Scheduler { return &Scheduler{Rest: rest} }

// Begin counts a search, to which merges yield until End.
func (s *Scheduler) Begin() {
	if s != nil {
		s.searches.Add(1)
	}
}

// End ends what Begin began.
func (s *Scheduler) End() {
	if s != nil {
		s.searches.Add(-1)
	}
}

// Work merges what is due and returns when more is; the zero time for never. It calls pause between blocks of its work and
// ends soon after that has returned an error, which is that of ctx.
type Work func(ctx context.Context, pause func() error) (next time.Time)

// Task is the merging of one index.
type Task struct {
	s       *Scheduler
	work    Work
	at      time.Time     // guarded by Scheduler.mu
	place   int           // in Scheduler.due, -1 = not there; guarded by Scheduler.mu
	again   time.Time     // asked for while it runs; guarded by Scheduler.mu
	cancel  func()        // nil while it does not run; guarded by Scheduler.mu
	done    chan struct{} // closed when the run ends; guarded by Scheduler.mu
	stopped bool          // guarded by Scheduler.mu
}

// Task returns a task that is not due.
func (s *Scheduler) Task(work Work) *Task {
	if s == nil {
		return nil
	}
	return &Task{s: s, work: work, place: -1}
}

// At sets when the task is due, in place of any time before; the zero time is never. While it runs, it is also due when its
// work says so, whichever is first.
func (t *Task) At(when time.Time) {
	if t == nil {
		return
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	switch {
	case t.stopped:
	case t.cancel != nil:
		t.again = when
	default:
		t.s.set(t, when)
	}
}

// Stop ends the task for good, and returns when its work has ended.
func (t *Task) Stop() {
	if t == nil {
		return
	}
	t.s.mu.Lock()
	t.stopped = true
	t.s.set(t, time.Time{})
	done := t.done
	if t.cancel != nil {
		t.cancel()
	}
	t.s.mu.Unlock()
	if done != nil {
		<-done
	}
}

// set puts t, which does not run, in its place among those that are due; the caller holds mu.
func (s *Scheduler) set(t *Task, when time.Time) {
	t.at = when
	switch {
	case when.IsZero() && t.place >= 0:
		heap.Remove(&s.due, t.place)
	case when.IsZero():
		return
	case t.place >= 0:
		heap.Fix(&s.due, t.place)
	default:
		heap.Push(&s.due, t)
	}
	s.start()
}

// start runs what is due, and sets the timer for the rest; the caller holds mu.
func (s *Scheduler) start() {
	now := time.Now()
	for s.running < merges && len(s.due) > 0 && !s.due[0].at.After(now) {
		t := heap.Pop(&s.due).(*Task)
		ctx, cancel := context.WithCancel(context.Background())
		t.cancel, t.done, t.again = cancel, make(chan struct{}), time.Time{}
		s.running++
		go s.run(ctx, t)
	}
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if s.running < merges && len(s.due) > 0 {
		s.timer = time.AfterFunc(s.due[0].at.Sub(now), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.start()
		})
	}
}

func (s *Scheduler) run(ctx context.Context, t *Task) {
	end := background.Begin()
	next := t.work(ctx, s.Pause(ctx))
	end()
	s.mu.Lock()
	defer s.mu.Unlock()
	t.cancel()
	close(t.done)
	t.cancel, t.done = nil, nil
	s.running--
	if next.IsZero() || !t.again.IsZero() && t.again.Before(next) {
		next = t.again
	}
	if t.stopped {
		next = time.Time{}
	}
	s.set(t, next)
	s.start() // set does not where the task is never due again
}

// Pause returns what work in the background calls between blocks of it: while there are searches, it waits for their end,
// within bounds. The error is that of ctx. It is for one goroutine.
func (s *Scheduler) Pause(ctx context.Context) func() error {
	last := time.Now()
	return func() error {
		if s.searches.Load() == 0 || time.Since(last) < quantum {
			return ctx.Err()
		}
		for end := time.Now().Add(patience); s.searches.Load() > 0 && ctx.Err() == nil && time.Now().Before(end); {
			time.Sleep(doze)
		}
		last = time.Now()
		return ctx.Err()
	}
}

// tasks is a heap, the earliest first.
type tasks []*Task

func (h tasks) Len() int           { return len(h) }
func (h tasks) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h tasks) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push implements heap.Interface.
func (h *tasks) Push(x any) {
	t := x.(*Task)
	t.place = len(*h)
	*h = append(*h, t)
}

// Pop implements heap.Interface.
func (h *tasks) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	t.place = -1
	return t
}
