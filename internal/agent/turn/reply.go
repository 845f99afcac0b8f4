package turn

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/tool"
	"quarry/internal/id"
	"quarry/internal/llm"
)

// said is what the model has said in one call.
type said struct {
	answer   llm.Answer
	window   int // of the model
	thinking pieces
	text     pieces
	later    strings.Builder // thought behind the beginning of the text
	hidden   bool            // the text is not shown while it comes
}

// pieces is a text as it comes, with the id of its event.
type pieces struct {
	id   id.Event
	text strings.Builder
	told int // bytes that the feed has
}

// ask calls the model, and shows readers what it says.
func (t *turn) ask(ctx context.Context, m *llm.Model, r llm.Request) (*said, error) {
	s := &said{window: m.Can.Context, hidden: t.step.Output.Schema != nil}
	s.thinking.id, s.text.id = id.NewEvent(), id.NewEvent()
	t.live.Open(s.thinking.id, s.text.id)
	var provider llm.Provider = m
	if retry := t.agent.Model.Retry; retry != nil && retry.Enabled {
		provider = llm.Retrying(m, retry.Retry)
	}
	var err error
	s.answer, err = provider.Stream(ctx, r, func(e llm.Event) error {
		s.hear(t.live, e)
		t.claim.hear()
		return context.Cause(ctx)
	})
	return s, err
}

// hear takes a piece of the reply. Blanks before the first word of a text wait for it: a reply without a word is none.
func (s *said) hear(live *feed.Live, e llm.Event) {
	switch {
	case e.Reasoning != "" && s.text.text.Len() > 0:
		s.later.WriteString(clean(e.Reasoning))
	case e.Reasoning != "":
		live.Think(s.thinking.add(clean(e.Reasoning)))
	case e.Text != "":
		more := s.text.add(clean(e.Text))
		if more != "" && !s.hidden {
			live.Say(more)
		}
	}
}

// add appends to a text and returns what the feed has not been told of it, "" as long as there is no word.
func (p *pieces) add(s string) (untold string) {
	p.text.WriteString(s)
	if p.told == 0 && strings.TrimSpace(p.text.String()) == "" {
		return ""
	}
	untold = p.text.String()[p.told:]
	p.told = p.text.Len()
	return untold
}

// clean returns a text as the store keeps it, so that what is shown while it comes is what is stored.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// events are what was said, without the calls. all is whether a text that was not shown while it came is among them.
func (s *said) events(all bool) []session.Event {
	var out []session.Event
	if s.thinking.told > 0 {
		out = append(out, session.Event{ID: s.thinking.id, Type: session.Thinking, Body: session.Body{Text: s.thinking.text.String()}})
	}
	if s.text.told > 0 && (all || !s.hidden) {
		out = append(out, session.Event{ID: s.text.id, Type: session.AgentOutput, Body: session.Body{Text: s.text.text.String()}})
	}
	if s.later.Len() > 0 {
		out = append(out, session.Event{ID: id.NewEvent(), Type: session.Thinking, Body: session.Body{Text: s.later.String()}})
	}
	return out
}

// usage is what the call took.
func (s *said) usage() *session.Usage {
	u := s.answer.Usage
	return &session.Usage{Input: u.Input, Cached: u.Cached, Output: u.Output, Reasoning: u.Reasoning, Window: int64(s.window)}
}

// progress is where the turn stands behind the call.
func (t *turn) progress() *session.Progress {
	return &session.Progress{Step: t.name, Transitions: t.run.Transitions, Calls: t.run.Calls + 1}
}

// partly ends the turn where a call of the model has ended before its time. Text that somebody was shown stays, and so does what
// the model had thought before it was interrupted.
func (t *turn) partly(s *said, err error) error {
	interrupted := errors.Is(err, errInterrupted)
	kept := s.text.told > 0 && !s.hidden || interrupted && s.thinking.told > 0
	if errors.Is(err, errStopping) || !kept || !interrupted && t.live.Retract() {
		t.live.Stored(t.last)
		return err
	}
	c := session.Commit{Events: s.events(false), Progress: t.progress()}
	if interrupted {
		c.End = &session.End{Step: t.after()}
		return t.stay(t.close(c, feed.Note{Kind: feed.Interrupted, ID: t.run.Interruption()}, feed.Note{Kind: feed.Over}))
	}
	c.End = &session.End{Step: t.name, Failed: true}
	return t.stay(t.close(c, feed.Note{Kind: feed.Failed, Err: explain(err)}, feed.Note{Kind: feed.Over}))
}

// stay returns errNext in place of nil.
func (t *turn) stay(err error) error {
	if err == nil {
		return errNext
	}
	return err
}

// conclude writes a reply without calls as the answer of the step, and goes to the next step or ends the turn.
func (t *turn) conclude(s *said) error {
	c := session.Commit{Events: s.events(false), Progress: t.progress(), Usage: s.usage()}
	consumed := feed.Note{Kind: feed.Consumed, Usage: c.Usage}
	output, err := t.output(s)
	if err != nil {
		if len(c.Events) == 0 {
			return err
		}
		c.End = &session.End{Step: t.name, Failed: true}
		return t.stay(t.close(c, consumed, feed.Note{Kind: feed.Failed, Err: err}, feed.Note{Kind: feed.Over}))
	}
	if output != nil {
		c.Events = append(c.Events, *output)
	}
	to, err := t.transition(s)
	if err != nil {
		return err
	}
	switch {
	case to == "":
		return t.end(c, session.End{Step: t.after()}, consumed)
	case t.run.Transitions >= t.engine.MaxTransitions:
		return t.end(c, session.End{Step: t.after()}, consumed, t.transitionLimit())
	}
	c.Events = append(c.Events, handOver(t.name, to, output))
	c.Progress.Step, c.Progress.Transitions = to, t.run.Transitions+1
	if _, err := t.commit(c); err != nil {
		return err
	}
	t.tell(consumed)
	return nil
}

// output returns the event of a structured answer, nil for a text, which events has. The failures differ in their words.
func (t *turn) output(s *said) (*session.Event, error) {
	text, schema := strings.TrimSpace(s.text.text.String()), t.step.Output.Schema
	switch {
	case s.answer.Reason == llm.Refused:
		why := ""
		if s.answer.Refusal != "" {
			why = ": " + s.answer.Refusal
		}
		return nil, broken("the language model refused to answer in step %q%s", t.name, why)
	case text == "" && s.answer.Reason == llm.Length:
		return nil, broken("the answer in step %q was cut off before it began: the language model stopped with %q", t.name, s.answer.Reason)
	case text == "":
		return nil, broken("the language model gave an empty answer in step %q", t.name)
	case schema == nil:
		return nil, nil
	case s.answer.Reason == llm.Length:
		return nil, broken("the answer in step %q was cut off before its JSON was complete: the language model stopped with %q", t.name, s.answer.Reason)
	}
	content, err := parse(text, schema.Schema)
	if err != nil {
		return nil, broken("the answer in step %q is not the JSON that its output_parser asks for: %s", t.name, err)
	}
	return &session.Event{ID: s.text.id, Type: session.StructuredOutput, Body: session.Body{Schema: schema.Name, Content: content}}, nil
}

// parse reads a text that is one JSON value which a schema allows.
func parse(text string, schema json.RawMessage) (json.RawMessage, error) {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, err
	}
	s, err := tool.NewSchema(schema)
	if err != nil {
		return nil, err
	}
	return json.RawMessage(text), s.Check(v)
}
