package usage

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Sum is the tokens that a scope has used in one window.
type Sum struct {
	Scope string
	Span  Span
	Begin time.Time // of the window
	Tokens
}

// Store keeps the sums.
type Store interface {
	// Add adds to what is kept, all of it or nothing. Several processes may do so at once.
	Add(ctx context.Context, sums []Sum) error
	// Sums returns the scope's sums of the windows that a moment is in; a window without any may be missing.
	Sums(ctx context.Context, scope string, at time.Time) ([]Sum, error)
	// Forget removes the sums of windows of a span that began before a moment.
	Forget(ctx context.Context, s Span, before time.Time) error
}

// The rule of what is exact enough:
//
//   - A call is let in while the sum is below the quota, and counts once its tokens are known. So a quota is overrun by
//     what calls in flight use, and by no more.
//   - Counts are written every flushEvery, and at the end of the process. A process that is killed loses what it counted
//     since. A write whose outcome is unknown is done again, so an outage may count twice and never loses.
//   - What this process counted is seen at once. What other processes over the same database counted is seen when they
//     have written it and freshFor has passed: two seconds at the most.
const (
	flushEvery = time.Second
	freshFor   = time.Second
)

// How long windows are kept once they have begun, and how often that is looked after.
var keepFor = map[Span]time.Duration{Minute: time.Hour, Day: 62 * 24 * time.Hour, Month: 25 * 31 * 24 * time.Hour}

const forgetEvery = time.Hour

// Counters count the tokens of scopes, such as a model or an agent, and compare them with quotas. The sums survive a
// restart and are shared by all processes over one database. Safe for concurrent use.
type Counters struct {
	store   Store
	log     *slog.Logger
	counted chan struct{} // holds a value when something is counted that no write is due for
	turn    chan struct{} // held while rows are read or written, so that a read never falls into a write

	mu      sync.Mutex
	pending map[window]Tokens    // counted and not written; guarded by mu
	flying  map[window]Tokens    // being written; guarded by mu
	known   map[window]Tokens    // of scopes in read: what the rows held then, and what was written since; guarded by mu
	read    map[string]time.Time // when the rows of a scope were read; guarded by mu
}

// window names one sum.
type window struct {
	scope string
	span  Span
	begin int64 // seconds since 1970
}

// NewCounters returns counters over a store. Run must run for as long as they are used.
func NewCounters(s Store, log *slog.Logger) *Counters {
	return &Counters{
		store: s, log: log, turn: make(chan struct{}, 1), counted: make(chan struct{}, 1),
		pending: map[window]Tokens{}, known: map[window]Tokens{}, read: map[string]time.Time{},
	}
}

// Add counts tokens that a scope has used. It costs no write of its own.
func (c *Counters) Add(scope string, t Tokens) {
	if t == (Tokens{}) {
		return
	}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) == 0 {
		select {
		case c.counted <- struct{}{}:
		default:
		}
	}
	for _, s := range Spans {
		begin, _ := s.Window(now)
		w := window{scope, s, begin.Unix()}
		c.pending[w] = c.pending[w].plus(t)
	}
}

// Check says which quota of a scope is used up, nil when none is. It reads the rows of a scope once a second at the
// most.
func (c *Counters) Check(ctx context.Context, scope string, q Quota) (*Exhausted, error) {
	if q == (Quota{}) {
		return nil, nil
	}
	now := time.Now()
	if err := c.refresh(ctx, scope, now); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return q.check(now, func(s Span, begin time.Time) Tokens {
		w := window{scope, s, begin.Unix()}
		return c.known[w].plus(c.flying[w]).plus(c.pending[w])
	}), nil
}

// refresh reads the rows of a scope unless that was done lately.
func (c *Counters) refresh(ctx context.Context, scope string, now time.Time) error {
	if c.fresh(scope, now) {
		return nil
	}
	if err := c.begin(ctx); err != nil {
		return err
	}
	defer c.end()
	if c.fresh(scope, now) { // another call was faster
		return nil
	}
	sums, err := c.store.Sums(ctx, scope, now)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range Spans {
		begin, _ := s.Window(now)
		delete(c.known, window{scope, s, begin.Unix()})
	}
	for _, s := range sums {
		c.known[window{scope, s.Span, s.Begin.Unix()}] = s.Tokens
	}
	c.read[scope] = now
	return nil
}

func (c *Counters) fresh(scope string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.read[scope]
	return ok && now.Sub(at) < freshFor
}

func (c *Counters) begin(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Counters) end() { <-c.turn }

// Flush writes what was counted since the last time.
func (c *Counters) Flush(ctx context.Context) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	defer c.end()
	c.mu.Lock()
	c.flying, c.pending = c.pending, map[window]Tokens{}
	sums := rows(c.flying)
	c.mu.Unlock()
	var err error
	if len(sums) > 0 {
		err = c.store.Add(ctx, sums)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for w, t := range c.flying {
		switch _, read := c.read[w.scope]; {
		case err != nil:
			c.pending[w] = c.pending[w].plus(t)
		case read:
			c.known[w] = c.known[w].plus(t)
		}
	}
	c.flying = nil
	c.tidy(time.Now())
	return err
}

// rows returns the sums in one order for every process, so that none waits for another that waits for it.
func rows(all map[window]Tokens) []Sum {
	out := make([]Sum, 0, len(all))
	for w, t := range all {
		out = append(out, Sum{w.scope, w.span, time.Unix(w.begin, 0).UTC(), t})
	}
	slices.SortFunc(out, func(a, b Sum) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Span, b.Span), a.Begin.Compare(b.Begin))
	})
	return out
}

// tidy forgets scopes that nobody has asked about for a minute, and windows that are over. c.mu is held.
func (c *Counters) tidy(now time.Time) {
	for scope, at := range c.read {
		if now.Sub(at) > time.Minute {
			delete(c.read, scope)
		}
	}
	for w := range c.known {
		_, read := c.read[w.scope]
		if begin, _ := w.span.Window(now); !read || w.begin < begin.Unix() {
			delete(c.known, w)
		}
	}
}

// lastFlush is how long the end of the process waits for the last write.
const lastFlush = 5 * time.Second

// Run writes what is counted, within flushEvery, until ctx ends, and then once more. While nothing is counted it rests.
func (c *Counters) Run(ctx context.Context) {
	hourly := time.NewTicker(forgetEvery)
	defer hourly.Stop()
	c.forget(ctx, time.Now())
	var due <-chan time.Time
	healthy := true
	for ctx.Err() == nil {
		select {
		case <-c.counted:
			due = time.After(flushEvery)
		case <-due:
			due = nil
			err := c.Flush(ctx)
			if err != nil && healthy && ctx.Err() == nil { // an outage is told once
				c.log.Warn("counts of tokens are not written for now", "error", err)
			}
			if healthy = err == nil; !healthy {
				due = time.After(flushEvery)
			}
		case now := <-hourly.C:
			c.forget(ctx, now)
		case <-ctx.Done():
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastFlush)
	defer cancel()
	if err := c.Flush(last); err != nil {
		c.log.Error("the last counts of tokens are lost", "error", err)
	}
}

// forget removes windows that are long over, from the rows and from memory.
func (c *Counters) forget(ctx context.Context, now time.Time) {
	c.mu.Lock()
	c.tidy(now)
	c.mu.Unlock()
	for _, s := range Spans {
		if err := c.store.Forget(ctx, s, now.Add(-keepFor[s])); err != nil && ctx.Err() == nil {
			c.log.Warn("old counts of tokens stay for now", "error", err)
		}
	}
}
