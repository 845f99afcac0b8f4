package subagent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/tool/subagent"
	"quarry/internal/agent/turn/spans"
	"quarry/internal/agent/turn/spans/spanstest"
	"quarry/internal/trace"
)

// wide is a message that leads through three levels of agents, with many events and calls side by side.
func wide() string {
	rounds := []any{}
	for range 3 {
		rounds = append(rounds, map[string]any{"text": "hm", "calls": []any{
			map[string]any{"tool": "down", "args": tell(calls("down", tell("deep"), tell("deeper")))},
			map[string]any{"tool": "down", "args": tell("flat")},
		}})
	}
	raw, _ := json.Marshal(append(rounds, map[string]any{"text": "done"})) // always encodes
	return string(raw)
}

// TestTraceKilled proves that a turn of more than fifty events over three levels of agents that is killed before or after any of its
// writes leaves the trace of one that was never killed, and beside it what the kill has interrupted, once: no span is missing, double
// or without its parent, and the tokens are those that the model has counted for what was written.
func TestTraceKilled(t *testing.T) {
	t.Parallel()
	whole := begin(t)
	all := whole.chain(t, 2)
	count := &cut{left: 1 << 30, dead: make(chan struct{})}
	whole.log, whole.store = mortal{whole.rows, count}, mortalStore{whole.rows, count}
	whole.start(t, true).ask(t, whole.session(t, &all[0]).No, wide())
	events := 0
	for i := range all {
		for _, s := range whole.all(t, &all[i]) {
			events += len(whole.events(t, s.No))
		}
	}
	trees := spanstest.Read(t, whole.spans)
	if len(trees) != 1 || events < 50 || len(all) != 3 || strings.Contains(strings.Join(trees[0].Lines(), "\n"), spans.Restarted) {
		t.Fatalf("%d traces of %d events: %q", len(trees), events, trees[0].Lines())
	}
	want, calls := trees[0].Settled(), int64(0)
	for _, n := range trees[0].Nodes {
		if n.Operation == trace.Chat {
			calls++
		}
	}
	if trees[0].Input != 3*calls || trees[0].Output != 2*calls {
		t.Errorf("%d and %d tokens of %d calls", trees[0].Input, trees[0].Output, calls)
	}
	for at := 2; at <= count.made; at++ { // the first is the message of the client
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d after %v", at, after), func(t *testing.T) {
				t.Parallel()
				h := begin(t)
				all := h.chain(t, 2)
				killed := &cut{left: at, after: after, dead: make(chan struct{})}
				h.log, h.store = mortal{h.rows, killed}, mortalStore{h.rows, killed}
				sent := h.start(t, true).send(t, h.session(t, &all[0]).No, wide())
				<-killed.dead
				sent.Close()
				h.log, h.store = h.rows, h.rows
				h.start(t, true)
				h.idle(t, all)
				trees := spanstest.Read(t, h.spans)
				if len(trees) != 1 {
					t.Fatalf("%d traces", len(trees))
				}
				if diff := cmp.Diff(want, trees[0].Settled()); diff != "" {
					t.Errorf("trace (-unkilled +killed): %s\n%s", diff, strings.Join(trees[0].Lines(), "\n"))
				}
				if trees[0].Input != 3*calls || trees[0].Output != 2*calls {
					t.Errorf("%d and %d tokens of %d calls", trees[0].Input, trees[0].Output, calls)
				}
				if last := at == count.made && after; !last && !strings.Contains(strings.Join(trees[0].Lines(), "\n"), spans.Restarted) {
					t.Errorf("nothing was interrupted: %s", strings.Join(trees[0].Lines(), "\n"))
				}
			})
		}
	}
}

// TestTraceOfNodes proves that the turns of one trace may run in several processes, and that a turn that goes on in another one after
// its process has stopped in order is in the same trace.
func TestTraceOfNodes(t *testing.T) {
	t.Parallel()
	h := begin(t)
	all := h.chain(t, 1)
	first := h.start(t, true)
	sent := first.send(t, h.session(t, &all[0]).No, calls("down", tell("hold")))
	<-h.held
	first.stop()
	sent.Close()
	close(h.free)
	h.start(t, true)
	h.idle(t, all)
	trees := spanstest.Read(t, h.spans)
	if len(trees) != 1 {
		t.Fatalf("%d traces", len(trees))
	}
	want := []string{
		"invoke_agent", "  chat", "  execute_tool down (execution_error: interrupted by restart)", "    invoke_agent",
		"      chat (internal: interrupted by restart)", "      chat", "      output", "  execute_tool down", "  chat", "  output",
	}
	if diff := cmp.Diff(want, trees[0].Lines()); diff != "" {
		t.Errorf("trace (-want +got): %s", diff)
	}
}

// TestTraceOfEnds proves what the trace of a call says of a turn that has failed, and of a session that was deleted.
func TestTraceOfEnds(t *testing.T) {
	t.Parallel()
	h := begin(t)
	all := h.chain(t, 1)
	n := h.start(t, true)
	n.ask(t, h.session(t, &all[0]).No, calls("down", tell("fail")))
	tree := spanstest.Read(t, h.spans)[0]
	got := strings.Join(tree.Lines(), "\n")
	if tree.Failed || !strings.Contains(got, "execute_tool down (execution_error: the agent \"a1\"") || !strings.Contains(got, "    invoke_agent (llm_generation_error: the language model did not answer in time") {
		t.Errorf("trace: %s", got)
	}
	again := h.agent(t, "b", map[string]json.RawMessage{"down": config("a1", subagent.Persistent, "")}, nil)
	sent := n.send(t, h.session(t, &again).No, calls("down", tell("hold")))
	<-h.held
	if err := n.sessions.Delete(t.Context(), h.all(t, &all[1])[1].No); err != nil {
		t.Fatal(err)
	}
	read(t, sent)
	found := spanstest.Read(t, h.spans)
	if got := found[len(found)-1].Lines(); len(found) != 2 || !strings.Contains(strings.Join(got, "\n"), "was deleted before there was an answer") {
		t.Errorf("%d traces, the last %q", len(found), got)
	}
}
