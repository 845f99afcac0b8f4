package llmtest

import (
	"encoding/json"
	"strings"
	"testing"

	"quarry/internal/llm"
	"quarry/internal/provider/scripted"
)

// answers proves what comes back of each kind of answer.
func (a Adapter) answers(t *testing.T) {
	t.Run("text", a.text)
	t.Run("bytes", a.bytes)
	t.Run("usage", a.usage)
	t.Run("calls", a.calls)
	t.Run("form", a.form)
	t.Run("stops", a.stops)
}

// text proves that pieces are emitted as they come, before the next is there, and that they sum to the answer.
func (a Adapter) text(t *testing.T) {
	t.Parallel()
	gate := scripted.NewGate()
	s := scripted.Start(t, scripted.Reply{Pieces: []string{"The ", "moon ", "is ", "round."}, Between: gate, Model: "m-2030"})
	p := a.open(t, s, nil)
	h := &heard{}
	answer, err := p.Stream(t.Context(), question(), func(e llm.Event) error {
		if h.texts < 3 {
			gate.Let() // the next piece is sent only now
		}
		return h.take(e)
	})
	if err != nil {
		t.Fatal(err)
	}
	h.agree(t, answer, err)
	if answer.Text != "The moon is round." || h.texts != 4 || answer.Reason != llm.Stop || len(answer.Calls) != 0 || answer.Refusal != "" {
		t.Errorf("%d pieces, answer %+v", h.texts, answer)
	}
	if answer.Model != "m-2030" {
		t.Errorf("the model that answered is %q, want the one that the provider told", answer.Model)
	}
}

// bytes proves that it does not matter where the network cuts a stream, not even within a letter.
func (a Adapter) bytes(t *testing.T) {
	t.Parallel()
	s := scripted.Start(t, scripted.Reply{Pieces: []string{"Größe – ", "日本 ", "\"}\\n\n\ttwo lines [1", "]."}, Dribble: true})
	answer, _ := must(t, a.open(t, s, nil), question())
	if want := "Größe – 日本 \"}\\n\n\ttwo lines [1]."; answer.Text != want {
		t.Errorf("got %q, want %q", answer.Text, want)
	}
}

func (a Adapter) usage(t *testing.T) {
	t.Parallel()
	told := scripted.Usage{Input: 40, Cached: 30, Output: 25, Reasoning: 5}
	s := scripted.Start(t, scripted.Reply{Text: "Well.", Usage: told}, scripted.Reply{Text: "Well, well.", Fault: scripted.NoUsage}, scripted.Reply{Text: "Round.", Reasoning: "Gravity pulls."})
	p := a.open(t, s, nil)
	answer, _ := must(t, p, question())
	want := llm.Usage{Input: 40, Cached: 30, Output: 25, Reasoning: 5}
	if a.NoReasoning {
		want.Reasoning = 0
	}
	if answer.Usage != want {
		t.Errorf("told usage is %+v, want %+v", answer.Usage, want)
	}
	answer, _ = must(t, p, question())
	if u := answer.Usage; !u.Estimated || u.Input <= 0 || u.Output <= 0 {
		t.Errorf("usage that was not told is %+v, want an estimate", u)
	}
	answer, _ = must(t, p, question())
	if answer.Text != "Round." || !a.NoThoughts && answer.Reasoning != "Gravity pulls." {
		t.Errorf("got the answer %q with the thoughts %q", answer.Text, answer.Reasoning)
	}
}

