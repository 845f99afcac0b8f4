package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/provider"
	"quarry/internal/provider/openai"
)

// server answers each call by its body and keeps the bodies.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []map[string]any // guarded by mu
}

func serve(t *testing.T, answer func(w http.ResponseWriter, body map[string]any)) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var body map[string]any
		_ = json.Unmarshal(raw, &body)
		s.mu.Lock()
		s.bodies = append(s.bodies, body)
		s.mu.Unlock()
		answer(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

// says answers with these events, each a data line, or with JSON when it begins with a brace.
func says(lines ...string) func(http.ResponseWriter, map[string]any) {
	return func(w http.ResponseWriter, _ map[string]any) {
		if len(lines) == 1 && strings.HasPrefix(lines[0], "{") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, lines[0])
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, l := range lines {
			_, _ = io.WriteString(w, "data: "+l+"\n\n")
		}
	}
}

func (s *server) open(t *testing.T, kind registry.Type, name string) llm.Provider {
	t.Helper()
	p, err := openai.New(provider.NewShared(s.Client()), registry.Connection{Name: "mine", Type: kind, Model: name, URI: s.URL + "/v1/chat/completions"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ask() llm.Request { return llm.Request{Messages: []llm.Message{llm.Text(llm.User, "hi")}} }

const usage = `{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}`

// TestChatVariants proves that what compatible servers stream in their own ways is understood alike.
func TestChatVariants(t *testing.T) {
	t.Parallel()
	call := func(id, name, arguments string) llm.ToolCall {
		return llm.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(arguments)}
	}
	for _, c := range []struct {
		name  string
		lines []string
		want  llm.Answer
	}{
		{"no [DONE]", []string{`{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, usage}, llm.Answer{Text: "a", Reason: llm.Stop}},
		{"no finish_reason", []string{`{"choices":[{"delta":{"content":"a"},"finish_reason":null}]}`, "[DONE]"}, llm.Answer{Text: "a", Reason: llm.Stop}},
		{"plain JSON", []string{`{"model":"m1","choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`}, llm.Answer{Text: "a", Reason: llm.Stop, Model: "m1"}},
		{"reasoning_content", []string{`{"choices":[{"delta":{"reasoning_content":"r","content":null}}]}`, `{"choices":[{"delta":{"reasoning_content":null,"content":"a"}}]}`, "[DONE]"}, llm.Answer{Text: "a", Reasoning: "r", Reason: llm.Stop}},
		{"reasoning", []string{`{"choices":[{"delta":{"reasoning":"r"}}]}`, `{"choices":[{"delta":{"content":"a"}}]}`, "[DONE]"}, llm.Answer{Text: "a", Reasoning: "r", Reason: llm.Stop}},
		{"content in parts", []string{`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"r"}]},{"type":"text","text":"a"}]}}]}`, "[DONE]"}, llm.Answer{Text: "a", Reasoning: "r", Reason: llm.Stop}},
		{"calls without index", []string{
			`{"choices":[{"delta":{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a\""}}]}}]}`, `{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":":1}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"id":"2","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, "[DONE]",
		}, llm.Answer{Reason: llm.Calls, Calls: []llm.ToolCall{call("1", "f", `{"a":1}`), call("2", "g", `{}`)}}},
		{"every call has index 0", []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{}"}},{"index":0,"id":"2","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"stop"}]}`, "[DONE]",
		}, llm.Answer{Reason: llm.Calls, Calls: []llm.ToolCall{call("1", "f", `{}`), call("2", "g", `{}`)}}},
		{"id repeated", []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"1","function":{"name":"f","arguments":"{"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"1","function":{"name":"f","arguments":"}"}}]}}]}`, "[DONE]",
		}, llm.Answer{Reason: llm.Calls, Calls: []llm.ToolCall{call("1", "f", `{}`)}}},
		{"no id, arguments as an object", []string{`{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":{"a":[1]}}},{"function":{"name":"g","arguments":null}}]}}]}`},
			llm.Answer{Reason: llm.Calls, Calls: []llm.ToolCall{call("call_1", "f", `{"a":[1]}`), call("call_2", "g", `{}`)}}},
		{"cut between the halves of a character", []string{`{"choices":[{"delta":{"reasoning_content":"r\ud83d"}}]}`, `{"choices":[{"delta":{"reasoning_content":"\ude00"}}]}`, `{"choices":[{"index":0,"delta":{"content":"a \uD83D"}}]}`, `{"choices":[{"delta":{"content":"\uDE00b"}}]}`, "[DONE]"},
			llm.Answer{Text: "a 😀b", Reasoning: "r😀", Reason: llm.Stop}},
		{"cut between the bytes of a character", []string{"{\"choices\":[{\"delta\":{\"content\":\"a\xf0\x9f\"}}]}", "{\"choices\":[{\"delta\":{\"content\":\"\x98\"}}]}", "{\"choices\":[{\"delta\":{\"content\":\"\x80 b\"}}]}", "[DONE]"}, llm.Answer{Text: "a😀 b", Reason: llm.Stop}},
		{"half a character at the end", []string{`{"choices":[{"delta":{"content":"a\ud83d"}}]}`, "[DONE]"}, llm.Answer{Text: "a\ufffd", Reason: llm.Stop}},
		{"arguments cut within a character", []string{`{"choices":[{"delta":{"content":"a\ud83d","tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{\"a\":\"\ud83d"}}]}}]}`, `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\ude00\"}"}}]}}]}`, "[DONE]"},
			llm.Answer{Text: "a\ufffd", Reason: llm.Calls, Calls: []llm.ToolCall{call("1", "f", `{"a":"😀"}`)}}},
		{"second choice is not ours", []string{`{"choices":[{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"a"}}]}`, "[DONE]"}, llm.Answer{Text: "a", Reason: llm.Stop}},
		{"cut by length", []string{`{"choices":[{"delta":{"content":"a"},"finish_reason":"length"}]}`, "[DONE]"}, llm.Answer{Text: "a", Reason: llm.Length}},
		{"Azure's first chunk", []string{`{"choices":[],"prompt_filter_results":[]}`, `{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`, "[DONE]"}, llm.Answer{Text: "a", Reason: llm.Stop}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := llm.Complete(t.Context(), serve(t, says(c.lines...)).open(t, registry.OpenAI, "m"), ask())
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got, cmpopts.IgnoreFields(llm.Answer{}, "Usage")); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestForms proves that structured output comes out of the code block that a model puts it in, that it streams where there is none, and
// that what is no JSON is a failure.
func TestForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pieces []string
		want   string // "" is a failure
		events int
	}{
		{[]string{"{", `"a":`, "1}"}, `{"a":1}`, 3},
		{[]string{"\n", "`", "``json\n{", `"a":"`, "`", "x\n", `"}`, "\n``", "`\n"}, "", 1},
		{[]string{"``", "`json\n{", `"a":1}`, "\n``", "`\n"}, `{"a":1}`, 1},
		{[]string{"```{}```"}, `{}`, 1},
		{[]string{"```\n[1]"}, `[1]`, 1},
		{[]string{"Sure! ", "{}"}, "", 2},
	} {
		var lines []string
		for _, p := range c.pieces {
			text, _ := json.Marshal(p)
			lines = append(lines, `{"choices":[{"delta":{"content":`+string(text)+`}}]}`)
		}
		r, events := ask(), 0
		r.Format = &llm.Format{Type: "json_object"}
		got, err := serve(t, says(append(lines, "[DONE]")...)).open(t, registry.OpenAI, "m").Stream(t.Context(), r, func(llm.Event) error { events++; return nil })
		var e *llm.Error
		if c.want == "" && (!errors.As(err, &e) || e.Failure != llm.Broken) || c.want != "" && (err != nil || got.Text != c.want) || events != c.events {
			t.Errorf("%q: got %q, %v in %d events", c.pieces, got.Text, err, events)
		}
	}
}

// TestChatUsage proves how tokens are counted by servers that count each in their way.
func TestChatUsage(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]llm.Usage{
		`{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":3}}`: {Input: 9, Cached: 4, Output: 5, Reasoning: 3},
		`{"prompt_tokens":9,"completion_tokens":2,"total_tokens":14,"prompt_tokens_details":null,"completion_tokens_details":{"reasoning_tokens":3}}`:                {Input: 9, Output: 5, Reasoning: 3},
		`{"prompt_tokens":9,"completion_tokens":2,"prompt_cache_hit_tokens":8}`:                                                                                      {Input: 9, Cached: 8, Output: 2},
	} {
		got, err := llm.Complete(t.Context(), serve(t, says(`{"choices":[{"message":{"content":"a"}}],"usage":`+in+`}`)).open(t, registry.OpenAI, "m"), ask())
		if err != nil || got.Usage != want {
			t.Errorf("%s: got %+v, %v, want %+v", in, got.Usage, err, want)
		}
	}
}

