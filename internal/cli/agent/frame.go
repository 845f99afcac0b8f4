package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"quarry/internal/cli/command"
	"quarry/internal/cli/query"
)

// frame is the part of a stored event, or of an event of a stream, that is shown.
type frame struct {
	Type     string          `json:"type"`
	ID       string          `json:"id"`
	EventID  string          `json:"event_id"` // of the stored event that ends a text
	Created  string          `json:"created_at"`
	Content  json.RawMessage `json:"content"`
	Messages json.RawMessage `json:"messages"` // parts of an input, or texts of an error
	CallID   string          `json:"tool_call_id"`
	Tool     string          `json:"tool_configuration_name"`
	Input    json.RawMessage `json:"tool_input"`
	Output   json.RawMessage `json:"tool_output"`
	Error    bool            `json:"error"`
	From     string          `json:"from_step"`
	To       string          `json:"to_step"`
	Message  string          `json:"message"`
	Skill    string          `json:"skill_name"`
	Image    string          `json:"artifact_id"`
	Hidden   string          `json:"hide_reason"`
	Summary  string          `json:"summary_text"`
	Files    []artifactView  `json:"artifacts"`
	Inner    *frame          `json:"agent_event"`   // of another agent that a tool has called
	Calls    []call          `json:"pending_calls"` // that the client has to make
}

// parse reads an event. An event of another shape, as a later service may send it, has its type alone.
func parse(kind string, data []byte) frame {
	f := frame{}
	if json.Unmarshal(data, &f) != nil {
		f = frame{}
	}
	f.Type = kind
	return f
}

// text returns the content: texts as they are, anything else as JSON.
func (f *frame) text() string {
	var text string
	if json.Unmarshal(f.Content, &text) == nil {
		return text
	}
	return compact(f.Content)
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// part is a piece of an input: a text, or a skill that is loaded.
type part struct {
	Skill    string `json:"skill_name"`
	Text     string `json:"content"`
	External string `json:"external_id"`
}

// said returns the texts of an input, as they would be typed, and whether it has the external id.
func (f *frame) said(external string) (text string, own bool) {
	var parts []part
	_ = json.Unmarshal(f.Messages, &parts) // of another shape, it has no texts
	texts := make([]string, len(parts))
	for i, p := range parts {
		if texts[i] = p.Text; p.Skill != "" {
			texts[i] = "/skill " + p.Skill
		}
		own = own || external != "" && p.External == external
	}
	return strings.Join(texts, "\n"), own
}

// failure returns what an error says.
func (f *frame) failure() string {
	var texts []string
	_ = json.Unmarshal(f.Messages, &texts)
	return strings.Join(texts, "; ")
}

// passages returns the results of a search, nil if the output is of another tool.
func (f *frame) passages() []query.Passage {
	var found struct {
		Results []query.Passage `json:"search_results"`
	}
	_ = json.Unmarshal(f.Output, &found)
	return found.Results
}

// result describes the output of a tool.
func (f *frame) result() string {
	var output struct {
		Results *[]json.RawMessage `json:"search_results"`
		Error   any                `json:"error"`
	}
	_ = json.Unmarshal(f.Output, &output)
	switch {
	case f.Error && output.Error != nil:
		if text, ok := output.Error.(string); ok {
			return text
		}
	case !f.Error && output.Results != nil:
		return command.Count(int64(len(*output.Results)), "result")
	}
	return command.Clip(compact(f.Output), 100)
}

// line describes a stored event.
func (f *frame) line() string {
	switch f.Type {
	case "input_message":
		text, _ := f.said("")
		return text
	case "artifact_upload":
		names := make([]string, len(f.Files))
		for i := range f.Files {
			names[i] = f.Files[i].Filename
		}
		return strings.Join(names, ", ")
	case "tool_input":
		return f.Tool + " " + compact(f.Input)
	case "tool_output":
		if f.Error {
			return f.Tool + " failed: " + f.result()
		}
		return f.Tool + ": " + f.result()
	case "skill_load":
		return f.Skill
	case "image_read":
		return f.Image
	case "step_transition":
		return f.From + " > " + f.To
	case "compaction":
		return f.Summary
	case "tool_activity":
		return f.activity()
	case "error":
		return f.failure()
	}
	if f.Message != "" {
		return f.Message
	}
	return f.text()
}

// activity describes what a call of a tool does, with the name of the tool in front.
func (f *frame) activity() string {
	if f.Inner == nil {
		return f.Tool + ": " + f.Message
	}
	kind := map[string]string{
		"input_message": "is asked ", "thinking": "thinks: ", "agent_output": "says: ", "structured_output": "says: ", "tool_input": "calls ", "tool_output": "",
		"skill_load": "loads the skill ", "step_transition": "goes on with step ", "compaction": "sums up: ", "artifact_upload": "is given ",
	}
	text, known := kind[f.Inner.Type]
	if !known {
		text = f.Inner.Type + " "
	}
	return f.Tool + " " + command.Clip(text+f.Inner.line(), 200)
}

// since returns how long before the event another one was, "" if an instant is not known.
func (f *frame) since(earlier string) string {
	from, err := time.Parse(time.RFC3339, earlier)
	to, err2 := time.Parse(time.RFC3339, f.Created)
	if err != nil || err2 != nil {
		return ""
	}
	took := max(to.Sub(from), 0)
	if took < time.Second {
		return fmt.Sprintf(" after %d ms", took.Milliseconds())
	}
	return fmt.Sprintf(" after %.1f s", took.Seconds())
}
