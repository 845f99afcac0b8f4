package spans

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"quarry/internal/agent/session"
	"quarry/internal/id"
	"quarry/internal/trace"
)

// story is what the events of a turn come to.
type story struct {
	answered []id.Event // calls that the client has made before, whose outputs the turn goes on with
	outputs  []pair     // of these
	inputs   []message
	said     []message
	thought  []string
	files    []trace.File
	input    id.Event                 // the first one
	output   id.Event                 // the last one
	json     bool                     // it is JSON
	open     map[string]session.Event // calls without an output, by the ids that the model has given them
	last     id.Event                 // the call that was closed last
}

// pair is a call with its output.
type pair struct{ call, output session.Event }

func newStory(answered []id.Event) story {
	return story{answered: answered, open: map[string]session.Event{}}
}

func (s *story) clone() story {
	out := *s
	out.open = maps.Clone(s.open)
	out.outputs, out.inputs, out.said = slices.Clip(s.outputs), slices.Clip(s.inputs), slices.Clip(s.said)
	out.thought, out.files = slices.Clip(s.thought), slices.Clip(s.files)
	return out
}

// message is one of a conversation, in the form that OpenTelemetry has for them.
type message struct {
	Role  string `json:"role"`
	Parts []any  `json:"parts"`
}

type textPart struct {
	Type    string `json:"type"`
	Content string `json:"content"`
}

type outputPart struct {
	Type     string          `json:"type"`
	ID       string          `json:"id"`
	Response json.RawMessage `json:"response"`
}

// add takes the next event.
func (s *story) add(e *session.Event) {
	switch e.Type {
	case session.ToolInput:
		if !e.Answered { // else its span is written
			s.open[e.CallID] = *e
		}
	case session.ToolOutput, session.SkillLoad:
		s.close(e)
	case session.ArtifactUpload:
		for _, f := range e.Files {
			s.files = append(s.files, trace.File{Name: f.Filename, Size: f.Size})
		}
		s.asked(e)
	case session.InputMessage:
		m := message{Role: "user"}
		for _, p := range e.Parts {
			if p.Skill == "" {
				m.Parts = append(m.Parts, textPart{"text", p.Text})
			}
		}
		s.inputs = append(s.inputs, m)
		s.asked(e)
	case session.Thinking:
		s.thought = append(s.thought, e.Text)
	case session.AgentOutput:
		s.say(e, e.Text)
	case session.StructuredOutput:
		s.say(e, string(e.Content))
	}
}

// asked notes the event of an input. The message comes with its files, and names the input.
func (s *story) asked(e *session.Event) {
	if s.input == "" || e.Type == session.InputMessage && len(s.inputs) == 1 {
		s.input = e.ID
	}
}

func (s *story) say(e *session.Event, text string) {
	s.said = append(s.said, message{"assistant", []any{textPart{"text", text}}})
	s.output, s.json = e.ID, e.Type == session.StructuredOutput
}

// close takes the output of a call. The turn of one that the client has made goes on with it, and what came before is of another trace.
func (s *story) close(e *session.Event) {
	call, ok := s.open[e.CallID]
	if !ok {
		return
	}
	delete(s.open, e.CallID)
	if s.last = call.ID; !slices.Contains(s.answered, call.ID) {
		return
	}
	s.outputs = append(s.outputs, pair{call, *e})
	part := outputPart{"tool_call_response", e.CallID, e.Output}
	if len(s.outputs) == 1 {
		s.inputs, s.said, s.thought, s.files, s.input, s.output, s.json = nil, nil, nil, nil, e.ID, "", false
	}
	s.inputs = append(s.inputs, message{"tool", []any{part}})
}

// messages returns messages as a text, "" for none.
func messages(all []message) string {
	if len(all) == 0 {
		return ""
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return "" // an output that is no JSON can't be stored
	}
	return string(raw)
}

func (s *story) thinking() string { return strings.Join(s.thought, "\n\n") }
