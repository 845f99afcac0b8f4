package otlp

import (
	"encoding/json"

	"quarry/internal/trace"
)

// The shapes of messages in the conventions, which are JSON in texts.
type (
	message struct {
		Role   string `json:"role"`
		Parts  []part `json:"parts"`
		Finish string `json:"finish_reason,omitempty"`
	}
	part struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	}
)

// texts returns the texts of a span as attributes.
func texts(s *trace.Span) []attribute {
	var a attributes
	c := s.Content
	a.text("gen_ai.input.messages", c.Input)
	a.text("gen_ai.output.messages", finished(c.Output, s.Failed))
	if c.Instructions != "" {
		a.text("gen_ai.system_instructions", inJSON([]part{{"text", c.Instructions}}))
	}
	switch {
	case c.Text != "":
		a.text("gen_ai.output.messages", said(part{"text", c.Text}))
	case c.Thinking != "" && s.Invocation == nil:
		a.text("gen_ai.output.messages", said(part{"reasoning", c.Thinking}))
	case c.Thinking != "":
		a.text("quarry.thinking", c.Thinking)
	}
	a.text("gen_ai.tool.call.arguments", c.Arguments)
	a.text("gen_ai.tool.call.result", c.Result)
	return a
}

// finished returns messages of a model with the reason of their end, which the conventions ask for. Messages that were cut are no
// JSON any more, and stay as they are.
func finished(messages string, failed bool) string {
	var all []map[string]json.RawMessage
	if json.Unmarshal([]byte(messages), &all) != nil {
		return messages
	}
	reason := json.RawMessage(`"stop"`)
	if failed {
		reason = json.RawMessage(`"error"`)
	}
	for _, m := range all {
		if m["finish_reason"] == nil {
			m["finish_reason"] = reason
		}
	}
	return inJSON(all)
}

// said returns what a model has said in one message.
func said(p part) string { return inJSON([]message{{"assistant", []part{p}, "stop"}}) }

func inJSON(v any) string {
	raw, _ := json.Marshal(v) // texts
	return string(raw)
}
