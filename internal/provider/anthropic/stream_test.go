package anthropic_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/provider"
	"quarry/internal/provider/anthropic"
	"quarry/internal/provider/scripted"
	"quarry/internal/testkit"
)

// stream returns an event stream of events.
func stream(events ...string) string {
	out := ""
	for _, e := range events {
		out += "event: x\ndata: " + e + "\n\n"
	}
	return out
}

const (
	start = `{"type":"message_start","message":{"model":"claude-x","usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":1}}}`
	stop  = `{"type":"message_stop"}`
)

func begin(block string) string {
	return `{"type":"content_block_start","index":0,"content_block":` + block + `}`
}

func delta(d string) string { return `{"type":"content_block_delta","index":0,"delta":` + d + `}` }

func text(s string) string { return delta(`{"type":"text_delta","text":"` + s + `"}`) }

func ended(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":7,"output_tokens_details":{"thinking_tokens":4}}}`
}

const (
	texts = `{"type":"text","text":""}`
	over  = `{"type":"content_block_stop","index":0}`
	call  = `{"type":"tool_use","id":"toolu_1","name":"find","input":{}}`
	own   = `{"type":"tool_use","id":"toolu_2","name":"structured_answer","input":{}}`
)

var used = llm.Usage{Input: 60, Cached: 30, Output: 7, Reasoning: 4}

func partial(r llm.Request) llm.Request {
	r.Partial = true
	return r
}

