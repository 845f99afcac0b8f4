package otlp_test

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/otlp"
	"quarry/internal/trace"
)

// sent returns spans as a collector gets them, and the whole request as a text.
func sent(t *testing.T, content bool, spans ...trace.Span) ([]span, string) {
	t.Helper()
	var body []byte
	e := otlp.New(otlp.Config{
		HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			body, _ = io.ReadAll(r.Body)
			return says(http.StatusOK, `{}`)(r)
		})},
		Endpoint: "http://collector.test/v1/traces", Content: content, Log: slog.New(slog.DiscardHandler),
	})
	e.Recorded(spans)
	e.Close()
	got, err := unpack(body)
	if err != nil {
		t.Fatal(err)
	}
	return got.Resources[0].Scopes[0].Spans, plain(t, body)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// every is a span of each operation, with every attribute and every text.
func every() []trace.Span {
	temperature, most := .5, int64(100)
	chat := trace.ChatAttributes{
		Model: "m-1", InputTokens: 12, OutputTokens: 3, CachedTokens: 4, FinishReasons: []string{"stop"}, Temperature: &temperature, MaxTokens: &most,
		Provider: "openai-compatible", Response: "chatcmpl-1",
	}
	within := func(s trace.Span) trace.Span {
		s.Trace, s.Parent = "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174"
		s.Started, s.Ended = start, start.Add(1500*time.Microsecond)
		s.Agent, s.Session, s.Step = trace.Subject{No: 1, Key: "desk"}, trace.Subject{No: 2, Key: "s1"}, "first"
		return s
	}
	root := within(trace.Span{ID: "eee19b7ec3c1b174", Operation: trace.InvokeAgent, Event: "aev_1", Invocation: &trace.InvocationAttributes{
		ChatAttributes: chat, AgentName: "Desk", AgentDescription: "Helps.", OutputType: "text", InputEvent: "aev_0", OutputEvent: "aev_1",
		Files: []trace.File{{Name: "a.txt", Size: 7}}, ParentAgent: "boss", ParentSession: "s0", Depth: 1,
	}, Content: &trace.Content{Input: `[{"role":"user","parts":[{"type":"text","content":"WORDS in"}]}]`, Output: `[{"role":"assistant","parts":[{"type":"text","content":"WORDS out"}]}]`, Thinking: "WORDS thought", Instructions: "WORDS told"}})
	root.Parent = ""
	return []trace.Span{
		root,
		within(trace.Span{ID: "0000000000000002", Operation: trace.Chat, Chat: &chat}),
		within(trace.Span{
			ID: "0000000000000003", Operation: trace.ExecuteTool, Failed: true, Class: trace.ExecutionError, Message: "it has failed",
			Call: &trace.CallAttributes{
				Tool: "web_get", Key: "get", CallID: "call_1", Type: "web_get", InputEvent: "aev_2", OutputEvent: "aev_3", Corpora: []string{"a", "b"},
			},
			Content: &trace.Content{Arguments: `{"url":"WORDS"}`, Result: `{"error":"WORDS"}`},
		}),
		within(trace.Span{ID: "0000000000000004", Operation: trace.Thinking, Content: &trace.Content{Thinking: "WORDS"}}),
		within(trace.Span{ID: "0000000000000005", Operation: trace.Output, Event: "aev_4", Content: &trace.Content{Text: "WORDS"}}),
		within(trace.Span{ID: "0000000000000006", Operation: trace.StepTransition, Event: "aev_5", Transition: &trace.TransitionAttributes{From: "first", To: "second"}}),
		within(trace.Span{ID: "0000000000000007", Operation: trace.ImageRead, Event: "aev_6", Image: &trace.ImageAttributes{Artifact: "art_1", Detail: "high"}}),
		within(trace.Span{ID: "0000000000000008", Operation: trace.Compaction, Event: "aev_7", Compaction: &trace.CompactionAttributes{Turns: 2, Events: 9, Summary: "aev_7"}}),
		within(trace.Span{ID: "0000000000000009", Operation: trace.Chat, Failed: true, Message: "interrupted by restart", Chat: &trace.ChatAttributes{Provider: "quarry", Model: "extractive-1.0"}}),
	}
}

// list returns the attributes of a span, a line each.
func list(s span) (out []string) {
	for _, a := range s.Attributes {
		out = append(out, a.Key+" "+string(a.Value))
	}
	return out
}

