package turn

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/expr/userfn"
	"quarry/internal/expr/vtl"
	"quarry/internal/fault"
	"quarry/internal/id"
)

// instructions renders what the step says to the model.
func (t *turn) instructions() (string, error) {
	var parts []string
	var values map[string]vtl.Value
	for _, one := range t.step.Instructions {
		switch {
		case !one.Enabled:
			continue
		case one.Plain:
			parts = append(parts, one.Template)
			continue
		}
		if values == nil {
			var err error
			if values, err = t.values(); err != nil {
				return "", err
			}
		}
		compiled, err := vtl.ParseText(one.Template)
		if err == nil {
			var text string
			if text, err = compiled.Render(values, vtl.Limits{}); err == nil {
				parts = append(parts, text)
				continue
			}
		}
		return "", fault.Unprocessable("invalid_instruction", "the instruction %q of step %q can't be rendered: %s", one.Name, t.name, err)
	}
	return strings.Join(parts, "\n\n"), nil
}

// values are the variables of instructions.
func (t *turn) values() (map[string]vtl.Value, error) {
	out := map[string]vtl.Value{"currentDate": t.run.Began.UTC().Format(time.RFC3339)}
	for name, v := range map[string]any{
		"agent":   map[string]any{"key": t.agent.Key, "name": t.agent.Name, "metadata": object(t.agent.Metadata)},
		"session": map[string]any{"key": t.session.Key, "metadata": object(t.session.Metadata)},
		"tools":   t.described(),
	} {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("encode %s for instructions: %w", name, err)
		}
		if out[name], err = vtl.FromJSON(raw); err != nil {
			return nil, fmt.Errorf("read %s for instructions: %w", name, err)
		}
	}
	return out, nil
}

func object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

// described are the tools of the step as instructions see them.
func (t *turn) described() []map[string]string {
	out := []map[string]string{}
	for _, one := range t.tools.Offer(t.step.AllowedTools) {
		out = append(out, map[string]string{"name": one.Name, "description": one.Description})
	}
	return out
}

// transition returns the step that follows on an answer, "" for none.
func (t *turn) transition(s *said) (string, error) {
	var document any
	for _, next := range t.step.Next {
		if next.Condition == "" {
			return next.Step, nil
		}
		condition, err := userfn.ParseCondition(next.Condition)
		if err != nil {
			return "", fault.Unprocessable("invalid_condition", "a condition of step %q can't be read: %s", t.name, err)
		}
		now := time.Now().UTC()
		if document == nil {
			if document, err = t.document(s, now); err != nil {
				return "", err
			}
		}
		holds, err := condition.Holds(document, now)
		if err != nil {
			t.engine.Logger.Warn("a condition has no meaning for an answer", "agent", t.agent.Key, "step", t.name, "condition", next.Condition, "error", err)
		}
		if holds {
			return next.Step, nil
		}
	}
	return "", nil
}

// document is what conditions are about.
func (t *turn) document(s *said, now time.Time) (any, error) {
	tools := map[string]any{}
	for name, l := range t.scene.Outputs {
		tools[name] = map[string]any{"outputs": map[string]any{"latest": l.Output}}
	}
	var output any = map[string]any{"text": s.text.text.String()}
	if t.step.Output.Schema != nil {
		output = json.RawMessage(s.text.text.String())
	}
	raw, err := json.Marshal(map[string]any{
		"output": output, "tools": tools, "currentDate": now.Format(time.RFC3339),
		"session": map[string]any{"key": t.session.Key, "name": t.session.Name, "description": t.session.Description, "metadata": object(t.session.Metadata)},
		"agent":   map[string]any{"key": t.agent.Key, "name": t.agent.Name, "description": t.agent.Description, "metadata": object(t.agent.Metadata)},
	})
	if err != nil {
		return nil, fmt.Errorf("encode what conditions read: %w", err)
	}
	var v any
	return v, json.Unmarshal(raw, &v)
}

// handOver is the event that goes from one step to another. Its text is what the model reads of it.
func handOver(from, to string, output *session.Event) session.Event {
	text := fmt.Sprintf("Step %q is done; go on with step %q.", from, to)
	if output != nil && len(output.Content) > 0 {
		text += " Its output: " + string(output.Content)
	}
	return session.Event{ID: id.NewEvent(), Type: session.StepTransition, Body: session.Body{From: from, To: to, Text: text}}
}

func (t *turn) transitionLimit() feed.Note {
	most := t.engine.MaxTransitions
	return feed.Note{Kind: feed.TransitionLimit, Limit: int64(most), Text: fmt.Sprintf(
		"The turn has gone through %d transitions, the setting max_step_transitions of this service, and ends in step %q.", most, t.name)}
}
