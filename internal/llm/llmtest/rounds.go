package llmtest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/llm"
	"quarry/internal/provider/scripted"
)

// rounds proves that a conversation in which the model thinks, calls two tools at once and answers by their results goes
// around, that a call which is made again gets the same reply, and how the provider reads the conversation.
func (a Adapter) rounds(t *testing.T) {
	t.Parallel()
	s := scripted.Start(t)
	s.Respond("m", scripted.Rounds(
		scripted.Reply{Reasoning: "Two things are missing.", Text: "I look it up.", Calls: []scripted.Call{
			{Name: "find", Pieces: []string{`{"q":`, `"moon"}`}}, {Name: "now", Pieces: []string{`{}`}},
		}},
		scripted.Reply{Text: "Gravity did it."},
	))
	p := a.open(t, s, nil)
	r := question()
	r.Tools = tools()
	first, _ := must(t, p, r)
	if first.Text != "I look it up." || len(first.Calls) != 2 || first.Calls[0].ID == first.Calls[1].ID {
		t.Fatalf("got %+v", first)
	}
	if again, _ := must(t, p, r); !cmp.Equal(again.Calls, first.Calls) {
		t.Errorf("another call gets %+v, want %+v", again.Calls, first.Calls)
	}
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Text: first.Text}}, Calls: first.Calls})
	for i, result := range []string{`{"found":"gravity"}`, `{"hour":12}`} {
		c := first.Calls[i]
		r.Messages = append(r.Messages, llm.Message{Role: llm.Result, CallID: c.ID, Name: c.Name, Parts: []llm.Part{{Text: result}}})
	}
	if second, _ := must(t, p, r); second.Text != "Gravity did it." || second.Calls != nil {
		t.Errorf("got %+v", second)
	}
	read := s.Last().Transcript()
	roles := ""
	for _, m := range read.Messages {
		roles += m.Role + " "
	}
	if roles != "user assistant tool tool " || read.System != "Be short." || read.Question() != "Why is the moon round?" || read.Round() != 1 || read.Unpaired() != nil {
		t.Fatalf("%s is read as %s", read.Body, roles)
	}
	if said := read.Messages[1]; said.Text != "I look it up." || len(said.Calls) != 2 || said.Calls[0].Name != "find" || !strings.Contains(said.Calls[0].Arguments, "moon") {
		t.Errorf("the reply is read as %+v", said)
	}
	if found := read.Results(); len(found) != 2 || !strings.Contains(found[0].Text, "gravity") || !strings.Contains(found[1].Text, "hour") {
		t.Errorf("the results are read as %+v", found)
	}
	if strings.Join(read.Tools, " ") != "find now" && strings.Join(read.Tools, " ") != "now find" {
		t.Errorf("the tools are read as %v", read.Tools)
	}
}