// TestChatFailures proves what goes wrong within a success.
func TestChatFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		lines []string
		want  llm.Error
	}{
		{"error object", []string{`{"choices":[{"delta":{"content":"a"}}]}`, `{"error":{"message":"no more","code":429}}`}, llm.Error{Failure: llm.Limited, Status: 429, Text: "no more", Begun: true}},
		{"error in plain JSON", []string{`{"error":{"message":"no such model","type":"invalid_request_error"}}`}, llm.Error{Failure: llm.Rejected, Text: "no such model"}},
		{"vLLM's error", []string{`{"object":"error","message":"too long","type":"BadRequestError","code":400}`, "[DONE]"}, llm.Error{Failure: llm.Rejected, Status: 400, Text: "too long"}},
		{"cut", []string{`{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[]}`}, llm.Error{Failure: llm.Broken, Text: "its stream ended before the answer did", Begun: true}},
		{"no JSON", []string{`{"choices":[{"delta":{"content":"a"}}]}`, `{"choi`}, llm.Error{Failure: llm.Broken, Text: "an event of its stream is not in the form that its type speaks", Begun: true}},
		{"another form", []string{`{"choices":"x"}`}, llm.Error{Failure: llm.Broken, Text: "an event of its stream is not in the form that its type speaks"}},
		{"nothing said", []string{`{"choices":[{"delta":{"content":""},"finish_reason":"stop"}]}`, "[DONE]"}, llm.Error{Failure: llm.Empty}},
		{"no choice", []string{`{"choices":[]}`}, llm.Error{Failure: llm.Empty}},
		{"all thought", []string{`{"choices":[{"delta":{"reasoning_content":"hm"},"finish_reason":"length"}]}`, "[DONE]"}, llm.Error{Failure: llm.Empty, Begun: true, Text: "the token limit was used up before its answer began"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.want.Model = "mine"
			_, err := llm.Complete(t.Context(), serve(t, says(c.lines...)).open(t, registry.OpenAI, "m"), ask())
			var e *llm.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if d := cmp.Diff(&c.want, e, cmpopts.IgnoreFields(llm.Error{}, "Cause")); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestAdapting proves that a call is made again without what a server does not take, that this is remembered, and that other rejections
// come through after one call.
func TestAdapting(t *testing.T) {
	t.Parallel()
	limit := 50
	for _, c := range []struct {
		name, model string
		rejects     string // a member of the body
		says        string
		request     func(*llm.Request)
		calls       int
		check       func(body map[string]any) bool
	}{
		{"max_tokens", "chat", "max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
			func(r *llm.Request) { r.Parameters.MaxTokens = &limit }, 2, func(b map[string]any) bool { return b["max_completion_tokens"] == 50.0 }},
		{"max_completion_tokens", "gpt-5-at-home", "max_completion_tokens", "[body.max_completion_tokens] Extra inputs are not permitted",
			func(r *llm.Request) { r.Parameters.MaxTokens = &limit }, 2, func(b map[string]any) bool { return b["max_tokens"] == 50.0 }},
		{"stream_options", "chat", "stream_options", "Unrecognized request argument supplied: stream_options", func(*llm.Request) {}, 2,
			func(b map[string]any) bool { return b["stream"] == true }},
		{"json_schema", "chat", "response_format", "This response_format type is unavailable now", func(r *llm.Request) {
			r.Format = &llm.Format{Type: "json_schema", Schema: json.RawMessage(`{"type":"object","title":"T"}`)}
		}, 2, func(b map[string]any) bool {
			f, _ := b["response_format"].(map[string]any)
			return f["type"] == "json_object" && strings.Contains(fmt.Sprint(b["messages"]), `"title":"T"`)
		}},
		{"schema at fault", "chat", "response_format", "Invalid schema for response_format 'answer': must be an object", func(r *llm.Request) {
			r.Format = &llm.Format{Type: "json_schema", Schema: json.RawMessage(`{}`)}
		}, 1, nil},
		{"value at fault", "chat", "max_tokens", "max_tokens must be at most 40", func(r *llm.Request) { r.Parameters.MaxTokens = &limit }, 1, nil},
		{"something else", "chat", "messages", "the messages are too long for stream of consciousness", func(*llm.Request) {}, 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, body map[string]any) {
				f, _ := body["response_format"].(map[string]any)
				if _, has := body[c.rejects]; has && f["type"] != "json_object" {
					w.WriteHeader(400)
					_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": c.says}})
					return
				}
				says(`{"choices":[{"message":{"content":"{}"}}]}`)(w, body)
			})
			shared := provider.NewShared(s.Client())
			r := ask()
			c.request(&r)
			run := func() error {
				p, err := openai.New(shared, registry.Connection{Type: registry.OpenAI, Model: c.model, URI: s.URL})
				if err != nil {
					t.Fatal(err)
				}
				_, err = llm.Complete(t.Context(), p, r)
				return err
			}
			err := run()
			if (err == nil) != (c.check != nil) || len(s.bodies) != c.calls {
				t.Fatalf("%d calls, %v", len(s.bodies), err)
			}
			if c.check == nil {
				return
			}
			if last := s.bodies[len(s.bodies)-1]; !c.check(last) {
				t.Errorf("the last call was %v", last)
			}
			if err := run(); err != nil || len(s.bodies) != c.calls+1 {
				t.Errorf("it was not remembered: %d calls, %v", len(s.bodies), err)
			}
		})
	}
}

