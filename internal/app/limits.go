package app

import (
	"time"

	"quarry/internal/config"
	"quarry/internal/httpapi"
	"quarry/internal/usage"
)

// callPlaces bounds the turns that run for calls of agents by others: as many as those of people, and beside them. They never wait for a
// place, so that turns which wait for them can't keep them from running.
func callPlaces(c config.Config) *usage.Gate {
	if c.MaxTurns == 0 {
		return nil
	}
	return usage.NewGate(usage.Bounds{PerCaller: max(c.MaxTurns/2, 1), Total: c.MaxTurns, Noun: "turns of sub-agents"})
}

// limits returns the bounds on the callers of this process.
func limits(c config.Config) httpapi.Limits {
	room := max(c.MaxBodies, c.MaxJSON, c.MaxUpload)
	wait := time.Duration(c.ExpensiveWait) * time.Second
	l := httpapi.Limits{
		Calls: usage.NewGate(usage.Bounds{
			PerCaller: c.MaxExpensive, Total: c.MaxExpensiveTotal, Waiting: int(c.MaxExpensiveWaiting), Wait: wait,
			Noun: "queries, generations and uploads",
		}),
		Remote: usage.NewGate(usage.Bounds{
			PerCaller: c.MaxRemote, Total: c.MaxRemoteTotal, Waiting: int(c.MaxExpensiveWaiting), Wait: wait,
			Noun: "calls that wait for a language model",
		}),
		// One caller gets half, so that its bodies alone can't keep those of others out.
		Bodies: usage.NewGate(usage.Bounds{
			PerCaller: max(room/2, c.MaxJSON, c.MaxUpload), Total: room, Waiting: int(c.MaxExpensiveWaiting), Wait: wait,
			Noun: "large bodies",
		}),
	}
	if c.MaxTurns > 0 {
		l.Turns = usage.NewGate(usage.Bounds{PerCaller: max(c.MaxTurns/2, 1), Total: c.MaxTurns, Noun: "turns of agents"})
	}
	if c.RateLimit > 0 {
		burst := c.RateBurst
		if burst == 0 {
			burst = 2 * c.RateLimit
		}
		l.Rate = usage.NewRate(c.RateLimit, burst)
	}
	return l
}
