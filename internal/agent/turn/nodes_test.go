package turn_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent"
	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/turn"
	"quarry/internal/id"
	"quarry/internal/llm"
)

// flaky is a log each of whose commits fails once, before or after it is made.
type flaky struct {
	session.Log
	after  bool
	mu     sync.Mutex
	failed map[string]bool
}

func (f *flaky) Commit(ctx context.Context, l session.Lease, c session.Commit, now time.Time) (session.Committed, error) {
	name := "end"
	if len(c.Events) > 0 {
		name = content(c.Events[0])
	}
	f.mu.Lock()
	first := !f.failed[name]
	f.failed[name] = true
	f.mu.Unlock()
	if first && !f.after {
		return session.Committed{}, errors.New("the connection is lost")
	}
	done, err := f.Log.Commit(ctx, l, c, now)
	if first && err == nil {
		return session.Committed{}, errors.New("the connection is lost")
	}
	return done, err
}

// TestLostWrites proves that writes which fail, and those that only seem to, leave the log of a turn whose writes don't fail.
func TestLostWrites(t *testing.T) {
	t.Parallel()
	m, probe := rounds(4), probes(tool.Reads, echo)
	whole := begin(t, m, probe)
	if _, err := whole.ask(t, whole.input("go")); err != nil {
		t.Fatal(err)
	}
	for _, after := range []bool{false, true} {
		b := begin(t, m, func(c *turn.Config, a *agent.Agent) {
			probe(c, a)
			c.Log = &flaky{Log: c.Log, after: after, failed: map[string]bool{}}
		})
		got, err := b.ask(t, b.input("go"))
		if err != nil {
			t.Errorf("after %v: %v", after, err)
		}
		want := steady(whole.log(t))
		if diff := cmp.Diff(want, steady(b.log(t))); diff != "" {
			t.Errorf("after %v: log (-sound +flaky): %s", after, diff)
		}
		if diff := cmp.Diff(want, steady(got)); diff != "" {
			t.Errorf("after %v: shown (-want +got): %s", after, diff)
		}
	}
}

// shared lets an engine work beside others over one database.
func shared(c *turn.Config, _ *agent.Agent) { c.Alone = false }

// TestInterruption proves that whoever interrupts a turn, in its process or in another one, and those who read along are told of it
// under one id, and of the next turn's under another.
func TestInterruption(t *testing.T) {
	t.Parallel()
	m, begun := slow("One moment.", nil)
	b := begin(t, m, shared)
	other := *b
	other.open(t, m, shared)
	seen := map[id.Event]bool{}
	for _, by := range []*bench{b, &other} {
		sent, err := b.Send(t.Context(), b.input("go"))
		if err != nil {
			t.Fatal(err)
		}
		<-begun
		which, err := by.Interrupt(t.Context(), b.no)
		if err != nil || which == "" || seen[which] {
			t.Errorf("%q, %v, after %v", which, err, seen)
		}
		seen[which] = true
		for f, err := sent.Next(t.Context()); ; f, err = sent.Next(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if f.Shape != feed.Noted {
				continue
			}
			if f.Note.Kind != feed.Interrupted || f.Note.ID != which {
				t.Errorf("told %+v, want %s", f.Note, which)
			}
			break
		}
		sent.Close()
		b.idle(t)
	}
}

// TestCauses proves that whoever waits in one process for a turn of another one is told there why it did not come to its end, as in
// that process: once, behind its events, and nothing of it where the turn before has failed and this one has not.
func TestCauses(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	wait, begun := slow("One moment.", gate)
	m := model(func(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		switch said := r.Messages[len(r.Messages)-1].Plain(); said {
		case "late":
			return replies(reply{err: &llm.Error{Failure: llm.TimedOut}})(ctx, r, emit)
		case "broken":
			return replies(reply{err: errors.New("disk")})(ctx, r, emit)
		case "stop", "go":
			return wait(ctx, r, emit)
		}
		return says("Yes.")(ctx, r, emit)
	})
	b := begin(t, m, shared)
	other := *b
	other.open(t, m, shared)
	sent, err := b.Send(t.Context(), b.input("go"))
	if err != nil {
		t.Fatal(err)
	}
	defer sent.Close()
	<-begun
	waiting := map[string]*turn.Sent{}
	texts := []string{"late", "fine", "broken", "stop", "well"}
	for _, text := range texts {
		since := int64(1)
		in := other.input(text)
		in.Since, in.Queue = &since, true
		if waiting[text], err = other.Send(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	gate <- struct{}{}
	<-begun
	if which, err := b.Interrupt(t.Context(), b.no); which == "" || err != nil {
		t.Errorf("%q, %v", which, err)
	}
	for text, want := range map[string]string{
		"late": "late|error: the language model did not answer in time", "fine": "fine|agent_output: Yes.",
		"broken": "broken|error: the turn has failed in another process", "stop": "stop|agent_output: One moment.|interrupted", "well": "well|agent_output: Yes.",
	} {
		got, err := told(t, waiting[text])
		whole := strings.Join(got, "|")
		if err != nil || !strings.HasSuffix(whole, "input_message: "+want) || strings.Count(whole, "error: ")+strings.Count(whole, "interrupted") != strings.Count(want, "error: ")+strings.Count(want, "interrupted") {
			t.Errorf("%s: %v, %q", text, err, whole)
		}
	}
}

// TestNodes proves what holds where another process works on a session: its events are read, inputs wait behind its turn, an
// interrupt reaches it, and what it gives back goes on here.
func TestNodes(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	m, begun := slow("One moment.", gate)
	b := begin(t, m, shared)
	first, stop := b.Engine, b.stop
	sent, err := b.Send(t.Context(), b.input("go"))
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	other := *b
	other.open(t, m, shared)
	if other.Working() > 0 {
		t.Fatal("two processes work on one session")
	}
	if _, err := other.Send(t.Context(), other.input("busy")); err == nil {
		t.Error("a second turn has begun")
	}
	since := int64(0)
	next := other.input("next")
	next.Since, next.Queue = &since, true
	waiting, err := other.Send(t.Context(), next)
	if err != nil {
		t.Fatal(err)
	}
	if which, err := other.Interrupt(t.Context(), b.no); which == "" || err != nil {
		t.Errorf("%v, %v", which, err)
	}
	if got, err := told(t, sent); err != nil || strings.Join(got, "|") != "input_message: go|agent_output: One moment.|interrupted" {
		t.Errorf("%v, %q", err, got)
	}
	<-begun // the turn that has waited
	stop()
	if first.Working() > 0 {
		t.Error("the process that has stopped still works")
	}
	<-begun // the same turn, taken over
	close(gate)
	got, err := told(t, waiting)
	if err != nil || strings.Join(got, "|") != "input_message: go|agent_output: One moment.|input_message: next|agent_output: One moment." {
		t.Errorf("%v, %q", err, got)
	}
}
