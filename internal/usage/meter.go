package usage

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"quarry/internal/fault"
)

// Meter holds calls of language models to the budgets of those that they are charged to, and counts what they use. Every call
// has an account of its own, that of the model, and those of its context; see Charged. Calls a second are those of this
// process, tokens those of all over the same database. A Meter is safe for concurrent use.
type Meter struct {
	counters *Counters
	began    time.Time // instants are kept as the time since then

	mu     sync.Mutex
	full   map[bucket]time.Duration // when buckets will be full; one that is not here is; guarded by mu
	tidyAt int                      // how many buckets there are when those that are full are dropped; guarded by mu
}

// bucket names the bucket of an account under a limit. So another limit begins with a full one, and who goes on under the
// earlier limit, such as a turn that runs, does not refill it.
type bucket struct {
	scope string
	rps   int64
}

// NewMeter returns a meter that counts tokens with c.
func NewMeter(c *Counters) *Meter {
	return &Meter{counters: c, began: time.Now(), full: map[bucket]time.Duration{}, tidyAt: minBuckets}
}

// minBuckets is how many buckets are kept without looking for full ones.
const minBuckets = 1024

// Admit takes a place for one call that is charged to own and to the accounts of ctx. It takes one of each of them or of none. A
// call beyond a quota of tokens, or one that finds no place and is not to wait, is fault.KindLimited with the account, the limit
// and the seconds in its text, and a *Refused as the cause.
func (m *Meter) Admit(ctx context.Context, own Account) error {
	c := chargesOf(ctx)
	all := append([]Account{own}, c.accounts...)
	if err := m.check(ctx, all); err != nil {
		return err
	}
	wait, last := m.take(all, len(c.accounts) > 0 && !c.atOnce)
	if last != nil {
		return refuseCall(last, wait)
	}
	if wait == 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return m.check(ctx, all)
	case <-ctx.Done():
		m.giveBack(all)
		return context.Cause(ctx)
	}
}

func refuseCall(a *Account, wait time.Duration) error {
	seconds := max(int64((wait+time.Second-1)/time.Second), 1)
	r := refused(wait, "%s: its limit %s of %d is reached; try again in %d seconds", a.Name, callsPerSecond, a.Budget.RequestsPerSecond, seconds)
	return fault.Limited("llm_rate_limited", "%s", r.Text).Because(r)
}

// check refuses a call beyond a quota of tokens. Of several that are used up, the one that resets last is named.
func (m *Meter) check(ctx context.Context, all []Account) error {
	var worst *Exhausted
	var of string
	for i := range all {
		used, err := m.counters.Check(ctx, all[i].Scope, all[i].Budget.Quota)
		if err != nil {
			return fmt.Errorf("check the quotas of %s: %w", all[i].Name, err)
		}
		if used != nil && (worst == nil || used.Reset > worst.Reset) {
			worst, of = used, all[i].Name
		}
	}
	if worst == nil {
		return nil
	}
	r := refused(time.Duration(worst.Reset)*time.Second, "%s: %s", of, worst.Error())
	return fault.Limited("llm_quota_exhausted", "%s", r.Text).Because(r)
}

// take takes a place of each account and returns how long to wait for the last of them. Who waits has the next place that comes
// free, before all who ask later. If it is not to wait and has to, nothing is taken, and last is the account that it would wait
// for.
func (m *Meter) take(all []Account, waits bool) (wait time.Duration, last *Account) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Since(m.began)
	for i := range all {
		if w := m.state(&all[i], now).Wait; w > wait {
			wait, last = w, &all[i]
		}
	}
	if wait > 0 && !waits {
		return wait, last
	}
	for i := range all {
		m.move(&all[i], now, 1)
	}
	if len(m.full) >= m.tidyAt {
		maps.DeleteFunc(m.full, func(_ bucket, full time.Duration) bool { return full <= now })
		m.tidyAt = max(2*len(m.full), minBuckets)
	}
	return wait, nil
}

// giveBack returns the places of a call that did not wait until its end.
func (m *Meter) giveBack(all []Account) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Since(m.began)
	for i := range all {
		m.move(&all[i], now, -1)
	}
}

// state describes the bucket of an account. The caller holds m.mu.
func (m *Meter) state(a *Account, now time.Duration) Allowance {
	rps := a.Budget.RequestsPerSecond
	if rps <= 0 {
		return Allowance{OK: true}
	}
	return newPace(rps, rps).allowance(max(m.full[bucket{a.Scope, rps}]-now, 0))
}

// move takes places from the bucket of an account, or puts them back. The caller holds m.mu.
func (m *Meter) move(a *Account, now time.Duration, places int) {
	rps := a.Budget.RequestsPerSecond
	if rps <= 0 {
		return
	}
	b := bucket{a.Scope, rps}
	m.full[b] = max(m.full[b], now) + time.Duration(places)*newPace(rps, rps).step
}

// Count counts tokens that a call has used for own and for the accounts of ctx.
func (m *Meter) Count(ctx context.Context, own Account, t Tokens) {
	m.counters.Add(own.Scope, t)
	for _, a := range chargesOf(ctx).accounts {
		m.counters.Add(a.Scope, t)
	}
}

// Used is one limit of a budget and what is used of it.
type Used struct {
	Limit   string // as the contract names it
	Most    int64  // 0 is unlimited
	Used    int64
	Counted bool      // false where nothing is counted: calls a second without a limit
	End     time.Time // of the window; for calls a second, when the whole limit is free again
}

// Used returns what an account has used of its seven limits at a moment, those without a bound, too. It is what Admit compares.
func (m *Meter) Used(ctx context.Context, a Account, at time.Time) ([]Used, error) {
	sums, err := m.counters.Used(ctx, a.Scope, at)
	if err != nil {
		return nil, fmt.Errorf("read what %s has used: %w", a.Name, err)
	}
	m.mu.Lock()
	calls := m.state(&a, time.Since(m.began))
	m.mu.Unlock()
	out := []Used{{
		Limit: callsPerSecond, Most: a.Budget.RequestsPerSecond, Used: calls.Limit - calls.Remaining, Counted: calls.Limit > 0, End: at.Add(calls.Full),
	}}
	limits := a.Budget.Limits()
	for _, sum := range sums {
		_, end := sum.Span.Window(at)
		for kind, used := range map[string]int64{"input": sum.Input, "output": sum.Output} {
			name := kind + "_tokens_per_" + sum.Span.String()
			out = append(out, Used{Limit: name, Most: *limits[name], Used: used, Counted: true, End: end})
		}
	}
	return out, nil
}
