package anthropic

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"quarry/internal/llm"
	"quarry/internal/provider"
)

// body is a request of the Messages API.
type body map[string]any

// turn is a message of the API.
type turn struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is a piece of a message: text, image, thinking, tool_use or tool_result, by Type. raw is a block of the API that is
// sent back unchanged.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Source    *source         `json:"source,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   []block         `json:"content,omitempty"`

	raw json.RawMessage
}

// MarshalJSON writes raw where there is one.
func (b block) MarshalJSON() ([]byte, error) {
	if b.raw != nil {
		return b.raw, nil
	}
	type plain block
	return json.Marshal(plain(b))
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type,omitempty"`
	Data      string `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type choice struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
}

// request is the body, without the members that depend on the host, and how its answer is to be read.
type request struct {
	body       body
	shape      shape
	structured bool
	// output is the tool whose input is the answer; "" for none. If wrapped, the answer is the member "value" of that input.
	output  string
	wrapped bool
}

// build returns the body of a request for a model. way is how structured output is asked for.
func build(r llm.Request, model string, way way) request {
	gen := parseGeneration(model)
	out := request{body: body{}, structured: r.Format != nil}
	for name, value := range r.Parameters.Extra {
		if !reserved[name] && string(value) != "null" {
			out.body[name] = value
		}
	}
	system, turns := converse(r.Messages, model)
	force := gen < thinksFrom && !thinks(r.Parameters.Extra)
	tools, pick, more := toolbox(r, force)
	if r.Format != nil {
		more = append(more, out.structure(r.Format, &tools, &pick, way)...)
	}
	if gen >= prefillEndedIn && turns[len(turns)-1].Role == "assistant" {
		turns = append(turns, textTurn("user", "Continue."))
	}
	if system = provider.Join(append([]string{system}, more...)...); system != "" {
		out.body["system"] = system
	}
	out.body["messages"] = turns
	if len(tools) > 0 {
		out.body["tools"] = tools
		delete(out.body, "tool_choice")
		if pick.Type != "" {
			out.body["tool_choice"] = pick
		}
	}
	out.limits(r.Parameters, gen)
	return out
}

// reserved are the members that a caller's parameters can't set.
var reserved = map[string]bool{"model": true, "messages": true, "stream": true, "system": true, "anthropic_version": true}

// limits sets max_tokens, which the API requires, and the temperature where the model accepts one: from 0 to 1, none
// together with thinking and none since 4.7. The API has no penalties.
func (q *request) limits(p llm.Parameters, gen generation) {
	if p.MaxTokens != nil {
		q.body["max_tokens"] = *p.MaxTokens
	} else if q.body["max_tokens"] == nil {
		q.body["max_tokens"] = gen.maxTokens() + budget(p.Extra)
	}
	if gen >= samplingEnded || thinks(p.Extra) {
		delete(q.body, "temperature")
	} else if p.Temperature != nil {
		q.body["temperature"] = min(*p.Temperature, 1)
	}
	delete(q.body, "frequency_penalty")
	delete(q.body, "presence_penalty")
}

type thinking struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens"`
}

func parseThinking(extra map[string]json.RawMessage) (t thinking) {
	_ = json.Unmarshal(extra["thinking"], &t)
	return t
}

func thinks(extra map[string]json.RawMessage) bool {
	t := parseThinking(extra)
	return t.Type != "" && t.Type != "disabled"
}

func budget(extra map[string]json.RawMessage) int { return max(0, parseThinking(extra).Budget) }

// converse returns the turns of messages. System messages become the one system text, wherever they stand, neighbours of one
// role are merged, and the first turn is the user's: the API refuses everything else.
func converse(messages []llm.Message, model string) (system string, turns []turn) {
	var rules []string
	for _, m := range messages {
		role := "user"
		var blocks []block
		switch m.Role {
		case llm.System:
			rules = append(rules, m.Plain())
			continue
		case llm.Assistant:
			role = "assistant"
			blocks = assistantBlocks(m, model)
		case llm.Result:
			blocks = []block{{Type: "tool_result", ToolUseID: callID(m.CallID), Content: contents(m.Parts)}}
		default:
			blocks = contents(m.Parts)
		}
		if len(blocks) == 0 {
			continue
		}
		if n := len(turns); n > 0 && turns[n-1].Role == role {
			turns[n-1].Content = append(turns[n-1].Content, blocks...)
		} else {
			turns = append(turns, turn{role, blocks})
		}
	}
	if len(turns) == 0 {
		return "", []turn{textTurn("user", cmp.Or(provider.Join(rules...), "Begin."))}
	}
	if turns[0].Role != "user" {
		turns = slices.Insert(turns, 0, textTurn("user", "Begin."))
	}
	for i := range turns {
		resultsFirst(turns[i].Content)
	}
	return provider.Join(rules...), turns
}

func textTurn(role, text string) turn { return turn{role, []block{{Type: "text", Text: text}}} }

