package llm_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/llm"
)

// TestAlternate proves that user and assistant take turns afterwards, that nothing is lost, that the results of tools stay
// apart, and that what was given is not changed.
func TestAlternate(t *testing.T) {
	t.Parallel()
	s, u, a := llm.System, llm.User, llm.Assistant
	image := llm.Part{Image: &llm.Image{URL: "https://a.test/b.png"}}
	for _, c := range []struct {
		name     string
		in, want []llm.Message
	}{
		{"nothing", nil, []llm.Message{}},
		{"in turn", []llm.Message{llm.Text(s, "1"), llm.Text(u, "2"), llm.Text(a, "3")}, []llm.Message{llm.Text(s, "1"), llm.Text(u, "2"), llm.Text(a, "3")}},
		{"merged", []llm.Message{llm.Text(s, "1"), llm.Text(s, "2"), llm.Text(u, "3"), llm.Text(u, "4"), llm.Text(u, ""), llm.Text(a, "5"), llm.Text(a, "6")},
			[]llm.Message{llm.Text(s, "1\n\n2"), llm.Text(u, "3\n\n4"), llm.Text(a, "5\n\n6")}},
		{"system later", []llm.Message{llm.Text(u, "1"), llm.Text(s, "2"), llm.Text(u, "3")}, []llm.Message{llm.Text(u, "1\n\n2\n\n3")}},
		{"images", []llm.Message{{Role: u, Parts: []llm.Part{image}}, llm.Text(u, "1"), {Role: u, Parts: []llm.Part{{Text: "2"}, image}}},
			[]llm.Message{{Role: u, Parts: []llm.Part{image, {Text: "1\n\n2"}, image}}}},
		{"tools", []llm.Message{{Role: a, Calls: []llm.ToolCall{{ID: "x"}}, Reasoning: "r"}, {Role: a, Calls: []llm.ToolCall{{ID: "y"}}, Reasoning: "q"}, {Role: llm.Result, CallID: "x"}, {Role: llm.Result, CallID: "y"}},
			[]llm.Message{{Role: a, Calls: []llm.ToolCall{{ID: "x"}, {ID: "y"}}, Reasoning: "r\n\nq"}, {Role: llm.Result, CallID: "x"}, {Role: llm.Result, CallID: "y"}}},
		{"speakers", []llm.Message{{Role: u, Name: "ann", Parts: []llm.Part{{Text: "1"}}}, {Role: u, Name: "bob", Parts: []llm.Part{{Text: "2"}}}}, []llm.Message{llm.Text(u, "1\n\n2")}},
	} {
		before := clone(c.in)
		got := llm.Alternate(c.in)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		if d := cmp.Diff(before, c.in); d != "" {
			t.Errorf("%s: the messages given were changed:\n%s", c.name, d)
		}
	}
}

func clone(all []llm.Message) []llm.Message {
	var out []llm.Message
	for _, m := range all {
		m.Parts, m.Calls = append([]llm.Part(nil), m.Parts...), append([]llm.ToolCall(nil), m.Calls...)
		out = append(out, m)
	}
	return out
}
