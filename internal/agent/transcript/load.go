package transcript

import (
	"encoding/json"

	"quarry/internal/agent/session"
	"quarry/internal/agent/skill"
	"quarry/internal/id"
	"quarry/internal/llm"
)

// Loads returns the events that close those of a reply's calls that load skills, of those
// that are allowed, and the calls that are left.
func Loads(calls []llm.ToolCall, allowed skill.Set) (events []session.Event, left []llm.ToolCall) {
	for _, c := range calls {
		if c.Name != skill.Tool {
			left = append(left, c)
			continue
		}
		e := session.Event{ID: id.NewEvent(), Type: session.SkillLoad, Body: session.Body{CallID: c.ID}}
		name, found, err := allowed.Invoked(c.Arguments)
		if err != nil {
			output, _ := json.Marshal(map[string]string{"error": err.Error()}) // strings always encode
			e.Type, e.Tool, e.ToolName, e.Output, e.Failed = session.ToolOutput, skill.Tool, skill.Tool, output, true
		} else {
			e.Skill, e.Text = name, found.Content
		}
		events = append(events, e)
	}
	return events, left
}
