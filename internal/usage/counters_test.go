package usage_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/usage"
	"quarry/internal/usage/usagetest"
)

// run starts counters over r as a process does; stop ends it.
func run(t *testing.T, r *usagetest.Memory) (c *usage.Counters, stop func()) {
	t.Helper()
	c = usage.NewCounters(r, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { c.Run(ctx) })
	stop = sync.OnceFunc(func() { cancel(); done.Wait() })
	t.Cleanup(stop)
	return c, stop
}

// state is what a test compares of a check: the quota used up and when it resets.
type state struct {
	Quota       string
	Used, Reset int64
}

func check(t *testing.T, c *usage.Counters, scope string, q usage.Quota) state {
	t.Helper()
	e, err := c.Check(t.Context(), scope, q)
	if err != nil {
		t.Fatal(err)
	}
	if e == nil {
		return state{}
	}
	return state{e.Quota, e.Used, e.Reset}
}

// TestWindows proves where windows begin and end: by the calendar in UTC, whatever the zone of the moment.
func TestWindows(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("east", 14*3600)
	for _, c := range []struct {
		span     usage.Span
		at       time.Time
		from, to string
	}{
		{usage.Minute, time.Date(2026, 1, 31, 23, 59, 59, 999, time.UTC), "2026-01-31T23:59:00Z", "2026-02-01T00:00:00Z"},
		{usage.Day, time.Date(2028, 2, 29, 12, 0, 0, 0, time.UTC), "2028-02-29T00:00:00Z", "2028-03-01T00:00:00Z"},
		{usage.Month, time.Date(2028, 2, 29, 12, 0, 0, 0, time.UTC), "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"},
		{usage.Month, time.Date(2026, 12, 31, 23, 59, 59, 0, time.UTC), "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{usage.Month, time.Date(2027, 1, 1, 13, 59, 0, 0, east), "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{usage.Day, time.Date(2027, 1, 1, 14, 0, 0, 0, east), "2027-01-01T00:00:00Z", "2027-01-02T00:00:00Z"},
	} {
		from, to := c.span.Window(c.at)
		if got := [2]string{from.Format(time.RFC3339), to.Format(time.RFC3339)}; got != [2]string{c.from, c.to} {
			t.Errorf("%s of %s: %v", c.span, c.at, got)
		}
	}
}

// TestQuotas proves each of the six quotas: used up at its number and not before, with the seconds until its window
// ends, the one that resets last where several are, and free again in the next window. The bubble's clock begins on
// 2000-01-01.
func TestQuotas(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		quota usage.Quota
		want  state
	}{
		{"input a minute", usage.Quota{InputPerMinute: 10}, state{"input_tokens_per_minute", 10, 30}},
		{"input a day", usage.Quota{InputPerDay: 10}, state{"input_tokens_per_day", 10, 86_370}},
		{"input a month", usage.Quota{InputPerMonth: 10}, state{"input_tokens_per_month", 10, 31*86_400 - 30}},
		{"output a minute", usage.Quota{OutputPerMinute: 20}, state{"output_tokens_per_minute", 20, 30}},
		{"output a day", usage.Quota{OutputPerDay: 20}, state{"output_tokens_per_day", 20, 86_370}},
		{"output a month", usage.Quota{OutputPerMonth: 20}, state{"output_tokens_per_month", 20, 31*86_400 - 30}},
		{"several", usage.Quota{OutputPerMinute: 20, InputPerDay: 1, OutputPerMonth: 1000}, state{"input_tokens_per_day", 10, 86_370}},
		{"other kind", usage.Quota{InputPerMinute: 11, OutputPerMonth: 21}, state{}},
		{"none", usage.Quota{}, state{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, stop := run(t, new(usagetest.Memory))
				defer stop()
				time.Sleep(30 * time.Second)
				c.Add("other", usage.Tokens{Input: 1000, Output: 1000})
				c.Add("llm", usage.Tokens{Input: 9, Output: 19})
				if got := check(t, c, "llm", tt.quota); got != (state{}) && tt.name != "several" {
					t.Errorf("below the quota: %+v", got)
				}
				c.Add("llm", usage.Tokens{Input: 1, Output: 1})
				got := check(t, c, "llm", tt.quota)
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Errorf("at the quota (-want +got):\n%s", d)
				}
				time.Sleep(time.Duration(got.Reset) * time.Second)
				if got := check(t, c, "llm", tt.quota); got != (state{}) {
					t.Errorf("in the next window: %+v", got)
				}
			})
		})
	}
}

// TestExhaustedText proves that the text names the quota and the seconds (contract: Errors 6).
func TestExhaustedText(t *testing.T) {
	t.Parallel()
	e := &usage.Exhausted{Quota: "input_tokens_per_day", Limit: 5, Used: 7, Reset: 12}
	for _, want := range []string{"input_tokens_per_day", "12 seconds"} {
		if !strings.Contains(e.Error(), want) {
			t.Errorf("%q lacks %q", e, want)
		}
	}
}