// TestSpans proves ids, names, kinds, times, states and attributes of each operation, in the JSON mapping of OTLP: 64-bit numbers as
// texts, enums as numbers, ids in hexadecimal.
func TestSpans(t *testing.T) {
	t.Parallel()
	got, whole := sent(t, false, every()...)
	if strings.Contains(whole, "WORDS") {
		t.Error("texts were sent that nobody has asked for")
	}
	common := func(operation string, more ...string) []string {
		return append([]string{
			`gen_ai.operation.name {"stringValue":"` + operation + `"}`, `gen_ai.agent.id {"stringValue":"desk"}`, `gen_ai.conversation.id {"stringValue":"s1"}`,
		}, more...)
	}
	step := `quarry.step.name {"stringValue":"first"}`
	chat := []string{
		`gen_ai.provider.name {"stringValue":"openai"}`, `gen_ai.request.model {"stringValue":"m-1"}`, `gen_ai.request.temperature {"doubleValue":0.5}`,
		`gen_ai.request.max_tokens {"intValue":"100"}`, `gen_ai.response.finish_reasons {"arrayValue":{"values":[{"stringValue":"stop"}]}}`,
		`gen_ai.response.id {"stringValue":"chatcmpl-1"}`, `gen_ai.usage.input_tokens {"intValue":"12"}`, `gen_ai.usage.output_tokens {"intValue":"3"}`,
		`gen_ai.usage.cache_read.input_tokens {"intValue":"4"}`,
	}
	for i, want := range []struct {
		name       string
		kind, code int
		message    string
		attributes []string
	}{
		{"invoke_agent Desk", 1, 0, "", common("invoke_agent", append(append([]string{step, `quarry.event.id {"stringValue":"aev_1"}`}, chat...),
			`gen_ai.agent.name {"stringValue":"Desk"}`, `gen_ai.agent.description {"stringValue":"Helps."}`, `gen_ai.output.type {"stringValue":"text"}`,
			`quarry.input_event.id {"stringValue":"aev_0"}`, `quarry.output_event.id {"stringValue":"aev_1"}`, `quarry.parent_agent.id {"stringValue":"boss"}`,
			`quarry.parent_session.id {"stringValue":"s0"}`, `quarry.agent.depth {"intValue":"1"}`,
			`quarry.input_files {"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"name","value":{"stringValue":"a.txt"}},{"key":"size_bytes","value":{"intValue":"7"}}]}}]}}`)...)},
		{"chat m-1", 3, 0, "", common("chat", append([]string{step}, chat...)...)},
		{"execute_tool web_get", 1, 2, "it has failed", common("execute_tool", `error.type {"stringValue":"execution_error"}`, step,
			`gen_ai.tool.name {"stringValue":"web_get"}`, `gen_ai.tool.call.id {"stringValue":"call_1"}`, `gen_ai.tool.type {"stringValue":"extension"}`,
			`quarry.tool.type {"stringValue":"web_get"}`, `quarry.tool.key {"stringValue":"get"}`,
			`quarry.corpus.keys {"arrayValue":{"values":[{"stringValue":"a"},{"stringValue":"b"}]}}`,
			`quarry.input_event.id {"stringValue":"aev_2"}`, `quarry.output_event.id {"stringValue":"aev_3"}`)},
		{"thinking", 1, 0, "", common("thinking", step)},
		{"output", 1, 0, "", common("output", step, `quarry.event.id {"stringValue":"aev_4"}`)},
		{"step_transition", 1, 0, "", common("step_transition", step, `quarry.event.id {"stringValue":"aev_5"}`, `quarry.step.from {"stringValue":"first"}`, `quarry.step.to {"stringValue":"second"}`)},
		{"image_read", 1, 0, "", common("image_read", step, `quarry.event.id {"stringValue":"aev_6"}`, `quarry.artifact.id {"stringValue":"art_1"}`, `quarry.image.detail {"stringValue":"high"}`)},
		{"compaction", 1, 0, "", common("compaction", step, `quarry.event.id {"stringValue":"aev_7"}`, `quarry.compaction.turns {"intValue":"2"}`, `quarry.compaction.events {"intValue":"9"}`, `quarry.compaction.summary {"stringValue":"aev_7"}`)},
		{"chat extractive-1.0", 1, 2, "interrupted by restart", common("chat", `error.type {"stringValue":"_OTHER"}`, step, `gen_ai.provider.name {"stringValue":"quarry"}`,
			`gen_ai.request.model {"stringValue":"extractive-1.0"}`, `gen_ai.usage.input_tokens {"intValue":"0"}`, `gen_ai.usage.output_tokens {"intValue":"0"}`, `gen_ai.usage.cache_read.input_tokens {"intValue":"0"}`)},
	} {
		given, s := every()[i], got[i]
		if s.TraceID != given.Trace || s.SpanID != given.ID || s.ParentSpanID != given.Parent || s.StartTimeUnixNano != "1777618800000001000" || s.EndTimeUnixNano != "1777618800001501000" {
			t.Errorf("%s: %+v", want.name, s)
		}
		if s.Name != want.name || s.Kind != want.kind || s.Status.Code != want.code || s.Status.Message != want.message {
			t.Errorf("%s: %+v", want.name, s)
		}
		if diff := cmp.Diff(want.attributes, list(s)); diff != "" {
			t.Errorf("%s: %s", want.name, diff)
		}
	}
}

// TestContent proves that texts go along where that is wanted, under the names of the conventions.
func TestContent(t *testing.T) {
	t.Parallel()
	got, _ := sent(t, true, every()...)
	for i, want := range map[int][]string{
		0: {
			`gen_ai.input.messages {"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"WORDS in\"}]}]"}`,
			`gen_ai.output.messages {"stringValue":"[{\"finish_reason\":\"stop\",\"parts\":[{\"type\":\"text\",\"content\":\"WORDS out\"}],\"role\":\"assistant\"}]"}`, `gen_ai.system_instructions {"stringValue":"[{\"type\":\"text\",\"content\":\"WORDS told\"}]"}`,
			`quarry.thinking {"stringValue":"WORDS thought"}`,
		},
		1: {},
		2: {`gen_ai.tool.call.arguments {"stringValue":"{\"url\":\"WORDS\"}"}`, `gen_ai.tool.call.result {"stringValue":"{\"error\":\"WORDS\"}"}`},
		3: {`gen_ai.output.messages {"stringValue":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"reasoning\",\"content\":\"WORDS\"}],\"finish_reason\":\"stop\"}]"}`},
		4: {`gen_ai.output.messages {"stringValue":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"WORDS\"}],\"finish_reason\":\"stop\"}]"}`},
	} {
		bare, _ := sent(t, false, every()[i])
		if diff := cmp.Diff(want, list(got[i])[len(bare[0].Attributes):]); diff != "" {
			t.Errorf("%s: %s", got[i].Name, diff)
		}
	}
}
