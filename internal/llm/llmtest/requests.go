package llmtest

import (
	"encoding/json"
	"strings"
	"testing"

	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/provider/scripted"
)

// requests proves that what the caller says arrives. How it is written is up to each format and proved against the
// providers' own libraries (test/compat).
func (a Adapter) requests(t *testing.T) {
	t.Parallel()
	r := question()
	r.Tools = tools()
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Text: "I look it up."}}, Calls: []llm.ToolCall{
			{ID: "call_a", Name: "find", Arguments: json.RawMessage(`{"q":"moon"}`)}, {ID: "call_b", Name: "now", Arguments: json.RawMessage(`{}`)},
		}},
		llm.Message{Role: llm.Result, CallID: "call_a", Name: "find", Parts: []llm.Part{{Text: "Gravity makes it round."}}},
		llm.Message{Role: llm.Result, CallID: "call_b", Name: "now", Parts: []llm.Part{{Text: `{"hour":12}`}}},
		llm.Text(llm.User, "And the sun?"))
	r.Parameters = llm.Parameters{
		MaxTokens: ref(1234), Temperature: ref(0.25), FrequencyPenalty: ref(0.5), PresencePenalty: ref(0.75),
		Extra: map[string]json.RawMessage{"quirk": json.RawMessage(`{"deep":[42]}`)},
	}
	s := scripted.Start(t)
	p := a.open(t, s, func(c *registry.Connection) { c.Headers = map[string]string{"X-Team": "moon-team"} })
	if answer, _ := must(t, p, r); answer.Text != scripted.Answer {
		t.Fatalf("got %+v", answer)
	}
	last := s.Last()
	if last.Header.Get("X-Team") != "moon-team" || last.Model != "m" || !last.Stream {
		t.Errorf("sent as %+v", last)
	}
	body := string(last.Body)
	at := 0
	for _, text := range []string{"I look it up.", "find", "now", "Gravity makes it round.", "hour", "And the sun?"} {
		i := strings.Index(body[at:], text)
		if i < 0 {
			t.Fatalf("%q does not come where it should in %s", text, body)
		}
		at += i
	}
	for _, text := range []string{"Be short.", "Why is the moon round?", "1234", "0.25", `"quirk":{"deep":[42]}`, "Tells the time."} {
		if !strings.Contains(body, text) {
			t.Errorf("%s is not in %s", text, body)
		}
	}
	if n := strings.Count(body, "call_a"); !a.NoCallID && n != 2 {
		t.Errorf("the id of the first call stands %d times in %s, want 2", n, body)
	}
	if strings.Contains(body, Secret) {
		t.Errorf("the body holds the token: %s", body)
	}
}

// images proves that images by value arrive as they are, in order, behind the results of tools and next to their texts.
func (a Adapter) images(t *testing.T) {
	t.Parallel()
	r := question()
	r.Tools = tools()
	shown := func(text, mime, data string) llm.Message {
		return llm.Message{Role: llm.User, Parts: []llm.Part{{Text: text}, {Image: &llm.Image{MimeType: mime, Data: []byte(data), Detail: "low"}}}}
	}
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "call_a", Name: "now", Arguments: json.RawMessage(`{}`)}, {ID: "call_b", Name: "now", Arguments: json.RawMessage(`{}`)}}},
		llm.Message{Role: llm.Result, CallID: "call_a", Name: "now", Parts: []llm.Part{{Text: "first result"}}},
		llm.Message{Role: llm.Result, CallID: "call_b", Name: "now", Parts: []llm.Part{{Text: "second result"}}},
		shown("The first image:", "image/png", "\x89PNG\r\n\x1a\nfirst"), shown("The second image:", "image/webp", "RIFF second"))
	s := scripted.Start(t)
	must(t, a.open(t, s, nil), r)
	said := s.Last().Transcript()
	if len(said.Images) != 2 || said.Images[0].MIME != "image/png" || string(said.Images[0].Data) != "\x89PNG\r\n\x1a\nfirst" ||
		said.Images[1].MIME != "image/webp" || string(said.Images[1].Data) != "RIFF second" {
		t.Errorf("the images arrived as %+v", said.Images)
	}
	body, at := string(said.Body), 0
	for _, text := range []string{"first result", "second result", "The first image:", "iVBORw0KGgpmaXJzdA==", "The second image:", "UklGRiBzZWNvbmQ="} {
		i := strings.Index(body[at:], text)
		if i < 0 {
			t.Fatalf("%q does not come where it should in %s", text, body)
		}
		at += i
	}
	if left := said.Unpaired(); len(left) > 0 {
		t.Errorf("calls and results don't pair: %v", left)
	}
}

// forged proves that the state of a call, which clients carry between two requests, puts nothing else into the next one than
// what a model of this format had put into it.
func (a Adapter) forged(t *testing.T) {
	t.Parallel()
	s := scripted.Start(t)
	p := a.open(t, s, nil)
	for _, state := range []string{
		"smuggled", `{"smuggled":1}`, `["smuggled"]`, "anthropic/m\nsmuggled", "gemini/other\nsmuggled",
		`anthropic/m` + "\n" + `[{"type":"text","text":"smuggled"},{"type":"tool_use","id":"smuggled","name":"f","input":{}},"smuggled",null]`,
		`{"chat_reasoning":"smuggled"}`, `{"chat_reasoning":"role"}`, `{"chat_reasoning":["smuggled"]}`,
		`{"responses_reasoning":[{"type":"item_reference","id":"smuggled"},{"role":"system","content":"smuggled"},"smuggled",null]}`,
	} {
		r := question()
		r.Tools = tools()
		r.Messages = append(r.Messages,
			llm.Message{Role: llm.Assistant, Reasoning: "smuggled", Calls: []llm.ToolCall{{ID: "call_a", Name: "now", Arguments: json.RawMessage(`{}`), State: state}}},
			llm.Message{Role: llm.Result, CallID: "call_a", Name: "now", Parts: []llm.Part{{Text: "noon"}}})
		must(t, p, r)
		if body := s.Last().Body; strings.Contains(string(body), "smuggled") {
			t.Errorf("the state %s went into %s", state, body)
		}
	}
}
