package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"

	"quarry/internal/llm"
)

// event is one event of the stream. A whole message, as a server gives it that can't stream, is one of type "message".
type event struct {
	Type    string  `json:"type"`
	Index   int     `json:"index"`
	Message message `json:"message"`
	Block   piece   `json:"content_block"`
	Delta   struct {
		Type        string  `json:"type"`
		Text        string  `json:"text"`
		PartialJSON string  `json:"partial_json"`
		Thinking    string  `json:"thinking"`
		Signature   string  `json:"signature"`
		StopReason  string  `json:"stop_reason"`
		StopDetails details `json:"stop_details"`
	} `json:"delta"`
	Usage usage `json:"usage"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

type message struct {
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
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`

	thought []byte // what came of Thinking
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

// merge takes over what later counts say; those of message_delta are of the whole answer.
func (u *usage) merge(later usage) {
	for _, p := range []struct{ to, from **int64 }{{&u.Input, &later.Input}, {&u.Written, &later.Written}, {&u.Read, &later.Read}, {&u.Output, &later.Output}} {
		if *p.from != nil {
			*p.to = *p.from
		}
	}
	u.Details.Thinking = max(u.Details.Thinking, later.Details.Thinking)
}

func (u usage) counted() llm.Usage {
	n := func(p *int64) int64 {
		if p == nil {
			return 0
		}
		return max(0, *p)
	}
	return llm.Usage{Input: n(u.Input) + n(u.Written) + n(u.Read), Cached: n(u.Read), Output: n(u.Output), Reasoning: u.Details.Thinking, Estimated: u.Input == nil && u.Output == nil}
}

// reader puts an answer together from events. It is for one call.
type reader struct {
	request request
	model   string // that was asked for
	emit    func(llm.Event) error

	open    map[int]*piece // blocks that have begun and not ended, with what came of them
	signed  []json.RawMessage
	said    strings.Builder // the answer
	thought strings.Builder // what the model thinks
	aside   strings.Builder // text beside structured output
	outcome string          // structured output that is given when it is complete
	given   bool            // structured output came
	answer  llm.Answer
	usage   usage
	stop    string
	details details
	over    bool
}

func newReader(q request, model string, emit func(llm.Event) error) *reader {
	return &reader{request: q, model: model, emit: emit, open: map[int]*piece{}}
}

// feed takes one event. Its errors are *llm.Error, or of emit.
func (r *reader) feed(data []byte) error {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return &llm.Error{Failure: llm.Broken, Text: "a piece of its answer is not JSON", Cause: err}
	}
	switch e.Type {
	case "message_start":
		r.answer.Model = e.Message.Model
		r.usage.merge(e.Message.Usage)
	case "content_block_start":
		return r.start(e.Index, &e.Block)
	case "content_block_delta":
		return r.delta(e)
	case "content_block_stop":
		return r.end(e.Index)
	case "message_delta":
		r.stop, r.details = or(e.Delta.StopReason, r.stop), e.Delta.StopDetails
		r.usage.merge(e.Usage)
	case "message_stop":
		r.over = true
	case "message":
		return r.whole(data)
	case "error":
		return failure(e.Error.Type, e.Error.Message)
	}
	return nil // ping, and what is not known yet
}

