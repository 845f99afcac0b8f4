package folder

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"quarry/internal/fault"
)

// Bounds of waiting for a service that can't take anything now.
const (
	patienceAway = 2 * time.Minute  // it does not answer: it is being started again
	patienceBusy = 10 * time.Minute // it answers that it is busy
	shortest     = 200 * time.Millisecond
	longest      = 15 * time.Second
)

// Busy is the error of a service that answers but takes nothing for so long that waiting makes no sense.
type Busy struct {
	For time.Duration
	Err error // its last answer
}

func (b *Busy) Error() string {
	return fmt.Sprintf("the service takes nothing for %s: %v", b.For, b.Err)
}
func (b *Busy) Unwrap() error { return b.Err }

// gate holds requests back while the service is busy or away, so that this costs time and no files. A service that is busy
// also gets fewer of them at once, and more again as it takes them.
type gate struct {
	mu      sync.Mutex
	changed chan struct{} // closed when one that waits may look again
	until   time.Time
	since   time.Time     // of the first trouble after the last success; zero while all is well
	step    time.Duration // the next wait where the service names none
	under   int           // requests under way
	most    int           // of them at once, for now
	limit   int           // of them at once, at best
	run     int           // successes since most was changed
}

// enough is how many successes in a row let one more request go at once.
const enough = 10

func newGate(limit int) *gate {
	return &gate{step: shortest, most: limit, limit: limit, changed: make(chan struct{})}
}

// do calls fn until it succeeds or fails for a reason that waiting does not mend. waits is called with the reason while
// it waits, and with "" when it goes on.
func (g *gate) do(ctx context.Context, waits func(string), fn func() error) error {
	for {
		if err := g.enter(ctx); err != nil {
			return err
		}
		err := fn()
		again := ctx.Err() == nil && temporary(err)
		trouble := g.leave(!again)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !again:
			if trouble {
				waits("")
			}
			return err
		}
		if err := g.hold(err); err != nil {
			return err
		}
		waits(err.Error())
	}
}

// temporary reports whether a request that failed with err may succeed later.
func temporary(err error) bool {
	return errors.Is(err, ErrUnreachable) || fault.Is(err, fault.KindLimited) || fault.Is(err, fault.KindUnavailable)
}

// enter waits until a request may be sent.
func (g *gate) enter(ctx context.Context) error {
	for {
		g.mu.Lock()
		wait, changed := time.Until(g.until), g.changed
		if wait <= 0 && g.under < g.most {
			g.under++
			g.mu.Unlock()
			return ctx.Err()
		}
		g.mu.Unlock()
		if wait <= 0 {
			wait = longest
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		timer.Stop()
	}
}

// leave records the end of a request. A success opens the gate: the service takes what it is sent. It reports whether there
// was trouble before it.
func (g *gate) leave(success bool) (trouble bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.under--
	if success {
		trouble = !g.since.IsZero()
		g.since, g.until, g.step = time.Time{}, time.Time{}, shortest
		if g.run++; g.run >= enough && g.most < g.limit {
			g.most, g.run = g.most+1, 0
		}
	} else {
		g.most, g.run = max(1, g.most-1), 0
	}
	close(g.changed)
	g.changed = make(chan struct{})
	return trouble
}

// hold shuts the gate for as long as err asks, or returns the error that ends the pass when it has been shut for too long.
func (g *gate) hold(err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if g.since.IsZero() {
		g.since = now
	}
	wait, patience := g.step, patienceAway
	if f, ok := fault.As(err); ok {
		patience = patienceBusy
		wait = max(wait, f.RetryAfter)
	}
	if now.Add(wait).Sub(g.since) > patience {
		if errors.Is(err, ErrUnreachable) {
			return err
		}
		return &Busy{max(wait, now.Sub(g.since)).Round(time.Second), err}
	}
	if until := now.Add(wait); until.After(g.until) { // others of the same moment have set it already
		g.until = until
		g.step = min(2*g.step, longest)
	}
	return nil
}
