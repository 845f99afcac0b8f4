// Package transcript is what a language model reads of a session: its events as the messages of a prompt.
package transcript

import (
	"slices"
	"strings"

	"quarry/internal/agent/session"
	"quarry/internal/llm"
)

// Messages returns the visible events of a session, oldest first, as messages. Calls without an output, and outputs without a call, are left out.
func Messages(events []session.Event) []llm.Message {
	paired := map[string]int{}
	for _, e := range events {
		switch e.Type {
		case session.ToolInput:
			paired[e.CallID] |= 1
		case session.ToolOutput:
			paired[e.CallID] |= 2
		}
	}
	var b builder
	for i := range events {
		e := &events[i]
		if e.CallID == "" || paired[e.CallID] == 3 {
			b.add(e)
		}
	}
	return b.out
}

// Question returns the text of the last input, also where steps have handed over since: what they say is no question.
func Question(events []session.Event) string {
	for i := range slices.Backward(events) {
		if events[i].Type == session.InputMessage {
			return input(&events[i])
		}
	}
	return ""
}

// input returns the text of an input.
func input(e *session.Event) string {
	texts := make([]string, len(e.Parts))
	for i, p := range e.Parts {
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n")
}

// builder collects messages.
type builder struct {
	out      []llm.Message
	thinking string // that the next message of the model begins with
	replying bool   // the last message is of the reply that the next event belongs to
}

func (b *builder) add(e *session.Event) {
	switch e.Type {
	case session.InputMessage:
		b.say(llm.Text(llm.User, input(e)))
	case session.StepTransition, session.ArtifactUpload:
		b.say(llm.Text(llm.User, e.Text))
	case session.Thinking:
		if b.replying && b.thinking == "" && len(b.out[len(b.out)-1].Calls) == 0 {
			return // thought behind its text, which no model wants back
		}
		b.thinking, b.replying = e.Text, false
	case session.AgentOutput:
		b.reply(llm.Part{Text: e.Text})
	case session.StructuredOutput:
		b.reply(llm.Part{Text: string(e.Content)})
	case session.ToolInput:
		b.call(llm.ToolCall{ID: e.CallID, Name: e.Tool, Arguments: e.Arguments, State: e.State})
	case session.ToolOutput:
		m := llm.Text(llm.Result, string(e.Output))
		m.CallID, m.Name = e.CallID, e.Tool
		b.say(m)
	}
}

// say adds a message that is not the model's.
func (b *builder) say(m llm.Message) {
	b.out, b.thinking, b.replying = append(b.out, m), "", false
}

// reply adds a text of the model.
func (b *builder) reply(p llm.Part) {
	b.out = append(b.out, llm.Message{Role: llm.Assistant, Parts: []llm.Part{p}, Reasoning: b.thinking})
	b.thinking, b.replying = "", true
}

// call adds a call to the reply that it belongs to.
func (b *builder) call(c llm.ToolCall) {
	if !b.replying {
		b.out = append(b.out, llm.Message{Role: llm.Assistant, Reasoning: b.thinking})
		b.thinking, b.replying = "", true
	}
	last := &b.out[len(b.out)-1]
	last.Calls = append(last.Calls, c)
}
