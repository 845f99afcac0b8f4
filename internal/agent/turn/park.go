package turn

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/session"
	"quarry/internal/agent/session/answer"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/agent/turn/spans"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
)

// park stops the turn until the client has made calls that are ready for it. Nothing of the turn stays in this process.
func (t *turn) park(ctx context.Context, planned []tool.Planned, ready map[int]*tool.Delivered) error {
	p := session.Park{Next: t.after()}
	for _, n := range slices.Sorted(maps.Keys(ready)) {
		c, d := &planned[n], ready[n]
		p.Calls = append(p.Calls, session.Pending{
			Event: c.Event, CallID: c.CallID, Tool: c.Tool, ToolName: c.ToolName, Overrides: d.Overrides, Output: d.Output,
			Delivery: session.Delivery{Arguments: d.Arguments, Secrets: d.Secrets},
		})
	}
	done, err := t.commit(session.Commit{Park: &p})
	switch {
	case err != nil:
		return err
	case done.Parked:
		t.tell(feed.Note{Kind: feed.Pending, Calls: p.Calls}, feed.Note{Kind: feed.Over})
		return errOver
	case done.Ended: // an input has superseded the calls
		t.tell(feed.Note{Kind: feed.Over})
		if err := t.next(&done); err != nil {
			return err
		}
		return errNext
	}
	for _, e := range done.Events { // the same, in this turn
		if e.Type == session.ToolOutput {
			t.scene.Outputs[e.Tool] = reference.Latest{Failed: true}
		}
	}
	return context.Cause(ctx)
}

// Next returns what comes next, as feed.Reader.Next does. Calls that the client has to make come at the end, also where the turn
// was parked in another process, or before its sender came.
func (s *Sent) Next(ctx context.Context) (feed.Frame, error) {
	f, err := s.Reader.Next(ctx)
	switch {
	case err == nil && f.Shape == feed.Stored:
		s.turn = f.Event.Turn
	case err == nil && f.Shape == feed.Noted && f.Note.Kind == feed.Pending:
		s.told = true
	case errors.Is(err, io.EOF) && !s.told:
		s.told = true
		p, lost := s.engine.Log.Parked(ctx, s.no)
		if lost != nil {
			return f, lost
		}
		if p != nil && (s.turn == 0 || s.turn == p.Run.Turn) {
			return pendingFrame(p.Calls), nil
		}
	}
	return f, err
}

func pendingFrame(calls []session.Pending) feed.Frame {
	now := clock.Now()
	return feed.Frame{Shape: feed.Noted, At: now, Note: feed.Note{Kind: feed.Pending, ID: id.NewEvent(), At: now, Calls: calls}}
}

// Outstanding returns the calls that a session waits for the client to make.
func (e *Engine) Outstanding(ctx context.Context, no int64) ([]session.Pending, error) {
	p, err := e.Log.Parked(ctx, no)
	if p == nil || err != nil {
		return nil, err
	}
	return p.Calls, nil
}

// Outputs are outputs of calls that a session waits for.
type Outputs struct {
	Session int64
	Given   []answer.Given
	Whole   bool   // the sender reads whole events, see feed.Hub.Attach
	Leave   func() // gives back the place that the turn holds
	Full    error  // why no turn may go on now; nil if one may
}

