package usage

import (
	"container/list"
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
	line   list.List                // of *call, those that wait, the first who came first; guarded by mu
}

// call is a call that waits for its place.
type call struct {
	accounts []Account
	at       time.Duration // when it has its place; guarded by Meter.mu
	sooner   chan struct{} // holds an element when at has changed
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
	wait, last, place := m.take(all, (c.patient || len(c.accounts) > 0) && !c.atOnce)
	switch {
	case last != nil:
		return refuseCall(last, wait)
	case place == nil:
		return nil
	}
	if err := m.await(ctx, place); err != nil {
		return err
	}
	return m.check(ctx, all)
}

// await returns when a call has its place, or gives the place up when ctx ends.
func (m *Meter) await(ctx context.Context, place *list.Element) error {
	c, _ := place.Value.(*call)
	for {
		m.mu.Lock()
		left := c.at - time.Since(m.began)
		if left <= 0 {
			m.line.Remove(place)
			m.mu.Unlock()
			return nil
		}
		m.mu.Unlock()
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-c.sooner:
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
			m.leave(place)
			return context.Cause(ctx)
		}
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

// take takes a place of each account. If there is one, it returns nothing. Else a call that is to wait gets a place in line, with
// the next places that come free, before all who ask later; for one that is not to wait, nothing is taken, and last is the account
// that it would wait for.
func (m *Meter) take(all []Account, waits bool) (wait time.Duration, last *Account, place *list.Element) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Since(m.began)
	wait, last = m.wait(all, now)
	if wait > 0 && !waits {
		return wait, last, nil
	}
	m.spend(all, now)
	if len(m.full) >= m.tidyAt {
		maps.DeleteFunc(m.full, func(_ bucket, full time.Duration) bool { return full <= now })
		m.tidyAt = max(2*len(m.full), minBuckets)
	}
	if wait > 0 {
		place = m.line.PushBack(&call{all, now + wait, make(chan struct{}, 1)})
	}
	return 0, nil, place
}

// leave takes a call out of the line, and those behind it move up.
func (m *Meter) leave(place *list.Element) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Since(m.began)
	var behind []*call
	for e := place.Next(); e != nil; e = e.Next() {
		c, _ := e.Value.(*call)
		behind = append(behind, c)
		m.giveBack(c.accounts)
	}
	c, _ := m.line.Remove(place).(*call)
	m.giveBack(c.accounts)
	for _, c := range behind {
		wait, _ := m.wait(c.accounts, now)
		m.spend(c.accounts, now)
		if at := now + wait; at < c.at {
			c.at = at
			select {
			case c.sooner <- struct{}{}:
			default:
			}
		}
	}
}

// wait returns how long it takes until every account has a place, and which is the last, nil if all have. The caller holds m.mu,
// as for all that follow.
func (m *Meter) wait(all []Account, now time.Duration) (wait time.Duration, last *Account) {
	for i := range all {
		if w := m.state(&all[i], now).Wait; w > wait {
			wait, last = w, &all[i]
		}
	}
	return wait, last
}

// state describes the bucket of an account.
func (m *Meter) state(a *Account, now time.Duration) Allowance {
	rps := a.Budget.RequestsPerSecond
	if rps <= 0 {
		return Allowance{OK: true}
	}
	return newPace(rps, rps).allowance(max(m.full[bucket{a.Scope, rps}]-now, 0))
}

// spend takes a place from each bucket, one that will be there if none is.
func (m *Meter) spend(all []Account, now time.Duration) {
	for i := range all {
		if rps := all[i].Budget.RequestsPerSecond; rps > 0 {
			b := bucket{all[i].Scope, rps}
			m.full[b] = max(m.full[b], now) + newPace(rps, rps).step
		}
	}
}

// giveBack returns a place to each bucket.
func (m *Meter) giveBack(all []Account) {
	for i := range all {
		if rps := all[i].Budget.RequestsPerSecond; rps > 0 {
			m.full[bucket{all[i].Scope, rps}] -= newPace(rps, rps).step
		}
	}
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
