// Package prompt is what a step of an agent sends to its model: instructions, what the session holds, tools and the form of the answer.
package prompt

import (
	"encoding/json"
	"fmt"
	"slices"

	"quarry/internal/agent"
	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/skill"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/transcript"
	"quarry/internal/agent/turn/guide"
	"quarry/internal/llm"
)

// Prompt is where a turn stands.
type Prompt struct {
	Agent        *agent.Agent
	Name         string // of the step
	Step         *agent.Step
	Instructions []llm.Message     // of the step, none or one
	Texts        map[string]string // of reminders, by their keys
	Words        *guide.Vocabulary // of reminders
	Tools        *tool.Bound
	Events       []session.Event // the visible ones
}

// Request returns the next call of the model.
func (p *Prompt) Request(m *llm.Model) llm.Request {
	messages, format := slices.Clone(p.Instructions), p.Step.Output.Schema
	if format != nil && !m.Can.Structured && !m.Embedded {
		messages, format = append(messages, llm.Text(llm.System, "Answer with one JSON value that fits this JSON Schema, and with nothing else: "+string(format.Schema))), nil
	}
	skills := p.skills(m)
	messages = instructed(messages, skills.Prompt())
	events, beside := p.Events, guide.Beside(p.Name, p.Step, p.Texts, p.Words)
	if m.Embedded { // it would quote reminders, too
		events, beside = transcript.Quotable(events), nil
	}
	r := llm.Request{
		Messages: append(messages, transcript.Messages(events, beside...)...), Format: format, Question: transcript.Question(p.Events), Partial: true,
	}
	if m.Can.Tools || m.Embedded {
		r.Tools = append(p.Tools.Offer(p.Step.AllowedTools), skills.Offer()...)
	}
	if parameters := p.Agent.Model.Parameters; len(parameters) > 0 {
		_ = json.Unmarshal(parameters, &r.Parameters.Extra) // an object, as the agent was written
	}
	return r
}

// skills returns what the model may load in the step. One that calls no tools, and the embedded generator, which would quote what
// it is told of them, load none by themselves.
func (p *Prompt) skills(m *llm.Model) skill.Set {
	if !m.Can.Tools || m.Embedded {
		return nil
	}
	return skill.Allowed(p.Agent.Skills, p.Step.AllowedSkills)
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

// Overflows returns the note of a request that the model can't read. The estimate of tokens is too high by up to a third, so a
// quarter is left to it.
func Overflows(m *llm.Model, r *llm.Request) *feed.Note {
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
