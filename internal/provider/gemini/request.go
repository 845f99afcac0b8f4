package gemini

import (
	"encoding/base64"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"quarry/internal/llm"
)

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

type part struct {
	Text             string    `json:"text,omitempty"`
	Thought          bool      `json:"thought,omitempty"`
	InlineData       *blob     `json:"inlineData,omitempty"`
	FileData         *file     `json:"fileData,omitempty"`
	FunctionCall     *call     `json:"functionCall,omitempty"`
	FunctionResponse *response `json:"functionResponse,omitempty"`
	ThoughtSignature string    `json:"thoughtSignature,omitempty"`
}

type blob struct {
	MimeType string `json:"mimeType"`
	Data     string `json:"data"`
}

type file struct {
	MimeType string `json:"mimeType,omitempty"`
	FileURI  string `json:"fileUri"`
}

type call struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type response struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  any             `json:"parameters,omitempty"`
	JSONSchema  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

// request is what build makes: the body, and whether the text of the answer is JSON only by request, so that it has to
// be complete before it can be given.
type request struct {
	body  map[string]any
	asked bool
}

// thinking3 is the first generation of Gemini that wants its signatures back and that takes a format beside tools.
const thinking3 = 3

// generationOf reads 2.5 from gemini-2.5-flash as 2; 0 is a name that doesn't say.
func generationOf(model string) int {
	_, name, ok := strings.Cut(strings.ToLower(model), "gemini-")
	digits := strings.IndexFunc(name, func(r rune) bool { return r < '0' || r > '9' })
	if digits >= 0 {
		name = name[:digits]
	}
	n, err := strconv.Atoi(name)
	if !ok || err != nil {
		return 0
	}
	return n
}

func build(r llm.Request, model string) request {
	out := request{body: map[string]any{}}
	config := out.parameters(r.Parameters)
	system, contents := converse(r.Messages, model)
	tools := declare(r.Tools)
	if r.Format != nil && len(tools) > 0 && generationOf(model) < thinking3 {
		out.asked = true // these models refuse a format beside tools
		system = join(system, ask(r.Format))
	} else if r.Format != nil {
		shape(config, r.Format)
	}
	if system != "" {
		out.body["systemInstruction"] = content{Parts: []part{{Text: system}}}
	}
	out.body["contents"] = contents
	if len(tools) > 0 {
		out.body["tools"] = []any{map[string]any{"functionDeclarations": tools}}
		delete(out.body, "toolConfig")
		if pick := choose(r.Choice); pick != nil {
			out.body["toolConfig"] = map[string]any{"functionCallingConfig": pick}
		}
	}
	if len(config) > 0 {
		out.body["generationConfig"] = config
	}
	return out
}

// outside are the members of a request that stand beside generationConfig; own are those that only build sets.
var (
	outside = []string{"safetySettings", "cachedContent", "labels", "toolConfig", "tools", "serviceTier", "store"}
	own     = []string{"model", "contents", "messages", "systemInstruction", "stream", "candidateCount", "n"}
)

// parameters puts those passed through where they belong, under Google's spelling, and gives generationConfig.
func (q *request) parameters(p llm.Parameters) map[string]any {
	config := map[string]any{}
	var inner map[string]json.RawMessage
	_ = json.Unmarshal(p.Extra["generationConfig"], &inner)
	_ = json.Unmarshal(p.Extra["generation_config"], &inner)
	for _, members := range []map[string]json.RawMessage{p.Extra, inner} {
		for name, value := range members {
			name = camel(name)
			switch {
			case slices.Contains(own, name) || name == "generationConfig" || string(value) == "null":
			case slices.Contains(outside, name):
				q.body[name] = value
			default:
				config[name] = value
			}
		}
	}
	for name, value := range map[string]*float64{"temperature": p.Temperature, "frequencyPenalty": p.FrequencyPenalty, "presencePenalty": p.PresencePenalty} {
		if value != nil {
			config[name] = *value
		}
	}
	if p.MaxTokens != nil {
		config["maxOutputTokens"] = *p.MaxTokens
	}
	if raw, ok := config["stopSequences"].(json.RawMessage); ok && raw[0] == '"' {
		config["stopSequences"] = []json.RawMessage{raw}
	}
	return config
}

// camel is the spelling of Google's JSON for a name in the style of other providers.
func camel(name string) string {
	switch name {
	case "max_tokens", "max_completion_tokens":
		return "maxOutputTokens"
	case "stop", "stop_sequences":
		return "stopSequences"
	}
	head, rest, ok := strings.Cut(name, "_")
	for ok {
		var next string
		next, rest, ok = strings.Cut(rest, "_")
		if next != "" {
			head += strings.ToUpper(next[:1]) + next[1:]
		}
	}
	return head
}

// shape asks for JSON. A schema that can't be put in Google's own terms goes as it is, which newer models take.
func shape(config map[string]any, f *llm.Format) {
	delete(config, "responseSchema")
	delete(config, "responseJsonSchema")
	config["responseMimeType"] = "application/json"
	if f.Type != "json_schema" || len(f.Schema) == 0 {
		return
	}
	if s, ok := translate(f.Schema); ok {
		config["responseSchema"] = s
	} else {
		config["responseJsonSchema"] = f.Schema
	}
}

