package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"quarry/test/ledger"
)

// Race is a group of concurrent calls: a status that only an overlap causes, such as 429 for two updates of one document, shows after
// some rounds.
type Race struct {
	Until  int    `yaml:"until"`   // the status that one of the calls at once must show
	First  []Step `yaml:"first"`   // one after another, before each round
	AtOnce []Step `yaml:"at_once"` // each Times times, all together
}

// maxRounds bounds a race. An overlap that takes one round in ten is missed by all of them once in 10¹³ runs.
const maxRounds = 300

// race runs rounds until the status was seen, and returns the operation that answered it. What else was seen is chance and
// no evidence.
func (c *Contract) race(ctx context.Context, t Target, r *Race, saved map[string]any) (ledger.Evidence, error) {
	for range maxRounds {
		for i := range r.First {
			if _, err := c.step(ctx, t, &r.First[i], saved); err != nil {
				return ledger.Evidence{}, err
			}
		}
		met, err := c.round(ctx, t, r, saved)
		if err != nil || met != "" {
			return ledger.Evidence{Operation: met, Status: r.Until}, err
		}
	}
	return ledger.Evidence{}, fmt.Errorf("%d rounds without status %d", maxRounds, r.Until)
}

// round sends the calls at once; met is the operation that showed the status, "" when none did.
func (c *Contract) round(ctx context.Context, t Target, r *Race, saved map[string]any) (met string, err error) {
	var wait sync.WaitGroup
	var mu sync.Mutex
	start := make(chan struct{})
	for i := range r.AtOnce {
		s := &r.AtOnce[i]
		for range max(s.Times, 1) {
			wait.Go(func() {
				<-start
				status, failed := c.step(ctx, t, s, maps.Clone(saved))
				mu.Lock()
				defer mu.Unlock()
				if status == r.Until {
					met = s.Call
				}
				err = errors.Join(err, failed)
			})
		}
	}
	close(start)
	wait.Wait()
	return met, err
}
