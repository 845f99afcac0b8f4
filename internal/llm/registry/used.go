package registry

import (
	"context"
	"fmt"
	"time"

	"quarry/internal/clock"
	"quarry/internal/usage"
)

// callsPerSecond is the contract's name of the quota of calls.
const callsPerSecond = "requests_per_second"

// Used is what a model has used of its quotas at a moment.
type Used struct {
	Model  LLM
	At     time.Time
	Quotas []Bounded // all seven, limited or not
}

// Bounded is one quota and what is used of it.
type Bounded struct {
	Quota   string // as the contract names it
	Limit   int64  // 0 is unlimited
	Used    int64
	Counted bool      // false where nothing is counted: calls per second without a limit
	End     time.Time // of the window; for calls per second, when the whole limit is free again
}

// Used returns what the model of an id or a name has used; for an alias, the model that answers for it. Calls per second are
// those of this process.
func (s *Service) Used(ctx context.Context, ref string) (Used, error) {
	l, err := s.Get(ctx, ref)
	if err == nil && l.Platform && l.Name != Embedded {
		l, err = s.resolve(ctx, l.Name)
	}
	if err != nil {
		return Used{}, err
	}
	now := time.Now()
	at := clock.Stored(now)
	calls := Bounded{Quota: callsPerSecond, Limit: l.RPS, Counted: l.RPS > 0, End: at}
	if rate := s.rate(l); rate != nil {
		a := rate.State("", now)
		calls.Used, calls.End = a.Limit-a.Remaining, at.Add(a.Full)
	}
	out := Used{Model: l, At: at, Quotas: []Bounded{calls}}
	sums, err := s.counters.Used(ctx, l.scope(), at)
	if err != nil {
		return Used{}, fmt.Errorf("read what language model %s has used: %w", l.ID, err)
	}
	limits := QuotaFields(&l.Quota)
	for _, sum := range sums {
		_, end := sum.Span.Window(at)
		for kind, used := range map[string]int64{"input": sum.Input, "output": sum.Output} {
			name := kind + "_tokens_per_" + sum.Span.String()
			out.Quotas = append(out.Quotas, Bounded{Quota: name, Limit: *limits[name], Used: used, Counted: true, End: end})
		}
	}
	return out, nil
}

// rate returns the bucket of a model's calls per second; nil without a limit, or before the first call under the present one.
func (s *Service) rate(l LLM) *usage.Rate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept := s.open[l.ID]; kept != nil && kept.rps == l.RPS {
		return kept.rate
	}
	return nil
}

// scope names the model where tokens are counted.
func (l *LLM) scope() string { return "llm/" + string(l.ID) }
