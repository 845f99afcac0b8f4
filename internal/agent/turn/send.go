package turn

import (
	"context"
	"time"

	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/turn/claim"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
)

// Input is an input with what its sender wants to read.
type Input struct {
	session.Input
	Since *int64 // the ord behind which the sender reads; nil: the input and what it leads to
	Whole bool   // the sender reads whole events, see feed.Hub.Attach
	Leave func() // gives back the place that the turn holds
	Firm  bool   // the input stays, whatever becomes of its turn
}

// Sent is an input that was accepted. Its sender reads what follows, and calls Close.
type Sent struct {
	*feed.Reader
	claim  *claim.Claim
	engine *Engine
	no     int64 // the session
	turn   int64 // of the event that was shown last
	told   bool  // of the calls that the client has to make
}

// Heard returns a channel that is closed when the model has begun to answer or the turn has come to something else. It is nil
// where the sender need not wait for that.
func (s *Sent) Heard() <-chan struct{} {
	if s.claim == nil {
		return nil
	}
	return s.claim.Heard()
}

// Show notes that something of the answer is shown from now on. It is false if the turn has failed before that: then Next
// returns why.
func (s *Sent) Show() bool { return s.claim == nil || s.claim.Take(claim.Shown) }

// Close ends the reading. The turn goes on; if it fails, its input stays.
func (s *Sent) Close() {
	s.Show()
	s.Reader.Close()
}

// commitFor bounds one write, which does not end with the context of whoever asked for it.
const commitFor = 30 * time.Second

// durable returns a context for a write that has to be made whether its caller waits or not.
func durable(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), commitFor)
}

// Send writes an input. It is durable when Send returns, and its turn has begun if the session was idle. It returns nil for an
// input all of which was known, whose sender reads nothing.
func (e *Engine) Send(ctx context.Context, in Input) (*Sent, error) {
	leave := in.Leave
	defer func() {
		if leave != nil {
			leave()
		}
	}()
	if err := e.ready(ctx); err != nil {
		return nil, err
	}
	reader := e.Hub.Attach(in.Session, in.Whole)
	sent := &Sent{Reader: reader, engine: e, no: in.Session}
	lease := e.leases.Fresh(in.Session)
	got, err := e.accept(ctx, in.Input, lease)
	if err != nil {
		reader.Close()
		return nil, err
	}
	switch got.Outcome {
	case session.Began, session.Again:
		if !in.Firm {
			sent.claim = claim.New()
		}
		from := got.Run.First - 1
		if in.Since != nil {
			from = *in.Since
		}
		if before := e.work(in.Session); before != nil {
			<-before.done // it has ended its run, and tells its readers so
		}
		until := feed.Until{Turn: got.Run.Turn, Own: true}
		if in.Compaction != nil {
			until.Input, until.Only = got.Event, true
		}
		reader.From(from, until)
		e.start(&work{run: got.Run, last: got.Last, leave: leave, claim: sent.claim, again: got.Outcome == session.Again})
		leave = nil // the run holds the place
		return sent, nil
	case session.Waiting:
		if in.Compaction != nil {
			in.Since = &got.Last
		}
		reader.From(opt(in.Since), feed.Until{Input: got.Event, Only: in.Compaction != nil})
		return sent, nil
	}
	if in.Since == nil {
		reader.Close()
		return nil, nil
	}
	until, err := e.known(ctx, in.Session, got.Event)
	reader.From(*in.Since, until)
	if err != nil {
		reader.Close()
	}
	return sent, err
}

// ready waits until runs of an earlier process are taken over, and reports whether inputs are taken.
func (e *Engine) ready(ctx context.Context) error {
	select {
	case <-e.leases.Ready():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if e.ctx.Err() != nil {
		return ErrStopping
	}
	return nil
}

func opt(since *int64) int64 {
	if since == nil {
		return 0
	}
	return *since
}

// accept writes an input. An error that leaves open whether it was written must not leave a run that nobody works on.
func (e *Engine) accept(ctx context.Context, in session.Input, l session.Lease) (session.Accepted, error) {
	write, cancel := durable(ctx)
	defer cancel()
	got, err := e.Log.Accept(write, in, l, clock.Now())
	if _, expected := fault.As(err); err == nil || expected {
		return got, err
	}
	if s, lost := e.Log.Standing(write, in.Session); lost == nil && s.Run != nil && s.Run.Holder == l.Holder {
		e.start(&work{run: *s.Run, last: s.Last, taken: true})
	}
	return got, err
}

// known returns how long the sender of an input that was there before reads: to the end of its turn if it waits, else to that
// of the turn in progress.
func (e *Engine) known(ctx context.Context, no int64, input id.Event) (feed.Until, error) {
	s, err := e.Log.Standing(ctx, no)
	if err != nil || s.Run == nil {
		return feed.Until{Now: true}, err
	}
	awaited, err := e.Log.Awaited(ctx, no, input)
	if err != nil {
		return feed.Until{}, err
	}
	if _, err = e.Sessions.Event(ctx, no, input); awaited && fault.Is(err, fault.KindNotFound) { // it is in the queue
		return feed.Until{Input: input}, nil
	}
	return feed.Until{Turn: s.Run.Turn}, nil
}

// Follow returns a reader of all that stands behind an event, and of what comes, over all turns.
func (e *Engine) Follow(no, since int64) *feed.Reader {
	r := e.Hub.Attach(no, false)
	r.From(since, feed.Until{})
	return r
}

// patience is how long Interrupt waits for the end of a turn of this process.
const patience = 5 * time.Second

// Interrupt ends the turn in progress, and returns the id under which readers are told so, "" if there is no turn. Where it runs in
// this process, it has ended then.
func (e *Engine) Interrupt(ctx context.Context, no int64) (id.Event, error) {
	write, cancel := durable(ctx)
	defer cancel()
	run, err := e.Log.Interrupt(write, no)
	if err != nil || run == nil {
		return "", err
	}
	return run.Interruption(), e.await(ctx, no)
}

// Withdraw ends what an input has led to, and nothing else: one that waits is removed as if it had never been sent, the turn that
// answers it is interrupted. Where that runs in this process, it has ended then.
func (e *Engine) Withdraw(ctx context.Context, no int64, input id.Event) error {
	write, cancel := durable(ctx)
	defer cancel()
	run, err := e.Log.Withdraw(write, no, input)
	if err != nil || run == nil {
		return err
	}
	return e.await(ctx, no)
}

// await ends the turn of a session that was asked to end, if it runs in this process, and waits for that.
func (e *Engine) await(ctx context.Context, no int64) error {
	look, cancel := durable(ctx)
	defer cancel()
	s, err := e.Log.Standing(look, no) // the turn in progress may be another by now
	if w := e.work(no); w != nil && s.Run != nil && s.Run.Interrupted {
		ended := w.interrupt(s.Run.Turn)
		select {
		case <-ended:
		case <-time.After(patience):
		case <-ctx.Done():
		}
	}
	return err
}

// Cause returns why a turn of a session did not come to its end; nil if it did, or goes on.
func (e *Engine) Cause(ctx context.Context, no, turn int64) (*feed.Note, error) {
	s, err := e.Log.Standing(ctx, no)
	if err != nil {
		return nil, err
	}
	return feed.CauseOf(turn, s.Causes)
}

// Drop ends the work on a session that was deleted.
func (e *Engine) Drop(no int64) {
	if w := e.work(no); w != nil {
		w.drop()
	}
}

// DropAgent ends the work on the sessions of an agent that was deleted.
func (e *Engine) DropAgent(no int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range e.works {
		if w.owner == no {
			w.drop()
		}
	}
}
