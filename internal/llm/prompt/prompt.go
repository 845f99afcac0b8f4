// Package prompt makes the messages of a language model from a template in the language of package expr/vtl: its rules for JSON,
// the names of variables, and how long a prompt may be. What a template is rendered over is for the packages that ask models.
package prompt

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"quarry/internal/expr/vtl"
	"quarry/internal/fault"
	"quarry/internal/llm"
)

// Template is a compiled template, safe for concurrent use.
type Template struct{ template *vtl.Template }

// Rendered is a prompt ready for the model.
type Rendered struct {
	Text     string // the output of the template
	Messages []llm.Message
}

// Compile compiles a template. A template that does not compile is fault.KindInvalid without a field, since only the caller
// knows where it stood.
func Compile(text string) (*Template, error) {
	if strings.TrimSpace(text) == "" {
		return nil, unfit("the template is empty")
	}
	t, err := vtl.Parse(text)
	if err != nil {
		return nil, unfit(err.Error())
	}
	return &Template{t}, nil
}

// unfit returns a fault without a field.
func unfit(text string) error {
	f := fault.Invalid()
	f.Text = text
	return f
}

// Names returns variables under the names that templates know them by: "Query" as vectaraQuery, which published templates use,
// and as query.
func Names(all map[string]vtl.Value) map[string]vtl.Value {
	out := make(map[string]vtl.Value, 2*len(all))
	for name, v := range all {
		out["vectara"+name] = v
		out[strings.ToLower(name[:1])+name[1:]] = v
	}
	return out
}

// Render returns the messages that the template makes of variables; zero limits are vtl.Defaults. A template that exceeds a
// limit or gives no prompt is fault.KindInvalid without a field.
func (t *Template) Render(variables map[string]vtl.Value, l vtl.Limits) (Rendered, error) {
	text, err := t.template.Render(variables, l)
	if err != nil {
		f := fault.Invalid().Because(err)
		f.Text = err.Error()
		return Rendered{}, f
	}
	out := Rendered{Text: text}
	out.Messages, err = t.messages(strings.TrimSpace(text))
	return out, err
}

// messages returns the messages that a template rendered as JSON, else its text as one message of the user. Only a template that
// itself writes JSON can render messages: values alone must not make a text look like them.
func (t *Template) messages(text string) ([]llm.Message, error) {
	if text == "" {
		return nil, unfit("the template gave an empty prompt")
	}
	if !t.template.JSON() {
		return []llm.Message{llm.Text(llm.User, text)}, nil
	}
	raw := []byte(repairJSON(text))
	var items []json.RawMessage
	switch {
	case !json.Valid(raw):
		return []llm.Message{llm.Text(llm.User, text)}, nil
	case raw[0] == '{' && !addressed(raw):
		return []llm.Message{llm.Text(llm.User, text)}, nil
	case raw[0] == '{':
		items = []json.RawMessage{raw}
	case json.Unmarshal(raw, &items) != nil:
		return []llm.Message{llm.Text(llm.User, text)}, nil
	case len(items) == 0:
		return nil, unfit("the template gave an empty list of messages")
	}
	out := make([]llm.Message, len(items))
	for i, item := range items {
		m, problem := message(item)
		if problem != "" {
			return nil, unfit("message " + strconv.Itoa(i+1) + " that the template gave " + problem)
		}
		out[i] = m
	}
	return out, nil
}

// addressed reports whether an object is meant as a message; other objects that a template writes are text.
func addressed(raw []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return false
	}
	_, role := members["role"]
	_, content := members["content"]
	return role || content
}

// message reads one message, or returns what is wrong with it.
func message(raw json.RawMessage) (m llm.Message, problem string) {
	var item struct {
		Role    json.RawMessage `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if raw = bytes.TrimSpace(raw); raw[0] != '{' || json.Unmarshal(raw, &item) != nil {
		return m, "is not an object with role and content"
	}
	var role, content string
	if len(item.Role) == 0 || json.Unmarshal(item.Role, &role) != nil {
		return m, "has no role; the roles are system, user and assistant"
	}
	switch llm.Role(role) {
	case llm.System, llm.User, llm.Assistant:
	default:
		return m, "has an unknown role; the roles are system, user and assistant"
	}
	if len(item.Content) == 0 || item.Content[0] != '"' || json.Unmarshal(item.Content, &content) != nil {
		return m, "has a content that is not a string"
	}
	return llm.Text(llm.Role(role), content), ""
}

// repairJSON corrects common mistakes in JSON: it removes commas before a closing bracket and escapes line breaks in strings.
func repairJSON(text string) string {
	var b strings.Builder
	inside := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inside && c == '\\' && i+1 < len(text):
			b.WriteByte(c)
			i++
			c = text[i]
		case c == '"':
			inside = !inside
		case inside && c < ' ':
			raw, _ := json.Marshal(string(c)) // never fails for a string
			b.Write(raw[1 : len(raw)-1])
			continue
		case !inside && c == ',':
			if rest := strings.TrimLeft(text[i+1:], " \t\r\n"); rest != "" && (rest[0] == ']' || rest[0] == '}') {
				continue
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}
