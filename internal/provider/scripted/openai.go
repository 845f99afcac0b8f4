package scripted

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
)

// chat is the format of OpenAI's Chat Completions API.
type chat struct{ sse }

func (chat) read(_ *http.Request, c *call) error {
	var in struct {
		Model         string           `json:"model"`
		Messages      []map[string]any `json:"messages"`
		Stream        bool             `json:"stream"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if err := json.Unmarshal(c.body, &in); err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	if len(in.Messages) == 0 {
		return fmt.Errorf("messages are missing")
	}
	c.model, c.stream, c.usage = in.Model, in.Stream, in.StreamOptions.IncludeUsage
	return nil
}

func chatUsage(u Usage) obj {
	return obj{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details":     obj{"cached_tokens": u.Cached},
		"completion_tokens_details": obj{"reasoning_tokens": u.Reasoning},
	}
}

func (r *Reply) finish(plain, calls, length, filtered string) string {
	switch {
	case r.Stop == Length:
		return length
	case r.Stop == Filtered:
		return filtered
	case len(r.Calls) > 0:
		return calls
	}
	return plain
}

func (r *Reply) model(c *call) string { return cmp.Or(r.Model, c.model) }

func (chat) whole(c *call, r *Reply) any {
	message := obj{"role": "assistant", "content": r.text(), "refusal": nil}
	if r.Reasoning != "" {
		message["reasoning_content"] = r.Reasoning
	}
	if r.Refusal != "" {
		message["content"], message["refusal"] = nil, r.Refusal
	}
	var calls []obj
	for _, t := range r.Calls {
		calls = append(calls, obj{"id": t.ID, "type": "function", "function": obj{"name": t.Name, "arguments": t.arguments()}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	choice := obj{"index": 0, "message": message, "finish_reason": r.finish("stop", "tool_calls", "length", "content_filter")}
	out := obj{"id": "chatcmpl-1", "object": "chat.completion", "created": 1900000000, "model": r.model(c), "choices": []obj{choice}}
	if r.Fault != NoUsage {
		out["usage"] = chatUsage(r.usage())
	}
	return out
}

func (d chat) frames(c *call, r *Reply) []frame {
	var out []frame
	add := func(content bool, choices []obj, usage any) {
		chunk := obj{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1900000000, "model": r.model(c), "choices": choices}
		if usage != nil {
			chunk["usage"] = usage
		}
		out = append(out, frame{d.frame("", encode(chunk)), content})
	}
	delta := func(content bool, delta obj, finish any) {
		add(content, []obj{{"index": 0, "delta": delta, "finish_reason": finish}}, nil)
	}
	delta(false, obj{"role": "assistant", "content": ""}, nil)
	for _, piece := range words(r.Reasoning) {
		delta(true, obj{"reasoning_content": piece}, nil)
	}
	for _, piece := range r.pieces() {
		delta(true, obj{"content": piece}, nil)
	}
	for _, piece := range words(r.Refusal) {
		delta(true, obj{"refusal": piece}, nil)
	}
	for i, t := range r.Calls {
		delta(true, obj{"tool_calls": []obj{{"index": i, "id": t.ID, "type": "function", "function": obj{"name": t.Name, "arguments": ""}}}}, nil)
		for _, piece := range t.Pieces {
			delta(true, obj{"tool_calls": []obj{{"index": i, "function": obj{"arguments": piece}}}}, nil)
		}
	}
	delta(false, obj{}, r.finish("stop", "tool_calls", "length", "content_filter"))
	if c.usage && r.Fault != NoUsage {
		add(false, []obj{}, chatUsage(r.usage()))
	}
	return append(out, frame{d.frame("", []byte("[DONE]")), false})
}

func (chat) failure(status int, message string) any {
	return obj{"error": obj{"message": message, "type": errorType(status), "param": nil, "code": nil}}
}

func (d chat) broken(message string) (string, any) {
	return "", d.failure(http.StatusServiceUnavailable, message)
}

// errorType returns OpenAI's error type for a status.
func errorType(status int) string {
	switch {
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= 500:
		return "server_error"
	}
	return "invalid_request_error"
}