// TestChatBody proves how messages, images, tools and parameters are written, and that what is passed through overrides nothing.
func TestChatBody(t *testing.T) {
	t.Parallel()
	limit, warm := 50, 0.5
	r := llm.Request{
		Messages: []llm.Message{
			llm.Text(llm.System, "be brief"),
			{Role: llm.User, Name: "ann", Parts: []llm.Part{{Text: "what is"}, {Image: &llm.Image{MimeType: "image/png", Data: []byte("png")}}, {Image: &llm.Image{URL: "https://h/i"}}}},
			{Role: llm.Assistant, Reasoning: "hm", Calls: []llm.ToolCall{{ID: "1", Name: "f", State: `{"chat_reasoning":"reasoning_content","chat_extra":{"google":{"thought_signature":"s"}}}`}, {ID: "2", Name: "g", Arguments: json.RawMessage(`{"a":1}`), State: "of another format"}}},
			{Role: llm.Result, CallID: "1", Parts: []llm.Part{{Text: "one"}, {Image: &llm.Image{URL: "https://h/r"}}}},
			{Role: llm.Result, CallID: "2", Parts: []llm.Part{{Text: "two"}}},
			llm.Text(llm.Assistant, "done"), {Role: llm.User, Name: "not a name", Parts: []llm.Part{{Text: "a"}, {Text: "b"}}},
		},
		Tools:  []llm.Tool{{Name: "f", Description: "d", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "g"}},
		Choice: llm.Choice{Mode: "tool", Name: "f"},
		Format: &llm.Format{Type: "json_schema", Name: "n", Strict: true, Schema: json.RawMessage(`{"type":"object"}`)},
		Parameters: llm.Parameters{MaxTokens: &limit, Temperature: &warm, Extra: map[string]json.RawMessage{
			"model": json.RawMessage(`"x"`), "messages": json.RawMessage(`[]`), "stream": json.RawMessage(`false`), "n": json.RawMessage(`4`), "temperature": json.RawMessage(`1`),
			"stream_options": json.RawMessage(`{}`), "max_completion_tokens": json.RawMessage(`7`), "top_p": json.RawMessage(`0.5`), "tools": json.RawMessage(`[]`),
		}},
	}
	const want = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":50,"temperature":0.5,"top_p":0.5,
		"messages":[{"role":"system","content":"be brief"},
		 {"role":"user","name":"ann","content":[{"type":"text","text":"what is"},{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}},{"type":"image_url","image_url":{"url":"https://h/i"}}]},
		 {"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}},{"id":"2","type":"function","function":{"name":"g","arguments":"{\"a\":1}"}}]},
		 {"role":"tool","tool_call_id":"1","content":"one"},{"role":"tool","tool_call_id":"2","content":"two"},
		 {"role":"user","content":[{"type":"text","text":"The images of these results:"},{"type":"image_url","image_url":{"url":"https://h/r"}}]},
		 {"role":"assistant","content":"done"},{"role":"user","content":"a\nb"}],
		"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}},{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}],
		"tool_choice":{"type":"function","function":{"name":"f"}},
		"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object"}}}}`
	s := serve(t, says(`{"choices":[{"message":{"content":"{}"}}]}`))
	if _, err := llm.Complete(t.Context(), s.open(t, registry.OpenAI, "m"), r); err != nil {
		t.Fatal(err)
	}
	equal(t, want, s.bodies[0])

	const responses = `{"model":"m","stream":true,"store":false,"max_output_tokens":50,"temperature":0.5,"top_p":0.5,"n":4,"stream_options":{},"max_completion_tokens":7,"messages":[],
		"input":[{"role":"system","content":"be brief"},
		 {"role":"user","content":[{"type":"input_text","text":"what is"},{"type":"input_image","image_url":"data:image/png;base64,cG5n"},{"type":"input_image","image_url":"https://h/i"}]},
		 {"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call","call_id":"2","name":"g","arguments":"{\"a\":1}"},
		 {"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"one"},{"type":"input_image","image_url":"https://h/r"}]},{"type":"function_call_output","call_id":"2","output":"two"},
		 {"role":"assistant","content":"done"},{"role":"user","content":"a\nb"}],
		"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"},"strict":false},{"type":"function","name":"g","parameters":{"type":"object","properties":{}},"strict":false}],
		"tool_choice":{"type":"function","name":"f"},
		"text":{"format":{"type":"json_schema","name":"n","strict":true,"schema":{"type":"object"}}}}`
	s = serve(t, says(`{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"{}"}]}]}`))
	if _, err := llm.Complete(t.Context(), s.open(t, registry.Responses, "m"), r); err != nil {
		t.Fatal(err)
	}
	equal(t, responses, s.bodies[0])
}

func equal(t *testing.T, want string, got map[string]any) {
	t.Helper()
	var w map[string]any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(w, got); d != "" {
		t.Error(d)
	}
}

// TestReasoningComesBack proves that a conversation with tools gives each server its reasoning back in the way it came.
func TestReasoningComesBack(t *testing.T) {
	t.Parallel()
	const item = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2VhbGVk"}`
	for _, c := range []struct {
		kind   registry.Type
		model  string
		answer string
		wants  string
	}{
		{registry.OpenAI, "m", `{"choices":[{"message":{"reasoning_content":"hm","tool_calls":[{"id":"1","function":{"name":"f"}}]}}]}`, `"reasoning_content":"hm"`},
		{registry.OpenAI, "m", `{"choices":[{"message":{"reasoning":"hm","tool_calls":[{"id":"1","function":{"name":"f"}}]}}]}`, `"reasoning":"hm"`},
		{registry.Responses, "gpt-5", `{"status":"completed","output":[` + item + `,{"type":"function_call","call_id":"1","name":"f","arguments":"{}"}]}`, `"encrypted_content":"c2VhbGVk"`},
	} {
		s := serve(t, says(c.answer))
		p := s.open(t, c.kind, c.model)
		r := ask()
		r.Tools = []llm.Tool{{Name: "f"}}
		first, err := llm.Complete(t.Context(), p, r)
		if err != nil {
			t.Fatal(err)
		}
		r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Calls: first.Calls, Reasoning: first.Reasoning},
			llm.Message{Role: llm.Result, CallID: "1", Parts: []llm.Part{{Text: "x"}}})
		if _, err := llm.Complete(t.Context(), p, r); err != nil {
			t.Fatal(err)
		}
		sent, _ := json.Marshal(s.bodies[1])
		if !strings.Contains(string(sent), c.wants) {
			t.Errorf("%s is not in %s", c.wants, sent)
		}
		if c.kind == registry.Responses && !strings.Contains(fmt.Sprint(s.bodies[0]["include"]), "encrypted_content") {
			t.Error("sealed reasoning was not asked for")
		}
	}
}

