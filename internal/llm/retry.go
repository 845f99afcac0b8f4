package llm

import (
	"context"
	"errors"
	"math"
	"time"
)

// Retry is how calls that failed are made again (contract: agents, retry_configuration). The zero value makes none. The JSON
// names are for stores.
type Retry struct {
	Max    int           `json:"max"`    // calls after the first one
	First  time.Duration `json:"first"`  // before the second call
	Factor float64       `json:"factor"` // by which the wait grows; below 1 it does not
	Most   time.Duration `json:"most"`   // the longest wait; 0 bounds nothing
}

// DefaultRetry is the contract's where nothing else is configured.
var DefaultRetry = Retry{Max: 3, First: time.Second, Factor: 2, Most: 30 * time.Second}

// wait returns how long to wait before retry n, counted from 0. A provider that says when it wants to be asked again is
// heeded up to the longest wait.
func (r Retry) wait(n int, asked time.Duration) time.Duration {
	most := r.Most
	if most <= 0 {
		most = math.MaxInt64
	}
	backoff := float64(r.First) * math.Pow(max(r.Factor, 1), float64(n))
	if backoff >= float64(most) {
		return most
	}
	return min(max(time.Duration(backoff), asked), most)
}

// Retrying returns a provider that calls p again after a failure that may pass, as long as nothing of an answer was
// emitted. Each call counts for the requests per second.
func Retrying(p Provider, r Retry) Provider { return retrying{p, r} }

type retrying struct {
	Provider
	retry Retry
}

// Stream implements Provider.
func (p retrying) Stream(ctx context.Context, r Request, emit func(Event) error) (Answer, error) {
	for n := 0; ; n++ {
		begun := false
		answer, err := p.Provider.Stream(ctx, r, func(e Event) error {
			begun = true
			return emit(e)
		})
		var failure *Error
		if err == nil || begun || n >= p.retry.Max || ctx.Err() != nil || !errors.As(err, &failure) || !failure.Retriable() {
			return answer, err
		}
		timer := time.NewTimer(p.retry.wait(n, failure.After))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return answer, context.Cause(ctx)
		}
	}
}
