package usage_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/fault"
	"quarry/internal/usage"
	"quarry/internal/usage/usagetest"
)

func newMeter() *usage.Meter {
	return usage.NewMeter(usage.NewCounters(new(usagetest.Memory), slog.New(slog.DiscardHandler)))
}

// account returns an account with a limit of calls a second, 0 for none.
func account(name string, rps int64) usage.Account {
	return usage.Account{Scope: name, Name: "account " + name, Budget: usage.Budget{RequestsPerSecond: rps}}
}

// wantOver proves that err is the fault of an account over a limit: with both in the text, and when to come back.
func wantOver(t *testing.T, err error, account, limit string, after time.Duration) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Kind != fault.KindLimited || f.RetryAfter != 0 {
		t.Fatalf("%v is no refusal by a limit", err)
	}
	for _, want := range []string{"account " + account + ": ", limit, " seconds"} {
		if !strings.Contains(f.Text, want) {
			t.Errorf("%q lacks %q", f.Text, want)
		}
	}
	var r *usage.Refused
	if !errors.As(err, &r) || r.Text != f.Text || r.After != after {
		t.Errorf("the cause is %+v, want a wait of %s", r, after)
	}
}

// admitted returns how many of n calls at once are let in.
func admitted(ctx context.Context, m *usage.Meter, a usage.Account, n int) (let int) {
	for range n {
		if m.Admit(ctx, a) == nil {
			let++
		}
	}
	return let
}

// TestBudget proves that the seven limits have the contract's names, that each is the one of its name, and which values are
// refused.
func TestBudget(t *testing.T) {
	t.Parallel()
	b := usage.Budget{RequestsPerSecond: 1, Quota: usage.Quota{
		InputPerMinute: 2, InputPerDay: 3, InputPerMonth: 4, OutputPerMinute: 5, OutputPerDay: 6, OutputPerMonth: 7,
	}}
	names := []string{
		"requests_per_second", "input_tokens_per_minute", "input_tokens_per_day", "input_tokens_per_month",
		"output_tokens_per_minute", "output_tokens_per_day", "output_tokens_per_month",
	}
	limits := b.Limits()
	for i, name := range names {
		if limits[name] == nil || *limits[name] != int64(i)+1 {
			t.Errorf("%s is %v", name, limits[name])
		}
	}
	if len(limits) != len(names) {
		t.Errorf("%d limits", len(limits))
	}
	for name, most := range map[string]int64{"requests_per_second": 10_000, "input_tokens_per_day": 1 << 62} {
		for value, fits := range map[int64]bool{-1: false, 0: true, 1: true, most: true, most + 1: name != "requests_per_second"} {
			var b usage.Budget
			*b.Limits()[name] = value
			bad := fault.Invalid()
			b.Check("quota", bad)
			if _, refused := bad.Fields["quota."+name]; refused == fits {
				t.Errorf("%s of %d: %v", name, value, bad.Fields)
			}
		}
	}
}

// TestMeterRate proves that calls beyond the limit of a second are refused with the time until the next place, and that a call
// with several accounts takes a place of each or of none.
func TestMeterRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, model, agent := newMeter(), account("model", 10), account("agent", 4)
		ctx := usage.AtOnce(usage.Charged(t.Context(), agent))
		if let := admitted(ctx, m, model, 9); let != 4 {
			t.Errorf("%d calls of the agent are let in at once, want 4", let)
		}
		wantOver(t, m.Admit(ctx, model), "agent", "requests_per_second of 4", 250*time.Millisecond)
		if let := admitted(t.Context(), m, model, 9); let != 6 {
			t.Errorf("%d more calls of the model are let in, want 6: those that the agent was refused cost nothing", let)
		}
		wantOver(t, m.Admit(t.Context(), model), "model", "requests_per_second of 10", 100*time.Millisecond)
		time.Sleep(250 * time.Millisecond)
		if let := admitted(ctx, m, model, 9); let != 1 {
			t.Errorf("%d calls of the agent are let in after a quarter of a second, want 1", let)
		}
		if let := admitted(t.Context(), m, account("free", 0), 20_000); let != 20_000 {
			t.Errorf("%d calls without a limit", let)
		}
	})
}

// TestMeterWaits proves that calls that are charged to an account, or patient, wait for their place, in order and at the limit of whichever
// account is slower, that those who ask at once meanwhile are refused, and that behind one who gives up all move up.
func TestMeterWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, model, agent := newMeter(), account("model", 2), account("agent", 10)
		ctx := usage.Charged(t.Context(), agent)
		if let := admitted(ctx, m, model, 2); let != 2 {
			t.Fatalf("%d calls are let in", let)
		}
		began := time.Now()
		var mu sync.Mutex
		var came []time.Duration
		leaving, leave := context.WithCancelCause(ctx)
		left := errors.New("left")
		var done sync.WaitGroup
		wait := func(ctx context.Context, want error) {
			done.Go(func() {
				if err := m.Admit(ctx, model); !errors.Is(err, want) {
					t.Errorf("%v, want %v", err, want)
				} else if err == nil {
					mu.Lock()
					came = append(came, time.Since(began))
					mu.Unlock()
				}
			})
			synctest.Wait()
		}
		wait(ctx, nil)
		for range 40 {
			wait(leaving, left)
		}
		wait(usage.Patient(t.Context()), nil)
		wantOver(t, m.Admit(t.Context(), model), "model", "requests_per_second of 2", 21500*time.Millisecond)
		wantOver(t, m.Admit(usage.AtOnce(ctx), model), "model", "requests_per_second of 2", 21500*time.Millisecond)
		time.Sleep(200 * time.Millisecond)
		leave(left)
		synctest.Wait()
		wait(ctx, nil)
		wantOver(t, m.Admit(t.Context(), model), "model", "requests_per_second of 2", 1800*time.Millisecond)
		done.Wait()
		if want := []time.Duration{500 * time.Millisecond, time.Second, 1500 * time.Millisecond}; !slices.Equal(came, want) {
			t.Errorf("let in after %v, want %v", came, want)
		}
	})
}

