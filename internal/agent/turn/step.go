package turn

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"quarry/internal/agent"
	"quarry/internal/agent/instruction"
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
	for i := range t.step.Instructions {
		text, err := t.text(&t.step.Instructions[i])
		if err != nil {
			return "", err
		}
		if text == nil {
			continue
		}
		if values == nil && !text.Plain {
			if values, err = t.values(t.step.AllowedTools); err != nil {
				return "", err
			}
		}
		part, err := text.Render(values)
		if err != nil {
			return "", fault.Unprocessable("invalid_instruction", "the instruction %q of step %q can't be rendered: %s", text.Name, t.name, err)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "\n\n"), nil
}

// text returns the text of an instruction, nil for one that is left out. One that the step refers to is there although it was
// disabled since.
func (t *turn) text(one *agent.Instruction) (*instruction.Text, error) {
	if one.Ref == nil {
		if !one.Enabled {
			return nil, nil
		}
		return one.Text(), nil
	}
	found, ok := t.found.Of(*one.Ref)
	switch {
	case ok:
		return &found.Text, nil
	case one.Ref.Version > 0:
		return nil, fault.Unprocessable("invalid_instruction_reference", "step %q refers to version %d of the instruction %s, which was deleted; change the step",
			t.name, one.Ref.Version, one.Ref.ID)
	}
	return nil, fault.Unprocessable("invalid_instruction_reference", "step %q refers to the instruction %s, which was deleted; change the step", t.name, one.Ref.ID)
}

// values are the variables of instructions and reminders of a step with these tools.
func (t *turn) values(allowed *[]string) (map[string]vtl.Value, error) {
	scene := instruction.Scene{
		AgentKey: t.agent.Key, AgentName: t.agent.Name, AgentMetadata: t.agent.Metadata,
		SessionKey: t.session.Key, SessionMetadata: t.session.Metadata, At: t.run.Began,
	}
	for _, one := range t.tools.Offer(allowed) {
		scene.Tools = append(scene.Tools, instruction.Tool{Name: one.Name, Description: one.Description})
	}
	return scene.Values()
}

func object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
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
