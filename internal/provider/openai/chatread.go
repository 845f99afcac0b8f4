package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"quarry/internal/llm"
	"quarry/internal/provider"
)

// chunk is an event of a stream, and a whole answer as well.
type chunk struct {
	ID      content `json:"id"`
	Model   string  `json:"model"`
	Object  string  `json:"object"`
	Choices []struct {
		Index   int             `json:"index"`
		Delta   *delta          `json:"delta"`
		Message *delta          `json:"message"`
		Finish  json.RawMessage `json:"finish_reason"`
	} `json:"choices"`
	Usage *chatUsage      `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type delta struct {
	Content          content        `json:"content"`
	ReasoningContent *provider.Text `json:"reasoning_content"`
	Reasoning        content        `json:"reasoning"`
	Refusal          *provider.Text `json:"refusal"`
	Calls            []callDelta    `json:"tool_calls"`
}

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content"`
}

// content is a text, or the parts that some servers send in its place.
type content struct{ text, thought string }

func (c *content) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*provider.Text)(&c.text)) == nil {
		return nil
	}
	var parts []struct {
		Type     string        `json:"type"`
		Text     provider.Text `json:"text"`
		Thinking content       `json:"thinking"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return nil //nolint:nilerr // a form of no meaning to us, such as an object of details
	}
	for _, p := range parts {
		c.text += string(p.Text)
		c.thought += p.Thinking.text
	}
	return nil
}

type chatUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
	CacheHit   int64 `json:"prompt_cache_hit_tokens"`
	PromptIs   *struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionIs *struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *chatUsage) usage() llm.Usage {
	out := llm.Usage{Input: u.Prompt, Output: u.Completion, Cached: u.CacheHit}
	if u.PromptIs != nil {
		out.Cached = max(out.Cached, u.PromptIs.Cached)
	}
	if u.CompletionIs != nil {
		out.Reasoning = u.CompletionIs.Reasoning
	}
	if out.Reasoning > 0 && u.Total == out.Input+out.Output+out.Reasoning { // some count reasoning beside the completion
		out.Output += out.Reasoning
	}
	return out
}

// reading is the state of one answer.
type reading struct {
	resp  *provider.Response
	b     *provider.Builder
	calls assembly
	ended bool
	via   string // the member in which reasoning came
	fence fence
}

func (chat) events(resp *provider.Response, b *provider.Builder) error {
	in := &reading{resp: resp, b: b}
	for e, err := range resp.Events() {
		if err != nil {
			return err
		}
		text := bytes.TrimSpace(e.Data)
		if string(text) == "[DONE]" {
			in.ended = true
			break
		}
		if len(text) == 0 {
			continue
		}
		if e.Name == "error" {
			return resp.Reported(e.Data)
		}
		if err := in.chunk(e.Data); err != nil {
			return err
		}
	}
	if !in.ended {
		return resp.CutOff()
	}
	return in.finish()
}

func (chat) whole(data []byte, resp *provider.Response, b *provider.Builder) error {
	in := &reading{resp: resp, b: b}
	if err := in.chunk(data); err != nil {
		return err
	}
	return in.finish()
}

func (in *reading) chunk(data []byte) error {
	if model, text, ok := piece(data); ok {
		if len(model) > 0 && in.b.Answer.Model != string(model) {
			in.b.Answer.Model = string(model)
		}
		return in.fence.text(in.b, string(text))
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return in.resp.BadEvent(err)
	}
	if provider.Present(c.Error) || c.Object == "error" {
		return in.resp.Reported(data)
	}
	if c.Model != "" {
		in.b.Answer.Model = c.Model
	}
	if c.ID.text != "" {
		in.b.Answer.ID = c.ID.text
	}
	if c.Usage != nil {
		in.b.Answer.Usage = c.Usage.usage()
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		for _, d := range []*delta{choice.Delta, choice.Message} {
			if d == nil {
				continue
			}
			if err := in.delta(d); err != nil {
				return err
			}
		}
		var reason string
		if json.Unmarshal(choice.Finish, &reason) == nil && reason != "" {
			if strings.EqualFold(reason, "error") {
				return in.resp.Reported(data)
			}
			in.ended = true
			in.b.Answer.Reason = finish(reason)
		}
	}
	return nil
}

func (in *reading) delta(d *delta) error {
	thought := d.Content.thought
	if d.ReasoningContent != nil && *d.ReasoningContent != "" {
		thought, in.via = string(*d.ReasoningContent), "reasoning_content"
	} else if d.Reasoning.text != "" {
		thought, in.via = d.Reasoning.text, "reasoning"
	}
	if err := in.b.Reasoning(thought); err != nil {
		return err
	}
	if d.Refusal != nil {
		in.b.Refuse(string(*d.Refusal))
	}
	for _, c := range d.Calls {
		in.calls.add(c)
	}
	return in.fence.text(in.b, d.Content.text)
}

// finish passes the calls on, which are complete now.
func (in *reading) finish() error {
	if err := in.fence.end(in.b); err != nil {
		return err
	}
	for i, c := range in.calls.slots {
		s := state{Extra: c.extra}
		if i == 0 {
			s.Reasoning = in.via
		}
		call := llm.ToolCall{ID: c.id, Name: c.name, Arguments: json.RawMessage(c.arguments.String())}
		if s.Reasoning != "" || len(s.Extra) > 0 {
			kept, err := json.Marshal(s)
			if err != nil {
				return in.resp.BadEvent(err)
			}
			call.State = string(kept)
		}
		if err := in.b.Call(call); err != nil {
			return err
		}
	}
	if in.b.Answer.Refusal != "" {
		in.b.Answer.Reason = llm.Refused
	}
	return nil
}

func finish(reason string) llm.Reason {
	switch strings.ToLower(reason) {
	case "length", "max_tokens", "model_length":
		return llm.Length
	case "tool_calls", "function_call", "tool_use":
		return llm.Calls
	case "content_filter", "safety", "refusal":
		return llm.Refused
	}
	return llm.Stop
}
