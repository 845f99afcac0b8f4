package subagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"quarry/internal/agent"
	"quarry/internal/agent/artifact"
	"quarry/internal/agent/permit"
	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/agent/turn"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/jsonvalue"
)

// call is one call in progress.
type call struct {
	tool.Call
	tell tool.Activity
	args struct {
		Message string   `json:"message"`
		Session *string  `json:"session_key"`
		Minutes int64    `json:"session_tti_minutes"`
		Shared  []string `json:"artifact_ids"`
	}
	self  permit.Identity // of the agent that calls
	child session.Session
	input session.Input
}

// run is tool.Tool.Run.
func (k *kind) run(ctx context.Context, made tool.Call, tell tool.Activity) (json.RawMessage, error) {
	k, c := k.within(made.SessionNo), &call{Call: made, tell: tell}
	if err := json.Unmarshal(c.Arguments, &c.args); err != nil {
		return nil, &tool.Failure{Class: tool.InvalidInput, Text: fmt.Sprintf("the arguments can't be read: %s", err)}
	}
	if made.SessionNo == 0 && (c.args.Session != nil || len(c.args.Shared) > 0) {
		return nil, &tool.Failure{Class: tool.InvalidInput, Text: "a session has neither files nor conversations with other agents while it is made; leave session_key and artifact_ids out"}
	}
	if err := c.Permit(permit.Need{Agent: k.agent, Level: permit.Use}); err != nil {
		return nil, err
	}
	if len(c.Payers) > MaxDepth {
		return nil, failed("agents call one another at most %d levels deep, and this call would be beyond that", MaxDepth)
	}
	target, err := k.Agents.Get(ctx, k.agent)
	if err != nil {
		return nil, err
	}
	if c.self, err = c.Identity(ctx); err != nil {
		return nil, err
	}
	files, err := c.share(ctx)
	if err != nil {
		c.Files.Unshare(ctx, files)
		return nil, err
	}
	c.input = session.Input{
		Event: inputOf(c.Event), Upload: id.EventOf("sub_agent files " + string(c.Event)), Files: files, Queue: true,
		Parts:  []session.Part{{Text: c.Mask.Text(c.args.Message), ExternalID: string(c.Event)}},
		Caller: c.caller(),
	}
	c.input.Caller.Trace = c.Trace.Parent()
	sent, err := k.begin(ctx, c, &target)
	c.Files.Unshare(ctx, files)
	defer k.giveUp(ctx, c)
	if err != nil {
		return nil, err
	}
	defer sent.Close()
	return k.follow(ctx, c, sent)
}

// caller returns who the called agent is told has sent its input: the agent that calls.
func (c *call) caller() session.Caller {
	return session.Caller{Rights: c.self.Passed(c.Sender), Caller: reference.Caller{Type: reference.AgentCaller, ID: c.self.ClientID}, Payers: c.Payers}
}

// inputOf returns the id of the input that a call sends.
func inputOf(call id.Event) id.Event { return id.EventOf("sub_agent input " + string(call)) }

func failed(format string, args ...any) error {
	return &tool.Failure{Class: tool.ExecutionError, Text: fmt.Sprintf(format, args...)}
}

// share returns copies of the files that the call names, which are held.
func (c *call) share(ctx context.Context) (out []artifact.Artifact, err error) {
	for _, which := range c.args.Shared {
		a, err := c.Files.Share(ctx, which)
		if err != nil {
			return out, err
		}
		out = append(out, a)
	}
	return out, nil
}

// begin sends the input to the session that the call uses. Calls of one reply do it in their order, so that two to one session are
// answered in that order.
func (k *kind) begin(ctx context.Context, c *call, target *agent.Agent) (sent *turn.Sent, err error) {
	err = c.Place.Do(ctx, func() error {
		if c.child, err = k.open(ctx, c, target); err != nil {
			return err
		}
		done, err := c.Intend(ctx, tool.Deed{Operation: "createAgentInput", Target: map[string]string{
			"agent_key": target.Key, "session_key": c.child.Key, "event_id": string(c.input.Event),
		}})
		if err != nil {
			return err
		}
		in := turn.Input{Input: c.input, Whole: true, Firm: true}
		in.Session = c.child.No
		if k.Places != nil {
			in.Leave, in.Full = k.Places.Enter(ctx, c.Payers[0].Scope, 1)
			if in.Full != nil {
				in.Full = fault.Limited("too_many_turns", "too many turns of sub-agents run at once; try again in a moment")
			}
		}
		if c.Again {
			if in.Since, err = k.since(ctx, c); err != nil {
				return err
			}
		}
		sent, err = k.Turns.Send(ctx, in)
		done(err)
		return err
	})
	return sent, err
}

// since returns where the events of a call begin that may have been made before.
func (k *kind) since(ctx context.Context, c *call) (*int64, error) {
	e, err := k.Sessions.Event(ctx, c.child.No, c.input.Event)
	if err != nil && !fault.Is(err, fault.KindNotFound) {
		return nil, err
	}
	from := max(e.Ord-2, 0) // its files stand before it
	return &from, nil
}