func ask(f *llm.Format) string {
	text := "When you give your answer, give one JSON value and nothing else."
	if len(f.Schema) > 0 {
		text += " It must be valid against this JSON Schema: " + string(f.Schema)
	}
	return text
}

func declare(tools []llm.Tool) (out []declaration) {
	for _, t := range tools {
		d := declaration{Name: t.Name, Description: t.Description}
		if members(t.Parameters) > 0 {
			if s, ok := translate(t.Parameters); ok {
				d.Parameters = s
			} else {
				d.JSONSchema = t.Parameters
			}
		}
		out = append(out, d)
	}
	return out
}

// members counts the properties of a schema; Google refuses an object without any, and takes none at all.
func members(schema json.RawMessage) int {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Ref        string                     `json:"$ref"`
	}
	_ = json.Unmarshal(schema, &s)
	return len(s.Properties) + len(s.Ref)
}

func choose(c llm.Choice) map[string]any {
	switch c.Mode {
	case "none":
		return map[string]any{"mode": "NONE"}
	case "required":
		return map[string]any{"mode": "ANY"}
	case "tool":
		return map[string]any{"mode": "ANY", "allowedFunctionNames": []string{c.Name}}
	}
	return nil
}

// converse makes contents of messages: system messages become the one instruction, wherever they stand, neighbours of
// one role are merged, and the first content is a user's.
func converse(messages []llm.Message, model string) (system string, out []content) {
	var rules []string
	asked := map[string]llm.ToolCall{}
	for _, m := range messages {
		role, parts := "user", pieces(m.Parts)
		switch m.Role {
		case llm.System:
			rules = append(rules, m.Plain())
			continue
		case llm.Assistant:
			role = "model"
			for i, c := range m.Calls {
				asked[c.ID] = c
				parts = append(parts, calling(c, model, i == 0))
			}
		case llm.Result:
			parts = result(m, asked[m.CallID], model)
		}
		if len(parts) == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Parts = append(out[n-1].Parts, parts...)
		} else {
			out = append(out, content{role, parts})
		}
	}
	system = join(rules...)
	if len(out) == 0 {
		if system == "" {
			system = "Begin."
		}
		return "", []content{{"user", []part{{Text: system}}}}
	}
	if out[0].Role != "user" {
		out = slices.Insert(out, 0, content{"user", []part{{Text: "Begin."}}})
	}
	return system, out
}

func join(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return strings.TrimSpace(s) == "" }), "\n\n")
}

func pieces(parts []llm.Part) (out []part) {
	for _, p := range parts {
		if p.Text != "" {
			out = append(out, part{Text: p.Text})
		}
		if i := p.Image; i != nil && i.URL != "" {
			out = append(out, part{FileData: &file{kindOf(i), i.URL}})
		} else if i != nil && len(i.Data) > 0 {
			out = append(out, part{InlineData: &blob{i.MimeType, base64.StdEncoding.EncodeToString(i.Data)}})
		}
	}
	return out
}

// kindOf is the media type of an image by address, which Vertex wants: as it is stated, else by the end of the address.
func kindOf(i *llm.Image) string {
	if i.MimeType != "" {
		return i.MimeType
	}
	name, _, _ := strings.Cut(i.URL, "?")
	switch strings.ToLower(path.Ext(name)) {
	case ".png":
		return "image/png"
	case ".webp":
		return "image/webp"
	case ".gif":
		return "image/gif"
	}
	return "image/jpeg"
}

// memory is what a call carries back to the model that made it.
type memory struct {
	ID        string `json:"id,omitempty"`
	Signature string `json:"signature,omitempty"`
}

func stateOf(model string, m memory) string {
	if m == (memory{}) {
		return ""
	}
	raw, _ := json.Marshal(m)
	return "gemini/" + model + "\n" + string(raw)
}

func remembered(state, model string) (m memory) {
	if raw, ok := strings.CutPrefix(state, "gemini/"+model+"\n"); ok {
		_ = json.Unmarshal([]byte(raw), &m)
	}
	return m
}

// unsigned is what Google wants in the place of the signature of a call that the model didn't make itself.
const unsigned = "skip_thought_signature_validator"

func calling(c llm.ToolCall, model string, first bool) part {
	m := remembered(c.State, model)
	p := part{FunctionCall: &call{m.ID, c.Name, object(c.Arguments)}, ThoughtSignature: m.Signature}
	if first && p.ThoughtSignature == "" && generationOf(model) >= thinking3 {
		p.ThoughtSignature = unsigned
	}
	return p
}

func result(m llm.Message, asked llm.ToolCall, model string) []part {
	name := m.Name
	if name == "" {
		name = asked.Name
	}
	text := m.Plain()
	said := json.RawMessage(text)
	var members map[string]json.RawMessage
	if json.Unmarshal(said, &members) != nil || members == nil {
		said, _ = json.Marshal(map[string]string{"output": text})
	}
	out := []part{{FunctionResponse: &response{remembered(asked.State, model).ID, name, said}}}
	for _, p := range pieces(m.Parts) {
		if p.Text == "" {
			out = append(out, p)
		}
	}
	return out
}

// object is arguments as the object that the API wants.
func object(raw json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) == nil && members != nil {
		return raw
	}
	if len(raw) == 0 {
		return nil
	}
	out, _ := json.Marshal(map[string]string{"arguments": string(raw)})
	return out
}
