package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"quarry/internal/store"
	"quarry/internal/store/traces"
	"quarry/internal/trace"
)

// end is behind the newest trace; the oldest begins thirty days before.
var end = time.Date(2026, 6, 30, 0, 0, 0, 0, time.UTC)

const (
	agents   = 40 // agent-0 has a third of the traces, later ones fewer and fewer
	tools    = 60 // likewise
	perWrite = 200
)

func keys(from, to int) (out []string) {
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprint("agent-", i))
	}
	return out
}

// fill writes traces, oldest first, and the largest one.
func (b *bench) fill(ctx context.Context, db *store.DB) error {
	s := traces.New(db, nil)
	if old, _, err := s.List(ctx, trace.List{Limit: 1, StartedAfter: end, Reader: trace.Reader{All: true}}); err != nil || len(old) > 0 {
		if err == nil {
			b.largest = old[0].ID
			err = b.parent(ctx, s)
		}
		return err
	}
	if err := db.Write(ctx, writeAgents); err != nil {
		return err
	}
	g := &generator{r: rand.New(rand.NewPCG(1, 1)), of: b.traces}
	began, spans := time.Now(), 0
	for n := 0; n < b.traces; n += perWrite {
		var batch [][]trace.Span
		for i := n; i < min(n+perWrite, b.traces); i++ {
			batch = append(batch, g.trace(i))
			spans += len(batch[i-n])
		}
		if err := write(ctx, db, s, batch...); err != nil {
			return err
		}
	}
	took := time.Since(began)
	fmt.Fprintf(os.Stderr, "%d traces, %d spans written in %v: %v a span\n", b.traces, spans, took.Round(time.Second), (took / time.Duration(max(1, spans))).Round(time.Microsecond))
	large := g.large(b.large)
	b.largest = large[0].Trace
	for ; len(large) > 0; large = large[min(len(large), 1000):] {
		if err := write(ctx, db, s, large[:min(len(large), 1000)]); err != nil {
			return err
		}
	}
	return b.parent(ctx, s)
}

// perCommit is how many spans of a trace are written at once: about what a commit of a turn ends.
const perCommit = 2

