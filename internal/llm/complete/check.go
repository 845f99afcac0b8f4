package complete

import (
	"fmt"
	"slices"

	"quarry/internal/fault"
	"quarry/internal/llm"
)

func at(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// check checks what holds for every model. Its fault names all that is wrong.
func (r *Request) check() error {
	bad := fault.Invalid()
	if r.Model == "" {
		bad.Field("model", "is required: the name of one of GET /v2/llms")
	}
	if r.Answers < 1 || r.Answers > MaxAnswers {
		bad.Field("n", "must be between 1 and %d", MaxAnswers)
	}
	if len(r.Messages) == 0 {
		bad.Field("messages", "must have at least one message")
	}
	r.turns(bad)
	r.choice(bad)
	if f := r.Format; f != nil && f.Type == "json_schema" && f.Strict {
		if broken, ok := fault.As(fault.Under(llm.CheckStrict(f.Schema), "response_format.json_schema.schema")); ok {
			for path, reason := range broken.Fields {
				bad.Field(path, "%s", reason)
			}
		}
	}
	return bad.Err()
}

// turns checks that messages say something, and that each result of a tool answers a call before it.
func (r *Request) turns(bad *fault.Fault) {
	called := map[string]bool{}
	for i, m := range r.Messages {
		for _, c := range m.Calls {
			called[c.ID] = true
		}
		switch {
		case m.Role == llm.Result && m.CallID == "":
			bad.Field(at("messages[%d].tool_call_id", i), "is required in a message of the role tool: the id of the call that it answers")
		case m.Role == llm.Result && !called[m.CallID]:
			bad.Field(at("messages[%d].tool_call_id", i), "names no call: an assistant message before it must have %q among its tool_calls", m.CallID)
		case len(m.Parts) == 0 && len(m.Calls) == 0:
			bad.Field(at("messages[%d].content", i), "is required, but for an assistant message with tool_calls")
		}
	}
}

// choice checks that a tool that must be called is there.
func (r *Request) choice(bad *fault.Fault) {
	c := r.Choice
	switch {
	case c.Mode == "required" && len(r.Tools) == 0:
		bad.Field("tool_choice", "asks for a call, and there are no tools")
	case c.Mode == "tool" && !slices.ContainsFunc(r.Tools, func(t llm.Tool) bool { return t.Name == c.Name }):
		bad.Field("tool_choice", "names the tool %q, which is not among tools", c.Name)
	}
}
