// Package transcript reads the conversation in a request to a provider of language models, whatever its wire format. The
// scripted provider replies by it, and tests see by it what a model was told.
package transcript

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// Transcript is the conversation in a request of any format.
type Transcript struct {
	System   string    // all instructions, joined by newlines
	Messages []Message // the others, in order; one for each result of a tool
	Tools    []string  // those that are offered
	Images   []Image   // by value, in order
	Body     []byte    // of the request
}

// Message is a message of a transcript.
type Message struct {
	Role   string // user, assistant or tool
	Text   string
	Calls  []Call // of the assistant
	CallID string // of a tool: the call that it answers; in Gemini's format the tool, if the call has no id
}

// Image is an image by value.
type Image struct {
	MIME, Detail string
	Data         []byte
}

// Call is a tool call.
type Call struct{ ID, Name, Arguments string }

type obj = map[string]any

// Question returns the text of the user's last message.
func (t *Transcript) Question() string {
	if at := t.last(); at >= 0 {
		return t.Messages[at].Text
	}
	return ""
}

// Results returns the results of tools since the user's last message.
func (t *Transcript) Results() []Message {
	var out []Message
	for _, m := range t.Messages[t.last()+1:] {
		if m.Role == "tool" {
			out = append(out, m)
		}
	}
	return out
}

// Round returns how many replies the model has given since the user's last message.
func (t *Transcript) Round() int {
	n := 0
	for _, m := range t.Messages[t.last()+1:] {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

// Unpaired returns the ids of calls without a result and of results without a call, which real providers refuse.
func (t *Transcript) Unpaired() []string {
	open := map[string]int{}
	var order []string
	count := func(id string, n int) {
		if _, ok := open[id]; !ok {
			order = append(order, id)
		}
		open[id] += n
	}
	for _, m := range t.Messages {
		for _, c := range m.Calls {
			count(c.ID, 1)
		}
		if m.Role == "tool" {
			count(m.CallID, -1)
		}
	}
	var out []string
	for _, id := range order {
		if open[id] != 0 {
			out = append(out, id)
		}
	}
	return out
}

// last returns the index of the user's last message, or -1.
func (t *Transcript) last() int {
	for i := len(t.Messages) - 1; i >= 0; i-- {
		if t.Messages[i].Role == "user" {
			return i
		}
	}
	return -1
}

// Calls returns how many calls the model has made.
func (t *Transcript) Calls() int {
	n := 0
	for _, m := range t.Messages {
		n += len(m.Calls)
	}
	return n
}

// Read reads the conversation in the body of a request. What it does not know it leaves out.
func Read(body []byte) *Transcript {
	t := &Transcript{Body: body}
	var in map[string]any
	if json.Unmarshal(body, &in) != nil {
		return t
	}
	for _, member := range []string{"system", "instructions", "systemInstruction"} {
		t.instruct(strings.Join(texts(obj{"content": in[member]}), "\n"))
	}
	if plain, ok := in["input"].(string); ok {
		t.add(Message{Role: "user", Text: plain})
	}
	for _, member := range []string{"messages", "input", "contents"} {
		list, _ := in[member].([]any)
		for _, one := range list {
			if m, ok := one.(obj); ok {
				t.read(m)
			}
		}
	}
	list, _ := in["tools"].([]any)
	for _, one := range list {
		t.offer(one)
	}
	return t
}

func (t *Transcript) instruct(text string) {
	if text == "" {
		return
	}
	if t.System != "" {
		t.System += "\n"
	}
	t.System += text
}

// offer adds the name of a tool, or those of a list of declarations.
func (t *Transcript) offer(tool any) {
	v, _ := tool.(obj)
	if inner, ok := v["function"].(obj); ok {
		v = inner
	}
	if name, ok := v["name"].(string); ok {
		t.Tools = append(t.Tools, name)
	}
	list, _ := v["functionDeclarations"].([]any)
	for _, one := range list {
		t.offer(one)
	}
}

// add appends a message. Neighbouring messages of the assistant are parts of one reply.
func (t *Transcript) add(m Message) {
	if n := len(t.Messages); m.Role == "assistant" && n > 0 && t.Messages[n-1].Role == "assistant" {
		last := &t.Messages[n-1]
		last.Text, last.Calls = last.Text+m.Text, append(last.Calls, m.Calls...)
		return
	}
	t.Messages = append(t.Messages, m)
}

// read adds what a message of a request holds.
func (t *Transcript) read(m obj) {
	t.look(m)
	switch role := text(m, "role"); {
	case role == "system" || role == "developer":
		t.instruct(strings.Join(texts(m), "\n"))
	case role == "tool":
		t.add(Message{Role: "tool", Text: strings.Join(texts(m), "\n"), CallID: text(m, "tool_call_id")})
	case m["type"] == "function_call_output":
		t.add(Message{Role: "tool", Text: text(m, "output"), CallID: text(m, "call_id")})
	case m["type"] == "function_call":
		t.add(Message{Role: "assistant", Calls: []Call{called(text(m, "call_id"), m)}})
	case role == "assistant" || role == "model":
		t.reply(m)
	case role == "user":
		t.ask(m)
	}
}

// look adds the images of a message, also those inside results of tools.
func (t *Transcript) look(v any) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			t.look(one)
		}
	case obj:
		if i, ok := image(v); ok {
			t.Images = append(t.Images, i)
			return
		}
		for _, member := range []string{"content", "parts", "output"} {
			t.look(v[member])
		}
	}
}

