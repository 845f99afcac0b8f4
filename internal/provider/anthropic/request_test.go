package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/testkit"
)

func raw(text string) json.RawMessage { return json.RawMessage(text) }

func ref[T any](v T) *T { return &v }

const (
	claude3  = "claude-3-5-sonnet-20241022"
	claude45 = "claude-sonnet-4-5-20250929"
	claude55 = "claude-opus-5-5"
)

var (
	find    = llm.Tool{Name: "find", Description: "Finds.", Parameters: raw(`{"properties":{"q":{"type":"string"}}}`)}
	verdict = &llm.Format{Type: "json_schema", Name: "verdict", Description: "A verdict.", Schema: raw(`{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}`)}
)

func ask(text string) []llm.Message { return []llm.Message{llm.Text(llm.User, text)} }

// bodies are requests and what is sent for them beside model, stream and what every body has.
var bodies = []struct {
	name, model string
	request     llm.Request
	want        string
}{
	{"system messages are joined, wherever they stand; neighbours are merged", claude3, llm.Request{Messages: []llm.Message{
		llm.Text(llm.System, "A."), llm.Text(llm.User, "1"), llm.Text(llm.System, "B."), llm.Text(llm.User, "2"), llm.Text(llm.Assistant, "3 \n"), llm.Text(llm.Assistant, "4"),
	}}, `{"max_tokens":8192,"system":"A.\n\nB.","messages":[{"role":"user","content":[{"type":"text","text":"1"},{"type":"text","text":"2"}]},{"role":"assistant","content":[{"type":"text","text":"3"},{"type":"text","text":"4"}]}]}`},
	{"a conversation that begins and ends with the assistant", claude55, llm.Request{Messages: []llm.Message{llm.Text(llm.Assistant, "Hi"), llm.Text(llm.User, " "), llm.Text(llm.Assistant, "")}},
		`{"max_tokens":16384,"messages":[{"role":"user","content":[{"type":"text","text":"Begin."}]},{"role":"assistant","content":[{"type":"text","text":"Hi"}]},{"role":"user","content":[{"type":"text","text":"Continue."}]}]}`},
	{"a system message alone", claude3, llm.Request{Messages: []llm.Message{llm.Text(llm.System, "Say hi.")}}, `{"max_tokens":8192,"messages":[{"role":"user","content":[{"type":"text","text":"Say hi."}]}]}`},
	{"images", claude3, llm.Request{Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{{Image: &llm.Image{MimeType: "image/png", Data: []byte("png")}}, {Image: &llm.Image{URL: "https://x.test/a.jpg"}}, {Text: "What is it?"}}}}},
		`{"max_tokens":8192,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cG5n"}},{"type":"image","source":{"type":"url","url":"https://x.test/a.jpg"}},{"type":"text","text":"What is it?"}]}]}`},
	{"parameters; penalties are none of this API", claude3, llm.Request{Messages: ask("?"), Parameters: llm.Parameters{MaxTokens: ref(7), Temperature: ref(1.5), FrequencyPenalty: ref(1.0), PresencePenalty: ref(1.0), Extra: map[string]json.RawMessage{
		"top_k": raw("3"), "model": raw(`"other"`), "stream": raw("false"), "messages": raw("[]"), "system": raw(`"x"`), "max_tokens": raw("9"), "metadata": raw("null"), "presence_penalty": raw("1"),
	}}}, `{"max_tokens":7,"temperature":1,"top_k":3,"messages":[{"role":"user","content":[{"type":"text","text":"?"}]}]}`},
	{"no temperature for what takes none", claude55, llm.Request{Messages: ask("?"), Parameters: llm.Parameters{Temperature: ref(0.0), Extra: map[string]json.RawMessage{"temperature": raw("0")}}}, `{"max_tokens":16384,"messages":[{"role":"user","content":[{"type":"text","text":"?"}]}]}`},
	{"none beside thinking, whose budget is within max_tokens", claude45, llm.Request{Messages: ask("?"), Parameters: llm.Parameters{Temperature: ref(0.0), Extra: map[string]json.RawMessage{"thinking": raw(`{"type":"enabled","budget_tokens":2000}`)}}}, `{"max_tokens":18384,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[{"role":"user","content":[{"type":"text","text":"?"}]}]}`},
	{"tools and a conversation with calls; results stand first", claude3, llm.Request{Tools: []llm.Tool{find, {Name: "now"}}, Choice: llm.Choice{Mode: "required"}, Messages: []llm.Message{
		llm.Text(llm.User, "?"), {Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "call:1", Name: "find", Arguments: raw(`{"q":"a"}`)}, {ID: "2", Name: "now"}, {ID: "3", Name: "find", Arguments: raw(`oops`)}}},
		llm.Text(llm.User, "And?"), {Role: llm.Result, CallID: "call:1", Parts: []llm.Part{{Text: "found"}}}, {Role: llm.Result, CallID: "2"},
	}}, `{"max_tokens":8192,"tool_choice":{"type":"any"},"tools":[{"name":"find","description":"Finds.","input_schema":{"type":"object","properties":{"q":{"type":"string"}}}},{"name":"now","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":[{"type":"text","text":"?"}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"find","input":{"q":"a"}},{"type":"tool_use","id":"2","name":"now","input":{}},{"type":"tool_use","id":"3","name":"find","input":{"arguments":"oops"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":[{"type":"text","text":"found"}]},{"type":"tool_result","tool_use_id":"2"},{"type":"text","text":"And?"}]}]}`},
	{"calls in a conversation without tools", claude3, llm.Request{Messages: []llm.Message{llm.Text(llm.User, "?"), {Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "1", Name: "find"}}}, {Role: llm.Result, CallID: "1", Parts: []llm.Part{{Text: "x"}}}}},
		`{"max_tokens":8192,"tool_choice":{"type":"none"},"tools":[{"name":"find","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":[{"type":"text","text":"?"}]},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"find","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"x"}]}]}]}`},
	{"one tool forced", claude3, llm.Request{Messages: ask("?"), Tools: []llm.Tool{find}, Choice: llm.Choice{Mode: "tool", Name: "find"}}, `{"max_tokens":8192,"tool_choice":{"type":"tool","name":"find"},"tools":[{"name":"find","description":"Finds.","input_schema":{"type":"object","properties":{"q":{"type":"string"}}}}],"messages":[{"role":"user","content":[{"type":"text","text":"?"}]}]}`},
	{"a model that thinks can't be forced", claude55, llm.Request{Messages: ask("?"), Tools: []llm.Tool{find}, Choice: llm.Choice{Mode: "tool", Name: "find"}}, `{"max_tokens":16384,"system":"Call the tool find now; do not answer in words.","tools":[{"name":"find","description":"Finds.","input_schema":{"type":"object","properties":{"q":{"type":"string"}}}}],"messages":[{"role":"user","content":[{"type":"text","text":"?"}]}]}`},
	{"structured output of old models", claude3, llm.Request{Messages: ask("?"), Format: verdict}, `{"max_tokens":8192,"tool_choice":{"type":"tool","name":"structured_answer"},"tools":[{"name":"structured_answer","description":"Gives the answer. A verdict.","input_schema":{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}}],"messages":[{"role":"user","content":[{"type":"text","text":"?"}]}]}`},
	{"structured output of new models; what it can't constrain is told", claude55, llm.Request{Messages: ask("?"), Format: verdict, Parameters: llm.Parameters{Extra: map[string]json.RawMessage{"output_config": raw(`{"effort":"low"}`)}}}, `{"max_tokens":16384,"output_config":{"effort":"low","format":{"type":"json_schema","schema":{"type":"object","additionalProperties":false,"properties":{"n":{"type":"integer","description":"(minimum: 1)"}},"required":["n"]}}},"messages":[{"role":"user","content":[{"type":"text","text":"?"}]}]}`},
	{"structured output beside tools", claude3, llm.Request{Messages: ask("?"), Format: verdict, Tools: []llm.Tool{{Name: "structured_answer"}}}, `{"max_tokens":8192,"system":"When you have what you need, give the answer by calling the tool structured_answer_.","tool_choice":{"type":"any"},"tools":[{"name":"structured_answer","input_schema":{"type":"object"}},{"name":"structured_answer_","description":"Gives the answer. A verdict.","input_schema":{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}}],"messages":[{"role":"user","content":[{"type":"text","text":"?"}]}]}`},
	{"any object, of a model that thinks", claude55, llm.Request{Messages: ask("?"), Format: &llm.Format{Type: "json_object"}}, `{"max_tokens":16384,"system":"Give the answer by calling the tool structured_answer, once, and write nothing else.","tools":[{"name":"structured_answer","description":"Gives the answer. ","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":[{"type":"text","text":"?"}]}]}`},
	{"a list", claude3, llm.Request{Messages: ask("?"), Format: &llm.Format{Type: "json_schema", Schema: raw(`{"type":"array","items":{"type":"string"}}`)}}, `{"max_tokens":8192,"tool_choice":{"type":"tool","name":"structured_answer"},"tools":[{"name":"structured_answer","description":"Gives the answer. ","input_schema":{"type":"object","properties":{"value":{"type":"array","items":{"type":"string"}}},"required":["value"]}}],"messages":[{"role":"user","content":[{"type":"text","text":"?"}]}]}`},
}