// TestMeterQuotas proves that tokens count for every account of a call, that a quota of any of them refuses all calls charged
// to it, those that would wait too, and that of several the one is named that resets last. The bubble's clock begins at midnight.
func TestMeterQuotas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, model, agent, other := newMeter(), account("model", 0), account("agent", 0), account("other", 0)
		model.Budget.InputPerMinute, agent.Budget.OutputPerDay, other.Budget.OutputPerDay = 100, 10, 10
		ctx := usage.Charged(t.Context(), agent)
		if err := m.Admit(ctx, model); err != nil {
			t.Fatal(err)
		}
		m.Count(ctx, model, usage.Tokens{Input: 60, Output: 10})
		wantOver(t, m.Admit(ctx, model), "agent", "output_tokens_per_day of 10", 24*time.Hour)
		if err := m.Admit(usage.Charged(t.Context(), other), model); err != nil {
			t.Errorf("another agent: %v", err)
		}
		m.Count(t.Context(), model, usage.Tokens{Input: 40})
		wantOver(t, m.Admit(t.Context(), model), "model", "input_tokens_per_minute of 100", time.Minute)
		wantOver(t, m.Admit(ctx, model), "agent", "output_tokens_per_day of 10", 24*time.Hour)
		for scope, want := range map[string]usage.Tokens{"model": {Input: 100, Output: 10}, "agent": {Input: 60, Output: 10}, "other": {}} {
			used, err := m.Used(t.Context(), usage.Account{Scope: scope}, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range used {
				if u.Limit == "input_tokens_per_month" && u.Used != want.Input || u.Limit == "output_tokens_per_month" && u.Used != want.Output {
					t.Errorf("%s has used %d of %s", scope, u.Used, u.Limit)
				}
			}
		}
	})
}

// TestMeterQuotaWhileWaiting proves that a call that has waited for its place is refused if a quota was used up meanwhile.
func TestMeterQuotaWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, model, agent := newMeter(), account("model", 0), account("agent", 1)
		agent.Budget.OutputPerMonth = 5
		ctx := usage.Charged(t.Context(), agent)
		if err := m.Admit(ctx, model); err != nil {
			t.Fatal(err)
		}
		var err error
		var done sync.WaitGroup
		done.Go(func() { err = m.Admit(ctx, model) })
		synctest.Wait()
		m.Count(ctx, model, usage.Tokens{Output: 5})
		done.Wait()
		wantOver(t, err, "agent", "output_tokens_per_month of 5", 31*24*time.Hour-time.Second)
	})
}

// TestCharged proves that accounts add up: who is charged within what is charged to another one is charged beside it, and the
// context around it stays as it was.
func TestCharged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, model := newMeter(), account("model", 0)
		outer := usage.Charged(t.Context(), account("outer", 0))
		inner := usage.Charged(outer, account("inner", 0))
		_ = usage.Charged(outer, account("beside", 0))
		m.Count(inner, model, usage.Tokens{Input: 1})
		m.Count(outer, model, usage.Tokens{Input: 10})
		for scope, want := range map[string]int64{"model": 11, "outer": 11, "inner": 1, "beside": 0} {
			used, err := m.Used(t.Context(), usage.Account{Scope: scope}, time.Now())
			if err != nil || used[1].Used+used[2].Used != want {
				t.Errorf("%v, %s has used %+v, want %d", err, scope, used[1:3], want)
			}
		}
	})
}

// TestMeterUsed proves what is shown of calls a second: what is missing in the bucket and when it is full, without taking
// anything, never more than the limit, and a full bucket under another limit.
func TestMeterUsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, a := newMeter(), account("a", 10)
		show := func(a usage.Account) string {
			t.Helper()
			used, err := m.Used(t.Context(), a, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			u := used[0]
			return fmt.Sprint(u.Limit, " ", u.Used, "/", u.Most, " ", u.Counted, " ", time.Until(u.End))
		}
		want := func(a usage.Account, want string) {
			t.Helper()
			for range 3 {
				if got := show(a); got != "requests_per_second "+want {
					t.Errorf("%s, want %s", got, want)
				}
			}
		}
		want(a, "0/10 true 0s")
		admitted(t.Context(), m, a, 4)
		want(a, "4/10 true 400ms")
		want(account("a", 20), "0/20 true 0s")
		want(account("a", 0), "0/0 false 0s")
		time.Sleep(250 * time.Millisecond)
		want(a, "2/10 true 150ms")
		admitted(t.Context(), m, a, 10)
		ctx, leave := context.WithCancel(usage.Charged(t.Context(), account("other", 0)))
		var done sync.WaitGroup
		done.Go(func() { _ = m.Admit(ctx, a) })
		synctest.Wait()
		want(a, "10/10 true 1.05s")
		leave()
		done.Wait()
		want(a, "10/10 true 950ms")
	})
}

// TestMeterMemory proves that accounts that call no more are forgotten.
func TestMeterMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMeter()
		for i := range 20_000 {
			if err := m.Admit(t.Context(), account(fmt.Sprint(i), 1)); err != nil {
				t.Fatal(err)
			}
			if i%100 == 0 {
				time.Sleep(time.Second)
			}
		}
		if n := m.Kept(); n > 2048 {
			t.Errorf("%d buckets are kept", n)
		}
	})
}