// resultsFirst moves the results of tools to the beginning of a turn, where the API wants them.
func resultsFirst(blocks []block) {
	result := func(b block) bool { return b.Type == "tool_result" }
	slices.SortStableFunc(blocks, func(a, b block) int {
		switch {
		case result(a) && !result(b):
			return -1
		case result(b) && !result(a):
			return 1
		}
		return 0
	})
}

// contents returns texts and images as blocks. Blank texts, which the API refuses, are left out.
func contents(parts []llm.Part) []block {
	var out []block
	for _, p := range parts {
		if strings.TrimSpace(p.Text) != "" {
			out = append(out, block{Type: "text", Text: p.Text})
		}
		if i := p.Image; i != nil && i.URL != "" {
			out = append(out, block{Type: "image", Source: &source{Type: "url", URL: i.URL}})
		} else if i != nil && len(i.Data) > 0 {
			out = append(out, block{Type: "image", Source: &source{Type: "base64", MediaType: i.MimeType, Data: base64.StdEncoding.EncodeToString(i.Data)}})
		}
	}
	return out
}

// assistantBlocks returns the texts and calls of the assistant as blocks. The signed thinking that came before a call is sent
// back before it, to the model that signed it and to no other; the API wants it at the head of the turn.
func assistantBlocks(m llm.Message, model string) []block {
	texts := contents(m.Parts)
	if n := len(texts); n > 0 {
		texts[n-1].Text = strings.TrimRight(texts[n-1].Text, " \t\r\n")
	}
	if len(m.Calls) == 0 {
		return texts
	}
	var out []block
	for i, c := range m.Calls {
		out = append(out, thinkingBlocks(c.State, model)...)
		if i == 0 {
			out = append(out, texts...)
		}
		out = append(out, block{Type: "tool_use", ID: callID(c.ID), Name: c.Name, Input: arguments(c)})
	}
	return out
}

// callState returns the state that keeps thinking blocks with a call: the name of the model, a newline, the blocks as a list.
func callState(model string, blocks []json.RawMessage) string {
	if len(blocks) == 0 {
		return ""
	}
	list, err := json.Marshal(blocks)
	if err != nil {
		return ""
	}
	return "anthropic/" + model + "\n" + string(list)
}

// thinkingBlocks returns the blocks in the state of a call, none if another model signed them.
func thinkingBlocks(state, model string) []block {
	list, ok := strings.CutPrefix(state, "anthropic/"+model+"\n")
	var raws []json.RawMessage
	if !ok || json.Unmarshal([]byte(list), &raws) != nil {
		return nil
	}
	var out []block
	for _, raw := range raws {
		var b block
		if json.Unmarshal(raw, &b) == nil && (b.Type == "thinking" || b.Type == "redacted_thinking") {
			out = append(out, block{Type: b.Type, raw: raw})
		}
	}
	return out
}

// callID returns the id of a call without the characters that the API refuses; ids of other models may have them.
func callID(id string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, cmp.Or(id, "call"))
}

// arguments returns the arguments of a call as an object, which the API requires; {} for none.
func arguments(c llm.ToolCall) json.RawMessage {
	if out := provider.Object(c.Arguments); out != nil {
		return out
	}
	return json.RawMessage(`{}`)
}

// toolbox returns the tools of a request, the choice among them, and what to tell the model about that choice if it can't be
// forced. The tools of earlier calls must be declared even if the model is to call none.
func toolbox(r llm.Request, force bool) (tools []tool, pick choice, more []string) {
	for _, t := range r.Tools {
		tools = append(tools, tool{t.Name, t.Description, asObject(t.Parameters)})
	}
	if len(tools) == 0 {
		return called(r.Messages), choice{Type: "none"}, nil
	}
	switch {
	case r.Choice.Mode == "none":
		pick.Type = "none"
	case r.Choice.Mode == "required" && force:
		pick.Type = "any"
	case r.Choice.Mode == "required":
		more = []string{"Call one of your tools now; do not answer in words."}
	case r.Choice.Mode == "tool" && force:
		pick = choice{"tool", r.Choice.Name}
	case r.Choice.Mode == "tool":
		more = []string{"Call the tool " + r.Choice.Name + " now; do not answer in words."}
	}
	return tools, pick, more
}

func called(messages []llm.Message) (tools []tool) {
	seen := map[string]bool{}
	for _, m := range messages {
		for _, c := range m.Calls {
			if !seen[c.Name] {
				seen[c.Name] = true
				tools = append(tools, tool{Name: c.Name, InputSchema: asObject(nil)})
			}
		}
	}
	return tools
}

// asObject returns a schema of an object, as input_schema must be.
func asObject(schema json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(schema, &members) != nil || members == nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	if _, ok := members["type"]; ok {
		return schema
	}
	members["type"] = json.RawMessage(`"object"`)
	out, _ := json.Marshal(members)
	return out
}
