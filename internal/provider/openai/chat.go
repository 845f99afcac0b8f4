package openai

import (
	"encoding/json"
	"regexp"

	"quarry/internal/llm"
)

// chat is the format of chat completions.
type chat struct{}

type object = map[string]any

func (chat) body(m *model, r llm.Request, q quirks) map[string]any {
	body := begin(r)
	// One answer is requested with its usage; the caller can't change that.
	delete(body, "n")
	delete(body, "stream_options")
	if !q.noStreamOptions {
		body["stream_options"] = object{"include_usage": true}
	}
	body["model"], body["stream"] = m.name, true
	if p := r.Parameters; p.MaxTokens != nil {
		name, other := "max_tokens", completionTokens
		if q.completionTokens {
			name, other = other, name
		}
		delete(body, other)
		body[name] = *p.MaxTokens
	}
	setIf(body, "temperature", r.Parameters.Temperature)
	setIf(body, "frequency_penalty", r.Parameters.FrequencyPenalty)
	setIf(body, "presence_penalty", r.Parameters.PresencePenalty)
	messages := chatMessages(r.Messages)
	if f := r.Format; f != nil {
		if q.plainJSON && f.Type == "json_schema" {
			messages = append([]object{{"role": "system", "content": "Answer with JSON that is valid by this JSON Schema, and nothing else:\n" + string(f.Schema)}}, messages...)
			f = &llm.Format{Type: "json_object"}
		}
		body["response_format"] = formatBody(f, true)
	}
	body["messages"] = messages
	setTools(body, r, true)
	return body
}

// speaker matches the names that the format accepts.
var speaker = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func chatMessages(in []llm.Message) []object {
	out := make([]object, 0, len(in))
	var pictures []object // of tool results, which can only hold text; they follow as a message of the user
	for i, m := range in {
		switch m.Role {
		case llm.Result:
			out = append(out, object{"role": "tool", "tool_call_id": m.CallID, "content": m.Plain()})
			for _, p := range m.Parts {
				if p.Image != nil {
					pictures = append(pictures, picture(p.Image))
				}
			}
			if last := i == len(in)-1 || in[i+1].Role != llm.Result; last && pictures != nil {
				out = append(out, object{"role": "user", "content": append([]object{{"type": "text", "text": "The images of these results:"}}, pictures...)})
				pictures = nil
			}
		case llm.Assistant:
			out = append(out, assistant(m))
		default:
			message := object{"role": string(m.Role), "content": chatContent(m)}
			if m.Role == llm.User && speaker.MatchString(m.Name) {
				message["name"] = m.Name
			}
			out = append(out, message)
		}
	}
	return out
}

func chatContent(m llm.Message) any { return messageContent(m, "text", picture) }

// messageContent returns a text if there is no image, otherwise parts, which many servers do not know.
func messageContent(m llm.Message, textType string, image func(*llm.Image) object) any {
	if !hasImage(m) {
		return m.Plain()
	}
	var parts []object
	for _, p := range m.Parts {
		if p.Text != "" {
			parts = append(parts, object{"type": textType, "text": p.Text})
		}
		if p.Image != nil {
			parts = append(parts, image(p.Image))
		}
	}
	return parts
}

func picture(i *llm.Image) object {
	at := object{"url": imageURL(i)}
	if i.Detail != "" {
		at["detail"] = i.Detail
	}
	return object{"type": "image_url", "image_url": at}
}

// state is kept with a call for its server: the member in which the reasoning is sent back, and what gateways to other providers
// added to the call.
type state struct {
	Reasoning string          `json:"chat_reasoning,omitempty"`
	Extra     json.RawMessage `json:"chat_extra,omitempty"`
}

func assistant(m llm.Message) object {
	message := object{"role": "assistant", "content": m.Plain()}
	if len(m.Calls) == 0 {
		return message
	}
	if m.Plain() == "" {
		message["content"] = nil
	}
	var calls []object
	for _, c := range m.Calls {
		call := object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": arguments(c)}}
		var s state
		if c.State != "" && json.Unmarshal([]byte(c.State), &s) == nil {
			if (s.Reasoning == "reasoning" || s.Reasoning == "reasoning_content") && m.Reasoning != "" {
				message[s.Reasoning] = m.Reasoning
			}
			if len(s.Extra) > 0 {
				call["extra_content"] = s.Extra
			}
		}
		calls = append(calls, call)
	}
	message["tool_calls"] = calls
	return message
}
