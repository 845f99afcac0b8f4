package turn

import (
	"context"
	"maps"
	"slices"

	"quarry/internal/agent/reminder"
	"quarry/internal/agent/skill"
	"quarry/internal/fault"
	"quarry/internal/llm"
)

// skills returns what the model may load in the step. One that calls no tools, and the embedded generator, which would quote what
// it is told of them, load none by themselves.
func (t *turn) skills(m *llm.Model) skill.Set {
	if !m.Can.Tools || m.Embedded {
		return nil
	}
	return skill.Allowed(t.agent.Skills, t.step.AllowedSkills)
}

// renderReminders reads the texts of the agent's reminders that are kept with the session, and renders those that it does not have yet.
func (t *turn) renderReminders(ctx context.Context) error {
	t.texts, t.rendered = map[string]string{}, nil
	var kept map[string]string
	for _, name := range slices.Sorted(maps.Keys(t.agent.Steps)) {
		step := t.agent.Steps[name]
		for i := range step.Reminders {
			r := &step.Reminders[i]
			if r.Plain {
				continue
			}
			if kept == nil {
				var err error
				if kept, err = t.engine.Sessions.Reminders(ctx, t.run.Session); err != nil {
					return err
				}
			}
			key := r.Key(name)
			text, ok := kept[key]
			if !ok {
				values, err := t.values(step.AllowedTools)
				if err != nil {
					return err
				}
				if text, err = r.Render(values); err != nil {
					return fault.Unprocessable("invalid_reminder", "the reminder %d of step %q can't be rendered: %s", i+1, name, err)
				}
				t.rendered = t.texts
			}
			t.texts[key] = text
		}
	}
	return nil
}

// reminders returns what the model reads beside events in the step. The embedded generator would quote it, and gets none.
func (t *turn) reminders(m *llm.Model) (out []reminder.Ready) {
	if m.Embedded {
		return nil
	}
	for i := range t.step.Reminders {
		r := &t.step.Reminders[i]
		text := r.Template
		if !r.Plain {
			text = t.texts[r.Key(t.name)]
		}
		out = append(out, reminder.Ready{Reminder: r, Text: text})
	}
	return out
}
