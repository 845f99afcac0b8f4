package session

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/tool"
	"quarry/internal/id"
)

// Type is what an event records, in the contract's words.
type Type string

// The events that are stored.
const (
	InputMessage     Type = "input_message"
	ArtifactUpload   Type = "artifact_upload"
	Thinking         Type = "thinking"
	ToolInput        Type = "tool_input"
	ToolOutput       Type = "tool_output"
	ImageRead        Type = "image_read"
	SkillLoad        Type = "skill_load"
	AgentOutput      Type = "agent_output"
	StructuredOutput Type = "structured_output"
	StepTransition   Type = "step_transition"
	Compaction       Type = "compaction"
)

// Event is one entry of a session's log. Which of the members of Body an event has follows from its type.
type Event struct {
	Ord     int64 // place in the log, counted upwards from 1, with gaps where events were deleted; set by the store
	ID      id.Event
	Turn    int64 // which turn of the session it belongs to, counted from 1; set by the store
	Type    Type
	Created time.Time // milliseconds, UTC; never before the event that precedes it; set by the store
	Hidden  string    // why lists and the model leave it out, Manual or Compacted; "" if they don't
	Body
	State string // of tool_input: llm.ToolCall.State, which clients never see
}

// Identity returns the event's id.
func (e Event) Identity() id.Event { return e.ID }

// Input reports whether the event is of what a client has sent.
func (e *Event) Input() bool {
	return e.Type == InputMessage || e.Type == ArtifactUpload || e.Type == SkillLoad && e.CallID == ""
}

// Answers reports whether the event is what a call of a tool has come to.
func (e *Event) Answers() bool { return e.Type == ToolOutput || e.Type == SkillLoad && e.CallID != "" }

// Body is what the event holds. The JSON names are those of the store.
type Body struct {
	Parts []Part `json:"parts,omitempty"` // input_message
	Files []File `json:"files,omitempty"` // artifact_upload
	Text  string `json:"text,omitempty"`  // thinking, agent_output, step_transition, skill_load; artifact_upload: what the model reads of it; compaction: the summary

	Schema  string          `json:"schema,omitempty"`  // structured_output: its name
	Content json.RawMessage `json:"content,omitempty"` // structured_output: any JSON

	From string `json:"from,omitempty"` // step_transition
	To   string `json:"to,omitempty"`

	Skill string `json:"skill,omitempty"` // skill_load: its name

	Image *Image `json:"image,omitempty"` // image_read

	// CallID is of tool_input and tool_output, like the next three, and of a skill_load that the model has called for.
	CallID    string          `json:"call_id,omitempty"`
	Tool      string          `json:"tool,omitempty"` // the name that the model sees: the key of the configuration
	ToolName  string          `json:"tool_name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // tool_input: an object, what the model sent
	Pinned    []string        `json:"pinned,omitempty"`    // tool_input: argument_override_paths
	Answered  bool            `json:"answered,omitempty"`  // tool_input: it had an output, which was deleted
	Output    json.RawMessage `json:"output,omitempty"`    // tool_output: an object
	Failed    bool            `json:"failed,omitempty"`    // tool_output: the output is an error
	Class     string          `json:"class,omitempty"`     // tool_output: why it failed, a tool.Class; "" where it was never called
	Overrides json.RawMessage `json:"overrides,omitempty"` // tool_output: resolved_argument_overrides; nil if the tool never started

	Summed *Summed `json:"summed,omitempty"` // compaction
}

// Summed is what the summary of a compaction stands for.
type Summed struct {
	Turns  int    `json:"turns"`
	Events int    `json:"events"`
	Key    string `json:"key"` // of the summary, sum_…
}

// Why events are hidden: by a client, or because a compaction has summed them up.
const (
	Manual    = "manual"
	Compacted = "compaction"
)

// Part is a piece of an input.
type Part struct {
	Text       string `json:"text"`
	Skill      string `json:"skill,omitempty"`       // the part loads this skill: Text is its content in an Input, and empty in an event
	ExternalID string `json:"external_id,omitempty"` // by which the client makes sure that the part is taken once
}

// File is a file that was uploaded, as its event names it.
type File struct {
	ID       string `json:"id"` // of the artifact
	Filename string `json:"filename"`
	MIME     string `json:"mime"`
	Size     int64  `json:"size"`
}

// Image is an image that the model reads, as its event names it.
type Image struct {
	Artifact string `json:"artifact"`
	Detail   string `json:"detail"` // how closely the model looks: auto, low or high
}

// Looks returns the events of images that a call has shown the model.
func Looks(shown []artifact.Shown) []Event {
	out := make([]Event, len(shown))
	for i, s := range shown {
		out[i] = Event{ID: id.NewEvent(), Type: ImageRead, Body: Body{Image: &Image{s.ID, s.Detail}}}
	}
	return out
}

// Upload returns the event of files that came with an input.
func Upload(e id.Event, files []artifact.Artifact) Event {
	out := Event{ID: e, Type: ArtifactUpload, Body: Body{Files: make([]File, len(files))}}
	var text strings.Builder
	text.WriteString("The user has uploaded files. Their contents are not part of this message; use tools to read them.")
	for i, f := range files {
		out.Files[i] = File{f.ID, f.Filename, f.MIME, f.Size}
		fmt.Fprintf(&text, "\n- %s (%s, %d bytes), artifact_id %s", f.Filename, f.MIME, f.Size, f.ID)
	}
	out.Text = text.String()
	return out
}

// Usage is what the last call of the model took, in tokens.
type Usage struct {
	Input     int64 `json:"input"`
	Cached    int64 `json:"cached,omitempty"` // of Input
	Output    int64 `json:"output"`
	Reasoning int64 `json:"reasoning,omitempty"` // of Output
	Window    int64 `json:"window"`              // of the model: prompt and answer together
}

// Measured is what the log was when the last call of the model was written: the count of its tokens holds for the events up to
// Ord as long as the session has had no further edits.
type Measured struct {
	Ord, Edits int64
}

// HandOver returns the event that goes from one step to another. Its text is what the model reads of it.
func HandOver(from, to string, output *Event) Event {
	text := fmt.Sprintf("Step %q is done; go on with step %q.", from, to)
	if output != nil && len(output.Content) > 0 {
		text += " Its output: " + string(output.Content)
	}
	return Event{ID: id.NewEvent(), Type: StepTransition, Body: Body{From: from, To: to, Text: text}}
}

// OfTurn returns the events of a turn.
func OfTurn(events []Event, turn int64) (out []Event) {
	for i := range events {
		if events[i].Turn == turn && events[i].Type != Compaction {
			out = append(out, events[i])
		}
	}
	return out
}

// Unanswered returns the calls of tools among the events of a turn that nothing has come of. Calls whose outputs were deleted
// are not among them.
func Unanswered(events []Event) (open []Event) {
	done := map[string]bool{}
	for _, e := range events {
		if e.Answers() {
			done[e.CallID] = true
		}
	}
	for _, e := range events {
		if e.Type == ToolInput && !e.Answered && !done[e.CallID] {
			open = append(open, e)
		}
	}
	return open
}

// CutOff returns error outputs of calls that come to nothing.
func CutOff(calls []Event, why string) []Event {
	out := make([]Event, len(calls))
	for i, c := range calls {
		output, _ := json.Marshal(map[string]string{"error": why}) // strings always encode
		out[i] = Event{ID: id.NewEvent(), Type: ToolOutput, Body: Body{
			CallID: c.CallID, Tool: c.Tool, ToolName: c.ToolName, Output: output, Failed: true, Class: string(tool.ExecutionError),
		}}
	}
	return out
}
