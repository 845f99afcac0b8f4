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
	Answer llm.Answer // adapters set Reason, Refusal, Model and Usage

	client    *Client
	request   llm.Request
	emit      func(llm.Event) error
	text      bytes.Buffer
	reasoning bytes.Buffer
	begun     bool
	refused   error // of emit
}

// NewBuilder returns the builder of the answer to r.
func (c *Client) NewBuilder(r llm.Request, emit func(llm.Event) error) *Builder {
	return &Builder{client: c, request: r, emit: emit}
}

// Text appends to the answer and emits the text unless it is empty.
func (b *Builder) Text(s string) error {
	if s == "" {
		return nil
	}
	b.text.WriteString(s)
	return b.pass(llm.Event{Text: s})
}

// Reasoning appends to the reasoning of the model.
func (b *Builder) Reasoning(s string) error {
	if s == "" {
		return nil
	}
	b.reasoning.WriteString(s)
	return b.pass(llm.Event{Reasoning: s})
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

// Streamed reports whether text or reasoning has been emitted.
func (b *Builder) Streamed() bool { return b.text.Len()+b.reasoning.Len() > 0 }

// Partial reports whether an answer that was cut off is to be passed on as it is.
func (b *Builder) Partial() bool { return b.request.Partial }

// Structured reports whether structured output was asked for.
func (b *Builder) Structured() bool { return b.request.Format != nil }

// Fail ends the answer with err and returns the answer so far. Errors of emit and of the context are returned unchanged; a
// failure of the model is marked as begun where some of the answer was passed on.
func (b *Builder) Fail(err error) (llm.Answer, error) {
	b.finish()
	var e *llm.Error
	if b.refused == nil && b.begun && errors.As(err, &e) {
		begun := *e
		begun.Begun = true
		err = &begun
	}
	return b.Answer, err
}

func (b *Builder) finish() {
	b.Answer.Text, b.Answer.Reasoning = b.text.String(), b.reasoning.String()
	b.Answer.Refusal = b.client.clean.Text(b.Answer.Refusal) // it goes into messages, as errors do
	if b.Answer.Reason == "" {
		b.Answer.Reason = llm.Stop
	}
	if len(b.Answer.Calls) > 0 && b.Answer.Reason == llm.Stop {
		b.Answer.Reason = llm.Calls
	}
	if u := &b.Answer.Usage; u.Input == 0 && u.Output == 0 {
		b.estimate(u)
	}
}

// estimate counts the tokens of request and answer where the provider did not.
func (b *Builder) estimate(u *llm.Usage) {
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