// TestResponsesVariants proves what servers of the responses format do in their own ways.
func TestResponsesVariants(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		lines []string
		want  llm.Answer
		fails llm.Failure
	}{
		{"only the end", []string{`{"type":"response.completed","response":{"model":"m1","status":"completed","output":[{"type":"reasoning","summary":[{"text":"r"}]},{"type":"message","content":[{"type":"output_text","text":"a"}]}]}}`}, llm.Answer{Text: "a", Reasoning: "r", Reason: llm.Stop, Model: "m1"}, ""},
		{"calls at the end alone", []string{`{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]},{"type":"function_call","call_id":"1","name":"f","arguments":"{}"}]}}`},
			llm.Answer{Text: "a", Reason: llm.Calls, Calls: []llm.ToolCall{{ID: "1", Name: "f", Arguments: json.RawMessage(`{}`)}}}, ""},
		{"arguments in deltas alone", []string{`{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","call_id":"1","name":"f"}}`, `{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{\"a\""}`, `{"type":"response.function_call_arguments.delta","output_index":2,"delta":":1}"}`,
			`{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"1","name":"f"}}`, `{"type":"response.completed","response":{"status":"completed"}}`},
			llm.Answer{Reason: llm.Calls, Calls: []llm.ToolCall{{ID: "1", Name: "f", Arguments: json.RawMessage(`{"a":1}`)}}}, ""},
		{"cut within a character", []string{`{"type":"response.output_text.delta","delta":"a\ud83d"}`, `{"type":"response.output_text.delta","delta":"\ude00"}`, `{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a😀"}]}]}}`}, llm.Answer{Text: "a😀", Reason: llm.Stop}, ""},
		{"filtered", []string{`{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}`}, llm.Answer{Text: "a", Reason: llm.Refused}, ""},
		{"failed", []string{`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"down"}}}`}, llm.Answer{}, llm.Broken},
		{"limited", []string{`{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"}}}`}, llm.Answer{}, llm.Limited},
		{"error event", []string{`{"type":"error","code":"server_error","message":"down"}`}, llm.Answer{}, llm.Broken},
		{"error of another form", []string{`{"error":{"message":"bad","type":"invalid_request_error"}}`, `[DONE]`}, llm.Answer{}, llm.Rejected},
		{"cut", []string{`{"type":"response.output_text.delta","delta":"a"}`, `[DONE]`}, llm.Answer{}, llm.Broken},
		{"end without response", []string{`{"type":"response.completed"}`, `[DONE]`}, llm.Answer{}, llm.Broken},
		{"plain failure", []string{`{"error":{"message":"bad","type":"invalid_request_error"}}`}, llm.Answer{}, llm.Rejected},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := says(c.lines...)
			if len(c.lines) == 1 && strings.Contains(c.lines[0], `"type":"`) && !strings.HasPrefix(c.lines[0], `{"error"`) {
				h = says(append(c.lines, "[DONE]")...)
			}
			got, err := llm.Complete(t.Context(), serve(t, h).open(t, registry.Responses, "m"), ask())
			if c.fails != "" {
				var e *llm.Error
				if !errors.As(err, &e) || e.Failure != c.fails {
					t.Errorf("got %v, want %s", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got, cmpopts.IgnoreFields(llm.Answer{}, "Usage")); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestAddresses proves which endpoint an address stands for in each of the two formats.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1/responses"},
		{"https://api.openai.com/v1/responses/", "https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1/responses/"},
		{"https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1/responses"},
		{"http://localhost:11434", "http://localhost:11434/v1/chat/completions", "http://localhost:11434/v1/responses"},
		{"http://h/api/v1/?k=1", "http://h/api/v1/chat/completions?k=1", "http://h/api/v1/responses?k=1"},
		{"https://g/v1beta/openai/", "https://g/v1beta/openai/chat/completions", "https://g/v1beta/openai/responses"},
		{"https://a.azure.com/openai/deployments/d/chat/completions?api-version=1", "https://a.azure.com/openai/deployments/d/chat/completions?api-version=1", "https://a.azure.com/openai/responses?api-version=1"},
		{"https://gate/llm/prod", "https://gate/llm/prod", "https://gate/llm/prod"},
	} {
		u, err := url.Parse(c[0])
		if err != nil {
			t.Fatal(err)
		}
		if got := openai.ChatURL(u).String(); got != c[1] {
			t.Errorf("%s: chat completions at %s, want %s", c[0], got, c[1])
		}
		if got := strings.TrimSuffix(openai.ResponsesURL(u).String(), "/"); got != strings.TrimSuffix(c[2], "/") {
			t.Errorf("%s: responses at %s, want %s", c[0], got, c[2])
		}
	}
	if _, err := openai.New(provider.NewShared(http.DefaultClient), registry.Connection{Type: registry.OpenAI, URI: "nowhere"}); err == nil {
		t.Error("an address that is none was taken")
	}
}

// TestCatalog proves which models an address is found to serve, whatever the address given, and what their lists tell.
func TestCatalog(t *testing.T) {
	t.Parallel()
	const list = `{"object":"list","data":[{"id":"small-chat","max_model_len":8192},{"id":"text-embedding-3-small"},{"id":"tiny","context_length":100},
		{"id":"x/vision","context_length":131072,"architecture":{"input_modalities":["text","image"]},"supported_parameters":["tools"]},{"id":"qwen.gguf","meta":{"n_ctx_train":32768}},{"id":""}]}`
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, list) })
	mux.HandleFunc("GET /odd/models", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `[{"id":"bare"}]`) })
	mux.HandleFunc("GET /page/models", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `<html>`) })
	mux.HandleFunc("GET /none/v1/models", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"hello":1}`) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	find := func(kind registry.Type, path string) (registry.Catalog, error) {
		return openai.Catalog(t.Context(), provider.NewShared(server.Client()), registry.Connection{Type: kind, URI: server.URL + path})
	}
	n := func(v int) *int { return &v }
	yes, no := true, false
	want := []registry.Offer{
		{Model: "small-chat", Capabilities: registry.Capabilities{ContextLimit: n(8192)}}, {Model: "tiny"},
		{Model: "x/vision", Capabilities: registry.Capabilities{ContextLimit: n(131072), ImageSupport: &yes, ToolCalling: &yes, StructuredOutputs: &no}},
		{Model: "qwen.gguf", Capabilities: registry.Capabilities{ContextLimit: n(32768)}},
	}
	for _, path := range []string{"", "/", "/v1", "/v1/", "/v1/chat/completions", "/v1/models", "/v1/responses"} {
		got, err := find(registry.OpenAI, path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if d := cmp.Diff(registry.Catalog{URI: server.URL + "/v1/chat/completions", Offers: want}, got); d != "" {
			t.Errorf("%s: %s", path, d)
		}
	}
	if got, err := find(registry.Responses, "/v1"); err != nil || got.URI != server.URL+"/v1/responses" {
		t.Errorf("got %v, %v", got.URI, err)
	}
	if got, err := find(registry.OpenAI, "/odd"); err != nil || got.URI != server.URL+"/odd/chat/completions" || len(got.Offers) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	for path, failure := range map[string]llm.Failure{"/page/v1/models": llm.Rejected, "/page/models": llm.Broken, "/none": llm.Broken, "/nowhere": llm.Rejected} {
		_, err := find(registry.OpenAI, path)
		var e *llm.Error
		if !errors.As(err, &e) || e.Failure != failure {
			t.Errorf("%s: got %v, want %s", path, err, failure)
		}
	}
}

// FuzzChat proves that no stream or body makes the adapter panic, and that it ends in an answer with something in it or a failure.
func FuzzChat(f *testing.F) {
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"a\",\"tool_calls\":[{\"index\":0,\"id\":\"1\",\"function\":{\"name\":\"f\",\"arguments\":{}}}]},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"), false)
	f.Add([]byte(`{"type":"response.completed","response":{"output":[{"type":"function_call","arguments":"x"}]}}`), true)
	f.Add([]byte("data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\"}}\n\n"), true)
	f.Fuzz(func(t *testing.T, body []byte, responses bool) {
		kind := registry.OpenAI
		if responses {
			kind = registry.Responses
		}
		client := &http.Client{Transport: canned(body)}
		p, err := openai.New(provider.NewShared(client), registry.Connection{Type: kind, URI: "http://h/v1"})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := llm.Complete(t.Context(), p, ask())
		var e *llm.Error
		if err == nil && answer.Text == "" && len(answer.Calls) == 0 && answer.Reason != llm.Refused {
			t.Fatalf("an empty answer: %+v", answer)
		}
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("a failure of no kind: %v", err)
		}
	})
}

type canned []byte

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(c)))}, nil
}
