package usage_test

import (
	"fmt"
	"testing"
	"time"

	"quarry/internal/usage"
)

// TestRate proves the arithmetic of the bucket: a burst at once, then the rate, each caller by itself.
func TestRate(t *testing.T) {
	t.Parallel()
	r := usage.NewRate(10, 3)
	now := time.Now()
	for i, c := range []struct {
		after  time.Duration
		caller string
		want   usage.Allowance
	}{
		{0, "ann", usage.Allowance{OK: true, Limit: 3, Remaining: 2, Full: 100 * time.Millisecond}},
		{0, "ann", usage.Allowance{OK: true, Limit: 3, Remaining: 1, Full: 200 * time.Millisecond}},
		{0, "ann", usage.Allowance{OK: true, Limit: 3, Remaining: 0, Full: 300 * time.Millisecond, Wait: 100 * time.Millisecond}},
		{0, "ann", usage.Allowance{Limit: 3, Remaining: 0, Full: 300 * time.Millisecond, Wait: 100 * time.Millisecond}},
		{0, "bob", usage.Allowance{OK: true, Limit: 3, Remaining: 2, Full: 100 * time.Millisecond}},
		{99 * time.Millisecond, "ann", usage.Allowance{Limit: 3, Remaining: 0, Full: 201 * time.Millisecond, Wait: time.Millisecond}},
		{time.Millisecond, "ann", usage.Allowance{OK: true, Limit: 3, Remaining: 0, Full: 300 * time.Millisecond, Wait: 100 * time.Millisecond}},
		{time.Hour, "ann", usage.Allowance{OK: true, Limit: 3, Remaining: 2, Full: 100 * time.Millisecond}},
		{-time.Hour, "bob", usage.Allowance{OK: true, Limit: 3, Remaining: 2, Full: 100 * time.Millisecond}}, // 100 ms after its first
	} {
		now = now.Add(c.after)
		if got := r.Take(c.caller, now); got != c.want {
			t.Errorf("request %d: %+v, want %+v", i, got, c.want)
		}
	}
}

// TestRateKeepsItsRate proves that a caller who never rests is let in exactly at the rate, beside its first burst.
func TestRateKeepsItsRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rate, burst, want int64 }{{200, 400, 2400}, {1, 1, 11}, {7, 7, 77}, {usage.MaxRate, 1, 10_001}} {
		r := usage.NewRate(c.rate, c.burst)
		began := time.Now()
		let := int64(0)
		for i := range 10_001 { // one each millisecond for ten seconds
			if r.Take("ann", began.Add(time.Duration(i)*time.Millisecond)).OK {
				let++
			}
		}
		if let != c.want {
			t.Errorf("%d/s with bursts of %d: %d in ten seconds, want %d", c.rate, c.burst, let, c.want)
		}
	}
}

// TestRateMemory proves that any number of callers does not fill the memory and that one who keeps calling is not forgotten
// among them.
func TestRateMemory(t *testing.T) {
	t.Parallel()
	r := usage.NewRate(1, 2)
	now := time.Now()
	let := 0
	for i := range 700_000 {
		r.Take(fmt.Sprint("caller ", i), now)
		if i%1000 == 0 && r.Take("busy", now).OK {
			let++
		}
	}
	if n := r.Kept(); n > 1<<19 || n < 1000 {
		t.Errorf("%d buckets are kept", n)
	}
	if let != 2 {
		t.Errorf("the busy caller was let in %d times, its burst is 2", let)
	}
}
