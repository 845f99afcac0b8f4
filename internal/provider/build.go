package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"quarry/internal/llm"
)

// Builder emits the events of an answer and collects the whole. Adapters feed it and end with Done or Fail. It is for one
// goroutine.
type Builder struct {
	Answer llm.Answer // adapters set Reason, Refusal, Model, ID and Usage

	client    *Client
	request   llm.Request
	emit      func(llm.Event) error
	text      bytes.Buffer
	reasoning bytes.Buffer
	texts     joined // of the answer
	thoughts  joined // of the reasoning
	begun     bool
	refused   error // of emit
}

// NewBuilder returns the builder of the answer to r.
func (c *Client) NewBuilder(r llm.Request, emit func(llm.Event) error) *Builder {
	return &Builder{client: c, request: r, emit: emit}
}

// Text appends to the answer and emits the text unless it is empty. A character that s cuts is emitted when it is whole.
func (b *Builder) Text(s string) error {
	if s = b.texts.add(s); s == "" {
		return nil
	}
	return b.write(s)
}

func (b *Builder) write(s string) error {
	b.text.WriteString(s)
	return b.pass(llm.Event{Text: s})
}

// Reasoning appends to the reasoning of the model.
func (b *Builder) Reasoning(s string) error {
	if s = b.thoughts.add(s); s == "" {
		return nil
	}
	return b.think(s)
}

func (b *Builder) think(s string) error {
	b.reasoning.WriteString(s)
	return b.pass(llm.Event{Reasoning: s})
}

// flush emits characters that nothing completes any more.
func (b *Builder) flush() error {
	if s := b.thoughts.end(); s != "" {
		if err := b.think(s); err != nil {
			return err
		}
	}
	if s := b.texts.end(); s != "" {
		return b.write(s)
	}
	return nil
}

// maxRefused is how many bytes of a refusal are kept; people are shown less.
const maxRefused = 8 << 10

// Refuse appends to the text in which the model refuses.
func (b *Builder) Refuse(s string) {
	b.Answer.Refusal += s[:min(len(s), max(0, maxRefused-len(b.Answer.Refusal)))]
}

// Call adds a complete call. Missing arguments become an empty object, and a call without an id gets one by its place.
func (b *Builder) Call(call llm.ToolCall) error {
	if len(bytes.TrimSpace(call.Arguments)) == 0 || string(call.Arguments) == "null" {
		call.Arguments = json.RawMessage("{}")
	}
	if call.ID == "" {
		call.ID = fmt.Sprintf("call_%d", len(b.Answer.Calls)+1)
	}
	call.Arguments = json.RawMessage(Whole(string(call.Arguments)))
	if err := b.flush(); err != nil {
		return err
	}
	b.Answer.Calls = append(b.Answer.Calls, call)
	return b.pass(llm.Event{Call: &call})
}

func (b *Builder) pass(e llm.Event) error {
	b.begun = true
	if err := b.emit(e); err != nil {
		b.refused = err
		return err
	}
	return nil
}

// Streamed reports whether text or reasoning has come.
func (b *Builder) Streamed() bool {
	return b.text.Len()+len(b.texts.tail)+b.reasoning.Len()+len(b.thoughts.tail) > 0
}

// Partial reports whether an answer that was cut off is to be passed on as it is.
func (b *Builder) Partial() bool { return b.request.Partial }

// Structured reports whether structured output was asked for.
func (b *Builder) Structured() bool { return b.request.Format != nil }

// Fail ends the answer with err and returns the answer so far. Errors of emit and of the context are returned unchanged; a
// failure of the model is marked as begun where some of the answer was passed on. An answer that was cut off has no
// reason unless the provider told it, and one that did not begin no usage either.
func (b *Builder) Fail(err error) (llm.Answer, error) {
	b.collect()
	if b.begun {
		b.estimate()
	}
	var e *llm.Error
	if b.refused == nil && b.begun && errors.As(err, &e) {
		begun := *e
		begun.Begun = true
		err = &begun
	}
	return b.Answer, err
}

// collect takes over what has arrived.
func (b *Builder) collect() {
	b.Answer.Text, b.Answer.Reasoning = b.text.String(), b.reasoning.String()
	b.Answer.Refusal = b.client.clean.Text(Whole(b.Answer.Refusal)) // it goes into messages, as errors do
}

// finish completes an answer that the provider called complete.
func (b *Builder) finish() {
	b.collect()
	if b.Answer.Reason == "" {
		b.Answer.Reason = llm.Stop
	}
	if len(b.Answer.Calls) > 0 && b.Answer.Reason == llm.Stop {
		b.Answer.Reason = llm.Calls
	}
	b.estimate()
}

// estimate counts the tokens of request and answer if the provider did not.
func (b *Builder) estimate() {
	u := &b.Answer.Usage
	if u.Input != 0 || u.Output != 0 {
		return
	}
	var written, reasoning llm.Estimate
	written.Add(b.Answer.Text)
	written.Add(b.Answer.Reasoning)
	reasoning.Add(b.Answer.Reasoning)
	for _, c := range b.Answer.Calls {
		written.Event(llm.Event{Call: &c})
	}
	*u = llm.Usage{
		Input: int64(b.request.Tokens()), Output: int64(written.Tokens()), Reasoning: int64(reasoning.Tokens()), Estimated: true,
	}
}

// Done ends an answer that the provider called complete. The error is an *llm.Error if the answer is empty, or structured
// output that was cut off by the token limit, refused, or is not JSON; see llm.Request, Partial.
func (b *Builder) Done() (llm.Answer, error) {
	if err := b.flush(); err != nil {
		return b.Fail(err)
	}
	b.finish()
	a := &b.Answer
	whole := b.request.Format != nil && !b.request.Partial
	switch {
	case a.Reason == llm.Refused && whole:
		return b.Fail(b.client.Failed(llm.Declined, a.Refusal))
	case a.Reason == llm.Length && whole && len(a.Calls) == 0:
		return b.Fail(b.client.Failed(llm.Truncated, "it stopped for the reason length"))
	case a.Reason == llm.Refused, a.Reason == llm.Length && b.request.Partial:
		return *a, nil
	case a.Text == "" && len(a.Calls) == 0 && a.Reason == llm.Length:
		return b.Fail(b.client.Failed(llm.Empty, "the token limit was used up before its answer began"))
	case a.Text == "" && len(a.Calls) == 0:
		return b.Fail(b.client.Failed(llm.Empty, ""))
	case b.Structured() && len(a.Calls) == 0 && !json.Valid(b.text.Bytes()):
		return b.Fail(b.client.Failed(llm.Broken, "structured output was asked for and its answer is not JSON"))
	}
	return *a, nil
}
