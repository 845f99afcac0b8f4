package scripted

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
)

// messages is the format of Anthropic's Messages API.
type messages struct{ sse }

func (messages) read(r *http.Request, c *call) error {
	if r.Header.Get("Anthropic-Version") == "" {
		return fmt.Errorf("anthropic-version: header is required")
	}
	return readMessages(c)
}

func readMessages(c *call) error {
	var in struct {
		Model      string           `json:"model"`
		Messages   []map[string]any `json:"messages"`
		MaxTokens  int              `json:"max_tokens"`
		Stream     bool             `json:"stream"`
		ToolChoice struct {
			Type, Name string
		} `json:"tool_choice"`
	}
	if err := json.Unmarshal(c.body, &in); err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	switch {
	case len(in.Messages) == 0:
		return fmt.Errorf("messages: at least one message is required")
	case in.MaxTokens < 1:
		return fmt.Errorf("max_tokens: Field required")
	}
	c.model, c.stream = in.Model, in.Stream
	if in.ToolChoice.Type == "tool" {
		c.forced = in.ToolChoice.Name
	}
	return nil
}

// blocks returns the content blocks of a complete message. If the caller forces a tool, the text is its arguments.
func (messages) blocks(c *call, r *Reply) []obj {
	var out []obj
	if r.Reasoning != "" {
		out = append(out, obj{"type": "thinking", "thinking": r.Reasoning, "signature": "c2lnbmVk"})
	}
	switch {
	case r.Refusal != "":
	case c.forced != "" && len(r.Calls) == 0 && len(r.pieces()) > 0:
		out = append(out, obj{"type": "tool_use", "id": "toolu_forced", "name": c.forced, "input": arguments(r.text()), "pieces": r.pieces()})
	case len(r.pieces()) > 0:
		out = append(out, obj{"type": "text", "text": r.text()})
	}
	for _, t := range r.Calls {
		out = append(out, obj{"type": "tool_use", "id": t.ID, "name": t.Name, "input": arguments(t.arguments()), "pieces": t.Pieces})
	}
	return out
}

// arguments returns the arguments of a call as an object, as providers do that parse them; it is empty if they are
// truncated.
func arguments(text string) any {
	var v map[string]any
	if json.Unmarshal([]byte(text), &v) != nil {
		return obj{}
	}
	return v
}

func (d messages) stop(c *call, r *Reply) string {
	if r.Refusal != "" {
		return "refusal"
	}
	return r.finish("end_turn", "tool_use", "max_tokens", "refusal")
}

func (messages) usage(r *Reply, output int64) obj {
	if r.Fault == NoUsage {
		return obj{}
	}
	u := r.usage()
	return obj{
		"input_tokens": u.Input - u.Cached, "cache_creation_input_tokens": 0, "cache_read_input_tokens": u.Cached, "output_tokens": output,
		"output_tokens_details": obj{"thinking_tokens": u.Reasoning},
	}
}

// details returns the stop_details of a refusal, or nil.
func (messages) details(r *Reply) any {
	if r.Refusal == "" {
		return nil
	}
	return obj{"type": "refusal", "category": nil, "explanation": r.Refusal}
}

func (d messages) whole(c *call, r *Reply) any {
	blocks := d.blocks(c, r)
	for _, b := range blocks {
		delete(b, "pieces")
	}
	if blocks == nil {
		blocks = []obj{}
	}
	return obj{
		"id": "msg_1", "type": "message", "role": "assistant", "model": r.model(c), "content": blocks,
		"stop_reason": d.stop(c, r), "stop_sequence": nil, "stop_details": d.details(r), "usage": d.usage(r, r.usage().Output),
	}
}

func (d messages) frames(c *call, r *Reply) []frame {
	var out []frame
	add := func(content bool, event string, v obj) {
		v["type"] = event
		out = append(out, frame{d.frame(event, encode(v)), content})
	}
	add(false, "message_start", obj{"message": obj{
		"id": "msg_1", "type": "message", "role": "assistant", "model": r.model(c), "content": []obj{},
		"stop_reason": nil, "stop_sequence": nil, "usage": d.usage(r, 1),
	}})
	for i, b := range d.blocks(c, r) {
		delta := func(v obj) { add(true, "content_block_delta", obj{"index": i, "delta": v}) }
		start := func(v obj) { add(false, "content_block_start", obj{"index": i, "content_block": v}) }
		switch b["type"] {
		case "thinking":
			start(obj{"type": "thinking", "thinking": "", "signature": ""})
			for _, piece := range words(r.Reasoning) {
				delta(obj{"type": "thinking_delta", "thinking": piece})
			}
			delta(obj{"type": "signature_delta", "signature": b["signature"]})
		case "text":
			start(obj{"type": "text", "text": ""})
			add(false, "ping", obj{})
			for _, piece := range r.pieces() {
				delta(obj{"type": "text_delta", "text": piece})
			}
		case "tool_use":
			start(obj{"type": "tool_use", "id": b["id"], "name": b["name"], "input": obj{}})
			pieces, _ := b["pieces"].([]string)
			for _, piece := range pieces {
				delta(obj{"type": "input_json_delta", "partial_json": piece})
			}
		}
		add(false, "content_block_stop", obj{"index": i})
	}
	usage := obj{}
	if r.Fault != NoUsage {
		usage["output_tokens"], usage["output_tokens_details"] = r.usage().Output, obj{"thinking_tokens": r.usage().Reasoning}
	}
	add(false, "message_delta", obj{"delta": obj{"stop_reason": d.stop(c, r), "stop_sequence": nil, "stop_details": d.details(r)}, "usage": usage})
	add(false, "message_stop", obj{})
	return out
}

// anthropicKinds are Anthropic's error types by status.
var anthropicKinds = map[int]string{400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}

func (messages) failure(status int, message string) any {
	return obj{"type": "error", "error": obj{"type": cmp.Or(anthropicKinds[status], "api_error"), "message": message}, "request_id": "req_1"}
}

func (d messages) broken(message string) (string, any) { return "error", d.failure(529, message) }
