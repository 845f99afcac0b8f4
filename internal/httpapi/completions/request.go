package completions

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/llm"
	"quarry/internal/llm/complete"
)

// request is a parsed body.
type request struct {
	complete.Request
	stream, usage bool
}

// body is the members that we read; the others are passed through. The schema has checked their types.
type body struct {
	Model      string          `json:"model"`
	Messages   []turn          `json:"messages"`
	Stream     bool            `json:"stream"`
	Answers    *whole          `json:"n"`
	Tools      []tool          `json:"tools"`
	Choice     json.RawMessage `json:"tool_choice"`
	Format     *format         `json:"response_format"`
	Tokens     *whole          `json:"max_tokens"`
	Completion *whole          `json:"max_completion_tokens"`
	Options    struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
	Temperature *float64 `json:"temperature"`
	Frequency   *float64 `json:"frequency_penalty"`
	Presence    *float64 `json:"presence_penalty"`
}

// read are the names of the members of body.
var read = []string{
	"model", "messages", "stream", "n", "tools", "tool_choice", "response_format", "max_tokens", "max_completion_tokens",
	"stream_options", "temperature", "frequency_penalty", "presence_penalty",
}

// lost are the members whose outcome the answer could not hold, with the reason.
var lost = map[string]string{
	"functions":     "is the older form of tools; send tools",
	"function_call": "is the older form of tool_choice; send tool_choice",
	"audio":         "is not supported: answers are texts",
	"top_logprobs":  "is not supported: answers have no probabilities of tokens",
}

// whole is an integer however it is written: 60, 60.0 and 6e1 are the same.
type whole int

// UnmarshalJSON implements json.Unmarshaler.
func (w *whole) UnmarshalJSON(raw []byte) error {
	var n float64
	if err := json.Unmarshal(raw, &n); err != nil {
		return err
	}
	*w = whole(min(n, 1<<31-1))
	return nil
}

type turn struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Name      string          `json:"name"`
	Refusal   string          `json:"refusal"`
	Reasoning string          `json:"reasoning_content"`
	Calls     []toolCall      `json:"tool_calls"`
	CallID    string          `json:"tool_call_id"`

	Called json.RawMessage `json:"function_call"` // refused, as is Audio
	Audio  json.RawMessage `json:"audio"`
}

type tool struct {
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict"`
	} `json:"function"`
}

