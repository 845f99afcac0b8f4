package turn_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent"
	"quarry/internal/agent/reminder"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/turn"
	"quarry/internal/clock"
	"quarry/internal/glossary"
	"quarry/internal/llm"
	"quarry/internal/store/glossaries"
)

// vocabulary is a glossary of the bench.
type vocabulary struct {
	*glossary.Service
	glossary.Glossary
}

// vocabulary makes a glossary that the only step of the agent names.
func (b *bench) vocabulary(t *testing.T, key string, entries map[string]string) vocabulary {
	t.Helper()
	rows := glossaries.New(b.db)
	b.Glossaries = glossary.NewLookup(rows, 0)
	now := clock.Now()
	g, err := rows.Create(t.Context(), glossary.Glossary{Key: key, Name: key, Created: now, Updated: now})
	if err != nil {
		t.Fatal(err)
	}
	v := vocabulary{glossary.New(rows), g}
	v.write(t, entries)
	s := b.agent.Steps[b.agent.Entry]
	s.Reminders = append(s.Reminders, reminder.Reminder{Glossary: key})
	b.agent.Steps[b.agent.Entry] = s
	return v
}

func (v vocabulary) write(t *testing.T, entries map[string]string) {
	t.Helper()
	if err := v.Put(t.Context(), v.Glossary, entries); err != nil {
		t.Error(err)
	}
}

// brief returns messages without the heading of what glossaries say.
func brief(messages []string) []string {
	out := make([]string, len(messages))
	for i, m := range messages {
		out[i] = strings.ReplaceAll(m, "What terms of this message stand for, by the glossary:\n", "")
	}
	return out
}

// TestGlossaries proves beside which inputs the model reads what terms stand for: those that are stored, that steered the turn and that
// waited, as the glossaries were when the turn began; beside no output of a tool and nothing that the model says; and that no event has it.
func TestGlossaries(t *testing.T) {
	t.Parallel()
	begun, gate := make(chan struct{}), make(chan struct{})
	run := func(_ context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
		close(begun)
		<-gate
		return json.RawMessage(`{"hpu":1}`), nil
	}
	b, h := listen(t, replies(text("pm is said"), calls("probe"), text("done"), text("last"), text("end")), probes(tool.Never, run))
	one := b.vocabulary(t, "one", map[string]string{"hpu": "hydraulic power unit", "gone": "away"})
	b.vocabulary(t, "two", map[string]string{"PM": "$session.key\n#if"})
	if _, err := b.ask(t, b.input("The HPU, a pm")); err != nil {
		t.Fatal(err)
	}
	sent, err := b.Send(t.Context(), b.input("gone, and the pm"))
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	one.write(t, map[string]string{"hpu": "something else"}) // while the turn runs
	if err := one.Remove(t.Context(), one.Glossary, []string{"gone"}); err != nil {
		t.Fatal(err)
	}
	since := int64(0)
	steer := b.input("now an hpu")
	steer.Since, steer.Queue, steer.Steer = &since, true, true
	steers, err := b.Send(t.Context(), steer)
	if err != nil {
		t.Fatal(err)
	}
	waits := b.queue(t, "hpu waits")
	close(gate)
	for _, s := range []*turn.Sent{sent, steers, waits} {
		if got, err := told(t, s); err != nil || strings.Contains(strings.Join(got, "|"), "hydraulic") {
			t.Errorf("%v, %q", err, got)
		}
	}
	said := "\n\nPM: $session.key #if"
	during := []string{
		"user: The HPU, a pm\n\nhpu: hydraulic power unit" + said, "assistant: pm is said", "user: gone, and the pm\n\ngone: away" + said,
		"assistant:  [probe]", `tool: {"hpu":1}`, "user: now an hpu\n\nhpu: hydraulic power unit",
	}
	behind := []string{
		"user: The HPU, a pm\n\nhpu: something else" + said, "assistant: pm is said", "user: gone, and the pm" + said,
		"assistant:  [probe]", `tool: {"hpu":1}`, "user: now an hpu\n\nhpu: something else", "assistant: done", "user: hpu waits\n\nhpu: something else",
	}
	messages, _ := h.last()
	if diff := cmp.Diff(behind, brief(messages)); diff != "" {
		t.Errorf("in the next turn the model reads (-want +got): %s", diff)
	}
	h.mu.Lock()
	h.all = h.all[:len(h.all)-1]
	h.mu.Unlock()
	messages, _ = h.last()
	if diff := cmp.Diff(during, brief(messages)); diff != "" {
		t.Errorf("in the turn the model reads (-want +got): %s", diff)
	}
	if log := strings.Join(b.log(t), "|"); strings.Contains(log, "hydraulic") || strings.Contains(log, "stand for") {
		t.Errorf("the log is %s", log)
	}
}

// TestGlossaryOfAStep proves that the glossaries of the present step count, also beside inputs of before, and that one that is not there
// is skipped.
func TestGlossaryOfAStep(t *testing.T) {
	t.Parallel()
	b, h := listen(t, replies(text("one"), text("two")), func(_ *turn.Config, a *agent.Agent) {
		a.Steps["second"] = agent.Step{Reminders: []reminder.Reminder{{Glossary: "none"}}}
	})
	v := b.vocabulary(t, "one", map[string]string{"hpu": "hydraulic power unit"})
	s := b.agent.Steps[b.agent.Entry]
	s.Next = []agent.Transition{{Step: "second"}}
	b.agent.Steps[b.agent.Entry] = s
	if _, err := b.ask(t, b.input("hpu")); err != nil {
		t.Fatal(err)
	}
	if got := h.all[0].Messages; brief([]string{got[0].Plain()})[0] != "hpu\n\nhpu: hydraulic power unit" {
		t.Errorf("in the first step the model reads %+v", got)
	}
	if got := h.all[1].Messages; got[0].Role != llm.User || got[0].Plain() != "hpu" {
		t.Errorf("in the second step the model reads %+v", got)
	}
	if err := v.Delete(t.Context(), v.Glossary); err != nil {
		t.Fatal(err)
	}
}