// giveUp ends what a call has begun whose context has ended, unless another process goes on with the call.
func (k *kind) giveUp(ctx context.Context, c *call) {
	if ctx.Err() == nil || c.child.No == 0 || errors.Is(context.Cause(ctx), turn.ErrStopping) {
		return
	}
	if err := k.Turns.Withdraw(context.WithoutCancel(ctx), c.child.No, c.input.Event); err != nil {
		k.Log.Warn("a sub-agent works on, although its call has ended", "agent", k.agent, "session", c.child.Key, "error", err)
	}
}

// stop is tool.Tool.Stop.
func (k *kind) stop(ctx context.Context, made tool.Call) error {
	c, err := k.begun(ctx, made)
	if err != nil || c == nil {
		return err
	}
	return k.Turns.Withdraw(ctx, c.child.No, inputOf(c.Event))
}

// undo is tool.Tool.Undo: nobody goes on with the session that a call has opened from one that was never made.
func (k *kind) undo(ctx context.Context, made tool.Call) error {
	if made.SessionNo != 0 {
		return nil
	}
	c, err := k.within(0).begun(ctx, made)
	if err != nil || c == nil {
		return err
	}
	return k.Sessions.Delete(ctx, c.child.No)
}

// begun returns a call that was made with the session that it has used; nil if nothing was begun, or all of it is deleted.
func (k *kind) begun(ctx context.Context, made tool.Call) (*call, error) {
	c := &call{Call: made}
	if err := json.Unmarshal(c.Arguments, &c.args); err != nil {
		return nil, err
	}
	target, err := k.Agents.Get(ctx, k.agent)
	if err == nil {
		c.child, err = k.used(ctx, c, &target)
	}
	if fault.Is(err, fault.KindNotFound) {
		return nil, nil
	}
	return c, err
}

// following is the turn of a call while it is read.
type following struct {
	*call
	turn   int64           // that answers the input; 0 while it has not begun
	shown  int64           // of the last event
	answer json.RawMessage // nil for none
	why    *feed.Note      // the turn did not come to its end
}

// follow reads the turn to its end and returns the output.
func (k *kind) follow(ctx context.Context, c *call, sent *turn.Sent) (json.RawMessage, error) {
	sent.Acts()
	f := &following{call: c}
	for over := false; !over; {
		frame, err := sent.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			over = true
		case fault.Is(err, fault.KindNotFound):
			return nil, failed("the session %s of the agent %q was deleted before there was an answer", c.child.Key, k.agent)
		case err != nil:
			return nil, err
		case frame.Shape == feed.Stored:
			over = f.event(frame.Event)
		case frame.Shape == feed.Noted:
			f.note(frame.Note)
		}
	}
	if f.why == nil && f.turn > 0 {
		why, err := k.Turns.Cause(ctx, c.child.No, f.turn)
		if err != nil && !fault.Is(err, fault.KindNotFound) {
			return nil, err
		}
		f.why = why
	}
	if err := k.reason(ctx, f); err != nil {
		return nil, err
	}
	return jsonvalue.Encode(map[string]any{"session_key": c.child.Key, "sub_agent_response": jsonvalue.Decode(f.answer)}), nil
}

// event takes an event of the session, and reports whether the turn is over.
func (f *following) event(e session.Event) (over bool) {
	f.shown = e.Turn
	if e.ID == f.input.Event || e.ID == f.input.Upload {
		f.turn = e.Turn
	}
	if f.turn == 0 || e.Turn != f.turn {
		return f.turn > 0 && e.Turn > f.turn
	}
	switch e.Type {
	case session.AgentOutput:
		f.answer = jsonvalue.Encode(e.Text)
	case session.StructuredOutput:
		f.answer = e.Content
	}
	f.tell(tool.Progress{Event: &feed.Inner{Event: e, Session: f.child.Key}})
	return false
}

// note takes what is told of the session and not stored.
func (f *following) note(n feed.Note) {
	if n.Turn == 0 {
		n.Turn = f.shown // calls that the client has to make are told at the end of what is shown
	}
	switch {
	case f.turn == 0 || n.Turn != f.turn:
	case n.Kind != feed.Activity:
		f.why = &n
	case n.Acted.Event != nil:
		f.tell(tool.Progress{Event: n.Acted.Event})
	default:
		f.tell(tool.Progress{Message: n.Acted.Tool + ": " + n.Text})
	}
}

// reason returns why there is no answer, nil if there is one.
func (k *kind) reason(ctx context.Context, f *following) error {
	in := fmt.Sprintf("the agent %q, in session %s, ", k.agent, f.child.Key)
	switch {
	case f.why == nil && f.answer != nil:
		return nil
	case f.why == nil:
		return failed("%shas ended without an answer", in)
	}
	switch f.why.Kind {
	case feed.Interrupted:
		return failed("%swas interrupted before it had answered", in)
	case feed.Pending:
		if err := k.Turns.Withdraw(ctx, f.child.No, f.input.Event); err != nil {
			return err
		}
		return failed("%sasks its client to run the tool %q, and there is no client for an agent that is called by another one; its turn was ended", in, f.why.Calls[0].Tool)
	case feed.ContextLimit, feed.TransitionLimit:
		return failed("%shas not answered: %s", in, f.why.Text)
	}
	text := "the log of the service has the reason"
	if known, ok := fault.As(f.why.Err); ok {
		text = tool.Reason(known, "")
	}
	return failed("%shas failed: %s", in, text)
}
