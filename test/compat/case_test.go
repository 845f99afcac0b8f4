package compat

import (
	"encoding/json"

	"quarry/internal/llm"
)

// request is one of the requests that every library and every adapter makes.
type request struct {
	name string
	llm.Request
}

func user(text string) llm.Message      { return llm.Text(llm.User, text) }
func system(text string) llm.Message    { return llm.Text(llm.System, text) }
func assistant(text string) llm.Message { return llm.Text(llm.Assistant, text) }

func ref[T any](v T) *T { return &v }

func raw(text string) json.RawMessage { return json.RawMessage(text) }

var (
	find = llm.Tool{Name: "find", Description: "Finds passages.", Parameters: raw(
		`{"type":"object","properties":{"q":{"type":"string","description":"What to find."},"n":{"type":"integer"}},"required":["q"],"additionalProperties":false}`)}
	now    = llm.Tool{Name: "now", Description: "Tells the time."}
	schema = raw(`{"type":"object","properties":{"holds":{"type":"boolean"},"why":{"type":"array","items":{"type":"string","enum":["size","mass"]}}},"required":["holds","why"],"additionalProperties":false}`)
	pixel  = []byte("\x89PNG\r\n\x1a\n not really a picture")
	callA  = llm.ToolCall{ID: "call_a", Name: "find", Arguments: raw(`{"q":"moon","n":3}`)}
	callB  = llm.ToolCall{ID: "call_b", Name: "now", Arguments: raw(`{}`)}
)

func call(text string, calls ...llm.ToolCall) llm.Message {
	m := llm.Message{Role: llm.Assistant, Calls: calls}
	if text != "" {
		m.Parts = []llm.Part{{Text: text}}
	}
	return m
}

func result(of llm.ToolCall, text string) llm.Message {
	return llm.Message{Role: llm.Result, CallID: of.ID, Name: of.Name, Parts: []llm.Part{{Text: text}}}
}

func with(r llm.Request, set func(*llm.Request)) llm.Request {
	set(&r)
	return r
}

func ask(messages ...llm.Message) llm.Request { return llm.Request{Messages: messages} }

// plain is a request with a token limit, which Anthropic's format needs.
func plain() llm.Request { return ask(user("Why is the moon round?")) }

// requests are the twenty.
func requests() []request {
	tool := func(set func(*llm.Request)) llm.Request {
		r := plain()
		r.Tools = []llm.Tool{find, now}
		set(&r)
		return r
	}
	all := []request{
		{"question", plain()},
		{"system", ask(system("Be short."), user("Why is the moon round?"))},
		{"conversation", ask(system("Be short."), user("Hello."), assistant("Hello! What is it?"), user("Why is the moon round?"))},
		{"letters", ask(user("Größe “日本” <b>&amp;</b> \\ \" \u2028 \t\n```json\n{\"a\": 1}\n```"))},
		{"token limit", with(plain(), func(r *llm.Request) { r.Parameters.MaxTokens = ref(77) })},
		{"temperature", with(plain(), func(r *llm.Request) { r.Parameters.Temperature = ref(0.0) })},
		{"penalties", with(plain(), func(r *llm.Request) {
			r.Parameters.FrequencyPenalty, r.Parameters.PresencePenalty = ref(0.5), ref(0.25)
		})},
		{"one tool", tool(func(r *llm.Request) { r.Tools = r.Tools[:1] })},
		{"two tools", tool(func(*llm.Request) {})},
		{"tool required", tool(func(r *llm.Request) { r.Choice.Mode = "required" })},
		{"tool forbidden", tool(func(r *llm.Request) { r.Choice.Mode = "none" })},
		{"tool named", tool(func(r *llm.Request) { r.Choice = llm.Choice{Mode: "tool", Name: "find"} })},
		{"tool result", tool(func(r *llm.Request) {
			r.Messages = append(r.Messages, call("", callA), result(callA, "Gravity makes it round."))
		})},
		{"two tool results", tool(func(r *llm.Request) {
			r.Messages = append(r.Messages, call("I look it up.", callA, callB), result(callA, `{"passages":["Gravity."]}`), result(callB, "noon"), user("And the sun?"))
		})},
		{"object", with(plain(), func(r *llm.Request) { r.Format = &llm.Format{Type: "json_object"} })},
		{"schema", with(plain(), func(r *llm.Request) {
			r.Format = &llm.Format{Type: "json_schema", Name: "verdict", Schema: schema, Strict: true}
		})},
		{"schema described", with(plain(), func(r *llm.Request) {
			r.Format = &llm.Format{Type: "json_schema", Name: "verdict", Description: "A verdict.", Schema: schema}
		})},
		{"picture", ask(llm.Message{Role: llm.User, Parts: []llm.Part{{Text: "What is this?"}, {Image: &llm.Image{MimeType: "image/png", Data: pixel}}}})},
		{"picture elsewhere", ask(llm.Message{Role: llm.User, Parts: []llm.Part{{Image: &llm.Image{MimeType: "image/jpeg", URL: "https://example.com/moon.jpg"}}, {Text: "What is this?"}}})},
		{"everything", tool(func(r *llm.Request) {
			r.Messages = []llm.Message{system("Be short."), user("Hello."), assistant("Hello!"), user("Why is the moon round?")}
			r.Parameters = llm.Parameters{MaxTokens: ref(500), Temperature: ref(0.75)}
			r.Tools = r.Tools[:1]
		})},
	}
	for i := range all {
		if all[i].Parameters.MaxTokens == nil {
			all[i].Parameters.MaxTokens = ref(300)
		}
	}
	return all
}