// The body of a request is what the API takes of that generation of models.
func TestBodies(t *testing.T) {
	t.Parallel()
	for _, c := range bodies {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := &wire{}
			_, _ = llm.Complete(t.Context(), open(t, w, registry.Connection{Model: c.model, Auth: key()}), c.request) // the answer is no JSON
			got := testkit.Object(t, w.bodies[0])
			if got["model"] != c.model || got["stream"] != true {
				t.Errorf("model %v, stream %v", got["model"], got["stream"])
			}
			delete(got, "model")
			delete(got, "stream")
			if diff := cmp.Diff(testkit.Object(t, c.want), got); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

// The names that hosts and gateways give to one model mean the same generation: what temperature it takes shows it.
func TestGenerations(t *testing.T) {
	t.Parallel()
	for model, sampled := range map[string]bool{
		"claude-2.1": true, "claude-3-opus-20240229": true, "claude-3-7-sonnet-latest": true, "anthropic.claude-3-5-sonnet-20240620-v1:0": true,
		"claude-sonnet-4-20250514": true, "claude-opus-4-1@20250805": true, "claude-opus-4-6": true, "us.anthropic.claude-haiku-4-5-20251001-v1:0": true,
		"claude-opus-4-7": false, "anthropic/claude-opus-4.8": false, "global.anthropic.claude-opus-4-7-v1": false, "claude-sonnet-5": false, "claude-opus-5-5": false, "claude-fable-5-1": false, "claude-haiku-10": false,
		"my-model": true, "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc": true,
	} {
		w := &wire{}
		if _, err := llm.Complete(t.Context(), open(t, w, registry.Connection{Model: model, Auth: key()}), llm.Request{Messages: ask("?"), Parameters: llm.Parameters{Temperature: ref(0.0)}}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(w.bodies[0], "temperature"); got != sampled {
			t.Errorf("%s: a temperature was sent: %v, want %v", model, got, sampled)
		}
	}
}

// Schemas that output_config can't say are asked for by a tool, as they are.
func TestSchemas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schema, want string }{
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"oneOf":[{"type":"string","maxLength":3},{"type":"null"}]}}}`,
			`{"type":"object","additionalProperties":false,"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"anyOf":[{"type":"string","description":"(maxLength: 3)"},{"type":"null"}]}}}`},
		{`{"type":"object","additionalProperties":true,"properties":{"l":{"type":"array","minItems":2,"items":{"type":"string","format":"date","description":"When."}},"f":{"type":"string","format":"color"}}}`,
			`{"type":"object","additionalProperties":false,"properties":{"l":{"type":"array","description":"(minItems: 2)","items":{"type":"string","format":"date","description":"When."}},"f":{"type":"string","description":"(format: \"color\")"}}}`},
		{`{"type":"object"}`, ""},
		{`{"type":"object","additionalProperties":{"type":"string"}}`, ""},
		{`{"type":"object","properties":{"a":true}}`, ""},
	} {
		w := &wire{}
		_, _ = llm.Complete(t.Context(), open(t, w, registry.Connection{Model: claude45, Auth: key()}), llm.Request{Messages: ask("?"), Format: &llm.Format{Type: "json_schema", Schema: raw(c.schema)}})
		body := testkit.Object(t, w.bodies[0])
		if c.want == "" {
			tools, _ := body["tools"].([]any)
			if len(tools) != 1 || body["output_config"] != nil {
				t.Fatalf("%s was asked for by %s", c.schema, w.bodies[0])
			}
			if diff := cmp.Diff(testkit.Object(t, c.schema), tools[0].(map[string]any)["input_schema"]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.schema, diff)
			}
			continue
		}
		want := map[string]any{"format": map[string]any{"type": "json_schema", "schema": testkit.Object(t, c.want)}}
		if diff := cmp.Diff(want, body["output_config"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.schema, diff)
		}
	}
}