// write writes traces as turns do.
func write(ctx context.Context, db *store.DB, s *traces.Store, all ...[]trace.Span) error {
	return db.Write(ctx, func(tx *store.Tx) error {
		for _, one := range all {
			for some := range slices.Chunk(one, perCommit) {
				if err := s.Write(tx, some); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// parent sets the entry of the largest trace.
func (b *bench) parent(ctx context.Context, s *traces.Store) error {
	found, _, err := s.Spans(ctx, trace.Spans{Trace: b.largest, Limit: 1, Reader: trace.Reader{All: true}})
	if err == nil {
		b.middle = found[0].ID
	}
	return err
}

func writeAgents(tx *store.Tx) error {
	for _, key := range append(keys(0, agents), "agent-rare") {
		if err := tx.Exec(`INSERT INTO agents (key, revision, enabled, created, updated, deleted) VALUES ($1, 1, TRUE, 1, 1, 0)`, key); err != nil {
			return err
		}
	}
	return nil
}

// generator makes traces.
type generator struct {
	r  *rand.Rand
	of int
}

// rank returns a number below n, each a tenth rarer than the one before.
func (g *generator) rank(n int) int { return min(n-1, int(math.Abs(g.r.NormFloat64())*float64(n)/5)) }

// trace returns the spans of the i-th trace, the entry last.
func (g *generator) trace(i int) []trace.Span {
	step := 30 * 24 * time.Hour / time.Duration(g.of)
	at := end.Add(-30 * 24 * time.Hour).Add(time.Duration(i) * step).Truncate(time.Microsecond)
	rare := i < g.of/50 && g.r.IntN(100) == 0 // twenty of the oldest
	a := g.rank(agents)
	agent := trace.Subject{No: int64(a + 1), Key: fmt.Sprint("agent-", a)}
	if rare {
		agent = trace.Subject{No: agents + 1, Key: "agent-rare"}
	}
	n := g.r.Int64N(int64(g.of)/5) + 1
	t := tree{g, trace.NewID(at), trace.NewSpanID(), agent, trace.Subject{No: n, Key: fmt.Sprint("ase_", n)}, at, nil}
	if rare {
		t.tool("tool-rare", trace.DependencyFailed)
		t.add(trace.Compaction, "")
	}
	failed := g.r.IntN(20) == 0
	for range 2 + g.r.IntN(4) {
		if g.r.IntN(2) == 0 {
			t.add(trace.Thinking, "")
		}
		t.add(trace.Chat, "")
		if used := g.rank(tools); used == 0 || g.r.IntN(2) == 0 {
			class := trace.Class("")
			if g.r.IntN(50) == 0 {
				class = trace.ExecutionError
			}
			t.tool(fmt.Sprint("tool-", used), class)
		} else if g.r.IntN(10) == 0 && !t.has("tool-0") {
			t.add(trace.ImageRead, "")
			break
		}
	}
	class := trace.Class("")
	if failed && g.r.IntN(5) == 0 {
		class = trace.GenerationError
	}
	if rare {
		class = trace.ContextLimit
	}
	t.add(trace.Output, "")
	length := time.Duration(math.Exp(g.r.NormFloat64()*1.6+8.5) * float64(time.Millisecond)) // five seconds in the middle
	if rare {
		length = 2 * time.Hour
	}
	return t.end(length, failed || rare, class)
}

// tree is a trace in the making.
type tree struct {
	*generator
	id, entry string
	agent     trace.Subject
	session   trace.Subject
	at        time.Time
	spans     []trace.Span
}

func (t *tree) has(tool string) bool {
	for _, s := range t.spans {
		if s.Call != nil && s.Call.Tool == tool {
			return true
		}
	}
	return false
}

// add appends a span of the turn.
func (t *tree) add(o trace.Operation, class trace.Class) *trace.Span {
	began := t.at.Add(time.Duration(len(t.spans)) * time.Millisecond)
	s := trace.Span{
		Trace: t.id, ID: trace.NewSpanID(), Parent: t.entry, Operation: o, Started: began, Ended: began.Add(time.Millisecond), Agent: t.agent, Session: t.session,
		Failed: class != "", Class: class, Step: "first", Event: "aev_0a1b2c3d-0000-4000-8000-000000000000",
	}
	if o == trace.Chat {
		s.Chat = &trace.ChatAttributes{Model: "gpt-5", InputTokens: 1200, OutputTokens: 80, FinishReasons: []string{"stop"}, Provider: "openai", Response: "resp_0123456789abcdef"}
	}
	t.spans = append(t.spans, s)
	return &t.spans[len(t.spans)-1]
}

func (t *tree) tool(name string, class trace.Class) {
	s := t.add(trace.ExecuteTool, class)
	s.Call = &trace.CallAttributes{Tool: name, Key: name, CallID: "call_0123456789", Type: "dynamic", InputEvent: s.Event, OutputEvent: s.Event, Corpora: []string{"manuals"}}
	if class != "" {
		s.Message = "the tool has failed: its endpoint answered 500"
	}
}

// end appends the entry.
func (t *tree) end(length time.Duration, failed bool, class trace.Class) []trace.Span {
	return append(t.spans, trace.Span{
		Trace: t.id, ID: t.entry, Operation: trace.InvokeAgent, Started: t.at, Ended: t.at.Add(length.Truncate(time.Microsecond)), Agent: t.agent, Session: t.session,
		Failed: failed, Class: class, Invocation: &trace.InvocationAttributes{
			ChatAttributes: trace.ChatAttributes{Model: "gpt-5", InputTokens: 3600, OutputTokens: 240, Provider: "openai"}, AgentName: "Desk", OutputType: "text",
		},
	})
}

// large returns a trace of n spans behind all others: a turn that has called other agents again and again.
func (g *generator) large(n int) []trace.Span {
	at := end.Add(time.Hour)
	t := tree{g, trace.NewID(at), trace.NewSpanID(), trace.Subject{No: 1, Key: "agent-0"}, trace.Subject{No: 1, Key: "ase_1"}, at, nil}
	for len(t.spans) < n-1 {
		t.add(trace.Chat, "")
		t.tool("sub_agent", "")
		call := t.spans[len(t.spans)-1].ID
		nested := t.add(trace.InvokeAgent, "")
		nested.Parent, nested.Session.No, nested.Invocation = call, int64(1000+len(t.spans)), &trace.InvocationAttributes{Depth: 1}
		for range 17 {
			s := t.add(trace.Chat, "")
			s.Parent, s.Session = nested.ID, nested.Session
		}
	}
	t.spans[n/2].Operation = trace.Compaction
	return t.end(time.Hour, false, "")
}
