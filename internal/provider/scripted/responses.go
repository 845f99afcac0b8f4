package scripted

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// responses is the format of OpenAI's Responses API.
type responses struct{ sse }

func (responses) read(_ *http.Request, c *call) error {
	var in struct {
		Model  string          `json:"model"`
		Input  json.RawMessage `json:"input"`
		Stream bool            `json:"stream"`
	}
	if err := json.Unmarshal(c.body, &in); err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	if len(in.Input) == 0 {
		return fmt.Errorf("input is missing")
	}
	c.model, c.stream = in.Model, in.Stream
	return nil
}

// items returns the output items of a complete response.
func (responses) items(r *Reply) []obj {
	var out []obj
	if r.Reasoning != "" {
		out = append(out, obj{
			"type": "reasoning", "id": "rs_1", "summary": []obj{{"type": "summary_text", "text": r.Reasoning}}, "encrypted_content": "c2VhbGVk",
		})
	}
	switch {
	case r.Refusal != "":
		out = append(out, obj{
			"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
			"content": []obj{{"type": "refusal", "refusal": r.Refusal}},
		})
	case len(r.pieces()) > 0:
		out = append(out, obj{
			"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
			"content": []obj{{"type": "output_text", "text": r.text(), "annotations": []obj{}}},
		})
	}
	for i, t := range r.Calls {
		out = append(out, obj{
			"type": "function_call", "id": fmt.Sprintf("fc_%d", i+1), "call_id": t.ID, "name": t.Name, "arguments": t.arguments(), "status": "completed",
		})
	}
	return out
}

func (d responses) whole(c *call, r *Reply) any {
	out := obj{
		"id": "resp_1", "object": "response", "created_at": 1900000000, "status": "completed", "model": r.model(c),
		"error": nil, "incomplete_details": nil, "output": d.items(r),
	}
	if out["output"] == nil || len(d.items(r)) == 0 {
		out["output"] = []obj{}
	}
	switch r.Stop {
	case Length:
		out["status"], out["incomplete_details"] = "incomplete", obj{"reason": "max_output_tokens"}
	case Filtered:
		out["status"], out["incomplete_details"] = "incomplete", obj{"reason": "content_filter"}
	}
	if r.Fault != NoUsage {
		u := r.usage()
		out["usage"] = obj{
			"input_tokens": u.Input, "input_tokens_details": obj{"cached_tokens": u.Cached},
			"output_tokens": u.Output, "output_tokens_details": obj{"reasoning_tokens": u.Reasoning}, "total_tokens": u.Input + u.Output,
		}
	}
	return out
}

// tape collects the numbered events of a streamed response.
type tape struct {
	d   responses
	out []frame
}

func (t *tape) add(content bool, event string, v obj) {
	v["type"], v["sequence_number"] = event, len(t.out)
	t.out = append(t.out, frame{t.d.frame(event, encode(v)), content})
}

func (d responses) frames(c *call, r *Reply) []frame {
	t := &tape{d: d}
	whole, _ := d.whole(c, r).(obj)
	begun := obj{"id": "resp_1", "object": "response", "status": "in_progress", "model": r.model(c), "output": []obj{}}
	t.add(false, "response.created", obj{"response": begun})
	t.add(false, "response.in_progress", obj{"response": begun})
	for i, item := range d.items(r) {
		switch item["type"] {
		case "reasoning":
			t.reasoning(i, item, r)
		case "message":
			t.message(i, item, r)
		case "function_call":
			t.call(i, item, r)
		}
	}
	end := "response.completed"
	if whole["status"] == "incomplete" {
		end = "response.incomplete"
	}
	t.add(false, end, obj{"response": whole})
	return t.out
}

// withoutContent returns an item as it is in the event that adds it, where member has the value empty.
func withoutContent(item obj, empty string, value any) obj {
	out := obj{empty: value}
	for k, v := range item {
		if k != empty && k != "encrypted_content" {
			out[k] = v
		}
	}
	if _, ok := out["status"]; ok {
		out["status"] = "in_progress"
	}
	return out
}

func (t *tape) reasoning(at int, item obj, r *Reply) {
	place := func(more obj) obj {
		more["item_id"], more["output_index"], more["summary_index"] = item["id"], at, 0
		return more
	}
	t.add(false, "response.output_item.added", obj{"output_index": at, "item": withoutContent(item, "summary", []obj{})})
	t.add(false, "response.reasoning_summary_part.added", place(obj{"part": obj{"type": "summary_text", "text": ""}}))
	for _, piece := range words(r.Reasoning) {
		t.add(true, "response.reasoning_summary_text.delta", place(obj{"delta": piece}))
	}
	t.add(false, "response.reasoning_summary_text.done", place(obj{"text": r.Reasoning}))
	t.add(false, "response.reasoning_summary_part.done", place(obj{"part": obj{"type": "summary_text", "text": r.Reasoning}}))
	t.add(false, "response.output_item.done", obj{"output_index": at, "item": item})
}

func (t *tape) message(at int, item obj, r *Reply) {
	place := func(more obj) obj {
		more["item_id"], more["output_index"], more["content_index"] = item["id"], at, 0
		return more
	}
	parts, _ := item["content"].([]obj)
	kind, member, pieces := "output_text", "text", r.pieces()
	if r.Refusal != "" {
		kind, member, pieces = "refusal", "refusal", words(r.Refusal)
	}
	t.add(false, "response.output_item.added", obj{"output_index": at, "item": withoutContent(item, "content", []obj{})})
	t.add(false, "response.content_part.added", place(obj{"part": obj{"type": kind, member: "", "annotations": []obj{}}}))
	for _, piece := range pieces {
		t.add(true, "response."+kind+".delta", place(obj{"delta": piece}))
	}
	t.add(false, "response."+kind+".done", place(obj{member: parts[0][member]}))
	t.add(false, "response.content_part.done", place(obj{"part": parts[0]}))
	t.add(false, "response.output_item.done", obj{"output_index": at, "item": item})
}

func (t *tape) call(at int, item obj, r *Reply) {
	place := func(more obj) obj {
		more["item_id"], more["output_index"] = item["id"], at
		return more
	}
	t.add(true, "response.output_item.added", obj{"output_index": at, "item": withoutContent(item, "arguments", "")})
	for _, c := range r.Calls {
		if c.ID != item["call_id"] {
			continue
		}
		for _, piece := range c.Pieces {
			t.add(true, "response.function_call_arguments.delta", place(obj{"delta": piece}))
		}
	}
	t.add(false, "response.function_call_arguments.done", place(obj{"arguments": item["arguments"]}))
	t.add(false, "response.output_item.done", obj{"output_index": at, "item": item})
}

func (responses) failure(status int, message string) any { return chat{}.failure(status, message) }

func (responses) broken(message string) (string, any) {
	return "error", obj{"type": "error", "code": "server_error", "message": message, "param": nil, "sequence_number": 9}
}
