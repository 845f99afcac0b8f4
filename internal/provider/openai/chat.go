package openai

import (
	"encoding/json"
	"regexp"
	"strings"

	"quarry/internal/llm"
	"quarry/internal/provider"
)

// chat is the format of chat completions.
type chat struct{}

type object = map[string]any

func (chat) body(m *model, r llm.Request, q quirks) (map[string]any, error) {
	body := begin(r)
	// One answer is asked for; what chooses among several, or how usage is told, is not the caller's.
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
		body["response_format"] = chatFormat(f)
	}
	body["messages"] = messages
	if len(r.Tools) > 0 {
		var tools []object
		for _, t := range r.Tools {
			function := object{"name": t.Name, "parameters": schemaOf(t)}
			if t.Description != "" {
				function["description"] = t.Description
			}
			tools = append(tools, object{"type": "function", "function": function})
		}
		body["tools"] = tools
		switch r.Choice.Mode {
		case "":
		case "tool":
			body["tool_choice"] = object{"type": "function", "function": object{"name": r.Choice.Name}}
		default:
			body["tool_choice"] = r.Choice.Mode
		}
	}
	return body, nil
}

func chatFormat(f *llm.Format) object {
	if f.Type != "json_schema" {
		return object{"type": f.Type}
	}
	schema := object{"name": nameOf(f), "schema": f.Schema, "strict": f.Strict}
	if f.Description != "" {
		schema["description"] = f.Description
	}
	return object{"type": "json_schema", "json_schema": schema}
}

// speaker matches the names that the format takes.
var speaker = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func chatMessages(in []llm.Message) []object {
	out := make([]object, 0, len(in))
	var pictures []object // of tool results, which hold text alone; they follow as a message of the user
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

// chatContent is a text where there is no image: many servers know no parts.
func chatContent(m llm.Message) any {
	if !hasImage(m) {
		return m.Plain()
	}
	var parts []object
	for _, p := range m.Parts {
		if p.Text != "" {
			parts = append(parts, object{"type": "text", "text": p.Text})
		}
		if p.Image != nil {
			parts = append(parts, picture(p.Image))
		}
	}
	return parts
}

func picture(i *llm.Image) object {
	return object{"type": "image_url", "image_url": object{"url": imageURL(i)}}
}

// state is what a call carries for its server: the member in which its reasoning goes back, and what gateways to other providers
// hung on it.
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
		call := object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": argumentsOf(c)}}
		var s state
		if c.State != "" && json.Unmarshal([]byte(c.State), &s) == nil {
			if s.Reasoning != "" && m.Reasoning != "" {
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

// chunk is an event of a stream, and a whole answer as well.
type chunk struct {
	Model   string `json:"model"`
	Object  string `json:"object"`
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
	Content          content     `json:"content"`
	ReasoningContent *string     `json:"reasoning_content"`
	Reasoning        content     `json:"reasoning"`
	Refusal          *string     `json:"refusal"`
	Calls            []callDelta `json:"tool_calls"`
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
	if json.Unmarshal(data, &c.text) == nil {
		return nil
	}
	var parts []struct {
		Type     string  `json:"type"`
		Text     string  `json:"text"`
		Thinking content `json:"thinking"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return nil //nolint:nilerr // a form of no meaning to us, such as an object of details
	}
	for _, p := range parts {
		c.text += p.Text
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
		text := strings.TrimSpace(string(e.Data))
		if text == "[DONE]" {
			in.ended = true
			break
		}
		if text == "" {
			continue
		}
		if e.Name == "error" {
			return resp.Said(e.Data)
		}
		if err := in.chunk(e.Data); err != nil {
			return err
		}
	}
	if !in.ended {
		return resp.Cut()
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
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return in.resp.Garbled(err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" || c.Object == "error" {
		return in.resp.Said(data)
	}
	if c.Model != "" {
		in.b.Answer.Model = c.Model
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
				return in.resp.Said(data)
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
		thought, in.via = *d.ReasoningContent, "reasoning_content"
	} else if d.Reasoning.text != "" {
		thought, in.via = d.Reasoning.text, "reasoning"
	}
	if err := in.b.Reasoning(thought); err != nil {
		return err
	}
	if d.Refusal != nil {
		in.b.Answer.Refusal += *d.Refusal
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
				return in.resp.Garbled(err)
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

// assembly puts calls together from their pieces.
type assembly struct {
	slots   []*slot
	byIndex map[int]*slot
}

type slot struct {
	id, name  string
	arguments strings.Builder
	extra     json.RawMessage
}

// add finds the call that a piece belongs to: by its index, unless a server gives every call the same and tells them apart by id;
// without an index by its id; a piece with neither continues the last call, one with a name begins another.
func (a *assembly) add(d callDelta) {
	var s *slot
	switch {
	case d.Index != nil:
		s = a.byIndex[*d.Index]
		if s != nil && d.ID != "" && s.id != "" && d.ID != s.id && d.Function.Name != "" {
			s = nil
		}
	case d.ID != "":
		for _, known := range a.slots {
			if known.id == d.ID {
				s = known
			}
		}
	case d.Function.Name == "" && len(a.slots) > 0:
		s = a.slots[len(a.slots)-1]
	}
	if s == nil {
		s = &slot{}
		a.slots = append(a.slots, s)
	}
	if d.Index != nil {
		if a.byIndex == nil {
			a.byIndex = map[int]*slot{}
		}
		a.byIndex[*d.Index] = s
	}
	if s.id == "" {
		s.id = d.ID
	}
	if s.name == "" {
		s.name = d.Function.Name
	}
	if len(d.Extra) > 0 && string(d.Extra) != "null" {
		s.extra = d.Extra
	}
	var piece string
	if len(d.Function.Arguments) == 0 || string(d.Function.Arguments) == "null" {
		return
	}
	if json.Unmarshal(d.Function.Arguments, &piece) != nil {
		piece = string(d.Function.Arguments) // an object where its text should be
	}
	s.arguments.WriteString(piece)
}
