package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent"
	"quarry/internal/agent/session"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/agent/turn"
	"quarry/internal/llm"
)

// cut is a log whose process is killed at a commit: before or after it, and nothing that it does from then on is written.
type cut struct {
	session.Log
	mu    sync.Mutex
	left  int  // commits until the kill
	after bool // the last one is written
	dead  chan struct{}
}

func (c *cut) Commit(ctx context.Context, l session.Lease, what session.Commit, now time.Time) (session.Committed, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left <= 0 {
		return session.Committed{}, session.ErrLost
	}
	if c.left--; c.left > 0 {
		return c.Log.Commit(ctx, l, what, now)
	}
	defer close(c.dead)
	if c.after {
		if _, err := c.Log.Commit(ctx, l, what, now); err != nil {
			return session.Committed{}, err
		}
	}
	return session.Committed{}, session.ErrLost
}

func (c *cut) Release(context.Context, string) error { return nil }

// rounds is a model that thinks, speaks and calls tools in rounds, and then answers. What it says follows from the conversation
// alone.
func rounds(n int) model {
	return func(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		round, turns := 0, 0
		for _, m := range r.Messages {
			switch m.Role {
			case llm.User:
				round, turns = 0, turns+1
			case llm.Assistant:
				round++
			}
		}
		if unpaired := unpaired(r.Messages); unpaired != "" {
			return llm.Answer{}, fmt.Errorf("calls without a result: %s", unpaired)
		}
		a := llm.Answer{Reason: llm.Stop, Text: fmt.Sprintf("round %d of %d", round, turns)}
		if round < n {
			a.Reason = llm.Calls
			for i := range 1 + round%3 {
				a.Calls = append(a.Calls, llm.ToolCall{ID: fmt.Sprintf("c%d-%d-%d", turns, round, i), Name: "probe", Arguments: json.RawMessage(`{"n":` + fmt.Sprint(i) + `}`)})
			}
		}
		if round%2 == 1 {
			a.Reasoning = "hm"
			if err := emit(llm.Event{Reasoning: a.Reasoning}); err != nil {
				return a, err
			}
		}
		if err := emit(llm.Event{Text: a.Text}); err != nil {
			return a, err
		}
		for i := range a.Calls {
			if err := emit(llm.Event{Call: &a.Calls[i]}); err != nil {
				return a, err
			}
		}
		return a, nil
	}
}

func unpaired(all []llm.Message) string {
	open := map[string]bool{}
	for _, m := range all {
		for _, c := range m.Calls {
			open[c.ID] = true
		}
		delete(open, m.CallID)
	}
	return strings.Join(slices.Collect(func(yield func(string) bool) {
		for id := range open {
			if !yield(id) {
				return
			}
		}
	}), " ")
}

// probes gives the agent a tool that may be called again.
func probes(repeat tool.Repeat, run func(context.Context, tool.Call, tool.Activity) (json.RawMessage, error)) func(*turn.Config, *agent.Agent) {
	return func(c *turn.Config, a *agent.Agent) {
		schema, err := schema.New(json.RawMessage(`{"type":"object"}`))
		if err != nil {
			panic(err)
		}
		c.Kit.Types = map[string]tool.Type{"probe": func(json.RawMessage) (*tool.Tool, error) {
			return &tool.Tool{Name: "probe", Description: "Probes.", Schema: schema, Repeat: repeat, Run: run}, nil
		}}
		a.Tools = map[string]json.RawMessage{"probe": json.RawMessage(`{"type":"probe"}`)}
	}
}

func echo(_ context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
	return c.Arguments, nil
}

// steady returns a log with the outputs of one reply, which end in any order, in the order of their calls.
func steady(log []string) []string {
	out := slices.Clone(log)
	for i := 0; i < len(out); {
		j := i
		for j < len(out) && strings.HasPrefix(out[j], "tool_output") {
			j++
		}
		slices.Sort(out[i:j])
		i = max(j, i+1)
	}
	return out
}

// TestKilled proves that a turn of fifty events which is killed before or after any of its commits ends, in another process,
// with the log of one that was never killed.
func TestKilled(t *testing.T) {
	t.Parallel()
	m, probe := rounds(12), probes(tool.Reads, echo)
	whole := begin(t, m, probe)
	if _, err := whole.ask(t, whole.input("go")); err != nil {
		t.Fatal(err)
	}
	want := steady(whole.log(t))
	if len(want) < 50 {
		t.Fatalf("only %d events: %q", len(want), want)
	}
	commits := 1 // the end; each reply with calls is one, and so is each output
	for _, e := range want {
		if strings.HasPrefix(e, "tool_output") || strings.HasPrefix(e, "agent_output: round") && !strings.Contains(e, "round 12") {
			commits++
		}
	}
	for n := 1; n <= commits; n++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d after %v", n, after), func(t *testing.T) {
				t.Parallel()
				killed := &cut{left: n, after: after, dead: make(chan struct{})}
				b := begin(t, m, func(c *turn.Config, a *agent.Agent) {
					probe(c, a)
					killed.Log = c.Log
					c.Log = killed
				})
				s, err := b.Send(t.Context(), b.input("go"))
				if err != nil {
					t.Fatal(err)
				}
				<-killed.dead
				s.Close()
				first := b.hub
				b.open(t, m, probe)
				if first == b.hub {
					t.Fatal("the second process is the first")
				}
				b.idle(t)
				if diff := cmp.Diff(want, steady(b.log(t))); diff != "" {
					t.Errorf("log (-unkilled +killed): %s", diff)
				}
			})
		}
	}
}

// TestDeletedOutputNotRepeated proves that a call whose output was deleted is not made again by whoever takes its turn over.
func TestDeletedOutputNotRepeated(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	m, probe := rounds(3), probes(tool.Reads, func(ctx context.Context, c tool.Call, a tool.Activity) (json.RawMessage, error) {
		runs.Add(1)
		return echo(ctx, c, a)
	})
	const replyAndOutput = 2
	killed := &cut{left: replyAndOutput, after: true, dead: make(chan struct{})}
	b := begin(t, m, func(c *turn.Config, a *agent.Agent) {
		probe(c, a)
		killed.Log = c.Log
		c.Log = killed
	})
	s, err := b.Send(t.Context(), b.input("go"))
	if err != nil {
		t.Fatal(err)
	}
	<-killed.dead
	s.Close()
	found, _, err := b.rows.Events(t.Context(), session.Page{Session: b.no, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	output := found[len(found)-1]
	if output.Type != session.ToolOutput {
		t.Fatalf("the last event is %+v", output)
	}
	if err := b.rows.DeleteEvent(t.Context(), b.no, output.ID); err != nil {
		t.Fatal(err)
	}
	b.open(t, m, probe)
	b.idle(t)
	log := b.log(t)
	calls, outputs := 0, 0
	for _, e := range log {
		switch {
		case strings.HasPrefix(e, "tool_input"):
			calls++
		case strings.HasPrefix(e, "tool_output"):
			outputs++
		}
	}
	if int(runs.Load()) != calls || outputs != calls-1 {
		t.Errorf("%d calls ran %d times and have %d outputs, want each once and one output fewer: %q", calls, runs.Load(), outputs, log)
	}
}

// idle waits until no run is left.
func (b *bench) idle(t *testing.T) {
	t.Helper()
	for {
		s, err := b.rows.Standing(t.Context(), b.no)
		if err != nil {
			t.Fatal(err)
		}
		if s.Run == nil {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal("the run has no end")
		case <-time.After(time.Millisecond):
		}
	}
}
