package turn

import (
	"encoding/json"
	"fmt"
	"strings"

	"quarry/internal/agent"
	"quarry/internal/agent/instruction"
	"quarry/internal/agent/session/feed"
	"quarry/internal/expr/vtl"
	"quarry/internal/fault"
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

func (t *turn) transitionLimit() feed.Note {
	most := t.engine.MaxTransitions
	return feed.Note{Kind: feed.TransitionLimit, Limit: int64(most), Text: fmt.Sprintf(
		"The turn has gone through %d transitions, the setting max_step_transitions of this service, and ends in step %q.", most, t.name)}
}
