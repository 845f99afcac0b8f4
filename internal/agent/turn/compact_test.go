package turn_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent"
	"quarry/internal/agent/session"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/turn"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/llm/llmtest"
)

// sums reports whether a call is for a summary.
func sums(r llm.Request) bool {
	return len(r.Messages) > 0 && strings.HasPrefix(r.Messages[0].Plain(), "You sum up")
}

// filling is a model whose calls fill the context, and which sums up by the number of what users have said.
func filling(m model) model {
	return func(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		if sums(r) {
			return says(fmt.Sprintf("sum of %d", strings.Count(r.Messages[1].Plain(), "User:")))(ctx, r, emit)
		}
		a, err := m(ctx, r, emit)
		a.Usage = llm.Usage{Input: 95_000, Output: 1}
		return a, err
	}
}

// compaction is the input that asks for a compaction.
func (b *bench) compaction(upTo id.Event) turn.Input {
	return turn.Input{Input: session.Input{Session: b.no, Event: id.NewEvent(), Compaction: &session.Wish{UpTo: upTo}}, Whole: true}
}

// hidden returns why each event of the log is hidden.
func (b *bench) hidden(t *testing.T) (out []string) {
	t.Helper()
	found, _, err := b.rows.Events(t.Context(), session.Page{Session: b.no, Limit: 1000, Hidden: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		out = append(out, e.Hidden)
	}
	return out
}

// TestCompacts proves that a turn whose context is full begins with a compaction, once, that the model then reads the summary in
// place of what it stands for, and that what is shown again is read in its place.
func TestCompacts(t *testing.T) {
	t.Parallel()
	var read []string
	answer := rounds(2)
	b := begin(t, filling(func(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		read = nil
		for _, m := range r.Messages {
			read = append(read, string(m.Role)+": "+m.Plain())
		}
		return answer(ctx, r, emit)
	}), probes(tool.Reads, echo))
	for range 2 {
		if _, err := b.ask(t, b.input("go")); err != nil {
			t.Fatal(err)
		}
	}
	in := b.input("on")
	in.Whole = false
	got, err := b.ask(t, in)
	if err != nil || len(got) < 3 || strings.Join(got[:3], "|") != "input_message: on|compaction started|compaction: sum of 1" {
		t.Fatalf("%v, %q", err, got)
	}
	if n := strings.Count(strings.Join(b.log(t), "|"), "compaction: "); n != 2 {
		t.Errorf("%d compactions in three turns", n)
	}
	want := []string{"user: Summary of what was said before:\nsum of 1", "user: on"}
	if diff := cmp.Diff(want, read[:2]); diff != "" {
		t.Errorf("read (-want +got): %s", diff)
	}
	all, _, err := b.rows.Events(t.Context(), session.Page{Session: b.no, Limit: 1, Hidden: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.rows.Hide(t.Context(), b.no, all[0].ID, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := b.ask(t, b.compaction("")); err != nil {
		t.Fatal(err)
	}
	if hidden := b.hidden(t); hidden[0] != session.Compacted {
		t.Errorf("what was shown again is not summed up anew: %q", hidden)
	}
}

// TestCompactionKilled proves that a turn with a compaction which is killed before or after any of its commits, the one between the
// summary and the next call among them, leaves the log of one that was never killed.
func TestCompactionKilled(t *testing.T) {
	t.Parallel()
	m, probe := filling(rounds(2)), probes(tool.Reads, echo)
	prepared := func(t *testing.T) *bench {
		b := begin(t, m, probe)
		for range 2 {
			if _, err := b.ask(t, b.input("go")); err != nil {
				t.Fatal(err)
			}
		}
		return b
	}
	whole := prepared(t)
	if _, err := whole.ask(t, whole.input("on")); err != nil {
		t.Fatal(err)
	}
	want, hidden := steady(whole.log(t)), whole.hidden(t)
	for n := 1; n <= 5; n++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d after %v", n, after), func(t *testing.T) {
				t.Parallel()
				b := prepared(t)
				b.killed(t, b.input("on"), n, after, m, probe)
				if diff := cmp.Diff(want, steady(b.log(t))); diff != "" {
					t.Errorf("log (-unkilled +killed): %s", diff)
				}
				if diff := cmp.Diff(hidden, b.hidden(t)); diff != "" {
					t.Errorf("hidden (-unkilled +killed): %s", diff)
				}
			})
		}
	}
}

