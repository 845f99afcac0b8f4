// Package usage limits what callers may use: requests of a credential per second (Rate), places in flight and the queue for
// them (Gate), and calls of language models (Meter): each within the Budget of its model and of the agents that it is Charged
// to, per second and in tokens per minute, day and month (Counters). It counts and decides, and knows neither operations nor
// HTTP. Package httpapi consults Rate and Gate for each request; what calls language models consults a Meter.
package usage

import (
	"fmt"
	"time"
)

// Refused is the error of a request beyond a limit. It is an expected outcome, which the transport maps to a response.
type Refused struct {
	Text  string        // one sentence for the caller
	After time.Duration // after which a retry may succeed
}

// Error returns the sentence for the caller.
func (r *Refused) Error() string { return r.Text }

func refused(after time.Duration, format string, args ...any) *Refused {
	return &Refused{Text: fmt.Sprintf(format, args...), After: after}
}