// The answer is what the events say, in each way in which an answer can be given.
func TestAnswers(t *testing.T) {
	t.Parallel()
	anyObject := llm.Request{Messages: ask("?"), Format: &llm.Format{Type: "json_object"}}
	list := llm.Request{Messages: ask("?"), Format: &llm.Format{Type: "json_schema", Schema: raw(`{"type":"array"}`)}}
	tools := llm.Request{Messages: ask("?"), Format: verdict, Tools: []llm.Tool{find}}
	for _, c := range []struct {
		name, model string
		request     llm.Request
		answer      string
		want        llm.Answer
	}{
		{"text, with what is not known", "", llm.Request{}, stream(start, `{"type":"ping"}`, begin(`{"type":"text","text":"It "}`), text("is "), `{"type":"novelty","index":9}`, text("so."), over, ended("end_turn"), stop, text("late")),
			llm.Answer{Text: "It is so.", Reason: llm.Stop, Model: "claude-x", Usage: used}},
		{"no message_stop", "", llm.Request{}, stream(start, begin(texts), text("So."), over, ended("stop_sequence")), llm.Answer{Text: "So.", Reason: llm.Stop, Model: "claude-x", Usage: used}},
		{"thinking and a call", claude45, llm.Request{}, stream(start, begin(`{"type":"thinking","thinking":"","signature":""}`), delta(`{"type":"thinking_delta","thinking":"Hm"}`), delta(`{"type":"signature_delta","signature":"c2ln"}`), over, begin(`{"type":"redacted_thinking","data":"xx"}`), over,
			begin(call), delta(`{"type":"input_json_delta","partial_json":""}`), delta(`{"type":"input_json_delta","partial_json":"{\"q\":"}`), delta(`{"type":"input_json_delta","partial_json":"1}"}`), over, begin(call), over, ended("tool_use"), stop),
			llm.Answer{Reasoning: "Hm", Reason: llm.Calls, Model: "claude-x", Usage: used, Calls: []llm.ToolCall{
				{ID: "toolu_1", Name: "find", Arguments: raw(`{"q":1}`), State: "anthropic/" + claude45 + "\n" + `[{"signature":"c2ln","thinking":"Hm","type":"thinking"},{"data":"xx","type":"redacted_thinking"}]`},
				{ID: "toolu_1", Name: "find", Arguments: raw(`{}`)},
			}}},
		{"cut within a character", "", llm.Request{}, stream(start, begin(`{"type":"text","text":"It \ud83d"}`), text("\\ude00 \xe2\x82"), text("\xac"), over, begin(call), delta(`{"type":"input_json_delta","partial_json":"{\"q\":\"\ud83d"}`), delta(`{"type":"input_json_delta","partial_json":"\ude00\"}"}`), over, ended("tool_use"), stop),
			llm.Answer{Text: "It 😀 €", Reason: llm.Calls, Model: "claude-x", Usage: used, Calls: []llm.ToolCall{{ID: "toolu_1", Name: "find", Arguments: raw(`{"q":"😀"}`)}}}},
		{"length", "", llm.Request{}, stream(start, begin(texts), text("So"), over, ended("max_tokens"), stop), llm.Answer{Text: "So", Reason: llm.Length, Model: "claude-x", Usage: used}},
		{"a form cut off, of a model that thinks", claude55, partial(anyObject), stream(start, begin(own), delta(`{"type":"input_json_delta","partial_json":"{\"n\":"}`), over, ended("max_tokens"), stop), llm.Answer{Text: `{"n":`, Reason: llm.Length, Model: "claude-x", Usage: used}},
		{"a form cut off, in words", claude55, partial(anyObject), stream(start, begin(texts), text("So"), over, ended("max_tokens"), stop), llm.Answer{Text: "So", Reason: llm.Length, Model: "claude-x", Usage: used}},
		{"a list cut off", "", partial(list), stream(start, begin(own), delta(`{"type":"input_json_delta","partial_json":"{\"value\": [1,"}`), over, ended("max_tokens"), stop), llm.Answer{Text: `[1,`, Reason: llm.Length, Model: "claude-x", Usage: used}},
		{"a form cut off before it began", "", partial(anyObject), stream(start, begin(own), over, ended("max_tokens"), stop), llm.Answer{Reason: llm.Length, Model: "claude-x", Usage: used}},
		{"context used up", "", llm.Request{}, stream(start, begin(texts), text("So"), over, ended("model_context_window_exceeded"), stop), llm.Answer{Text: "So", Reason: llm.Length, Model: "claude-x", Usage: used}},
		{"refusal", "", llm.Request{}, stream(start, `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":null}},"usage":{"output_tokens":7,"output_tokens_details":{"thinking_tokens":4}}}`, stop), llm.Answer{Reason: llm.Refused, Refusal: "cyber", Model: "claude-x", Usage: used}},
		{"a pause of the provider's own tools", "", llm.Request{}, stream(start, begin(`{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`), delta(`{"type":"input_json_delta","partial_json":"{}"}`), over, begin(texts), text("So far."), over, ended("pause_turn"), stop), llm.Answer{Text: "So far.", Reason: llm.Stop, Model: "claude-x", Usage: used}},
		{"in one piece", "", llm.Request{}, `{"type":"message","model":"claude-x","content":[{"type":"thinking","thinking":"Hm","signature":"s"},{"type":"text","text":"So."},{"type":"tool_use","id":"1","name":"find","input":{"q":1}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":2}}`,
			llm.Answer{Text: "So.", Reasoning: "Hm", Reason: llm.Calls, Model: "claude-x", Usage: llm.Usage{Input: 3, Output: 2}, Calls: []llm.ToolCall{{ID: "1", Name: "find", Arguments: raw(`{"q":1}`), State: "anthropic/" + claude3 + "\n" + `[{"signature":"s","thinking":"Hm","type":"thinking"}]`}}}},
		{"a form by a forced tool; words beside it are none of it", "", llm.Request{Messages: ask("?"), Format: verdict}, stream(start, begin(texts), text("Here:"), over, begin(own), delta(`{"type":"input_json_delta","partial_json":"{\"n\":"}`), delta(`{"type":"input_json_delta","partial_json":"2}"}`), over, ended("tool_use"), stop), llm.Answer{Text: `{"n":2}`, Reason: llm.Stop, Model: "claude-x", Usage: used}},
		{"an empty form", "", anyObject, stream(start, begin(own), over, ended("tool_use"), stop), llm.Answer{Text: `{}`, Reason: llm.Stop, Model: "claude-x", Usage: used}},
		{"a form in one piece", "", anyObject, `{"type":"message","model":"claude-x","content":[{"type":"tool_use","id":"1","name":"structured_answer","input":{"a":1}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":2}}`, llm.Answer{Text: `{"a":1}`, Reason: llm.Stop, Model: "claude-x", Usage: llm.Usage{Input: 3, Output: 2}}},
		{"a form in words, though a tool was forced", "", anyObject, stream(start, begin(texts), text("```json\\n{\\\"a\\\":1}\\n```"), over, ended("end_turn"), stop), llm.Answer{Text: `{"a":1}`, Reason: llm.Stop, Model: "claude-x", Usage: used}},
		{"a list", "", list, stream(start, begin(own), delta(`{"type":"input_json_delta","partial_json":"{\"value\":[1,2]}"}`), over, ended("tool_use"), stop), llm.Answer{Text: `[1,2]`, Reason: llm.Stop, Model: "claude-x", Usage: used}},
		{"a call before a form", "", tools, stream(start, begin(texts), text("I look."), over, begin(call), over, ended("tool_use"), stop), llm.Answer{Reason: llm.Calls, Model: "claude-x", Usage: used, Calls: []llm.ToolCall{{ID: "toolu_1", Name: "find", Arguments: raw(`{}`)}}}},
		{"a form by itself", claude45, llm.Request{Messages: ask("?"), Format: verdict}, stream(start, begin(texts), text(`{\"n\":2}`), over, ended("end_turn"), stop), llm.Answer{Text: `{"n":2}`, Reason: llm.Stop, Model: "claude-x", Usage: used}},
		{"a form by an offered tool", claude55, anyObject, stream(start, begin(own), delta(`{"type":"input_json_delta","partial_json":"{\"a\":1}"}`), over, ended("tool_use"), stop), llm.Answer{Text: `{"a":1}`, Reason: llm.Stop, Model: "claude-x", Usage: used}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := &wire{answers: []string{c.answer}}
			if strings.HasPrefix(c.answer, "{") {
				w.kind = "application/json"
			}
			got, err := llm.Complete(t.Context(), open(t, w, registry.Connection{Model: c.model, Auth: key()}), c.request)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

// What is no answer is told as what it is.
func TestFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, answer string
		request      llm.Request
		want         llm.Failure
	}{
		{"overloaded before the first word", stream(start, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), llm.Request{}, llm.Broken},
		{"a limit", stream(`{"type":"error","error":{"type":"rate_limit_error","message":"Slow"}}`), llm.Request{}, llm.Limited},
		{"an error of a gateway", stream(`{"error":{"message":"No such model","code":404}}`), llm.Request{}, llm.Rejected},
		{"a delta of no block", stream(start, text("x")), llm.Request{}, llm.Broken},
		{"no message", `{"type":"message","content":3}`, llm.Request{}, llm.Broken},
		{"a form that is none", stream(start, begin(texts), text("No idea."), over, ended("end_turn"), stop), llm.Request{Messages: ask("?"), Format: verdict}, llm.Broken},
		{"a form that breaks off", stream(start, begin(own), delta(`{"type":"input_json_delta","partial_json":"{\"n\":"}`), over, ended("tool_use"), stop), llm.Request{Messages: ask("?"), Format: verdict}, llm.Broken},
		{"thinking alone", stream(start, begin(`{"type":"thinking"}`), over, ended("max_tokens"), stop), llm.Request{}, llm.Empty},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := llm.Complete(t.Context(), open(t, &wire{answers: []string{c.answer}}, registry.Connection{Auth: key()}), c.request)
			var e *llm.Error
			if !errors.As(err, &e) || e.Failure != c.want || e.Model != "claude" {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A form that is refused in one way is asked for in the next, and the next call begins there.
func TestWays(t *testing.T) {
	t.Parallel()
	const refused = `{"type":"error","error":{"type":"invalid_request_error","message":"output_config.format: Extra inputs are not permitted"}}`
	const forcing = `{"type":"error","error":{"type":"invalid_request_error","message":"tool_choice: forcing a tool is not supported"}}`
	good := stream(start, begin(own), delta(`{"type":"input_json_delta","partial_json":"{\"n\":2}"}`), over, ended("tool_use"), stop)
	w := &wire{status: http.StatusBadRequest, answers: []string{refused, forcing, good}}
	m := open(t, w, registry.Connection{Model: claude45, Auth: key()})
	for range 2 {
		got, err := llm.Complete(t.Context(), m, llm.Request{Messages: ask("?"), Format: verdict})
		if err != nil || got.Text != `{"n":2}` {
			t.Fatalf("got %+v, %v", got, err)
		}
	}
	var ways []string
	for _, b := range w.bodies {
		body := testkit.Object(t, b)
		ways = append(ways, map[bool]string{true: "native "}[body["output_config"] != nil]+map[bool]string{true: "tool "}[body["tools"] != nil]+map[bool]string{true: "forced"}[body["tool_choice"] != nil])
	}
	if diff := cmp.Diff([]string{"native ", "tool forced", "tool ", "tool "}, ways); diff != "" {
		t.Errorf("ways (-want +got):\n%s", diff)
	}
}

// Another rejection is not asked again.
func TestRejectionStands(t *testing.T) {
	t.Parallel()
	w := &wire{status: http.StatusBadRequest, answers: []string{`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}`, well}}
	_, err := llm.Complete(t.Context(), open(t, w, registry.Connection{Model: claude45, Auth: key()}), llm.Request{Messages: ask("?"), Format: verdict})
	var e *llm.Error
	if !errors.As(err, &e) || e.Failure != llm.Rejected || len(w.sent) != 1 {
		t.Errorf("got %v after %d calls", err, len(w.sent))
	}
}

// Signed thinking goes back to the model that signed it, before the call that it led to, and to no other.
func TestThinkingGoesBack(t *testing.T) {
	t.Parallel()
	answer := stream(start, begin(`{"type":"thinking"}`), delta(`{"type":"thinking_delta","thinking":"Hm"}`), delta(`{"type":"signature_delta","signature":"c2ln"}`), over, begin(call), over, ended("tool_use"), stop)
	for model, want := range map[string]string{
		claude45: `[{"type":"thinking","thinking":"Hm","signature":"c2ln"},{"type":"text","text":"Let me see."},{"type":"tool_use","id":"toolu_1","name":"find","input":{}}]`,
		claude55: `[{"type":"text","text":"Let me see."},{"type":"tool_use","id":"toolu_1","name":"find","input":{}}]`,
	} {
		first, err := llm.Complete(t.Context(), open(t, &wire{answers: []string{answer}}, registry.Connection{Model: claude45, Auth: key()}), llm.Request{Messages: ask("?"), Tools: []llm.Tool{find}})
		if err != nil {
			t.Fatal(err)
		}
		w := &wire{}
		said := llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Text: "Let me see."}}, Calls: first.Calls}
		if _, err := llm.Complete(t.Context(), open(t, w, registry.Connection{Model: model, Auth: key()}), llm.Request{Messages: append(ask("?"), said), Tools: []llm.Tool{find}}); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Messages []struct{ Content any }
		}
		var wanted any
		if err := errors.Join(json.Unmarshal([]byte(w.bodies[0]), &got), json.Unmarshal([]byte(want), &wanted)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wanted, got.Messages[1].Content); diff != "" {
			t.Errorf("%s (-want +got):\n%s", model, diff)
		}
	}
}

