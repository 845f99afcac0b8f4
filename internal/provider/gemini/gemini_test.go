package gemini_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/provider"
	"quarry/internal/provider/gemini"
	"quarry/internal/provider/google/googletest"
	"quarry/internal/testkit"
)

// wire stands in for the network: it keeps what was sent and answers with a text; tokens it gives itself.
type wire struct {
	kind   string // of the answer; "" is an event stream
	answer string // "" is one of which nothing matters
	refuse string // what bodies must not hold

	sent   []*http.Request
	bodies []string
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	kind, text := w.kind, w.answer
	if text == "" {
		text = stream(`{"candidates":[{"content":{"parts":[{"text":"Well."}]},"finishReason":"STOP"}]}`)
	}
	if kind == "" {
		kind = "text/event-stream"
	}
	if r.URL.Host == "tokens.test" {
		kind, text = "application/json", `{"access_token":"ya29.fetched","expires_in":3600}`
	} else {
		w.sent, w.bodies = append(w.sent, r), append(w.bodies, string(body))
	}
	status := http.StatusOK
	if w.refuse != "" && strings.Contains(string(body), w.refuse) {
		status, kind, text = http.StatusBadRequest, "application/json", `{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"`+w.refuse+`\"","status":"INVALID_ARGUMENT"}}`
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

func stream(chunks ...string) string {
	out := ""
	for _, c := range chunks {
		out += "data: " + c + "\r\n\r\n"
	}
	return out
}

const studio = "https://generativelanguage.googleapis.com/v1beta"

func open(t testing.TB, w *wire, c registry.Connection) llm.Provider {
	t.Helper()
	c.Type, c.Name = registry.Vertex, "gemini"
	if c.Model == "" {
		c.Model = "gemini-2.5-flash"
	}
	if c.URI == "" {
		c.URI = studio
	}
	if c.Auth == nil {
		c.Auth = &registry.Auth{Type: registry.APIKey, APIKey: "AIza-key"}
	}
	m, err := gemini.New(provider.NewShared(&http.Client{Transport: w}), c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

func ref[T any](v T) *T { return &v }

func ask(text string) []llm.Message { return []llm.Message{llm.Text(llm.User, text)} }

// Whatever of Google's documentation was copied into uri, the model that is stated is called, by the method that
// streams.
func TestAddresses(t *testing.T) {
	t.Parallel()
	const (
		flash   = "/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
		regions = "https://us-central1-aiplatform.googleapis.com"
		acme    = regions + "/v1/projects/acme/locations/us-central1"
	)
	for _, c := range []struct {
		uri, model string
		account    bool
		want       string
	}{
		{studio, "", false, studio + flash},
		{studio + "/", "models/gemini-2.5-flash", false, studio + flash},
		{"https://generativelanguage.googleapis.com", "", false, studio + flash},
		{studio + "/models", "", false, studio + flash},
		{studio + "/models/gemini-1.5-pro:generateContent?key=AIza-old", "", false, studio + flash},
		{"https://generativelanguage.googleapis.com/v1/models/x:streamGenerateContent", "", false, "https://generativelanguage.googleapis.com/v1" + flash},
		{studio, "tunedModels/mine-1", false, studio + "/tunedModels/mine-1:streamGenerateContent?alt=sse"},
		{"http://gateway.test:8080/google/v1beta", "", false, "http://gateway.test:8080/google/v1beta" + flash},
		{"https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-x:streamGenerateContent", "", false, "https://aiplatform.googleapis.com/v1/publishers/google" + flash},
		{"https://aiplatform.googleapis.com", "", false, "https://aiplatform.googleapis.com/v1/publishers/google" + flash},
		{acme + "/publishers/google/models/gemini-1.0-pro:streamGenerateContent", "", true, acme + "/publishers/google" + flash},
		{acme, "", true, acme + "/publishers/google" + flash},
		{acme + "/publishers/google", "", true, acme + "/publishers/google" + flash},
		{regions, "", true, acme + "/publishers/google" + flash},
		{regions + "/v1beta1", "", true, regions + "/v1beta1/projects/acme/locations/us-central1/publishers/google" + flash},
		{"https://aiplatform.googleapis.com/v1", "", true, "https://aiplatform.googleapis.com/v1/projects/acme/locations/global/publishers/google" + flash},
		{acme + "/endpoints/123:predict", "endpoints/456", true, acme + "/endpoints/456:streamGenerateContent?alt=sse"},
		{acme, "publishers/meta/models/llama", true, acme + "/publishers/meta/models/llama:streamGenerateContent?alt=sse"},
		{acme, "projects/other/locations/us-central1/endpoints/9", true, regions + "/v1/projects/other/locations/us-central1/endpoints/9:streamGenerateContent?alt=sse"},
	} {
		w := &wire{}
		conn := registry.Connection{URI: c.uri, Model: c.model}
		header, want := "X-Goog-Api-Key", "AIza-key"
		if c.account {
			conn.Auth = &registry.Auth{Type: registry.ServiceAccount, KeyJSON: googletest.KeyJSON("https://tokens.test/token")}
			header, want = "Authorization", "Bearer ya29.fetched"
		}
		if _, err := llm.Complete(t.Context(), open(t, w, conn), llm.Request{Messages: ask("?")}); err != nil {
			t.Fatal(err)
		}
		if got := w.sent[0].URL.String(); got != c.want {
			t.Errorf("%s with %q:\n got %s\nwant %s", c.uri, c.model, got, c.want)
		}
		if got := w.sent[0].Header.Get(header); got != want {
			t.Errorf("%s: %s is %q", c.uri, header, got)
		}
	}
}

// What is wrong with a connection is said before anything is called.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	good := &registry.Auth{Type: registry.APIKey, APIKey: "k"}
	for want, c := range map[string]registry.Connection{
		"auth":          {URI: studio},
		"auth.type":     {URI: studio, Auth: &registry.Auth{Type: registry.Bearer, Token: "t"}},
		"auth.api_key":  {URI: studio, Auth: &registry.Auth{Type: registry.APIKey, APIKey: "a\nb"}},
		"auth.key_json": {URI: studio, Auth: &registry.Auth{Type: registry.ServiceAccount, KeyJSON: "{}"}},
		"uri":           {URI: "gopher://x", Auth: good},
		"model":         {URI: studio, Model: "../../x", Auth: good},
	} {
		if c.Model == "" {
			c.Model = "m"
		}
		_, err := gemini.New(provider.NewShared(http.DefaultClient), c)
		var f *fault.Fault
		if !errors.As(err, &f) || f.Fields[want] == "" {
			t.Errorf("got %v, want a fault of %s", err, want)
		}
	}
}

var (
	find    = llm.Tool{Name: "find", Description: "Finds.", Parameters: raw(`{"type":"object","properties":{"q":{"type":"string"}},"additionalProperties":false}`)}
	verdict = &llm.Format{Type: "json_schema", Schema: raw(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`)}
)

// The body of a request is what the API takes.
func TestBodies(t *testing.T) {
	t.Parallel()
	const asked = `"contents":[{"role":"user","parts":[{"text":"?"}]}]`
	for _, c := range []struct {
		name, model string
		request     llm.Request
		want        string
	}{
		{"system messages are joined, wherever they stand; neighbours are merged", "", llm.Request{Messages: []llm.Message{
			llm.Text(llm.System, "A."), llm.Text(llm.Assistant, "0"), llm.Text(llm.User, "1"), llm.Text(llm.System, "B."), llm.Text(llm.User, "2"),
		}}, `{"systemInstruction":{"parts":[{"text":"A.\n\nB."}]},"contents":[{"role":"user","parts":[{"text":"Begin."}]},{"role":"model","parts":[{"text":"0"}]},{"role":"user","parts":[{"text":"1"},{"text":"2"}]}]}`},
		{"a system message alone", "", llm.Request{Messages: []llm.Message{llm.Text(llm.System, "Say hi.")}}, `{"contents":[{"role":"user","parts":[{"text":"Say hi."}]}]}`},
		{"images", "", llm.Request{Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{{Image: &llm.Image{MimeType: "image/png", Data: []byte("png")}}, {Image: &llm.Image{URL: "https://x.test/a.webp?b"}}, {Image: &llm.Image{URL: "gs://b/a", MimeType: "image/gif"}}}}}},
			`{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"cG5n"}},{"fileData":{"mimeType":"image/webp","fileUri":"https://x.test/a.webp?b"}},{"fileData":{"mimeType":"image/gif","fileUri":"gs://b/a"}}]}]}`},
		{"parameters, in Google's spelling and place", "", llm.Request{Messages: ask("?"), Parameters: llm.Parameters{MaxTokens: ref(7), Temperature: ref(1.5), FrequencyPenalty: ref(0.5), PresencePenalty: ref(0.25), Extra: map[string]json.RawMessage{
			"top_p": raw("0.5"), "topK": raw("3"), "max_tokens": raw("9"), "stop": raw(`"X"`), "seed": raw("null"), "n": raw("2"), "safety_settings": raw(`[1]`), "contents": raw("[]"), "model": raw(`"x"`), "stream": raw("false"), "systemInstruction": raw("1"),
			"generationConfig": raw(`{"thinkingConfig":{"thinkingBudget":0},"candidateCount":3,"temperature":0}`),
		}}}, `{` + asked + `,"safetySettings":[1],"generationConfig":{"maxOutputTokens":7,"temperature":1.5,"frequencyPenalty":0.5,"presencePenalty":0.25,"topP":0.5,"topK":3,"stopSequences":["X"],"thinkingConfig":{"thinkingBudget":0}}}`},
		{"tools and a conversation with calls", "", llm.Request{Tools: []llm.Tool{find, {Name: "now", Parameters: raw(`{"type":"object"}`)}}, Choice: llm.Choice{Mode: "tool", Name: "find"}, Messages: []llm.Message{
			llm.Text(llm.User, "?"), {Role: llm.Assistant, Parts: []llm.Part{{Text: "So."}}, Calls: []llm.ToolCall{{ID: "1", Name: "find", Arguments: raw(`{"q":"a"}`)}, {ID: "2", Name: "now"}, {ID: "call_g_3", Name: "now", Arguments: raw(`oops`)}}},
			{Role: llm.Result, CallID: "1", Parts: []llm.Part{{Text: `{"hits":1}`}}}, {Role: llm.Result, CallID: "2", Parts: []llm.Part{{Text: "noon"}, {Image: &llm.Image{MimeType: "image/png", Data: []byte("png")}}}}, {Role: llm.Result, CallID: "call_g_3", Name: "now"},
		}}, `{"tools":[{"functionDeclarations":[{"name":"find","description":"Finds.","parametersJsonSchema":{"type":"object","properties":{"q":{"type":"string"}},"additionalProperties":false}},{"name":"now"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["find"]}},
			"contents":[{"role":"user","parts":[{"text":"?"}]},{"role":"model","parts":[{"text":"So."},{"functionCall":{"id":"1","name":"find","args":{"q":"a"}}},{"functionCall":{"id":"2","name":"now"}},{"functionCall":{"name":"now","args":{"arguments":"oops"}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"1","name":"find","response":{"hits":1}}},{"functionResponse":{"id":"2","name":"now","response":{"output":"noon"}}},{"inlineData":{"mimeType":"image/png","data":"cG5n"}},{"functionResponse":{"name":"now","response":{"output":""}}}]}]}`},
		{"calls that the model did not make itself", "gemini-3-pro-preview", llm.Request{Messages: []llm.Message{llm.Text(llm.User, "?"), {Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "1", Name: "a", State: "anthropic/x\n[]"}, {ID: "2", Name: "b"}}}}},
			`{"contents":[{"role":"user","parts":[{"text":"?"}]},{"role":"model","parts":[{"functionCall":{"id":"1","name":"a"},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"2","name":"b"}}]}]}`},
		{"a choice", "", llm.Request{Messages: ask("?"), Tools: []llm.Tool{{Name: "now"}}, Choice: llm.Choice{Mode: "none"}}, `{` + asked + `,"tools":[{"functionDeclarations":[{"name":"now"}]}],"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}}`},
		{"a form", "", llm.Request{Messages: ask("?"), Format: verdict}, `{` + asked + `,"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}}}`},
		{"a form, of models that take no JSON Schema", "gemini-2.0-flash", llm.Request{Messages: ask("?"), Format: verdict}, `{` + asked + `,"generationConfig":{"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","properties":{"n":{"type":"INTEGER"}},"required":["n"]}}}`},
		{"any object", "", llm.Request{Messages: ask("?"), Format: &llm.Format{Type: "json_object"}}, `{` + asked + `,"generationConfig":{"responseMimeType":"application/json"}}`},
		{"a form beside tools, of old models", "", llm.Request{Messages: ask("?"), Format: verdict, Tools: []llm.Tool{{Name: "now"}}}, `{` + asked + `,"systemInstruction":{"parts":[{"text":"When you give your answer, give one JSON value and nothing else. It must be valid against this JSON Schema: {\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"],\"additionalProperties\":false}"}]},"tools":[{"functionDeclarations":[{"name":"now"}]}]}`},
		{"a form beside tools, of new models", "gemini-3.1-pro", llm.Request{Messages: ask("?"), Format: &llm.Format{Type: "json_object"}, Tools: []llm.Tool{{Name: "now"}}}, `{` + asked + `,"generationConfig":{"responseMimeType":"application/json"},"tools":[{"functionDeclarations":[{"name":"now"}]}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := &wire{}
			_, _ = llm.Complete(t.Context(), open(t, w, registry.Connection{Model: c.model}), c.request) // the answer is no JSON
			if diff := cmp.Diff(testkit.Object(t, c.want), testkit.Object(t, w.bodies[0])); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

// Where JSON Schemas are refused, the call is made again in Google's terms, and later calls begin there.
func TestSchemasRefused(t *testing.T) {
	t.Parallel()
	w := &wire{refuse: "responseJsonSchema"}
	m := open(t, w, registry.Connection{Model: "m"})
	for range 2 {
		if _, err := llm.Complete(t.Context(), m, llm.Request{Messages: ask("?"), Format: &llm.Format{Type: "json_schema", Schema: verdict.Schema}}); err == nil || !strings.Contains(err.Error(), "not the JSON") {
			t.Fatalf("got %v, want that the answer is no JSON", err)
		}
	}
	var got []bool
	for _, b := range w.bodies {
		got = append(got, strings.Contains(b, "responseSchema"))
	}
	if diff := cmp.Diff([]bool{false, true, true}, got); diff != "" {
		t.Errorf("in Google's terms (-want +got):\n%s", diff)
	}
}

// Schemas are put in Google's terms; what can't be is sent as it is.
func TestSchemas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schema, want string }{
		{`{"$schema":"x","type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"Mine."},"b":{"type":["integer","null"],"exclusiveMinimum":0}},"$defs":{"A":{"type":"string","description":"Its.","enum":["x","y",null]}}}`,
			`{"type":"OBJECT","properties":{"a":{"type":"STRING","description":"Mine.","enum":["x","y"],"nullable":true},"b":{"type":"INTEGER","nullable":true,"description":"(exclusiveMinimum: 0)"}}}`},
		{`{"type":"array","minItems":1,"items":{"anyOf":[{"type":"string","format":"email"},{"type":"number","format":"double"},{"type":"null"}]}}`,
			`{"type":"ARRAY","minItems":1,"items":{"nullable":true,"anyOf":[{"type":"STRING","description":"(format: email)"},{"type":"NUMBER","format":"double"}]}}`},
		{`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"null"}],"description":"D."},"c":{"const":"k"},"n":{"type":"integer","enum":[1,2]},"l":{"allOf":[{"$ref":"#/definitions/L"}]}},"definitions":{"L":{"type":"boolean"}}}`,
			`{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true,"description":"D."},"c":{"type":"STRING","enum":["k"]},"n":{"type":"INTEGER","description":"(one of: [1,2])"},"l":{"type":"BOOLEAN"}}}`},
		{`{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}}}}`, ""},
		{`{"type":["string","integer"]}`, ""},
		{`{"type":"object","properties":{"a":true}}`, ""},
		{`{"$ref":"https://elsewhere.test/s"}`, ""},
		{`{"allOf":[{"type":"object"},{"type":"object"}]}`, ""},
	} {
		w := &wire{}
		_, _ = llm.Complete(t.Context(), open(t, w, registry.Connection{Model: "gemini-1.5-pro"}), llm.Request{Messages: ask("?"), Format: &llm.Format{Type: "json_schema", Schema: raw(c.schema)}})
		want := map[string]any{"responseMimeType": "application/json"}
		if c.want == "" {
			want["responseJsonSchema"] = testkit.Object(t, c.schema)
		} else {
			want["responseSchema"] = testkit.Object(t, c.want)
		}
		if diff := cmp.Diff(want, testkit.Object(t, w.bodies[0])["generationConfig"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.schema, diff)
		}
	}
}

// The answer is what the stream says, in each way in which an answer can be given.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const (
		metered = `"usageMetadata":{"promptTokenCount":10,"toolUsePromptTokenCount":2,"cachedContentTokenCount":4,"candidatesTokenCount":5,"thoughtsTokenCount":3},"modelVersion":"gemini-x"`
		end     = `{"candidates":[{"finishReason":"STOP"}],` + metered + `}`
	)
	used := llm.Usage{Input: 12, Cached: 4, Output: 8, Reasoning: 3}
	says := func(parts string) string {
		return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}}]}`
	}
	done := func(reason, message string) string {
		return `{"candidates":[{"content":{"parts":[{"text":"So"}]},"finishReason":"` + reason + `","finishMessage":"` + message + `"}],` + metered + `}`
	}
	for _, c := range []struct {
		name, answer string
		request      llm.Request
		want         llm.Answer
	}{
		{"text and thoughts", stream(says(`{"text":"Hm","thought":true}`), says(`{"text":"It "}`), says(`{"text":"is so."},{"executableCode":{}}`), end, "[DONE]"), llm.Request{}, llm.Answer{Text: "It is so.", Reasoning: "Hm", Reason: llm.Stop, Model: "gemini-x", Usage: used}},
		{"calls", stream(says(`{"text":"So."},{"functionCall":{"name":"find","args":{"q":1}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"now","id":"g-2"}}`), end), llm.Request{}, llm.Answer{Text: "So.", Reason: llm.Calls, Model: "gemini-x", Usage: used, Calls: []llm.ToolCall{
			{ID: "made", Name: "find", Arguments: raw(`{"q":1}`), State: "gemini/gemini-2.5-flash\nc2ln"}, {ID: "g-2", Name: "now", Arguments: raw(`{}`)},
		}}},
		{"a list in one piece", `[` + says(`{"text":"It "}`) + `,` + says(`{"text":"is."}`) + `,` + end + `]`, llm.Request{}, llm.Answer{Text: "It is.", Reason: llm.Stop, Model: "gemini-x", Usage: used}},
		{"cut within a character", stream(says(`{"text":"Hm\ud83d","thought":true}`), says(`{"text":"\ude00","thought":true}`), says("{\"text\":\"It \xf0\x9f\"}"), says("{\"text\":\"\x98\x80\"}"), end), llm.Request{}, llm.Answer{Text: "It 😀", Reasoning: "Hm😀", Reason: llm.Stop, Model: "gemini-x", Usage: used}},
		{"length", stream(done("MAX_TOKENS", "")), llm.Request{}, llm.Answer{Text: "So", Reason: llm.Length, Model: "gemini-x", Usage: used}},
		{"a form cut off, beside tools", stream(says("{\"text\":\"{\\\"n\\\":\"}"), done("MAX_TOKENS", "")), llm.Request{Format: verdict, Tools: []llm.Tool{find}, Partial: true}, llm.Answer{Text: `{"n":So`, Reason: llm.Length, Model: "gemini-x", Usage: used}},
		{"safety", stream(done("SAFETY", "Not that.")), llm.Request{}, llm.Answer{Text: "So", Reason: llm.Refused, Refusal: "Not that.", Model: "gemini-x", Usage: used}},
		{"recitation", stream(done("RECITATION", "")), llm.Request{}, llm.Answer{Text: "So", Reason: llm.Refused, Refusal: "RECITATION", Model: "gemini-x", Usage: used}},
		{"the question is blocked", stream(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},` + metered + `}`), llm.Request{}, llm.Answer{Reason: llm.Refused, Refusal: "PROHIBITED_CONTENT", Model: "gemini-x", Usage: used}},
		{"a form in a fence, beside tools", stream(says("{\"text\":\"```json\\n{\\\"n\\\":\"}"), says("{\"text\":\"1}\\n```\"}"), end), llm.Request{Format: verdict, Tools: []llm.Tool{find}}, llm.Answer{Text: `{"n":1}`, Reason: llm.Stop, Model: "gemini-x", Usage: used}},
		{"words before a call are no form", stream(says(`{"text":"I look."},{"functionCall":{"name":"now","id":"g"}}`), end), llm.Request{Format: verdict, Tools: []llm.Tool{find}}, llm.Answer{Reason: llm.Calls, Model: "gemini-x", Usage: used, Calls: []llm.ToolCall{{ID: "g", Name: "now", Arguments: raw(`{}`)}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := &wire{answer: c.answer}
			if c.answer[0] == '[' {
				w.kind = "application/json; charset=UTF-8"
			}
			got, err := llm.Complete(t.Context(), open(t, w, registry.Connection{}), c.request)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got.Calls {
				got.Calls[i].ID = made.ReplaceAllString(got.Calls[i].ID, "made")
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

// made matches the id of a call that came without one.
var made = regexp.MustCompile(`^call_g_[0-9a-f]{18}$`)

// What is no answer is told as what it is.
func TestFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, answer string
		request      llm.Request
		want         llm.Failure
		retriable    bool
	}{
		{"an error in the stream", stream(`{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED"}}`), llm.Request{}, llm.Limited, true},
		{"an error in a list", `[{"error":{"code":503,"message":"Busy","status":"UNAVAILABLE"}}]`, llm.Request{}, llm.Broken, true},
		{"a call that went wrong", stream(`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"bad"}]}`), llm.Request{}, llm.Broken, true},
		{"nothing", stream(`{"candidates":[{"finishReason":"STOP"}]}`), llm.Request{}, llm.Empty, false},
		{"cut", stream(`{"candidates":[{"content":{"parts":[{"text":"So"}]}}]}`), llm.Request{}, llm.Broken, false},
		{"a form that is none", stream(`{"candidates":[{"content":{"parts":[{"text":"No."}]},"finishReason":"STOP"}]}`), llm.Request{Format: verdict}, llm.Broken, false},
		{"a form that is refused", stream(`{"candidates":[{"finishReason":"SAFETY"}]}`), llm.Request{Format: verdict}, llm.Declined, false},
		{"garbage", stream(`{"candidates":`), llm.Request{}, llm.Broken, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := &wire{answer: c.answer}
			if c.answer[0] == '[' {
				w.kind = "application/json"
			}
			_, err := llm.Complete(t.Context(), open(t, w, registry.Connection{}), c.request)
			var e *llm.Error
			if !errors.As(err, &e) || e.Failure != c.want || e.Retriable() != c.retriable {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// The signature and the id of a call go back to the model that gave them.
func TestStateGoesBack(t *testing.T) {
	t.Parallel()
	const model = "gemini-3-pro"
	w := &wire{answer: stream(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"find","id":"g1"},"thoughtSignature":"c2ln"}]},"finishReason":"STOP"}]}`)}
	first, err := llm.Complete(t.Context(), open(t, w, registry.Connection{Model: model}), llm.Request{Messages: ask("?"), Tools: []llm.Tool{find}})
	if err != nil {
		t.Fatal(err)
	}
	messages := append(ask("?"), llm.Message{Role: llm.Assistant, Calls: first.Calls}, llm.Message{Role: llm.Result, CallID: "g1", Parts: []llm.Part{{Text: "x"}}})
	w = &wire{}
	if _, err := llm.Complete(t.Context(), open(t, w, registry.Connection{Model: model}), llm.Request{Messages: messages}); err != nil {
		t.Fatal(err)
	}
	want := testkit.Object(t, `{"contents":[{"role":"user","parts":[{"text":"?"}]},{"role":"model","parts":[{"functionCall":{"name":"find","id":"g1","args":{}},"thoughtSignature":"c2ln"}]},{"role":"user","parts":[{"functionResponse":{"name":"find","id":"g1","response":{"output":"x"}}}]}]}`)
	if diff := cmp.Diff(want, testkit.Object(t, w.bodies[0])); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

// The models of an address are listed as they are registered; a list of something else is none.
func TestCatalog(t *testing.T) {
	t.Parallel()
	account := &registry.Auth{Type: registry.ServiceAccount, KeyJSON: googletest.KeyJSON("https://tokens.test/token")}
	for _, c := range []struct {
		uri, answer, url string
		auth             *registry.Auth
		want             registry.Catalog
	}{
		{studio + "/models/x:generateContent", `{"models":[{"name":"models/gemini-x","inputTokenLimit":1048576,"supportedGenerationMethods":["generateContent","countTokens"]},{"name":"models/embedding-1","supportedGenerationMethods":["embedContent"]}]}`,
			studio + "/models?pageSize=1000", &registry.Auth{Type: registry.APIKey, APIKey: "k"}, registry.Catalog{URI: studio, Offers: []registry.Offer{{Model: "gemini-x", Capabilities: registry.Capabilities{ContextLimit: ref(1048576)}}}}},
		{"https://us-central1-aiplatform.googleapis.com", `{"publisherModels":[{"name":"publishers/google/models/gemini-y"},{"name":"publishers/google/models/imagen"}]}`,
			"https://us-central1-aiplatform.googleapis.com/v1beta1/publishers/google/models?pageSize=1000", account, registry.Catalog{URI: "https://us-central1-aiplatform.googleapis.com/v1/projects/acme/locations/us-central1/publishers/google", Offers: []registry.Offer{{Model: "gemini-y"}}}},
		{"http://other.test", `{"data":[{"id":"gpt"}]}`, "http://other.test/v1beta/models?pageSize=1000", nil, registry.Catalog{}},
	} {
		w := &wire{kind: "application/json", answer: c.answer}
		got, err := gemini.Catalog(t.Context(), provider.NewShared(&http.Client{Transport: w}), registry.Connection{Type: registry.Vertex, URI: c.uri, Auth: c.auth})
		if (err != nil) != (c.want.URI == "") {
			t.Errorf("%s: %v", c.uri, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.uri, diff)
		}
		if w.sent[0].URL.String() != c.url || w.sent[0].Method != http.MethodGet {
			t.Errorf("%s: asked %s", c.uri, w.sent[0].URL)
		}
	}
}

// Whatever a server streams, reading it ends in an answer or a failure, and the events sum to the answer.
func FuzzStream(f *testing.F) {
	f.Add(stream(`{"candidates":[{"content":{"parts":[{"text":"So","thought":true},{"functionCall":{"name":"x"}}]},"finishReason":"STOP"}],"usageMetadata":{}}`))
	f.Add(`[{"error":{"code":429}}]`)
	f.Fuzz(func(t *testing.T, answer string) {
		m, err := gemini.New(provider.NewShared(&http.Client{Transport: &wire{answer: answer, kind: "text/plain"}}), registry.Connection{Model: "m", URI: studio, Auth: &registry.Auth{Type: registry.APIKey, APIKey: "k"}})
		if err != nil {
			t.Fatal(err)
		}
		emitted := ""
		got, err := m.Stream(t.Context(), llm.Request{Messages: ask("?")}, func(e llm.Event) error { emitted += e.Text; return nil })
		var e *llm.Error
		if err != nil && !errors.As(err, &e) || got.Text != emitted {
			t.Fatalf("got %+v, %v; emitted %q", got, err, emitted)
		}
	})
}

// Whatever the schema, putting it in Google's terms ends.
func FuzzSchema(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/A"}]}}}`)
	f.Fuzz(func(t *testing.T, schema string) {
		if !json.Valid([]byte(schema)) {
			return
		}
		w := &wire{}
		_, _ = llm.Complete(t.Context(), open(t, w, registry.Connection{Model: "gemini-1.5-pro"}), llm.Request{Messages: ask("?"), Format: &llm.Format{Type: "json_schema", Schema: raw(schema)}})
		if len(w.bodies) != 1 || len(w.bodies[0]) > 4096*(1+len(schema)) {
			t.Fatalf("%d bodies", len(w.bodies))
		}
	})
}