// Answer writes outputs of calls that the client has made. With the last one the turn goes on, and the sender reads what
// follows; otherwise Sent is nil, and partly has the events of the outputs and the calls that are left.
func (e *Engine) Answer(ctx context.Context, in Outputs) (sent *Sent, partly []feed.Frame, err error) {
	leave := in.Leave
	defer func() {
		if leave != nil {
			leave()
		}
	}()
	if err := e.ready(ctx); err != nil {
		return nil, nil, err
	}
	reader := e.Hub.Attach(in.Session, in.Whole)
	lease := e.leases.Fresh(in.Session)
	for {
		p, err := e.Log.Parked(ctx, in.Session)
		if err != nil {
			reader.Close()
			return nil, nil, err
		}
		got, err := e.answer(ctx, p, &in, lease)
		switch {
		case errors.Is(err, session.ErrAnswered): // somebody was faster
			continue
		case err != nil:
			reader.Close()
			return nil, nil, err
		case got.Run == nil:
			reader.Close()
			return nil, e.left(p, &in, got.Events), nil
		}
		if before := e.work(in.Session); before != nil {
			<-before.done
		}
		reader.From(got.Events[0].Ord-1, feed.Until{Turn: got.Run.Turn, Own: true})
		e.start(&work{run: *got.Run, last: got.Events[len(got.Events)-1].Ord, leave: leave, taken: true, answered: true})
		leave = nil // the run holds the place
		return &Sent{Reader: reader, engine: e, no: in.Session}, nil, nil
	}
}

// left returns what the sender of some outputs is shown: their events, and the calls that are left.
func (e *Engine) left(p *session.Parked, in *Outputs, events []session.Event) (out []feed.Frame) {
	for _, ev := range events {
		out = append(out, feed.Frame{Shape: feed.Stored, Event: ev, At: ev.Created})
	}
	return append(out, pendingFrame(slices.DeleteFunc(slices.Clone(p.Calls), func(c session.Pending) bool {
		return slices.ContainsFunc(in.Given, func(g answer.Given) bool { return g.Call == c.Event })
	})))
}

// answer writes outputs for a parked turn. An error that leaves open whether they were written must not leave a run that nobody
// works on.
func (e *Engine) answer(ctx context.Context, p *session.Parked, in *Outputs, l session.Lease) (session.Answered, error) {
	a, release, err := e.checked(ctx, p, in)
	defer release()
	if err != nil {
		return session.Answered{}, err
	}
	write, cancel := durable(ctx)
	defer cancel()
	got, err := e.Log.Answer(write, a, l, clock.Now())
	if _, expected := fault.As(err); err == nil || expected || errors.Is(err, session.ErrAnswered) {
		return got, err
	}
	if s, lost := e.Log.Standing(write, in.Session); lost == nil && s.Run != nil && s.Run.Holder == l.Holder {
		e.start(&work{run: *s.Run, last: s.Last, taken: true, answered: true})
	}
	return got, err
}

// checked returns outputs as they are stored, or what is wrong with them. release lets go of the files that they name.
func (e *Engine) checked(ctx context.Context, p *session.Parked, in *Outputs) (a session.Answers, release func(), err error) {
	a = session.Answers{Session: in.Session, Full: in.Full}
	var held []*artifact.Workspace
	release = func() {
		for _, w := range held {
			w.Release(ctx)
		}
	}
	calls, err := answer.Match(p, in.Given)
	if err != nil {
		return a, release, err
	}
	t := &turn{work: &work{engine: e, run: p.Run}, trace: spans.None{}}
	if err := t.open(ctx); err != nil {
		return a, release, err
	}
	defer t.remember()
	a.Turn = p.Run.Turn
	if err := t.bind(ctx); err != nil {
		return a, release, err
	}
	for i, g := range in.Given {
		c := calls[i]
		out, files := t.fit(ctx, &tool.Planned{CallID: c.CallID, Tool: c.Tool}, t.tools.Finish(ctx, c.Tool, c.Secrets, g.Output, g.Failed, t.scene))
		held, a.Artifacts = append(held, files), append(a.Artifacts, out.Artifacts...)
		a.Calls = append(a.Calls, c.Event)
		a.Outputs = append(a.Outputs, session.Event{ID: id.NewEvent(), Type: session.ToolOutput, Body: session.Body{
			CallID: c.CallID, Tool: c.Tool, ToolName: c.ToolName, Output: out.Output, Failed: out.Failed, Class: string(out.Class), Overrides: c.Overrides,
		}})
	}
	return a, release, nil
}
