// Package guide is what an agent tells its model in a turn: the instructions of a step, and the reminders beside events, rendered.
package guide

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"quarry/internal/agent"
	"quarry/internal/agent/instruction"
	"quarry/internal/agent/reminder"
	"quarry/internal/agent/session"
	"quarry/internal/agent/tool"
	"quarry/internal/expr/vtl"
	"quarry/internal/fault"
)

// Guide renders for one turn.
type Guide struct {
	Agent   *agent.Agent
	Session *session.Session
	Found   instruction.Found // the instructions that steps refer to
	Tools   *tool.Bound
	Began   time.Time // the turn
}

// Instructions returns what a step says to the model, "" for nothing.
func (g *Guide) Instructions(name string, step *agent.Step) (string, error) {
	var parts []string
	var values map[string]vtl.Value
	for i := range step.Instructions {
		text, err := g.text(name, &step.Instructions[i])
		if err != nil {
			return "", err
		}
		if text == nil {
			continue
		}
		if values == nil && !text.Plain {
			if values, err = g.values(step.AllowedTools); err != nil {
				return "", err
			}
		}
		part, err := text.Render(values)
		if err != nil {
			return "", fault.Unprocessable("invalid_instruction", "the instruction %q of step %q can't be rendered: %s", text.Name, name, err)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "\n\n"), nil
}

// text returns the text of an instruction of a step, nil for one that is left out. One that the step refers to is there although it
// was disabled since.
func (g *Guide) text(step string, one *agent.Instruction) (*instruction.Text, error) {
	if one.Ref == nil {
		if !one.Enabled {
			return nil, nil
		}
		return one.Text(), nil
	}
	found, ok := g.Found.Of(*one.Ref)
	switch {
	case ok:
		return &found.Text, nil
	case one.Ref.Version > 0:
		return nil, fault.Unprocessable("invalid_instruction_reference", "step %q refers to version %d of the instruction %s, which was deleted; change the step",
			step, one.Ref.Version, one.Ref.ID)
	}
	return nil, fault.Unprocessable("invalid_instruction_reference", "step %q refers to the instruction %s, which was deleted; change the step", step, one.Ref.ID)
}

// values are the variables of instructions and reminders of a step with these tools.
func (g *Guide) values(allowed *[]string) (map[string]vtl.Value, error) {
	scene := instruction.Scene{
		AgentKey: g.Agent.Key, AgentName: g.Agent.Name, AgentMetadata: g.Agent.Metadata,
		SessionKey: g.Session.Key, SessionMetadata: g.Session.Metadata, At: g.Began,
	}
	for _, one := range g.Tools.Offer(allowed) {
		scene.Tools = append(scene.Tools, instruction.Tool{Name: one.Name, Description: one.Description})
	}
	return scene.Values()
}

// Reminders returns the texts of the agent's reminders by their keys: those that are kept with the session, and the others, rendered
// now. fresh is whether there are any of the latter.
func (g *Guide) Reminders(ctx context.Context, sessions session.Store) (texts map[string]string, fresh bool, err error) {
	texts = map[string]string{}
	var kept map[string]string
	for _, name := range slices.Sorted(maps.Keys(g.Agent.Steps)) {
		step := g.Agent.Steps[name]
		for i := range step.Reminders {
			r := &step.Reminders[i]
			if r.Plain || r.Glossary != "" {
				continue
			}
			if kept == nil {
				if kept, err = sessions.Reminders(ctx, g.Session.No); err != nil {
					return nil, false, err
				}
			}
			key := r.Key(name)
			text, ok := kept[key]
			if !ok {
				values, err := g.values(step.AllowedTools)
				if err != nil {
					return nil, false, err
				}
				if text, err = r.Render(values); err != nil {
					return nil, false, fault.Unprocessable("invalid_reminder", "the reminder %d of step %q can't be rendered: %s", i+1, name, err)
				}
				fresh = true
			}
			texts[key] = text
		}
	}
	return texts, fresh, nil
}

// Beside returns the reminders of a step with their texts, and with the glossaries that there are.
func Beside(name string, step *agent.Step, texts map[string]string, v *Vocabulary) (out []reminder.Ready) {
	for i := range step.Reminders {
		r := &step.Reminders[i]
		if r.Glossary != "" {
			if note := v.note(r.Glossary); note != nil {
				out = append(out, reminder.Ready{Reminder: r, Note: note})
			}
			continue
		}
		text := r.Template
		if !r.Plain {
			text = texts[r.Key(name)]
		}
		out = append(out, reminder.Ready{Reminder: r, Text: text})
	}
	return out
}