type format struct {
	Type string `json:"type"`
	JSON *struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"schema"`
		Strict      bool            `json:"strict"`
	} `json:"json_schema"`
}

// parse reads a body. Fields of the fault are relative to it.
func parse(raw json.RawMessage) (*request, error) {
	var in body
	extra := map[string]json.RawMessage{}
	if err := httpapi.Decode(raw, &in); err != nil {
		return nil, err
	}
	if err := httpapi.Decode(raw, &extra); err != nil {
		return nil, err
	}
	bad := fault.Invalid()
	passed(extra, bad)
	out := &request{stream: in.Stream, usage: in.Options.Usage}
	out.Model, out.Answers = in.Model, 1
	if in.Answers != nil {
		out.Answers = int(*in.Answers)
	}
	out.Parameters = llm.Parameters{
		Temperature: in.Temperature, FrequencyPenalty: in.Frequency, PresencePenalty: in.Presence, Extra: extra,
	}
	for _, limit := range []*whole{in.Tokens, in.Completion} {
		if limit != nil {
			n := int(*limit)
			out.Parameters.MaxTokens = &n
		}
	}
	out.Messages = messages(in.Messages, bad)
	for _, t := range in.Tools {
		f := t.Function
		out.Tools = append(out.Tools, llm.Tool{Name: f.Name, Description: f.Description, Parameters: f.Parameters, Strict: f.Strict})
	}
	out.Choice = choose(in.Choice, bad)
	out.Format = in.Format.format(bad)
	return out, bad.Err()
}

// passed leaves in the members of a body those that are passed through.
func passed(all map[string]json.RawMessage, bad *fault.Fault) {
	for _, name := range read {
		delete(all, name)
	}
	for name, value := range all {
		if absent(value) {
			delete(all, name) // clients that serialise whole objects send such nulls
		} else if reason, ok := lost[name]; ok {
			bad.Field(name, "%s", reason)
		}
	}
	if string(all["logprobs"]) == "true" {
		bad.Field("logprobs", "%s", lost["top_logprobs"])
	}
	delete(all, "logprobs")
	var kinds []string
	if raw, ok := all["modalities"]; ok && (json.Unmarshal(raw, &kinds) != nil || slices.ContainsFunc(kinds, func(k string) bool { return k != "text" })) {
		bad.Field("modalities", "may be a list of text alone: answers are texts")
	}
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || bytes.Equal(raw, []byte("null")) }

// roles are the roles of the interface that are not named as ours are.
var roles = map[string]llm.Role{"developer": llm.System}

func messages(in []turn, bad *fault.Fault) []llm.Message {
	out := make([]llm.Message, len(in))
	names := map[string]string{} // of tools, by the id of a call
	for i, t := range in {
		m := llm.Message{Role: llm.Role(t.Role), Name: t.Name, CallID: t.CallID, Reasoning: t.Reasoning}
		if r, ok := roles[t.Role]; ok {
			m.Role = r
		}
		place := fmt.Sprintf("messages[%d]", i)
		m.Parts = parts(t.Content, place+".content", bad)
		if !absent(t.Called) {
			bad.Field(place+".function_call", "is the older form of tool_calls; send tool_calls")
		}
		if !absent(t.Audio) {
			bad.Field(place+".audio", "is not supported: messages are texts and images")
		}
		if t.Refusal != "" {
			m.Parts = append(m.Parts, llm.Part{Text: t.Refusal})
		}
		for _, c := range t.Calls {
			names[c.ID] = c.Function.Name
			m.Calls = append(m.Calls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments), State: string(c.State)})
		}
		if m.Role == llm.Result {
			m.Name = names[t.CallID]
		}
		out[i] = m
	}
	return out
}

// part is a piece of the content of a message.
type part struct {
	Type    string  `json:"type"`
	Text    *string `json:"text"`
	Refusal string  `json:"refusal"`
	Image   *struct {
		URL    string `json:"url"`
		Detail string `json:"detail"`
	} `json:"image_url"`
}

// parts reads the content of a message: a text, or parts.
func parts(raw json.RawMessage, place string, bad *fault.Fault) []llm.Part {
	var text string
	var list []json.RawMessage
	switch {
	case absent(raw):
		return nil
	case json.Unmarshal(raw, &text) == nil:
		return []llm.Part{{Text: text}}
	case json.Unmarshal(raw, &list) != nil:
		bad.Field(place, "must be a text, or a list of parts that have a type")
		return []llm.Part{{}}
	}
	out := make([]llm.Part, len(list))
	for i, one := range list {
		at := fmt.Sprintf("%s[%d]", place, i)
		var p part
		if absent(one) || json.Unmarshal(one, &p) != nil {
			bad.Field(at, `must be {"type":"text","text":…} or {"type":"image_url","image_url":{"url":…}}`)
			continue
		}
		out[i] = p.part(at, bad)
	}
	return out
}

func (p *part) part(at string, bad *fault.Fault) (out llm.Part) {
	switch {
	case p.Type == "text" && p.Text != nil:
		out.Text = *p.Text
	case p.Type == "text":
		bad.Field(at+".text", "is required")
	case p.Type == "refusal":
		out.Text = p.Refusal
	case p.Type == "image_url" && p.Image != nil && p.Image.URL != "":
		out.Image = image(p.Image.URL, at, bad)
		out.Image.Detail = p.Image.Detail
	case p.Type == "image_url":
		bad.Field(at+".image_url.url", "is required")
	default:
		bad.Field(at+".type", "must be text or image_url, not %q", p.Type)
	}
	return out
}

// image reads the address of an image. An image inside it is handed on by value, which some providers want; any other
// address is the provider's to fetch.
func image(url, place string, bad *fault.Fault) *llm.Image {
	rest, inside := strings.CutPrefix(url, "data:")
	if !inside {
		return &llm.Image{URL: url}
	}
	head, data, _ := strings.Cut(rest, ",")
	kind, encoded := strings.CutSuffix(head, ";base64")
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil || !encoded || !strings.HasPrefix(kind, "image/") || len(raw) == 0 {
		bad.Field(place+".image_url.url", "must be data:image/…;base64, and the image, or an address")
	}
	return &llm.Image{MimeType: kind, Data: raw}
}

// choose reads tool_choice: a word, or the function that must be called.
func choose(raw json.RawMessage, bad *fault.Fault) llm.Choice {
	var word string
	var named struct {
		Type     string `json:"type"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	switch {
	case absent(raw):
		return llm.Choice{}
	case json.Unmarshal(raw, &word) == nil && (word == "auto" || word == "none" || word == "required"):
		return llm.Choice{Mode: word}
	case json.Unmarshal(raw, &named) == nil && named.Type == "function" && named.Function.Name != "":
		return llm.Choice{Mode: "tool", Name: named.Function.Name}
	}
	bad.Field("tool_choice", `must be auto, none, required or {"type":"function","function":{"name":…}}`)
	return llm.Choice{}
}

// format returns the form of the answer, nil for free text.
func (f *format) format(bad *fault.Fault) *llm.Format {
	switch {
	case f == nil || f.Type == "text":
		return nil
	case f.Type != "json_schema":
		return &llm.Format{Type: f.Type}
	case f.JSON == nil:
		bad.Field("response_format.json_schema", "is required with the type json_schema")
		return nil
	}
	return &llm.Format{Type: f.Type, Name: f.JSON.Name, Description: f.JSON.Description, Schema: f.JSON.Schema, Strict: f.JSON.Strict}
}
