package gemini

import (
	"encoding/base64"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"quarry/internal/llm"
	"quarry/internal/provider"
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

// From these generations on the API takes JSON Schemas, and wants its signatures back and takes a format beside tools.
const (
	schemas   = 205
	thinking3 = 300
)

// generationOf reads 2.5 from gemini-2.5-flash as 205; 0 is a name that doesn't say.
func generationOf(model string) int {
	_, name, ok := strings.Cut(strings.ToLower(model), "gemini-")
	name, _, _ = strings.Cut(name, "-")
	major, minor, _ := strings.Cut(name, ".")
	n, err := strconv.Atoi(major)
	if !ok || err != nil {
		return 0
	}
	m, _ := strconv.Atoi(minor)
	return n*100 + m
}

// build returns the body of a request for a model; own puts schemas in Google's own terms.
func build(r llm.Request, model string, own bool) request {
	out := request{body: map[string]any{}}
	config := out.parameters(r.Parameters)
	system, contents := converse(r.Messages, model)
	tools := declare(r.Tools, own)
	if gen := generationOf(model); r.Format != nil && len(tools) > 0 && gen < thinking3 {
		out.asked = true // these models refuse a format beside tools
		system = provider.Join(system, ask(r.Format))
	} else if r.Format != nil {
		shape(config, r.Format, own)
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

// outside are the members of a request that stand beside generationConfig; reserved are those that only build sets.
var (
	outside  = []string{"safetySettings", "cachedContent", "labels", "toolConfig", "tools", "serviceTier", "store"}
	reserved = []string{"model", "contents", "messages", "systemInstruction", "stream", "candidateCount", "n"}
)

// parameters sets those passed through where they belong, under Google's names, and returns generationConfig.
func (q *request) parameters(p llm.Parameters) map[string]any {
	config := map[string]any{}
	var inner map[string]json.RawMessage
	_ = json.Unmarshal(p.Extra["generationConfig"], &inner)
	_ = json.Unmarshal(p.Extra["generation_config"], &inner)
	for _, members := range []map[string]json.RawMessage{p.Extra, inner} {
		for name, value := range members {
			name = camel(name)
			switch {
			case slices.Contains(reserved, name) || name == "generationConfig" || string(value) == "null":
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

// shape asks for JSON.
func shape(config map[string]any, f *llm.Format, own bool) {
	delete(config, "responseSchema")
	delete(config, "responseJsonSchema")
	config["responseMimeType"] = "application/json"
	if f.Type != "json_schema" || len(f.Schema) == 0 {
		return
	}
	if s, ok := translate(f.Schema); own && ok {
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

func declare(tools []llm.Tool, own bool) (out []declaration) {
	for _, t := range tools {
		d := declaration{Name: t.Name, Description: t.Description}
		if members(t.Parameters) > 0 {
			if s, ok := translate(t.Parameters); own && ok {
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

// converse turns messages into contents: system messages become the one instruction, wherever they stand, neighbours of
// one role are merged, and the first content is a user's.
func converse(messages []llm.Message, model string) (system string, out []content) {
	var rules []string
	names := map[string]string{}
	for _, m := range messages {
		role, parts := "user", pieces(m.Parts)
		switch m.Role {
		case llm.System:
			rules = append(rules, m.Plain())
			continue
		case llm.Assistant:
			role = "model"
			for i, c := range m.Calls {
				names[c.ID] = c.Name
				parts = append(parts, calling(c, model, i == 0))
			}
		case llm.Result:
			parts = result(m, names[m.CallID])
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
	system = provider.Join(rules...)
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

// stateOf keeps the signature of a call for the model that signed it.
func stateOf(model, signature string) string {
	if signature == "" {
		return ""
	}
	return "gemini/" + model + "\n" + signature
}

func signatureOf(state, model string) string {
	signature, _ := strings.CutPrefix(state, "gemini/"+model+"\n")
	if signature == state {
		return "" // another model's
	}
	return signature
}

// made begins the ids of calls that came without one; Google has never heard of them.
const made = "call_g_"

func idOf(id string) string {
	if strings.HasPrefix(id, made) {
		return ""
	}
	return id
}

// unsigned is what Google wants in the place of the signature of a call that the model didn't make itself.
const unsigned = "skip_thought_signature_validator"

func calling(c llm.ToolCall, model string, first bool) part {
	p := part{FunctionCall: &call{idOf(c.ID), c.Name, provider.Object(c.Arguments)}, ThoughtSignature: signatureOf(c.State, model)}
	if first && p.ThoughtSignature == "" && generationOf(model) >= thinking3 {
		p.ThoughtSignature = unsigned
	}
	return p
}

func result(m llm.Message, name string) []part {
	if m.Name != "" {
		name = m.Name
	}
	text := m.Plain()
	said := json.RawMessage(text)
	var members map[string]json.RawMessage
	if json.Unmarshal(said, &members) != nil || members == nil {
		said, _ = json.Marshal(map[string]string{"output": text})
	}
	out := []part{{FunctionResponse: &response{idOf(m.CallID), name, said}}}
	for _, p := range pieces(m.Parts) {
		if p.Text == "" {
			out = append(out, p)
		}
	}
	return out
}