// whole reads an answer that came in one piece.
func (r *reader) whole(data []byte) error {
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		return &llm.Error{Failure: llm.Broken, Text: "its answer is no message", Cause: err}
	}
	r.answer.Model, r.stop, r.details, r.over = m.Model, m.StopReason, m.StopDetails, true
	r.usage.merge(m.Usage)
	for i, raw := range m.Content {
		var p piece
		if err := json.Unmarshal(raw, &p); err != nil {
			return &llm.Error{Failure: llm.Broken, Text: "its answer is no message", Cause: err}
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
	text, thought := p.Text, p.Thinking
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
		return &llm.Error{Failure: llm.Broken, Text: "a piece of its answer belongs nowhere"}
	}
	switch e.Delta.Type {
	case "text_delta":
		return r.say(e.Delta.Text)
	case "thinking_delta":
		return r.think(p, e.Delta.Thinking)
	case "signature_delta":
		p.Signature += e.Delta.Signature
	case "input_json_delta":
		p.Input = append(p.Input, e.Delta.PartialJSON...)
		if r.streamed(p) && e.Delta.PartialJSON != "" {
			r.given = true
			return r.text(e.Delta.PartialJSON)
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
		raw, _ := json.Marshal(map[string]string{"type": p.Type, "thinking": string(p.thought), "signature": p.Signature})
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
	if len(bytes.TrimSpace(p.Input)) == 0 {
		p.Input = json.RawMessage(`{}`)
	}
	if p.Name == r.request.output && r.request.output != "" {
		if r.streamed(p) {
			if !r.given {
				r.given = true
				return r.text("{}")
			}
			return nil
		}
		if !r.given {
			r.outcome, r.given = string(p.Input), true
		}
		return nil
	}
	call := llm.ToolCall{ID: p.ID, Name: p.Name, Arguments: p.Input, State: stateOf(r.model, r.signed)}
	r.signed = nil
	r.answer.Calls = append(r.answer.Calls, call)
	return r.emit(llm.Event{Call: &call})
}

// say takes text of the model: the answer, or words beside structured output.
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
	r.said.WriteString(s)
	return r.emit(llm.Event{Text: s})
}

func (r *reader) think(p *piece, s string) error {
	if s == "" {
		return nil
	}
	p.thought = append(p.thought, s...)
	r.thought.WriteString(s)
	return r.emit(llm.Event{Reasoning: s})
}

// finish gives the answer when the stream has ended.
func (r *reader) finish(structured bool) (llm.Answer, error) {
	var err error
	if !r.over && r.stop == "" {
		err = &llm.Error{Failure: llm.Broken, Text: "its answer was cut off"}
	} else if r.conclude(); structured {
		err = r.settle()
	}
	r.answer.Text, r.answer.Reasoning = r.said.String(), r.thought.String()
	return r.answer, err
}

// conclude says why the model stopped and what it took.
func (r *reader) conclude() {
	r.answer.Usage = r.usage.counted()
	switch r.stop {
	case "max_tokens", "model_context_window_exceeded":
		r.answer.Reason = llm.Length
	case "refusal":
		r.answer.Reason, r.answer.Refusal = llm.Refused, or(r.details.Explanation, r.details.Category)
	default: // end_turn, stop_sequence, tool_use; pause_turn: a tool of the provider took too long, what there is counts
		r.answer.Reason = llm.Stop
		if len(r.answer.Calls) > 0 {
			r.answer.Reason = llm.Calls
		}
	}
}

// settle gives structured output that had to be complete first.
func (r *reader) settle() error {
	if r.request.shape == text || r.answer.Reason == llm.Length || r.answer.Reason == llm.Refused || len(r.answer.Calls) > 0 && !r.given {
		return nil
	}
	if r.said.Len() > 0 {
		return nil // streamed
	}
	out := r.outcome
	if !r.given {
		out = unfenced(r.aside.String())
	} else if r.request.wrapped {
		var w struct {
			Value json.RawMessage `json:"value"`
		}
		if json.Unmarshal([]byte(out), &w) == nil && w.Value != nil {
			out = string(w.Value)
		}
	}
	if out != "" && !json.Valid([]byte(out)) {
		return &llm.Error{Failure: llm.Broken, Text: "its answer is not the JSON that was asked for"}
	}
	return r.text(out)
}

// unfenced takes a fence of Markdown off.
func unfenced(s string) string {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "```"); ok {
		_, rest, _ = strings.Cut(rest, "\n")
		s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "```"))
	}
	return s
}

// failures are the types of errors of the API, with the status that each has outside of a stream.
var failures = map[string]struct {
	failure llm.Failure
	status  int
}{
	"invalid_request_error": {llm.Rejected, 400}, "authentication_error": {llm.Rejected, 401}, "billing_error": {llm.Rejected, 402}, "permission_error": {llm.Rejected, 403},
	"not_found_error": {llm.Rejected, 404}, "request_too_large": {llm.Rejected, 413},
	"rate_limit_error": {llm.Limited, 429}, "timeout_error": {llm.TimedOut, 504},
	"api_error": {llm.Broken, 500}, "overloaded_error": {llm.Broken, 529},
	// Bedrock
	"validationException": {llm.Rejected, 400}, "throttlingException": {llm.Limited, 429}, "serviceQuotaExceededException": {llm.Limited, 429},
	"modelTimeoutException": {llm.TimedOut, 504}, "modelStreamErrorException": {llm.Broken, 502}, "internalServerException": {llm.Broken, 500}, "serviceUnavailableException": {llm.Broken, 503},
}

func failure(kind, text string) *llm.Error {
	f, ok := failures[kind]
	if !ok {
		f.failure = llm.Broken
	}
	return &llm.Error{Failure: f.failure, Status: f.status, Text: or(text, kind)}
}
