// Package usage bounds what callers take: how many requests a credential may send in a second (Rate), how much of
// something scarce is in use at once and who waits for it (Gate), and how many tokens a model or an agent has spent in
// a minute, a day and a month (Counters). It counts and decides; it knows neither operations nor HTTP. Package httpapi
// asks Rate and Gate for each request; what calls language models asks Counters.
package usage

import (
	"fmt"
	"time"
)

// Refused says that a bound is reached. It is an expected outcome; the transport gives it its wire form.
type Refused struct {
	Text  string        // one sentence for the caller
	After time.Duration // when trying again makes sense
}

// Error is the sentence for the caller.
func (r *Refused) Error() string { return r.Text }

func refused(after time.Duration, format string, args ...any) *Refused {
	return &Refused{Text: fmt.Sprintf(format, args...), After: after}
}
