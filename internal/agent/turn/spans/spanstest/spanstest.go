// Package spanstest checks what turns have recorded against the events that they have written.
package spanstest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"quarry/internal/agent/session"
	"quarry/internal/agent/turn/spans"
	"quarry/internal/id"
	"quarry/internal/store"
	"quarry/internal/store/sessions"
	"quarry/internal/store/traces"
	"quarry/internal/trace"
)

// Tree is a trace that has ended.
type Tree struct {
	trace.Trace
	Root  *Node
	Nodes map[string]*Node
}

// Node is a span with its children, in their order.
type Node struct {
	trace.Span
	Children []*Node
}

// Read returns the traces that have ended, the oldest first, with the texts of their spans.
func Read(t testing.TB, kept *traces.Store) []*Tree {
	t.Helper()
	everybody := trace.Reader{All: true}
	found, more, err := kept.List(context.WithoutCancel(t.Context()), trace.List{Limit: 10_000, Reader: everybody})
	if err != nil || more {
		t.Fatal(err, more)
	}
	slices.Reverse(found)
	out := make([]*Tree, len(found))
	for i := range found {
		all, more, err := kept.Spans(context.WithoutCancel(t.Context()), trace.Spans{Trace: found[i].ID, Limit: 100_000, Reader: everybody, Content: true})
		if err != nil || more {
			t.Fatal(err, more)
		}
		out[i] = plant(t, found[i], all)
	}
	return out
}

func plant(t testing.TB, of trace.Trace, all []trace.Shown) *Tree {
	t.Helper()
	tree := &Tree{Trace: of, Nodes: map[string]*Node{}}
	for i := range all {
		if tree.Nodes[all[i].ID] != nil {
			t.Errorf("trace %s has two spans %s", of.ID, all[i].ID)
		}
		tree.Nodes[all[i].ID] = &Node{Span: all[i].Span}
	}
	for i := range all {
		n := tree.Nodes[all[i].ID]
		switch parent := tree.Nodes[n.Parent]; {
		case n.Parent == "" && tree.Root != nil:
			t.Errorf("trace %s has two spans without a parent", of.ID)
		case n.Parent == "":
			tree.Root = n
		case parent == nil:
			t.Errorf("trace %s: %s has a parent that is not there", of.ID, n)
		default:
			parent.Children = append(parent.Children, n)
		}
	}
	if tree.Root == nil {
		t.Fatalf("trace %s has no span without a parent", of.ID)
	}
	return tree
}

// String returns a line that names a span.
func (n *Node) String() string {
	out := string(n.Operation)
	if n.Call != nil {
		out += " " + n.Call.Key
	}
	if n.Failed {
		out += fmt.Sprintf(" (%s: %s)", n.Class, n.Message)
	}
	return out
}

// Lines returns the tree as lines, each indented by its depth.
func (t *Tree) Lines() (out []string) {
	var walk func(*Node, string)
	walk = func(n *Node, indent string) {
		out = append(out, indent+n.String())
		for _, c := range n.Children {
			walk(c, indent+"  ")
		}
	}
	walk(t.Root, "")
	return out
}

// Settled returns the tree as Lines does, as if no process had been killed: what was interrupted is left out, and what it has led to
// stands where the call was made again. Children stand in the order of their lines.
func (t *Tree) Settled() []string {
	again := map[id.Event]*Node{} // calls by the event
	for _, n := range t.Nodes {
		if n.Call != nil && n.Message != spans.Restarted {
			again[n.Call.InputEvent] = n
		}
	}
	below := map[*Node][]*Node{}
	for _, n := range t.Nodes {
		parent := t.Nodes[n.Parent]
		if parent == nil || n.Message == spans.Restarted && n.Operation != trace.ExecuteTool {
			continue
		}
		if parent.Call != nil && again[parent.Call.InputEvent] != nil {
			parent = again[parent.Call.InputEvent]
		}
		if n.Call == nil || again[n.Call.InputEvent] == nil || again[n.Call.InputEvent] == n {
			below[parent] = append(below[parent], n)
		}
	}
	var lines func(*Node) []string
	lines = func(n *Node) []string {
		var children []string
		for _, c := range below[n] {
			children = append(children, strings.Join(lines(c), "\n  "))
		}
		slices.Sort(children)
		return append([]string{n.String()}, children...)
	}
	return lines(t.Root)
}

