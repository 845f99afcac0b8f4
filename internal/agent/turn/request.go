package turn

import (
	"encoding/json"
	"fmt"
	"slices"

	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/skill"
	"quarry/internal/agent/transcript"
	"quarry/internal/agent/turn/guide"
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
	events, beside := t.events, guide.Beside(t.name, &t.step, t.texts)
	if m.Embedded { // it would quote reminders, too
		events, beside = transcript.Quotable(events), nil
	}
	r := llm.Request{
		Messages: append(messages, transcript.Messages(events, beside...)...), Format: format, Question: transcript.Question(t.events), Partial: true,
	}
	if m.Can.Tools || m.Embedded {
		r.Tools = append(t.tools.Offer(t.step.AllowedTools), skills.Offer()...)
	}
	if p := t.agent.Model.Parameters; len(p) > 0 {
		_ = json.Unmarshal(p, &r.Parameters.Extra) // an object, as the agent was written
	}
	return r
}

// skills returns what the model may load in the step. One that calls no tools, and the embedded generator, which would quote what
// it is told of them, load none by themselves.
func (t *turn) skills(m *llm.Model) skill.Set {
	if !m.Can.Tools || m.Embedded {
		return nil
	}
	return skill.Allowed(t.agent.Skills, t.step.AllowedSkills)
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

func (t *turn) transitionLimit() feed.Note {
	most := t.engine.MaxTransitions
	return feed.Note{Kind: feed.TransitionLimit, Limit: int64(most), Text: fmt.Sprintf(
		"The turn has gone through %d transitions, the setting max_step_transitions of this service, and ends in step %q.", most, t.name)}
}