// image returns the image that a block is.
func image(b obj) (Image, bool) {
	source, _ := b["source"].(obj)
	if inline, ok := b["inlineData"].(obj); ok {
		source = inline
	}
	mime, data := cmp.Or(text(source, "media_type"), text(source, "mimeType")), text(source, "data")
	nested, _ := b["image_url"].(obj)
	if url := cmp.Or(text(b, "image_url"), text(nested, "url")); url != "" {
		head, rest, _ := strings.Cut(url, ";base64,")
		mime, data = strings.TrimPrefix(head, "data:"), rest
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	return Image{mime, cmp.Or(text(b, "detail"), text(nested, "detail")), raw}, err == nil && data != ""
}

// reply adds a message of the assistant.
func (t *Transcript) reply(m obj) {
	out := Message{Role: "assistant"}
	calls, _ := m["tool_calls"].([]any)
	for _, one := range calls {
		c, _ := one.(obj)
		function, _ := c["function"].(obj)
		out.Calls = append(out.Calls, called(text(c, "id"), function))
	}
	for _, b := range blocks(m) {
		call, isCall := b["functionCall"].(obj)
		switch {
		case b["thought"] == true || b["type"] == "thinking":
		case b["type"] == "tool_use":
			out.Calls = append(out.Calls, called(text(b, "id"), b))
		case isCall:
			out.Calls = append(out.Calls, called(callID(call), call))
		default:
			out.Text += text(b, "text")
		}
	}
	t.add(out)
}

// ask adds a message of the user, which in some formats brings the results of tools.
func (t *Transcript) ask(m obj) {
	var said []string
	asked := false
	for _, b := range blocks(m) {
		result, isResult := b["functionResponse"].(obj)
		switch {
		case b["type"] == "tool_result":
			t.add(Message{Role: "tool", Text: strings.Join(texts(obj{"content": b["content"]}), "\n"), CallID: text(b, "tool_use_id")})
		case isResult:
			t.add(Message{Role: "tool", Text: encode(result["response"]), CallID: callID(result)})
		default:
			asked = true
			if s := text(b, "text"); s != "" { // an image has none
				said = append(said, s)
			}
		}
	}
	if asked {
		t.add(Message{Role: "user", Text: strings.Join(said, "\n")})
	}
}

// blocks returns the content of a message in blocks.
func blocks(m obj) []obj {
	var out []obj
	for _, member := range []string{"content", "parts"} {
		switch v := m[member].(type) {
		case string:
			out = append(out, obj{"type": "text", "text": v})
		case []any:
			for _, one := range v {
				if b, ok := one.(obj); ok {
					out = append(out, b)
				}
			}
		}
	}
	return out
}

func text(m obj, member string) string {
	s, _ := m[member].(string)
	return s
}

// callID returns the id of a call in Gemini's format, or the name of the tool.
func callID(call obj) string {
	if id := text(call, "id"); id != "" {
		return id
	}
	return text(call, "name")
}

// called returns a call whose arguments are a text or, in some formats, an object.
func called(id string, of obj) Call {
	c := Call{ID: id, Name: text(of, "name")}
	for _, member := range []string{"arguments", "input", "args"} {
		switch v := of[member].(type) {
		case string:
			c.Arguments = v
		case obj:
			c.Arguments = encode(v)
		}
	}
	return c
}

func encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // impossible: v was decoded from JSON
	}
	return string(raw)
}

// texts returns the strings in the members content, parts and text of v, recursively.
func texts(v any) []string {
	var out []string
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out = append(out, texts(e)...)
		}
	case map[string]any:
		for _, name := range []string{"content", "parts", "text"} {
			if s, ok := v[name].(string); ok {
				out = append(out, s)
				continue
			}
			out = append(out, texts(v[name])...)
		}
	}
	return out
}
