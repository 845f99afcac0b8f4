package openai

import (
	"encoding/json"

	"quarry/internal/llm"
)

// responses is the format of responses.
type responses struct{}

// sealed requests reasoning in a form that can be sent back, so that the provider need not keep the conversation.
const sealed = "reasoning.encrypted_content"

// body returns the body of a call. The provider stores nothing unless the caller's parameters ask for it. The format has no
// penalties, so they are left out.
func (responses) body(m *model, r llm.Request, q quirks) map[string]any {
	body := begin(r)
	if _, stated := body["store"]; !stated {
		body["store"] = false
	}
	if _, stated := body["include"]; !stated && len(r.Tools) > 0 && !q.noInclude {
		body["include"] = []string{sealed}
	}
	body["model"], body["stream"], body["input"] = m.name, true, inputItems(r.Messages)
	setIf(body, "max_output_tokens", r.Parameters.MaxTokens)
	setIf(body, "temperature", r.Parameters.Temperature)
	if f := r.Format; f != nil {
		text := object{}
		if raw, ok := r.Parameters.Extra["text"]; ok { // verbosity stands beside the format
			_ = json.Unmarshal(raw, &text)
		}
		if text == nil { // the parameter is null
			text = object{}
		}
		text["format"] = formatBody(f, false)
		body["text"] = text
	}
	setTools(body, r, false)
	return body
}

// items is kept with a call: the reasoning that led to it, sealed by the provider.
type items struct {
	Reasoning []json.RawMessage `json:"responses_reasoning,omitempty"`
}

func inputItems(in []llm.Message) []any {
	out := make([]any, 0, len(in))
	for _, m := range in {
		switch m.Role {
		case llm.Result:
			out = append(out, object{"type": "function_call_output", "call_id": m.CallID, "output": inputContent(m)})
		case llm.Assistant:
			if text := m.Plain(); text != "" || len(m.Calls) == 0 {
				out = append(out, object{"role": "assistant", "content": text})
			}
			for _, c := range m.Calls {
				var s items
				if c.State != "" && json.Unmarshal([]byte(c.State), &s) == nil {
					for _, raw := range s.Reasoning {
						var i item
						if json.Unmarshal(raw, &i) == nil && i.Type == "reasoning" {
							out = append(out, raw)
						}
					}
				}
				out = append(out, object{"type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": arguments(c)})
			}
		default:
			out = append(out, object{"role": string(m.Role), "content": inputContent(m)})
		}
	}
	return out
}

func inputContent(m llm.Message) any {
	return messageContent(m, "input_text", func(i *llm.Image) object {
		out := object{"type": "input_image", "image_url": imageURL(i)}
		if i.Detail != "" {
			out["detail"] = i.Detail
		}
		return out
	})
}
