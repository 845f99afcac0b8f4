// Package transcript is what a language model reads of a session: its events as the messages of a prompt.
package transcript

import (
	"fmt"
	"slices"
	"strings"

	"quarry/internal/agent/reminder"
	"quarry/internal/agent/session"
	"quarry/internal/agent/skill"
	"quarry/internal/llm"
)

// Before is what a model reads before the summary of a compaction.
const Before = "Summary of what was said before:\n"

// Messages returns the visible events of a session, oldest first, as messages, with the reminders that stand beside them. Summaries
// of compactions open them, wherever their events stand. Calls without an output, and outputs without a call, are left out.
func Messages(events []session.Event, reminders ...reminder.Ready) []llm.Message {
	return Since(events, 0, reminders...)
}

// Since returns those of Messages that events behind an ord add.
func Since(events []session.Event, ord int64, reminders ...reminder.Ready) []llm.Message {
	paired := map[string]int{}
	for _, e := range events {
		switch e.Type {
		case session.ToolInput:
			paired[e.CallID] |= 1
		case session.ToolOutput, session.SkillLoad:
			paired[e.CallID] |= 2
		}
	}
	b := builder{reminders: reminders, seen: map[reminder.Hook]int{}}
	for i := range events {
		if e := &events[i]; e.Type == session.Compaction && e.Ord > ord {
			b.say(llm.Text(llm.User, Before+e.Text))
		}
	}
	for i := range events {
		e := &events[i]
		beside := b.remind(e)
		if e.Ord > ord && (e.CallID == "" || paired[e.CallID] == 3) {
			b.add(e, beside)
		}
	}
	b.flush()
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
	var texts []string
	for _, p := range e.Parts {
		if p.Skill == "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Quotable returns events with each input behind the skills that it loads and without images, for the embedded generator, which quotes
// what stands before a question.
func Quotable(events []session.Event) []session.Event {
	out := slices.DeleteFunc(slices.Clone(events), func(e session.Event) bool { return e.Type == session.ImageRead })
	for i := range slices.Backward(out) {
		for j := i; out[j].Type == session.InputMessage && j+1 < len(out) && out[j+1].Type == session.SkillLoad && out[j+1].Input(); j++ {
			out[j], out[j+1] = out[j+1], out[j]
		}
	}
	return out
}

// builder collects messages.
type builder struct {
	out      []llm.Message
	thinking string        // that the next message of the model begins with
	replying bool          // the last message is of the reply that the next event belongs to
	open     int           // calls of the last reply whose results are still to come
	later    []llm.Message // that stand behind these results, as providers want it

	reminders []reminder.Ready
	seen      map[reminder.Hook]int // events of each hook so far
}

// remind returns the texts that stand beside the next event, with what separates them from it; "" for none. The visible events of
// a session are counted, anew behind a compaction.
func (b *builder) remind(e *session.Event) string {
	if e.Type == session.Compaction {
		clear(b.seen)
	}
	hook := reminder.Hook(e.Type)
	if hook != reminder.Input && hook != reminder.Output {
		return ""
	}
	n := b.seen[hook]
	b.seen[hook]++
	out := ""
	for _, r := range b.reminders {
		if text := r.Beside(hook, n, input(e)); strings.TrimSpace(text) != "" {
			out += "\n\n" + text
		}
	}
	return out
}

// add adds an event with the reminders beside it.
func (b *builder) add(e *session.Event, beside string) {
	switch e.Type {
	case session.InputMessage:
		if text := strings.TrimPrefix(input(e)+beside, "\n\n"); text != "" { // skills alone have no text
			b.say(llm.Text(llm.User, text))
		}
	case session.SkillLoad:
		b.load(e)
	case session.ImageRead:
		b.look(e.Image)
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
		b.result(e, e.Tool, string(e.Output)+beside)
	}
}

// load adds the content of a skill as what the user says. A call is closed by a result of its own before.
func (b *builder) load(e *session.Event) {
	if e.CallID == "" {
		b.say(llm.Text(llm.User, e.Text))
		return
	}
	b.later = append(b.later, llm.Text(llm.User, e.Text))
	b.result(e, skill.Tool, fmt.Sprintf("The skill %q is loaded; a message behind the results has its content.", e.Skill))
}

// look adds an image, by its address, as what the user shows. Results of tools can't hold one in every format.
func (b *builder) look(i *session.Image) {
	if i == nil {
		return
	}
	m := llm.Message{Role: llm.User, Parts: []llm.Part{
		{Text: fmt.Sprintf("The image with the artifact_id %s:", i.Artifact)}, {Image: &llm.Image{URL: scheme + i.Artifact, Detail: i.Detail}},
	}}
	if b.open > 0 {
		b.later = append(b.later, m)
		return
	}
	b.say(m)
}

// result adds what came of a call.
func (b *builder) result(e *session.Event, name, text string) {
	m := llm.Text(llm.Result, text)
	m.CallID, m.Name = e.CallID, name
	b.out, b.thinking, b.replying = append(b.out, m), "", false
	if b.open--; b.open <= 0 {
		b.flush()
	}
}

// flush adds what has waited for the results of a reply.
func (b *builder) flush() {
	b.out, b.later, b.open = append(b.out, b.later...), nil, 0
}

// say adds a message of the user.
func (b *builder) say(m llm.Message) {
	b.flush()
	b.out, b.thinking, b.replying = append(b.out, m), "", false
}

// reply adds a text of the model.
func (b *builder) reply(p llm.Part) {
	b.flush()
	b.out = append(b.out, llm.Message{Role: llm.Assistant, Parts: []llm.Part{p}, Reasoning: b.thinking})
	b.thinking, b.replying = "", true
}

// call adds a call to the reply that it belongs to.
func (b *builder) call(c llm.ToolCall) {
	if !b.replying {
		b.flush()
		b.out = append(b.out, llm.Message{Role: llm.Assistant, Reasoning: b.thinking})
		b.thinking, b.replying = "", true
	}
	last := &b.out[len(b.out)-1]
	last.Calls = append(last.Calls, c)
	b.open++
}
