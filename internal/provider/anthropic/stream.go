package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"quarry/internal/llm"
	"quarry/internal/opt"
	"quarry/internal/provider"
)

// event is one event of the stream. A whole message, as sent by servers that can't stream, is one of type "message".
type event struct {
	Type    string  `json:"type"`
	Index   int     `json:"index"`
	Message message `json:"message"`
	Block   piece   `json:"content_block"`
	Delta   struct {
		Type        string        `json:"type"`
		Text        provider.Text `json:"text"`
		PartialJSON provider.Text `json:"partial_json"`
		Thinking    provider.Text `json:"thinking"`
		Signature   string        `json:"signature"`
		StopReason  string        `json:"stop_reason"`
		StopDetails details       `json:"stop_details"`
	} `json:"delta"`
	Usage usage           `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type message struct {
	ID          string            `json:"id"`
	Model       string            `json:"model"`
	Content     []json.RawMessage `json:"content"`
	StopReason  string            `json:"stop_reason"`
	StopDetails details           `json:"stop_details"`
	Usage       usage             `json:"usage"`
}

type details struct {
	Category    string `json:"category"`
	Explanation string `json:"explanation"`
}

type piece struct {
	Type      string          `json:"type"`
	Text      provider.Text   `json:"text"`
	Thinking  provider.Text   `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`

	thought []byte // the deltas of Thinking so far
}

type usage struct {
	Input   *int64 `json:"input_tokens"`
	Written *int64 `json:"cache_creation_input_tokens"`
	Read    *int64 `json:"cache_read_input_tokens"`
	Output  *int64 `json:"output_tokens"`
	Details struct {
		Thinking int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// merge sets the counts that later has. Those of message_delta are totals of the whole answer.
func (u *usage) merge(later usage) {
	u.Input, u.Written = cmp.Or(later.Input, u.Input), cmp.Or(later.Written, u.Written)
	u.Read, u.Output = cmp.Or(later.Read, u.Read), cmp.Or(later.Output, u.Output)
	u.Details.Thinking = max(u.Details.Thinking, later.Details.Thinking)
}

func (u usage) usage() llm.Usage {
	n := func(p *int64) int64 { return max(0, opt.Deref(p, 0)) }
	return llm.Usage{
		Input: n(u.Input) + n(u.Written) + n(u.Read), Cached: n(u.Read), Output: n(u.Output), Reasoning: u.Details.Thinking,
		Estimated: u.Input == nil && u.Output == nil,
	}
}

// reader puts an answer together from events. It is for one call.
type reader struct {
	request request
	model   string // that was asked for
	b       *provider.Builder
	resp    *provider.Response

	open    map[int]*piece // blocks that have begun and not ended, with their deltas so far
	signed  []json.RawMessage
	form    strings.Builder // structured output as it was passed on
	aside   strings.Builder // text beside structured output
	outcome string          // structured output that is passed on when it is complete
	given   bool            // structured output has come
	usage   usage
	stop    string
	details details
	over    bool
}

// feed handles one event. Its errors are *llm.Error, or those of emit.
func (r *reader) feed(data []byte) error {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return r.resp.BadEvent(err)
	}
	switch e.Type {
	case "message_start":
		r.b.Answer.Model, r.b.Answer.ID = e.Message.Model, e.Message.ID
		r.usage.merge(e.Message.Usage)
	case "content_block_start":
		return r.start(e.Index, &e.Block)
	case "content_block_delta":
		return r.delta(e)
	case "content_block_stop":
		return r.end(e.Index)
	case "message_delta":
		r.stop, r.details = cmp.Or(e.Delta.StopReason, r.stop), e.Delta.StopDetails
		r.usage.merge(e.Usage)
	case "message_stop":
		r.over = true
	case "message":
		return r.whole(data)
	}
	if provider.Present(e.Error) {
		return r.resp.Reported(data)
	}
	return nil // ping, and events of a later version
}

// whole reads an answer that came in one piece.
func (r *reader) whole(data []byte) error {
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		return r.resp.BadEvent(err)
	}
	r.b.Answer.Model, r.b.Answer.ID = m.Model, m.ID
	r.stop, r.details, r.over = m.StopReason, m.StopDetails, true
	r.usage.merge(m.Usage)
	for i, raw := range m.Content {
		var p piece
		if err := json.Unmarshal(raw, &p); err != nil {
			return r.resp.BadEvent(err)
		}
		if err := r.start(i, &p); err != nil {
			return err
		}
		if err := r.end(i); err != nil {
			return err
		}
	}
	return nil
}

// start opens a block; what it begins with counts as its first delta.
func (r *reader) start(index int, p *piece) error {
	text, thought := string(p.Text), string(p.Thinking)
	p.Text, p.Thinking = "", ""
	if string(bytes.TrimSpace(p.Input)) == "{}" || p.Type == "tool_use" && string(p.Input) == "null" {
		p.Input = nil // pieces follow
	}
	r.open[index] = p
	if r.streamed(p) && len(p.Input) > 0 {
		r.given = true
		if err := r.text(string(p.Input)); err != nil {
			return err
		}
	}
	if err := r.say(text); err != nil {
		return err
	}
	return r.think(p, thought)
}

// streamed reports whether the input of p is the answer and goes out as it comes.
func (r *reader) streamed(p *piece) bool {
	return p.Type == "tool_use" && p.Name == r.request.output && r.request.shape == input && !r.request.wrapped
}

func (r *reader) delta(e event) error {
	p := r.open[e.Index]
	if p == nil {
		return r.resp.BadEvent(errors.New("a delta of no block"))
	}
	switch e.Delta.Type {
	case "text_delta":
		return r.say(string(e.Delta.Text))
	case "thinking_delta":
		return r.think(p, string(e.Delta.Thinking))
	case "signature_delta":
		p.Signature += e.Delta.Signature
	case "input_json_delta":
		p.Input = append(p.Input, e.Delta.PartialJSON...)
		if r.streamed(p) && e.Delta.PartialJSON != "" {
			r.given = true
			return r.text(string(e.Delta.PartialJSON))
		}
	}
	return nil
}

func (r *reader) end(index int) error {
	p := r.open[index]
	delete(r.open, index)
	if p == nil {
		return nil
	}
	switch p.Type {
	case "thinking":
		raw, _ := json.Marshal(map[string]string{"type": p.Type, "thinking": provider.Whole(string(p.thought)), "signature": p.Signature})
		if p.Signature != "" {
			r.signed = append(r.signed, raw)
		}
	case "redacted_thinking":
		raw, _ := json.Marshal(map[string]string{"type": p.Type, "data": p.Data})
		r.signed = append(r.signed, raw)
	case "tool_use":
		return r.call(p)
	}
	return nil
}

func (r *reader) call(p *piece) error {
	if p.Name == r.request.output && r.request.output != "" {
		if !r.given {
			r.given, r.outcome = true, string(bytes.TrimSpace(p.Input))
		}
		return nil
	}
	if len(bytes.TrimSpace(p.Input)) == 0 {
		p.Input = json.RawMessage(`{}`)
	}
	call := llm.ToolCall{ID: p.ID, Name: p.Name, Arguments: p.Input, State: callState(r.model, r.signed)}
	r.signed = nil
	return r.b.Call(call)
}

// say handles text of the model: the answer, or text beside structured output.
func (r *reader) say(s string) error {
	if r.request.shape != text {
		r.aside.WriteString(s)
		return nil
	}
	return r.text(s)
}

func (r *reader) text(s string) error {
	if s == "" {
		return nil
	}
	if r.request.structured {
		r.form.WriteString(s)
	}
	return r.b.Text(s)
}

func (r *reader) think(p *piece, s string) error {
	if s == "" {
		return nil
	}
	p.thought = append(p.thought, s...)
	return r.b.Reasoning(s)
}

// finish sets why the model stopped and the usage when the stream has ended.
func (r *reader) finish() error {
	if !r.over && r.stop == "" {
		return r.resp.CutOff()
	}
	a := &r.b.Answer
	a.Usage = r.usage.usage()
	switch r.stop {
	case "max_tokens", "model_context_window_exceeded":
		a.Reason = llm.Length
		return r.part()
	case "refusal":
		a.Reason, a.Refusal = llm.Refused, cmp.Or(r.details.Explanation, r.details.Category)
	default: // end_turn, stop_sequence, tool_use; pause_turn: a tool of the provider took too long, the text so far counts
		a.Reason = llm.Stop
		return r.settle()
	}
	return nil
}

// settle passes on structured output that can only be read as a whole, and fails if it is not JSON.
func (r *reader) settle() error {
	if !r.request.structured || len(r.b.Answer.Calls) > 0 && !r.given {
		return nil
	}
	if r.form.Len() > 0 || r.request.shape == text { // streamed
		return r.valid(r.form.String())
	}
	out := cmp.Or(r.outcome, "{}")
	if !r.given {
		out = r.aside.String()
	} else if r.request.wrapped {
		var w struct {
			Value json.RawMessage `json:"value"`
		}
		if json.Unmarshal([]byte(out), &w) == nil && w.Value != nil {
			out = string(w.Value)
		}
	}
	out, _ = provider.BareJSON(out)
	if err := r.valid(out); err != nil {
		return err
	}
	return r.text(out)
}

// wrapper matches the beginning of a wrapped answer.
var wrapper = regexp.MustCompile(`^\{\s*"value"\s*:\s*`)

// part passes on what there is of structured output that the token limit cut off and that was to be read as a whole.
func (r *reader) part() error {
	if !r.request.structured || !r.b.Partial() || r.form.Len() > 0 || len(r.b.Answer.Calls) > 0 {
		return nil
	}
	out := r.aside.String()
	if r.given {
		out = r.outcome
	}
	if r.request.wrapped {
		out = wrapper.ReplaceAllString(out, "")
	}
	return r.text(out)
}

// valid accepts an empty text, which is a failure of its own.
func (r *reader) valid(out string) error {
	if out == "" || json.Valid([]byte(out)) {
		return nil
	}
	return r.resp.Failed(llm.Broken, "its answer is not the JSON that was asked for")
}
