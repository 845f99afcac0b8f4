package turn

import (
	"context"
	"errors"

	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/turn/failure"
	"quarry/internal/agent/turn/reply"
	"quarry/internal/agent/turn/step"
	"quarry/internal/llm"
)

// ask calls the model, and shows readers what it says.
func (t *turn) ask(ctx context.Context, m *llm.Model, r llm.Request) (*reply.Reply, error) {
	s := reply.New(m.Can.Context, t.step.Output.Schema != nil, t.live)
	var provider llm.Provider = m
	if retry := t.agent.Model.Retry; retry != nil && retry.Enabled {
		provider = llm.Retrying(m, retry.Retry)
	}
	var err error
	s.Answer, err = provider.Stream(ctx, r, func(e llm.Event) error {
		s.Hear(e)
		t.claim.Hear()
		return context.Cause(ctx)
	})
	return s, err
}

// progress is where the turn stands behind the call.
func (t *turn) progress() *session.Progress {
	return &session.Progress{Step: t.name, Transitions: t.run.Transitions, Calls: t.run.Calls + 1}
}

// partly ends the turn where a call of the model has ended before its time. Text that somebody was shown stays, and so does what
// the model had thought before it was interrupted.
func (t *turn) partly(s *reply.Reply, err error) error {
	interrupted := errors.Is(err, failure.ErrInterrupted)
	kept := s.Spoken() && !s.Hidden || interrupted && s.Thought()
	if errors.Is(err, ErrStopping) || !kept || !interrupted && t.live.Retract() {
		t.live.Stored(t.last)
		return err
	}
	c := session.Commit{Events: s.Events(false), Progress: t.progress()}
	if interrupted {
		c.End = &session.End{Step: t.after()}
		return t.stay(t.close(c, feed.Note{Kind: feed.Interrupted, ID: t.run.Interruption()}, feed.Note{Kind: feed.Over}))
	}
	c.End = &session.End{Step: t.name, Failed: true, Failure: failure.Of(err)}
	return t.stay(t.close(c, feed.Note{Kind: feed.Failed, Err: failure.Explain(err)}, feed.Note{Kind: feed.Over}))
}

// stay returns errNext in place of nil.
func (t *turn) stay(err error) error {
	if err == nil {
		return errNext
	}
	return err
}

// conclude writes a reply without calls as the answer of the step, and goes to the next step or ends the turn.
func (t *turn) conclude(s *reply.Reply) error {
	c := session.Commit{Events: s.Events(false), Progress: t.progress(), Usage: s.Usage()}
	consumed := feed.Note{Kind: feed.Consumed, Usage: c.Usage}
	end := step.End{Name: t.name, Step: &t.step, Answer: s, Scene: &t.scene.Scene, Log: t.engine.Logger}
	output, err := end.Output()
	if err != nil {
		if len(c.Events) == 0 {
			return err
		}
		c.End = &session.End{Step: t.name, Failed: true, Failure: failure.Of(err)}
		return t.stay(t.close(c, consumed, feed.Note{Kind: feed.Failed, Err: err}, feed.Note{Kind: feed.Over}))
	}
	if output != nil {
		c.Events = append(c.Events, *output)
	}
	to, err := end.Next()
	if err != nil {
		return err
	}
	switch {
	case to == "":
		return t.end(c, session.End{Step: t.after()}, consumed)
	case t.run.Transitions >= t.engine.MaxTransitions:
		return t.end(c, session.End{Step: t.after()}, consumed, end.Limit(t.engine.MaxTransitions))
	}
	c.Events = append(c.Events, session.HandOver(t.name, to, output))
	c.Progress.Step, c.Progress.Transitions = to, t.run.Transitions+1
	if _, err := t.commit(c); err != nil {
		return err
	}
	t.tell(consumed)
	return nil
}