// TestCountersSurvive proves that counts survive the end of a process, and that another one over the same rows sees them
// within two seconds, both counting on.
func TestCountersSurvive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := new(usagetest.Memory)
		q := usage.Quota{InputPerMonth: 30}
		a, stop := run(t, r)
		a.Add("llm", usage.Tokens{Input: 10})
		stop()
		a, stopA := run(t, r)
		b, stopB := run(t, r)
		defer stopA()
		defer stopB()
		for range 3 { // both know the rows by now, and ask again and again
			if got := check(t, b, "llm", q); got != (state{}) {
				t.Fatalf("with 10 of 30: %+v", got)
			}
			time.Sleep(300 * time.Millisecond)
		}
		a.Add("llm", usage.Tokens{Input: 15})
		b.Add("llm", usage.Tokens{Input: 5})
		time.Sleep(2 * time.Second)
		for name, c := range map[string]*usage.Counters{"one": a, "the other": b} {
			if got := check(t, c, "llm", q); got.Used != 30 {
				t.Errorf("%s process sees %+v, want 30 used", name, got)
			}
		}
	})
}

// TestCountersAreCheap proves that a thousand counts and checks in a second cost one write and at most two reads, and
// that idle counters write nothing.
func TestCountersAreCheap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := new(usagetest.Memory)
		c, stop := run(t, r)
		defer stop()
		for range 1000 {
			c.Add("llm", usage.Tokens{Input: 1, Output: 1})
			check(t, c, "llm", usage.Quota{InputPerDay: 1 << 40})
			time.Sleep(900 * time.Microsecond)
		}
		time.Sleep(time.Hour)
		if adds, reads := r.Calls(); adds != 1 || reads > 2 {
			t.Errorf("%d writes, %d reads", adds, reads)
		}
		if got := check(t, c, "llm", usage.Quota{InputPerDay: 1000}); got.Used != 1000 {
			t.Errorf("%+v, want 1000", got)
		}
	})
}

// TestCountersOutage proves that what could not be written counts all the same, and is written later, once.
func TestCountersOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := new(usagetest.Memory)
		c, stop := run(t, r)
		defer stop()
		r.Fail(errors.New("the disk is on fire"))
		q := usage.Quota{OutputPerDay: 1}
		for i := range int64(3) {
			c.Add("llm", usage.Tokens{Output: 5})
			time.Sleep(3 * time.Second)
			if got := check(t, c, "llm", q); got.Used != 5*(i+1) {
				t.Errorf("during the outage %d: %+v", i, got)
			}
		}
		r.Fail(nil)
		time.Sleep(3 * time.Second)
		fresh, stopFresh := run(t, r)
		defer stopFresh()
		for name, c := range map[string]*usage.Counters{"the same": c, "another": fresh} {
			if got := check(t, c, "llm", q); got.Used != 15 {
				t.Errorf("%s process after the outage: %+v, want 15 used", name, got)
			}
		}
	})
}

// TestCountersForget proves that windows long over leave the rows, and that the longest ones stay a year.
func TestCountersForget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := new(usagetest.Memory)
		c, stop := run(t, r)
		c.Add("llm", usage.Tokens{Input: 1})
		time.Sleep(366 * 24 * time.Hour)
		stop()
		var left []string
		for _, s := range r.All() {
			left = append(left, s.Span.String())
		}
		if d := cmp.Diff([]string{"month"}, left); d != "" {
			t.Errorf("left (-want +got):\n%s", d)
		}
	})
}

// TestCountersUsed proves that what is used is what was counted here, written or not, and what others have written, without a
// quota, too; and that each window counts for itself.
func TestCountersUsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := new(usagetest.Memory)
		a, stopA := run(t, r)
		b, stopB := run(t, r)
		defer stopA()
		defer stopB()
		want := func(what string, c *usage.Counters, minute, day, month int64) {
			t.Helper()
			sums, err := c.Used(t.Context(), "llm", time.Now())
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for _, s := range sums {
				got = append(got, s.Input)
			}
			if d := cmp.Diff([]int64{minute, day, month}, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", what, d)
			}
		}
		want("nothing", a, 0, 0, 0)
		a.Add("llm", usage.Tokens{Input: 3, Output: 1})
		want("not written", a, 3, 3, 3)
		b.Add("llm", usage.Tokens{Input: 4, Output: 1})
		time.Sleep(2 * time.Second)
		want("of both", a, 7, 7, 7)
		time.Sleep(time.Minute)
		a.Add("llm", usage.Tokens{Input: 1})
		want("a minute later", a, 1, 8, 8)
		time.Sleep(24 * time.Hour)
		want("a day later", b, 0, 0, 8)
	})
}