// calls proves that calls come whole and in order, however their arguments were cut.
func (a Adapter) calls(t *testing.T) {
	t.Parallel()
	one := scripted.Call{ID: "call_a", Name: "find", Pieces: []string{`{"q`, `":"mo`, `on","n":`, `3}`}}
	two := scripted.Call{ID: "call_b", Name: "now", Pieces: []string{`{}`}}
	bare := scripted.Call{ID: "call_c", Name: "now"}
	torn := scripted.Call{ID: "call_d", Name: "find", Pieces: []string{`{"q":"mo`}}
	for _, c := range []struct {
		name  string
		reply scripted.Reply
		want  []string
	}{
		{"one", scripted.Reply{Calls: []scripted.Call{one}}, []string{`{"n":3,"q":"moon"}`}},
		{"two", scripted.Reply{Calls: []scripted.Call{one, two}}, []string{`{"n":3,"q":"moon"}`, `{}`}},
		{"behind a text", scripted.Reply{Text: "Let me see.", Calls: []scripted.Call{two}}, []string{`{}`}},
		{"without arguments", scripted.Reply{Calls: []scripted.Call{bare}}, []string{`{}`}},
		{"arguments torn", scripted.Reply{Calls: []scripted.Call{torn}}, []string{`{"q":"mo`}},
	} {
		if c.name == "arguments torn" && a.ParsedArguments {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := question()
			r.Tools = tools()
			answer, h := must(t, a.open(t, scripted.Start(t, c.reply), nil), r)
			if answer.Reason != llm.Calls || answer.Text != c.reply.Text || len(h.calls) != len(c.want) {
				t.Fatalf("answer %+v, want %d calls", answer, len(c.want))
			}
			for i, want := range c.want {
				got := h.calls[i]
				if got.Name != c.reply.Calls[i].Name || got.ID == "" || !a.NoCallID && got.ID != c.reply.Calls[i].ID || plain(got.Arguments) != want {
					t.Errorf("call %d is %+v (%s), want the arguments %s", i, got, got.Arguments, want)
				}
			}
			if len(h.calls) == 2 && h.calls[0].ID == h.calls[1].ID {
				t.Errorf("two calls have the id %q", h.calls[0].ID)
			}
		})
	}
}

// plain is JSON in one way of writing it; what is none stays.
func plain(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

func tools() []llm.Tool {
	return []llm.Tool{
		{Name: "find", Description: "Finds passages.", Parameters: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"integer"}},"required":["q"]}`)},
		{Name: "now", Description: "Tells the time."},
	}
}

// format is a form of two members.
func format() *llm.Format {
	return &llm.Format{Type: "json_schema", Name: "verdict", Description: "A verdict.", Strict: true, Schema: json.RawMessage(
		`{"type":"object","properties":{"holds":{"type":"boolean"},"why":{"type":"string"}},"required":["holds","why"],"additionalProperties":false}`)}
}

// form proves that an answer in a form is that JSON.
func (a Adapter) form(t *testing.T) {
	t.Parallel()
	for _, f := range []*llm.Format{format(), {Type: "json_object"}} {
		s := scripted.Start(t, scripted.Reply{Pieces: []string{`{"holds"`, `:true,`, `"why":"it `, `says so"}`}})
		r := question()
		r.Format = f
		answer, _ := must(t, a.open(t, s, nil), r)
		if got := plain(json.RawMessage(answer.Text)); got != `{"holds":true,"why":"it says so"}` || answer.Reason != llm.Stop || len(answer.Calls) != 0 {
			t.Errorf("%s: got %+v", f.Type, answer)
		}
		if body := string(s.Last().Body); f.Schema != nil && (!strings.Contains(body, "holds") || !strings.Contains(body, "additionalProperties")) {
			t.Errorf("the schema was not sent: %s", body)
		}
	}
}

// stops proves why a model stopped where that is not a failure.
func (a Adapter) stops(t *testing.T) {
	t.Parallel()
	s := scripted.Start(t, scripted.Reply{Text: "It is rou", Stop: scripted.Length}, scripted.Reply{Refusal: "I would rather not."}, scripted.Reply{Text: "It is", Stop: scripted.Filtered})
	p := a.open(t, s, nil)
	answer, _ := must(t, p, question())
	if answer.Reason != llm.Length || answer.Text != "It is rou" {
		t.Errorf("cut by the token limit: %+v", answer)
	}
	answer, _ = must(t, p, question())
	if answer.Reason != llm.Refused || answer.Text != "" || !a.NoRefusal && answer.Refusal != "I would rather not." {
		t.Errorf("refused: %+v", answer)
	}
	answer, _ = must(t, p, question())
	if answer.Reason != llm.Refused || answer.Text != "It is" {
		t.Errorf("filtered: %+v", answer)
	}
}
