// Package step is the end of a step of an agent: whether an answer is what the step asks for, and which step follows.
package step

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"quarry/internal/agent"
	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/agent/turn/failure"
	"quarry/internal/agent/turn/reply"
	"quarry/internal/expr/userfn"
	"quarry/internal/fault"
	"quarry/internal/llm"
)

// End is a step that has answered.
type End struct {
	Name   string
	Step   *agent.Step
	Answer *reply.Reply
	Scene  *reference.Scene // what conditions read beside the answer
	Log    *slog.Logger
}

// subject is what conditions read of an agent or a session.
func subject(s *reference.Subject) map[string]any {
	return map[string]any{"key": s.Key, "name": s.Name, "description": s.Description, "metadata": s.Metadata}
}

// Next returns the step that follows on an answer, "" for none.
func (e *End) Next() (string, error) {
	var document any
	for _, next := range e.Step.Next {
		if next.Condition == "" {
			return next.Step, nil
		}
		condition, err := userfn.ParseCondition(next.Condition)
		if err != nil {
			return "", fault.Unprocessable("invalid_condition", "a condition of step %q can't be read: %s", e.Name, err)
		}
		now := time.Now().UTC()
		if document == nil {
			if document, err = e.document(now); err != nil {
				return "", err
			}
		}
		holds, err := condition.Holds(document, now)
		if err != nil {
			e.Log.Warn("a condition has no meaning for an answer", "agent", e.Scene.Agent.Key, "step", e.Name, "condition", next.Condition, "error", err)
		}
		if holds {
			return next.Step, nil
		}
	}
	return "", nil
}

// document is what conditions are about.
func (e *End) document(now time.Time) (any, error) {
	tools := map[string]any{}
	for name, l := range e.Scene.Outputs {
		tools[name] = map[string]any{"outputs": map[string]any{"latest": l.Output}}
	}
	var output any = map[string]any{"text": e.Answer.Text()}
	if e.Step.Output.Schema != nil {
		output = json.RawMessage(e.Answer.Text())
	}
	raw, err := json.Marshal(map[string]any{
		"output": output, "tools": tools, "currentDate": now.Format(time.RFC3339),
		"session": subject(&e.Scene.Session),
		"agent":   subject(&e.Scene.Agent),
	})
	if err != nil {
		return nil, fmt.Errorf("encode what conditions read: %w", err)
	}
	var v any
	return v, json.Unmarshal(raw, &v)
}

// Output returns the event of a structured answer, nil for a text, which the events of the reply have. The failures differ in their words.
func (e *End) Output() (*session.Event, error) {
	text, schema := strings.TrimSpace(e.Answer.Text()), e.Step.Output.Schema
	switch {
	case e.Answer.Answer.Reason == llm.Refused:
		why := ""
		if e.Answer.Answer.Refusal != "" {
			why = ": " + e.Answer.Answer.Refusal
		}
		return nil, failure.Broken("the language model refused to answer in step %q%s", e.Name, why)
	case text == "" && e.Answer.Answer.Reason == llm.Length:
		return nil, failure.Broken("the answer in step %q was cut off before it began: the language model stopped with %q", e.Name, e.Answer.Answer.Reason)
	case text == "":
		return nil, failure.Broken("the language model gave an empty answer in step %q", e.Name)
	case schema == nil:
		return nil, nil
	case e.Answer.Answer.Reason == llm.Length:
		return nil, failure.Broken("the answer in step %q was cut off before its JSON was complete: the language model stopped with %q", e.Name, e.Answer.Answer.Reason)
	}
	content, err := parse(text, schema.Schema)
	if err != nil {
		return nil, failure.Broken("the answer in step %q is not the JSON that its output_parser asks for: %s", e.Name, err)
	}
	return &session.Event{ID: e.Answer.Event(), Type: session.StructuredOutput, Body: session.Body{Schema: schema.Name, Content: content}}, nil
}

// parse reads a text that is one JSON value which a schema allows.
func parse(text string, form json.RawMessage) (json.RawMessage, error) {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, err
	}
	s, err := schema.New(form)
	if err != nil {
		return nil, err
	}
	return json.RawMessage(text), s.Check(v)
}

// Limit returns the note of a turn that has gone through as many transitions as it may, and ends in the step.
func (e *End) Limit(most int) feed.Note {
	return feed.Note{Kind: feed.TransitionLimit, Limit: int64(most), Text: fmt.Sprintf(
		"The turn has gone through %d transitions, the setting max_step_transitions of this service, and ends in step %q.", most, e.Name)}
}