// killed sends an input to a process that is killed at a commit, and lets another one go on.
func (b *bench) killed(t *testing.T, in turn.Input, n int, after bool, m model, change func(*turn.Config, *agent.Agent)) {
	t.Helper()
	b.stop()
	cutting := &cut{left: n, after: after, dead: make(chan struct{})}
	b.open(t, m, func(c *turn.Config, a *agent.Agent) {
		change(c, a)
		cutting.Log = c.Log
		c.Log = cutting
	})
	s, err := b.Send(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	<-cutting.dead
	s.Close()
	b.open(t, m, change)
	b.idle(t)
}

// TestRequestedCompactionKilled proves that a compaction on request happens once and whole, whether its process is killed before or after
// its commit, and with the id that its sender was told.
func TestRequestedCompactionKilled(t *testing.T) {
	t.Parallel()
	m := filling(rounds(0))
	for _, after := range []bool{false, true} {
		b := begin(t, m, nil)
		for _, text := range []string{"one", "two"} {
			if _, err := b.ask(t, b.input(text)); err != nil {
				t.Fatal(err)
			}
		}
		before := b.log(t)
		in := b.compaction("")
		in.Event = id.NewEvent()
		e, err := b.rows.Event(t.Context(), b.no, b.first(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.rows.Hide(t.Context(), b.no, e.ID, ""); err != nil { // so that there is something to sum up beside the last turn
			t.Fatal(err)
		}
		b.killed(t, in, 1, after, m, func(*turn.Config, *agent.Agent) {})
		if diff := cmp.Diff(append(slices.Clone(before), "compaction: sum of 1"), b.log(t)); diff != "" {
			t.Errorf("after %v: log (-want +got): %s", after, diff)
		}
		if _, err := b.rows.Event(t.Context(), b.no, in.Event); err != nil {
			t.Errorf("after %v: %v", after, err)
		}
		if got, err := b.ask(t, b.input("three")); err != nil || got[len(got)-1] == "" {
			t.Errorf("after %v: the session goes on with %q, %v", after, got, err)
		}
	}
}

// first returns the id of the first event.
func (b *bench) first(t *testing.T) id.Event {
	t.Helper()
	all, _, err := b.rows.Events(t.Context(), session.Page{Session: b.no, Limit: 1, Hidden: true})
	if err != nil || len(all) == 0 {
		t.Fatalf("no event: %v", err)
	}
	return all[0].ID
}

// TestCompactionWaits proves that a compaction which is sent while a turn runs is made behind it, before inputs that were sent later,
// and that its senders are shown nothing but it, whole and streamed; one that comes to nothing by then is refused.
func TestCompactionWaits(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	m, speaking := slow("well now", gate)
	b := begin(t, func(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		if sums(r) {
			return says("so far")(ctx, r, emit)
		}
		return m(ctx, r, emit)
	}, nil)
	running, err := b.Send(t.Context(), b.input("one"))
	if err != nil {
		t.Fatal(err)
	}
	<-speaking
	first := b.first(t)
	var waiting []*turn.Sent
	for i := range 3 {
		in := b.compaction(first)
		in.Whole = i != 1
		s, err := b.Send(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		waiting = append(waiting, s)
		if i == 0 {
			first = ""
		}
		if i == 1 {
			next := b.input("two")
			next.Queue, next.Since = true, new(int64)
			s, err := b.Send(t.Context(), next)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
		}
	}
	close(gate)
	if _, err := told(t, running); err != nil {
		t.Fatal(err)
	}
	if got, err := told(t, waiting[0]); err != nil || strings.Join(got, "|") != "compaction: so far" {
		t.Errorf("the first one shows %q, %v", got, err)
	}
	if got, err := told(t, waiting[1]); err != nil || len(got) != 1 || !strings.Contains(got[0], "nothing to sum up") {
		t.Errorf("the second one, without an anchor behind one turn, shows %q, %v", got, err)
	}
	if got, err := told(t, waiting[2]); err != nil || strings.Join(got, "|") != "compaction: so far" {
		t.Errorf("the third one shows %q, %v", got, err)
	}
	b.idle(t)
	var kinds []string
	for _, line := range b.log(t) {
		kind, _, _ := strings.Cut(line, ":")
		kinds = append(kinds, kind)
	}
	if got := strings.Join(kinds, " "); got != "input_message agent_output compaction input_message agent_output compaction" {
		t.Errorf("the log is %q", got)
	}
}

// TestCompactionFails proves that a turn goes on without a summary that fails, which is tried once, as long as its context does; that
// nothing is hidden then; and that one on request is its sender's failure.
func TestCompactionFails(t *testing.T) {
	t.Parallel()
	var tried atomic.Int64
	m := func(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		if sums(r) {
			tried.Add(1)
			return llm.Answer{}, &llm.Error{Failure: llm.Unreachable}
		}
		return filling(rounds(3))(ctx, r, emit)
	}
	b := begin(t, m, probes(tool.Reads, echo))
	for range 2 {
		if got, err := b.ask(t, b.input("go")); err != nil || !strings.HasPrefix(got[len(got)-1], "agent_output: round 3") {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if n := tried.Load(); n != 1 {
		t.Errorf("a summary was tried %d times in a turn of four calls", n)
	}
	if got, err := b.ask(t, b.compaction("")); !fault.Is(err, fault.KindUnavailable) {
		t.Errorf("on request: %q, %v", got, err)
	}
	if hidden := b.hidden(t); slices.ContainsFunc(hidden, func(why string) bool { return why != "" }) {
		t.Errorf("hidden are %q", hidden)
	}
	b.stop()
	b.open(t, m, func(c *turn.Config, a *agent.Agent) {
		probes(tool.Reads, echo)(c, a)
		c.Models = llmtest.Only{Use: &llm.Model{Provider: model(m), Name: "m", Can: llm.Abilities{Tools: true, Context: 100}}}
	})
	if got, err := b.ask(t, b.input("go")); err != nil || got[len(got)-1] != "context limit" {
		t.Errorf("beyond the context: %q, %v", got, err)
	}
}

// TestCompactionInterrupted proves that an interrupt ends a compaction on request, which then has hidden nothing.
func TestCompactionInterrupted(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	b := begin(t, func(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		if sums(r) {
			asked <- struct{}{}
			<-ctx.Done()
			return llm.Answer{}, context.Cause(ctx)
		}
		return says("yes")(ctx, r, emit)
	}, nil)
	if _, err := b.ask(t, b.input("one")); err != nil {
		t.Fatal(err)
	}
	s, err := b.Send(t.Context(), b.compaction(b.first(t)))
	if err != nil {
		t.Fatal(err)
	}
	<-asked
	if which, err := b.Interrupt(t.Context(), b.no); err != nil || which == "" {
		t.Errorf("%q, %v", which, err)
	}
	if got, err := told(t, s); err != nil || strings.Join(got, "|") != "interrupted" {
		t.Errorf("shown %q, %v", got, err)
	}
	if log := b.log(t); len(log) != 2 {
		t.Errorf("the log is %q", log)
	}
}