// Check fails unless all traces are whole, and every event has the spans that it should have. Nothing may run meanwhile.
func Check(t testing.TB, db *store.DB, rows *sessions.Store, kept *traces.Store) {
	t.Helper()
	for _, tree := range Read(t, kept) {
		tree.check(t)
	}
	events(t, db, rows)
}

// outlived reports whether what lies below a span may end after it: what a killed process has left is told at the next start, and
// an agent on another node hears of the interrupt of its call a moment later.
func outlived(n *Node) bool {
	return n.Message == spans.Restarted || n.Operation == trace.ExecuteTool && n.Message == "interrupted"
}

func (t *Tree) check(tb testing.TB) {
	tb.Helper()
	var sum trace.ChatAttributes
	for _, n := range t.Nodes {
		wrong := func(format string, args ...any) {
			tb.Helper()
			tb.Errorf("trace %s, %s: %s\n%s", t.ID, n, fmt.Sprintf(format, args...), strings.Join(t.Lines(), "\n"))
		}
		if n.Chat != nil {
			sum.InputTokens, sum.OutputTokens = sum.InputTokens+n.Chat.InputTokens, sum.OutputTokens+n.Chat.OutputTokens
		}
		classes := trace.Classes
		if n.Operation == trace.ExecuteTool {
			classes = trace.ToolClasses
		}
		if n.Failed != slices.Contains(classes, n.Class) || !n.Failed && n.Class+trace.Class(n.Message) != "" || n.Failed && n.Message == "" {
			wrong("failed %v, class %q, message %q", n.Failed, n.Class, n.Message)
		}
		if n.Ended.Before(n.Started) {
			wrong("it ends before it begins")
		}
		if p := t.Nodes[n.Parent]; p != nil && (n.Started.Before(p.Started) || n.Ended.After(p.Ended) && !outlived(p)) {
			wrong("it lies outside of its parent: %s to %s, and %s to %s", n.Started, n.Ended, p.Started, p.Ended)
		}
		if n.Operation == trace.InvokeAgent {
			t.invocation(n, wrong)
		}
	}
	if t.Failed != t.Root.Failed || t.Input != sum.InputTokens || t.Output != sum.OutputTokens {
		tb.Errorf("trace %s: failed %v, %d and %d tokens, and its spans %v, %d and %d", t.ID, t.Failed, t.Input, t.Output, t.Root.Failed, sum.InputTokens, sum.OutputTokens)
	}
}

// invocation checks the span of a turn.
func (t *Tree) invocation(n *Node, wrong func(string, ...any)) {
	var sum trace.ChatAttributes
	for _, c := range n.Children {
		for _, c := range append([]*Node{c}, c.Children...) {
			if c.Chat != nil {
				sum.InputTokens, sum.OutputTokens, sum.CachedTokens = sum.InputTokens+c.Chat.InputTokens, sum.OutputTokens+c.Chat.OutputTokens, sum.CachedTokens+c.Chat.CachedTokens
			}
		}
	}
	a := n.Invocation
	if a.InputTokens != sum.InputTokens || a.OutputTokens != sum.OutputTokens || a.CachedTokens != sum.CachedTokens {
		wrong("it has %d, %d and %d tokens, and its calls of models %d, %d and %d", a.InputTokens, a.OutputTokens, a.CachedTokens, sum.InputTokens, sum.OutputTokens, sum.CachedTokens)
	}
	want := trace.InvocationAttributes{}
	if call := t.Nodes[n.Parent]; call != nil {
		above := t.Nodes[call.Parent]
		want.ParentAgent, want.ParentSession, want.Depth = above.Agent.Key, above.Session.Key, above.Invocation.Depth+1
	}
	if a.ParentAgent != want.ParentAgent || a.ParentSession != want.ParentSession || a.Depth != want.Depth {
		wrong("it is called by %s in %s at depth %d, want %s in %s at %d", a.ParentAgent, a.ParentSession, a.Depth, want.ParentAgent, want.ParentSession, want.Depth)
	}
}

