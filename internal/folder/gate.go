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

// gate holds all requests back while the service is busy or away, so that this costs time and no files.
type gate struct {
	mu    sync.Mutex
	until time.Time
	since time.Time     // of the first trouble after the last success; zero while all is well
	step  time.Duration // the next wait where the service names none
}

func newGate() *gate { return &gate{step: shortest} }

// do calls fn until it succeeds or fails for a reason that waiting does not mend. waits is called with the reason while
// it waits, and with "" when it goes on.
func (g *gate) do(ctx context.Context, waits func(string), fn func() error) error {
	for {
		if err := g.pass(ctx); err != nil {
			return err
		}
		err := fn()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !temporary(err):
			if g.opens() {
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

// pass waits until requests may be sent.
func (g *gate) pass(ctx context.Context) error {
	for {
		g.mu.Lock()
		wait := time.Until(g.until)
		g.mu.Unlock()
		if wait <= 0 {
			return ctx.Err()
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// opens records a success and reports whether there was trouble before it.
func (g *gate) opens() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	trouble := !g.since.IsZero()
	g.since, g.step = time.Time{}, shortest
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