// TestFrames proves what becomes of the frames of Bedrock that are not events.
func TestFrames(t *testing.T) {
	t.Parallel()
	chunk := func(event string) []byte {
		payload := `{"bytes":"` + base64.StdEncoding.EncodeToString([]byte(event)) + `"}`
		return scripted.Envelope([][2]string{{":message-type", "event"}, {":event-type", "chunk"}}, []byte(payload))
	}
	said := func(headers map[string]string, payload string) []byte {
		var list [][2]string
		for name, value := range headers {
			list = append(list, [2]string{name, value})
		}
		return scripted.Envelope(list, []byte(payload))
	}
	whole := string(chunk(start)) + string(chunk(begin(texts))) + string(chunk(text("So."))) + string(said(map[string]string{":message-type": "event", ":event-type": "novelty"}, "{}"))
	for _, c := range []struct {
		name, answer string
		want         llm.Failure
	}{
		{"well", whole + string(chunk(ended("end_turn"))) + string(chunk(stop)), ""},
		{"cut within a frame", whole + string(chunk(stop))[:20], llm.Broken},
		{"cut between frames", whole, llm.Broken},
		{"throttled", string(said(map[string]string{":message-type": "exception", ":exception-type": "throttlingException"}, `{"message":"Too many"}`)), llm.Limited},
		{"timeout", string(said(map[string]string{":message-type": "exception", ":exception-type": "modelTimeoutException"}, `{"message":"late"}`)), llm.TimedOut},
		{"refused", string(said(map[string]string{":message-type": "exception", ":exception-type": "validationException"}, `{"message":"bad"}`)), llm.Rejected},
		{"error", string(said(map[string]string{":message-type": "error", ":error-code": "internal", ":error-message": "oh"}, "")), llm.Broken},
		{"no base64", string(said(map[string]string{":message-type": "event", ":event-type": "chunk"}, `{"bytes":"%"}`)), llm.Broken},
		{"no frames", "<html>Bad gateway</html>", llm.Broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := &wire{kind: "application/vnd.amazon.eventstream", answers: []string{c.answer}}
			_, err := llm.Complete(t.Context(), open(t, w, registry.Connection{Auth: &registry.Auth{Type: registry.BedrockAPIKey, APIKey: "k", Region: "us-east-1"}}), llm.Request{Messages: ask("?")})
			var e *llm.Error
			if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &e) || e.Failure != c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Whatever a server streams, reading it ends in an answer or a failure, and structured output in JSON.
func FuzzStream(f *testing.F) {
	f.Add(well, false)
	f.Add(stream(start, begin(own), delta(`{"type":"input_json_delta","partial_json":"{\"n\":2}"}`), over, ended("tool_use"), stop), true)
	f.Add(stream(start, begin(texts), text("```\\n[]"), ended("refusal"), stop), true)
	f.Fuzz(func(t *testing.T, answer string, structured bool) {
		m, err := anthropic.New(provider.NewShared(&http.Client{Transport: &wire{answers: []string{answer}}}), registry.Connection{Model: claude55, Auth: key()})
		if err != nil {
			t.Fatal(err)
		}
		r := llm.Request{Messages: ask("?")}
		if structured {
			r.Format = &llm.Format{Type: "json_object"}
		}
		emitted := ""
		got, err := m.Stream(t.Context(), r, func(e llm.Event) error { emitted += e.Text; return nil })
		if err != nil {
			var e *llm.Error
			if !errors.As(err, &e) {
				t.Fatalf("no failure of the model: %v", err)
			}
			return
		}
		if got.Text != emitted {
			t.Fatalf("the events hold %q, the answer %q", emitted, got.Text)
		}
		if structured && got.Reason == llm.Stop && !json.Valid([]byte(got.Text)) {
			t.Fatalf("no JSON: %q", got.Text)
		}
	})
}
