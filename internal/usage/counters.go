package usage

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"quarry/internal/room"
)

// Sum is the number of tokens that a scope has used in one window.
type Sum struct {
	Scope string
	Span  Span
	Begin time.Time // of the window
	Tokens
}

// Store keeps the sums.
type Store interface {
	// Add adds to the stored sums, all of them or none. Several processes may do so at once.
	Add(ctx context.Context, sums []Sum) error
	// Sums returns the sums of a scope in the windows that contain a moment; windows without tokens may be missing.
	Sums(ctx context.Context, scope string, at time.Time) ([]Sum, error)
	// Forget removes the sums of windows of a span that began before a moment.
	Forget(ctx context.Context, s Span, before time.Time) error
}

// How exact the counters are:
//
//   - A call is admitted while the sum is below the quota, and is counted once its tokens are known. So a quota is exceeded
//     by the tokens of the calls in flight, and by no more.
//   - Counts are written within flushEvery, and at the end of the process. A process that is killed loses what it counted
//     since the last write. A write whose outcome is unknown is repeated, so an outage may count tokens twice but loses none.
//   - A process sees its own counts at once. It sees those of other processes over the same database when they have written
//     them and its own copy has expired: after at most flushEvery + freshFor, two seconds.
const (
	flushEvery = time.Second
	freshFor   = time.Second
)

// keepFor is how long the sums of a window are kept after its beginning, and forgetEvery how often older ones are removed.
var keepFor = map[Span]time.Duration{Minute: time.Hour, Day: 62 * 24 * time.Hour, Month: 25 * 31 * 24 * time.Hour}

const forgetEvery = time.Hour

// Counters count the tokens of scopes, such as a model or an agent, and compare them with quotas. The sums survive a
// restart and are shared by all processes over one database. Counters are safe for concurrent use.
type Counters struct {
	store   Store
	log     *slog.Logger
	counted chan struct{} // holds an element when something was counted and no write is scheduled for it
	turn    chan struct{} // held while rows are read or written: a read during a write could see its counts twice or not at all

	mu      sync.Mutex
	pending map[window]Tokens    // counted and not written; guarded by mu
	writing map[window]Tokens    // being written by Flush; guarded by mu
	known   map[window]Tokens    // of the scopes in read: what the rows held then, plus what was written since; guarded by mu
	read    map[string]time.Time // when the rows of a scope were read; guarded by mu
}

// window is the key of one sum.
type window struct {
	scope string
	span  Span
	begin int64 // seconds since 1970
}

// NewCounters returns counters over a store. Run must be running while they are used.
func NewCounters(s Store, log *slog.Logger) *Counters {
	return &Counters{
		store: s, log: log, turn: make(chan struct{}, 1), counted: make(chan struct{}, 1),
		pending: map[window]Tokens{}, known: map[window]Tokens{}, read: map[string]time.Time{},
	}
}

// Add counts tokens that a scope has used. It only adds in memory; Run writes the sums.
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

// Check returns the quota of a scope that is used up, or nil. It reads the rows of a scope at most once per freshFor.
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
	return q.check(now, func(s Span, begin time.Time) Tokens { return c.sum(scope, s, begin) }), nil
}

// Used returns what a scope has used in the windows that contain a moment, in the order of Spans, whether it has a quota or
// not. It is what Check compares.
func (c *Counters) Used(ctx context.Context, scope string, now time.Time) ([]Sum, error) {
	if err := c.refresh(ctx, scope, now); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Sum, len(Spans))
	for i, s := range Spans {
		begin, _ := s.Window(now)
		out[i] = Sum{scope, s, begin, c.sum(scope, s, begin)}
	}
	return out, nil
}

// sum returns what a scope has used in a window. The caller holds c.mu and has called refresh.
func (c *Counters) sum(scope string, s Span, begin time.Time) Tokens {
	w := window{scope, s, begin.Unix()}
	return c.known[w].plus(c.writing[w]).plus(c.pending[w])
}

// refresh reads the rows of a scope unless they were read within freshFor.
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

// Flush writes what was counted since the last write.
func (c *Counters) Flush(ctx context.Context) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	defer c.end()
	c.mu.Lock()
	c.writing, c.pending = c.pending, map[window]Tokens{}
	sums := rows(c.writing)
	c.mu.Unlock()
	var err error
	if len(sums) > 0 {
		err = c.store.Add(ctx, sums)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for w, t := range c.writing {
		switch _, read := c.read[w.scope]; {
		case err != nil:
			c.pending[w] = c.pending[w].plus(t)
		case read:
			c.known[w] = c.known[w].plus(t)
		}
	}
	c.writing = nil
	c.tidy(time.Now())
	return err
}

// rows returns the sums in an order that is the same in every process, so that their row locks cannot deadlock.
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

// tidy drops the copies of scopes that were not read for a minute, and of windows that are over. The caller holds c.mu.
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

// lastFlush bounds the last write at the end of the process.
const lastFlush = 5 * time.Second

// Run writes what is counted within flushEvery until ctx ends, and then once more. While nothing is counted it writes
// nothing.
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
			if err != nil && healthy && ctx.Err() == nil { // log an outage once
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

// forget removes windows that are long over from the rows and from memory.
func (c *Counters) forget(ctx context.Context, now time.Time) {
	c.mu.Lock()
	c.tidy(now)
	c.mu.Unlock()
	for _, s := range Spans {
		if err := c.store.Forget(room.Freeing(ctx), s, now.Add(-keepFor[s])); err != nil && ctx.Err() == nil {
			c.log.Warn("old counts of tokens stay for now", "error", err)
		}
	}
}
