package scripted_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"quarry/internal/provider/scripted"
	"quarry/internal/provider/scripted/transcript"
)

// said is a reply in the chat format.
type said struct {
	Content string `json:"content"`
	Thought string `json:"reasoning_content"`
	Calls   []struct {
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

func chat(t *testing.T, s *scripted.Server, model string, messages ...string) (said, int) {
	t.Helper()
	body := fmt.Sprintf(`{"model":%q,"messages":[%s]}`, model, strings.Join(messages, ","))
	res := post(t, t.Context(), s.URL+"/v1/chat/completions", body)
	var out struct{ Choices []struct{ Message said } }
	raw := read(t, res)
	if err := json.Unmarshal([]byte(raw), &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Choices) == 0 {
		return said{Content: raw}, res.StatusCode
	}
	return out.Choices[0].Message, res.StatusCode
}

// TestRounds proves that a model's name can hold its replies: in the order of the rounds since the user's last message, by a
// word of that, the last one again at the end, and with ids that no earlier call has.
func TestRounds(t *testing.T) {
	t.Parallel()
	s := scripted.Start(t)
	model := `rounds:{"stock":[{"reasoning":"Hm.","text":"I look.","calls":[{"name":"a","arguments":{"x":1}},{"name":"b"}]},{"text":"Done."}],"":[{"text":"Hello."}]}`
	hello, ask := `{"role":"user","content":"Hi"}`, `{"role":"user","content":"The stock?"}`
	called := `{"role":"assistant","content":"I look.","tool_calls":[{"id":"call_1","function":{"name":"a","arguments":"{}"}},{"id":"call_2","function":{"name":"b","arguments":"{}"}}]}`
	results := `{"role":"tool","tool_call_id":"call_1","content":"1"},{"role":"tool","tool_call_id":"call_2","content":"2"}`
	if got, _ := chat(t, s, model, hello); got.Content != "Hello." || got.Calls != nil {
		t.Errorf("a greeting gets %+v", got)
	}
	for range 2 { // a call that is made again gets the same
		got, _ := chat(t, s, model, hello, `{"role":"assistant","content":"Hello."}`, ask)
		if got.Content != "I look." || got.Thought != "Hm." || len(got.Calls) != 2 || got.Calls[0].ID != "call_1" || got.Calls[1].ID != "call_2" ||
			got.Calls[0].Function.Arguments != `{"x":1}` || got.Calls[1].Function.Arguments != "{}" {
			t.Errorf("the first round gets %+v", got)
		}
	}
	if got, _ := chat(t, s, model, ask, called, results); got.Content != "Done." || got.Calls != nil {
		t.Errorf("the second round gets %+v", got)
	}
	if got, _ := chat(t, s, model, ask, called, results, `{"role":"assistant","content":"Done."}`, `{"role":"tool","tool_call_id":"x","content":"1"}`, `{"role":"assistant","content":"Done."}`); got.Content != "Done." {
		t.Errorf("a later round gets %+v", got)
	}
	if got, _ := chat(t, s, model, ask, called, results, `{"role":"assistant","content":"Done."}`, ask); len(got.Calls) != 2 || got.Calls[0].ID != "call_3" {
		t.Errorf("the next question gets %+v", got)
	}
	if got, status := chat(t, s, `rounds:[{"fault":"failed"}]`, ask); status != 500 {
		t.Errorf("a failing round gets %d %+v", status, got)
	}
	if got, status := chat(t, s, "rounds:?", ask); status != 400 || !strings.Contains(got.Content, "no list of replies") {
		t.Errorf("a wrong name gets %d %+v", status, got)
	}
}

// TestRespond proves that a function of the test replies by the conversation, after the script and before Model.
func TestRespond(t *testing.T) {
	t.Parallel()
	s := scripted.Start(t, scripted.Reply{Text: "scripted"})
	s.Model("m", scripted.Reply{Text: "fixed"})
	s.Respond("m", func(tr *transcript.Transcript) scripted.Reply {
		return scripted.Reply{Text: fmt.Sprint(tr.System, "|", tr.Question(), "|", tr.Round(), "|", len(tr.Results()), "|", tr.Unpaired())}
	})
	system, ask := `{"role":"system","content":"Be brief."}`, `{"role":"user","content":[{"type":"text","text":"Why?"}]}`
	called := `{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"a","arguments":"{}"}},{"id":"c2","function":{"name":"a","arguments":"{}"}}]}`
	for i, want := range []string{"scripted", "Be brief.|Why?|0|0|[]", "Be brief.|Why?|1|1|[c2]"} {
		messages := []string{system, ask}
		if i == 2 {
			messages = append(messages, called, `{"role":"tool","tool_call_id":"c1","content":"1"}`)
		}
		if got, _ := chat(t, s, "m", messages...); got.Content != want {
			t.Errorf("call %d gets %q, want %q", i+1, got.Content, want)
		}
	}
	if got := s.Last().Transcript(); !slices.Equal(got.Unpaired(), []string{"c2"}) || len(got.Results()) != 1 {
		t.Errorf("recorded as %+v", got.Messages)
	}
	if got, _ := chat(t, s, "other", ask); got.Content != scripted.Answer {
		t.Errorf("another model gets %+v", got)
	}
}
