package enrich

import "time"

// Within returns r with another limit for all rules of a session.
func (r *Runner) Within(limit time.Duration) *Runner {
	out := *r
	out.limit = limit
	return &out
}
