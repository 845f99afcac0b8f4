package turn

import (
	"context"
	"errors"
	"sync"
	"time"

	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/turn/claim"
	"quarry/internal/agent/turn/failure"
	"quarry/internal/clock"
	"quarry/internal/fault"
)

// work is a run that this process works on: one turn after the other, until no input waits.
type work struct {
	engine *Engine
	run    session.Run  // with the turn in progress
	last   int64        // ord of the last event that is known
	owner  int64        // the row number of the agent, which stays the same in all runs
	leave  func()       // gives back the place of the run; nil for none
	claim  *claim.Claim // of the sender who waits for the first turn; nil for none
	again  bool         // the first turn has failed before
	taken  bool         // from another process, or an earlier try: what it has left undone has to be found
	lost   bool         // from a process that is gone
	// answered is whether the turn was parked until now: calls without an output were never made, or were to wait for the client's.
	answered bool
	bare     bool // nothing but inputs stands in the turn
	live     *feed.Live
	done     chan struct{} // closed when the work has ended

	events []session.Event // visible ones, oldest first; nil if they have to be read
	edits  int64           // of the session when they were read

	mu      sync.Mutex
	cancel  context.CancelCauseFunc // of the turn in progress; guarded by mu, like all below
	number  int64                   // of that turn
	ended   chan struct{}           // closed when that turn has ended
	pending int64                   // a turn that was asked to end before it had begun here
}

// free leaves the place of the run.
func (w *work) free() {
	if w.leave != nil {
		w.leave()
		w.leave = nil
	}
}

// interrupt ends a turn, and returns a channel that is closed when it has ended.
func (w *work) interrupt(turn int64) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pending = turn; w.number == turn && w.cancel != nil {
		w.cancel(failure.ErrInterrupted)
		return w.ended
	}
	return w.done
}

// drop ends the turn without a trace.
func (w *work) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel != nil {
		w.cancel(session.ErrLost)
	}
}

// begin returns the context of the turn in progress.
func (w *work) begin() (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(w.engine.ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.number, w.cancel, w.ended = w.run.Turn, cancel, make(chan struct{})
	if w.run.Interrupted || w.pending == w.run.Turn {
		cancel(failure.ErrInterrupted)
	}
	return ctx, cancel
}

// errOver ends the work of this process: nothing waits, or another process works on the session, or this one stops.
var errOver = errors.New("nothing is left to do here")

// loop plays turns until the run is over.
func (w *work) loop() {
	w.live = w.engine.Hub.Begin(w.run.Session, w.last)
	defer w.live.End()
	defer w.remember()
	for {
		ctx, cancel := w.begin()
		w.bare = !w.taken
		err := (&turn{work: w}).play(ctx)
		cancel(nil)
		w.claim.Hear()
		close(w.ended)
		if err != nil {
			if !errors.Is(err, errOver) && !errors.Is(err, session.ErrLost) {
				w.engine.Logger.Error("a turn has stopped", "session", w.run.Session, "turn", w.run.Turn, "error", err)
			}
			return
		}
		w.claim, w.again, w.taken, w.lost, w.answered = nil, false, false, false, false
	}
}

// The pauses between attempts at a write that fails, for instance on a full disk.
const (
	firstPause = 100 * time.Millisecond
	mostPause  = 5 * time.Second
)

// commit writes c, however often that takes while the process runs. A write that was lost on its way is not made twice: the
// log shows whether it was made, and then the turn goes on from there.
func (w *work) commit(c session.Commit) (session.Committed, error) {
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		done, err := w.write(c)
		if err == nil {
			w.apply(&c, &done)
			return done, nil
		}
		if errors.Is(err, session.ErrLost) {
			return done, err
		}
		w.engine.Logger.Warn("an event is not written for now", "session", w.run.Session, "turn", w.run.Turn, "error", err)
		select {
		case <-time.After(pause):
		case <-w.engine.ctx.Done():
			return done, errOver
		}
		if err := w.check(); err != nil {
			return done, err
		}
	}
}

func (w *work) write(c session.Commit) (session.Committed, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commitFor)
	defer cancel()
	return w.engine.Log.Commit(ctx, w.run.Lease, c, clock.Now())
}

// errAhead is the error of a write that was made although it seemed to fail.
var errAhead = errors.New("the log is ahead of the process")

// check finds out whether the last write was made after all.
func (w *work) check() error {
	ctx, cancel := context.WithTimeout(context.Background(), commitFor)
	defer cancel()
	s, err := w.engine.Log.Standing(ctx, w.run.Session)
	switch {
	case fault.Is(err, fault.KindNotFound):
		return session.ErrLost
	case err != nil:
		return nil // the next attempt finds out
	case s.Run == nil || s.Run.Holder != w.run.Holder:
		return session.ErrLost
	case s.Run.Turn != w.run.Turn || s.Last != w.last:
		w.run, w.last, w.events, w.taken, w.lost = *s.Run, s.Last, nil, true, false
		return errAhead
	}
	return nil
}

// apply brings what this process knows up to what was written, and shows it to the readers.
func (w *work) apply(c *session.Commit, done *session.Committed) {
	keep := w.events != nil && done.Edits == w.edits
	if !keep {
		w.events, w.edits = nil, done.Edits
	} else {
		w.events = append(append(w.events, done.Events...), done.Inputs...)
	}
	if p := c.Progress; p != nil {
		w.run.Step, w.run.Transitions, w.run.Calls = p.Step, p.Transitions, p.Calls
	}
	if n := len(done.Events); n > 0 {
		w.last, w.run.Recovered, w.bare = done.Events[n-1].Ord, 0, false
	}
	if done.Interrupted && !done.Ended {
		w.interrupt(w.run.Turn)
	}
	if done.Ended && done.Next == nil {
		w.free() // before anybody is told that the turn is over
	}
	w.live.Stored(w.last)
	w.claim.Hear()
	if n := len(done.Inputs); n > 0 {
		w.last = done.Inputs[n-1].Ord
		if done.Next == nil {
			w.live.Stored(w.last)
		}
	}
}

// next goes on with the turn that follows, if there is one.
func (w *work) next(done *session.Committed) error {
	if done.Next == nil {
		return errOver
	}
	w.run = *done.Next
	w.live.Stored(w.last)
	return nil
}