// recorded is what spans say of events, by the events.
type recorded struct {
	of             map[id.Event][]trace.Operation
	calls, outputs map[id.Event]int // spans of calls, by these and by their outputs
}

// events checks that every event has the spans that it should have, also where its turn has not ended.
func events(t testing.TB, db *store.DB, rows *sessions.Store) {
	t.Helper()
	found := recorded{map[id.Event][]trace.Operation{}, map[id.Event]int{}, map[id.Event]int{}}
	var all []int64
	err := db.Read(context.WithoutCancel(t.Context()), func(q store.Querier) error {
		err := store.Each(q, "read spans", found.add, `SELECT spans FROM trace_blocks`)
		if err == nil {
			all, err = store.Select(q, "read sessions", store.One[int64], `SELECT no FROM sessions WHERE deleted = 0`)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[session.Type]trace.Operation{
		session.Thinking: trace.Thinking, session.AgentOutput: trace.Output, session.StructuredOutput: trace.Output,
		session.StepTransition: trace.StepTransition, session.ImageRead: trace.ImageRead, session.Compaction: trace.Compaction,
	}
	for _, no := range all {
		log, _, err := rows.Events(context.WithoutCancel(t.Context()), session.Page{Session: no, Limit: 100_000, Hidden: true})
		if err != nil {
			t.Fatal(err)
		}
		given := map[int64]bool{} // turns that were given up while the client had calls to make: of these, no trace goes on with an output
		for _, e := range log {
			given[e.Turn] = given[e.Turn] || e.Type == session.ToolOutput && strings.Contains(string(e.Output), "superseded by new input")
		}
		for i := range log {
			e := &log[i]
			switch want := kinds[e.Type]; {
			case want != "" && !slices.Equal(found.of[e.ID], []trace.Operation{want}):
				t.Errorf("%s %d %s has the spans %q", e.Type, e.Ord, e.Text, found.of[e.ID])
			case e.Type == session.ToolOutput && !given[e.Turn] && found.outputs[e.ID] != 1:
				t.Errorf("the output %d %s has %d spans", e.Ord, e.Output, found.outputs[e.ID])
			case e.Type == session.SkillLoad && e.CallID != "" && found.outputs[e.ID] != 1:
				t.Errorf("the skill %d has %d spans", e.Ord, found.outputs[e.ID])
			case e.Type == session.ToolInput && found.calls[e.ID] == 0 && !slices.ContainsFunc(session.Unanswered(log), func(o session.Event) bool { return o.ID == e.ID }):
				t.Errorf("the call %d of %s has no span", e.Ord, e.Tool)
			}
		}
	}
}

func (r *recorded) add(row store.Row) error {
	var block string
	if err := row.Scan(&block); err != nil {
		return err
	}
	var all []struct {
		Operation  trace.Operation `json:"operation"`
		Event      id.Event        `json:"event"`
		Attributes struct {
			Call   id.Event `json:"tool_input_event_id"`
			Output id.Event `json:"tool_output_event_id"`
		} `json:"attributes"`
	}
	if err := json.Unmarshal([]byte(block), &all); err != nil {
		return err
	}
	for _, s := range all {
		if s.Event != "" {
			r.of[s.Event] = append(r.of[s.Event], s.Operation)
		}
		r.calls[s.Attributes.Call]++
		r.outputs[s.Attributes.Output]++
	}
	return nil
}
