package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/internal/agent"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/turn"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/store"
	"quarry/internal/store/llms"
	"quarry/internal/store/storetest"
	"quarry/internal/usage"
	"quarry/internal/usage/usagetest"
)

// till is where calls of models are counted, and what waits for places there.
type till struct{ *usage.Meter }

// metered has an engine find a model in a registry whose calls are counted by the till, and gives its agent a budget.
func (l till) metered(t *testing.T, m model, b usage.Budget) func(*turn.Config, *agent.Agent) {
	t.Helper()
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	models := registry.New(registry.Config{Store: llms.New(db, storetest.Secrets(t, db)), Builtin: m, Meter: l.Meter})
	return func(c *turn.Config, a *agent.Agent) {
		c.Models, a.Model.Name, a.Budget = models, registry.Embedded, &b
	}
}

func newTill() till {
	return till{usage.NewMeter(usage.NewCounters(new(usagetest.Memory), slog.New(slog.DiscardHandler)))}
}

// taken returns until when the places of an account are taken.
func (l till) taken(t *testing.T, a usage.Account) time.Time {
	t.Helper()
	used, err := l.Used(t.Context(), a, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return used[0].End
}

// crowd lets n calls wait for places of an account with one place a second, until leave is called. full is until when the places
// are taken then.
func (l till) crowd(t *testing.T, a usage.Account, n int) (full time.Time, leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(usage.Charged(t.Context(), a))
	full = l.taken(t, a).Add(time.Duration(n) * time.Second)
	var done sync.WaitGroup
	for range n {
		done.Go(func() { _ = l.Admit(ctx, usage.Account{Scope: "elsewhere"}) })
	}
	l.until(t, a, full)
	leave = sync.OnceFunc(func() { cancel(); done.Wait() })
	t.Cleanup(leave)
	return full, leave
}

// almost is less than the time between two places, and more than clocks differ by.
const almost = 500 * time.Millisecond

// until returns when the places of an account are taken until a moment.
func (l till) until(t *testing.T, a usage.Account, full time.Time) {
	t.Helper()
	for l.taken(t, a).Before(full.Add(-almost)) {
		select {
		case <-t.Context().Done():
			t.Fatal("nobody waits for a place")
		case <-time.After(time.Millisecond):
		}
	}
}

// TestBudgetRefuses proves that a turn whose first call finds no place is refused with nothing stored and the time after which to
// come back, also a second time under its external_id.
func TestBudgetRefuses(t *testing.T) {
	t.Parallel()
	l := newTill()
	b := begin(t, nil, l.metered(t, says("It is."), usage.Budget{RequestsPerSecond: 1}))
	_, leave := l.crowd(t, b.agent.Account(), 1000)
	for range 2 {
		in := b.input("go")
		in.Parts[0].ExternalID = "x"
		_, err := b.ask(t, in)
		f, ok := fault.As(err)
		if !ok || f.Kind != fault.KindLimited || f.RetryAfter < 100*time.Second || !strings.Contains(f.Text, `agent "a": its limit requests_per_second of 1`) {
			t.Fatalf("%v, come back after %v", err, f)
		}
		if log := b.log(t); len(log) > 0 {
			t.Fatalf("the log is %q", log)
		}
	}
	leave()
	in := b.input("go")
	in.Parts[0].ExternalID = "x"
	for { // the crowd has left, but for who has taken the places of these seconds
		got, err := b.ask(t, in)
		if fault.Is(err, fault.KindLimited) && t.Context().Err() == nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if err != nil || strings.Join(got, "|") != "input_message: go|agent_output: It is." {
			t.Errorf("%v, %q", err, got)
		}
		return
	}
}

// TestBudgetWaits proves that a call within a turn, and the first one of a turn whose input has waited in the queue, wait for
// their place and are answered then.
func TestBudgetWaits(t *testing.T) {
	t.Parallel()
	l := newTill()
	called, gate := make(chan struct{}), make(chan struct{})
	run := func(_ context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
		close(called)
		<-gate
		return c.Arguments, nil
	}
	set := l.metered(t, replies(calls("probe"), text("one"), text("two")), usage.Budget{RequestsPerSecond: 1})
	b := begin(t, nil, func(c *turn.Config, a *agent.Agent) { probes(tool.Never, run)(c, a); set(c, a) })
	sent, err := b.Send(t.Context(), b.input("go"))
	if err != nil {
		t.Fatal(err)
	}
	<-called
	waiting := b.queue(t, "next")
	full, leave := l.crowd(t, b.agent.Account(), 1000)
	close(gate)
	l.until(t, b.agent.Account(), full.Add(time.Second)) // the turn waits, too
	leave()
	first := `input_message: go|tool_input: probe{"n":1}|tool_output: probe{"n":1}|agent_output: one`
	if got, err := told(t, sent); err != nil || strings.Join(got, "|") != first {
		t.Errorf("%v, %q", err, got)
	}
	if got, err := told(t, waiting); err != nil || strings.Join(got, "|") != first+"|input_message: next|agent_output: two" {
		t.Errorf("%v, %q", err, got)
	}
}

// TestBudgetInterrupted proves that a turn that waits for its place ends when it is interrupted, keeps what it has, and leaves its
// place to others.
func TestBudgetInterrupted(t *testing.T) {
	t.Parallel()
	l := newTill()
	called, gate := make(chan struct{}), make(chan struct{})
	run := func(_ context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
		close(called)
		<-gate
		return c.Arguments, nil
	}
	set := l.metered(t, replies(calls("probe"), text("one")), usage.Budget{RequestsPerSecond: 1})
	b := begin(t, nil, func(c *turn.Config, a *agent.Agent) { probes(tool.Never, run)(c, a); set(c, a) })
	sent, err := b.Send(t.Context(), b.input("go"))
	if err != nil {
		t.Fatal(err)
	}
	<-called
	full, _ := l.crowd(t, b.agent.Account(), 1000)
	close(gate)
	l.until(t, b.agent.Account(), full.Add(time.Second))
	if which, err := b.Interrupt(t.Context(), b.no); which == "" || err != nil {
		t.Errorf("%v, %v", which, err)
	}
	if got, err := told(t, sent); err != nil || strings.Join(got, "|") != `input_message: go|tool_input: probe{"n":1}|tool_output: probe{"n":1}|interrupted` {
		t.Errorf("%v, %q", err, got)
	}
	if now := l.taken(t, b.agent.Account()); now.After(full.Add(almost)) {
		t.Errorf("places are taken for %s more", now.Sub(full))
	}
}

// TestBudgetCharges proves that all a turn causes is charged to its agent: each reply, each attempt at one, and what a tool calls; and
// that the turn in which a quota of tokens is used up ends with an error behind what is stored.
func TestBudgetCharges(t *testing.T) {
	t.Parallel()
	l := newTill()
	spend := func(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
		own := usage.Account{Scope: "another model"}
		if err := l.Admit(ctx, own); err != nil {
			return nil, err
		}
		l.Count(ctx, own, usage.Tokens{Input: 100, Output: 1000})
		return c.Arguments, nil
	}
	took := func(r reply, in, out int64) reply {
		r.Usage = llm.Usage{Input: in, Output: out}
		return r
	}
	cut := took(reply{err: &llm.Error{Failure: llm.Broken}}, 1, 10)
	set := l.metered(t, replies(cut, took(calls("probe"), 2, 20), text("never")), usage.Budget{Quota: usage.Quota{OutputPerMonth: 1000}})
	b := begin(t, nil, func(c *turn.Config, a *agent.Agent) {
		probes(tool.Never, spend)(c, a)
		set(c, a)
		a.Model.Retry = &agent.Retry{Enabled: true, Retry: llm.Retry{Max: 1}}
	})
	got, err := b.ask(t, b.input("go"))
	want := `input_message: go|tool_input: probe{"n":1}|tool_output: probe{"n":1}`
	if err != nil || !strings.HasPrefix(strings.Join(got, "|"), want+`|error: agent "a": the quota output_tokens_per_month of 1000 tokens is used up (1030 were used)`) {
		t.Errorf("%v, %q", err, got)
	}
	if log := strings.Join(b.log(t), "|"); log != want {
		t.Errorf("the log is %s", log)
	}
	used, err := l.Used(t.Context(), b.agent.Account(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range used {
		if u.Limit == "input_tokens_per_month" && u.Used != 103 || u.Limit == "output_tokens_per_month" && u.Used != 1030 {
			t.Errorf("%d of %s are counted", u.Used, u.Limit)
		}
	}
	if _, err := b.ask(t, b.input("again")); !fault.Is(err, fault.KindLimited) || errors.Is(err, context.Canceled) {
		t.Errorf("the next turn: %v", err)
	}
}
