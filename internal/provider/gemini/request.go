package gemini

import (
	"cmp"
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
	Parameters  map[string]any  `json:"parameters,omitempty"`
	JSONSchema  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

// request is the body, and whether only the prompt asks for JSON, so that the answer has to be complete before it is passed on.
type request struct {
	body  map[string]any
	asked bool
}

// From these generations on the API accepts JSON Schemas; and wants its signatures back and accepts a format beside tools.
const (
	schemas   = 205
	thinking3 = 300
)

// parseGeneration returns 205 for gemini-2.5-flash; 0 for a name without a version.
func parseGeneration(model string) int {
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
	if gen := parseGeneration(model); r.Format != nil && len(tools) > 0 && gen < thinking3 {
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

// outside are the members of a request beside generationConfig; reserved are those that only build sets.
var (
	outside  = []string{"safetySettings", "cachedContent", "labels", "toolConfig", "tools", "serviceTier", "store"}
	reserved = []string{"model", "contents", "messages", "systemInstruction", "stream", "candidateCount", "n"}
)

// parameters returns generationConfig and sets the members beside it, all under Google's names.
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

// camel returns the name that Google's JSON has for a parameter of other providers.
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

// shape sets the form of the answer.
func shape(config map[string]any, f *llm.Format, own bool) {
	delete(config, "responseSchema")
	delete(config, "responseJsonSchema")
	config["responseMimeType"] = "application/json"
	if f.Type != "json_schema" || len(f.Schema) == 0 {
		return
	}
	if translated, schema := schemaFor(f.Schema, own); translated != nil {
		config["responseSchema"] = translated
	} else {
		config["responseJsonSchema"] = schema
	}
}

// schemaFor returns a schema in Google's own terms, if own asks for them and they can express it, otherwise unchanged.
func schemaFor(schema json.RawMessage, own bool) (translated map[string]any, unchanged json.RawMessage) {
	if s, ok := translate(schema); own && ok {
		return s, nil
	}
	return nil, schema
}

func ask(f *llm.Format) string {
	text := "When you give your answer, give one JSON value and nothing else."
	if len(f.Schema) > 0 {
		text += " It must be valid against this JSON Schema: " + string(f.Schema)
	}
	return text
}

// declare returns the declarations of tools.
func declare(tools []llm.Tool, own bool) (out []declaration) {
	for _, t := range tools {
		d := declaration{Name: t.Name, Description: t.Description}
		if members(t.Parameters) > 0 {
			d.Parameters, d.JSONSchema = schemaFor(t.Parameters, own)
		}
		out = append(out, d)
	}
	return out
}

// members counts the properties of a schema. Google refuses an object without properties, and accepts a missing schema.
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

// converse returns the contents of messages. System messages become the one instruction, wherever they stand, neighbours of one
// role are merged, and the first content is the user's.
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
				parts = append(parts, functionCall(c, model, i == 0))
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
		return "", []content{{"user", []part{{Text: cmp.Or(system, "Begin.")}}}}
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
			out = append(out, part{FileData: &file{mediaType(i), i.URL}})
		} else if i != nil && len(i.Data) > 0 {
			out = append(out, part{InlineData: &blob{i.MimeType, base64.StdEncoding.EncodeToString(i.Data)}})
		}
	}
	return out
}

// mediaType returns the media type of an image by address, which Vertex wants: the stated one, else by the end of the address.
func mediaType(i *llm.Image) string {
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

// callState returns the state that keeps the signature of a call for the model that signed it.
func callState(model, signature string) string {
	if signature == "" {
		return ""
	}
	return "gemini/" + model + "\n" + signature
}

// signature returns the signature in the state of a call; "" if another model signed it.
func signature(state, model string) string {
	if signature, ok := strings.CutPrefix(state, "gemini/"+model+"\n"); ok {
		return signature
	}
	return ""
}

// ownID begins the ids that we give to calls without one; Google does not know them.
const ownID = "call_g_"

// googleID returns the id of a call, or "" if it is ours.
func googleID(id string) string {
	if strings.HasPrefix(id, ownID) {
		return ""
	}
	return id
}

// unsigned takes the place of the signature of a call that the model didn't make itself.
const unsigned = "skip_thought_signature_validator"

// functionCall returns a call; first tells whether it is the first of its message, which has to be signed.
func functionCall(c llm.ToolCall, model string, first bool) part {
	p := part{FunctionCall: &call{googleID(c.ID), c.Name, provider.Object(c.Arguments)}, ThoughtSignature: signature(c.State, model)}
	if first && p.ThoughtSignature == "" && parseGeneration(model) >= thinking3 {
		p.ThoughtSignature = unsigned
	}
	return p
}

// result returns the result of a call of the named tool; what is not an object becomes the member output of one.
func result(m llm.Message, name string) []part {
	text := m.Plain()
	object := json.RawMessage(text)
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil || members == nil {
		object, _ = json.Marshal(map[string]string{"output": text})
	}
	out := []part{{FunctionResponse: &response{googleID(m.CallID), cmp.Or(m.Name, name), object}}}
	for _, p := range pieces(m.Parts) {
		if p.Text == "" {
			out = append(out, p)
		}
	}
	return out
}
