package turn

import (
	"encoding/json"
	"fmt"
	"slices"

	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/transcript"
	"quarry/internal/llm"
)

// request is the next call of the model.
func (t *turn) request(m *llm.Model) llm.Request {
	messages, format := slices.Clone(t.asking), t.step.Output.Schema
	if format != nil && !m.Can.Structured && !m.Embedded {
		messages, format = append(messages, llm.Text(llm.System, "Answer with one JSON value that fits this JSON Schema, and with nothing else: "+string(format.Schema))), nil
	}
	skills := t.skills(m)
	messages = instructed(messages, skills.Prompt())
	events := t.events
	if m.Embedded {
		events = transcript.Quotable(events)
	}
	r := llm.Request{
		Messages: append(messages, transcript.Messages(events, t.reminders(m)...)...), Format: format, Question: transcript.Question(t.events), Partial: true,
	}
	if m.Can.Tools || m.Embedded {
		r.Tools = append(t.tools.Offer(t.step.AllowedTools), skills.Offer()...)
	}
	if p := t.agent.Model.Parameters; len(p) > 0 {
		_ = json.Unmarshal(p, &r.Parameters.Extra) // an object, as the agent was written
	}
	return r
}

// instructed returns messages with a further text in the instructions that they begin with.
func instructed(messages []llm.Message, more string) []llm.Message {
	switch {
	case more == "":
		return messages
	case len(messages) == 0 || messages[0].Role != llm.System:
		return slices.Insert(messages, 0, llm.Text(llm.System, more))
	}
	messages[0] = llm.Text(llm.System, messages[0].Plain()+"\n\n"+more)
	return messages
}

// overflows returns the note of a request that the model can't read. The estimate of tokens is too high by up to a third, so a
// quarter is left to it.
func (t *turn) overflows(m *llm.Model, r *llm.Request) *feed.Note {
	if m.Embedded {
		return nil
	}
	tokens := r.Tokens() * 3 / 4
	if tokens <= m.Can.Context {
		return nil
	}
	return &feed.Note{Kind: feed.ContextLimit, Limit: int64(m.Can.Context), Actual: int64(tokens), Text: fmt.Sprintf(
		"The session has about %d tokens, and the language model %q reads %d: hide or delete events, or begin a new session.", tokens, m.Name, m.Can.Context)}
}
