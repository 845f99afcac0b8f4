package compact

import "time"

// share is how much of the time merging at rest may take, one part in so many: a large index that gets a few rows now and then
// is not written anew for each.
const share = 50

// Rest decides when an index is at rest. Not safe for concurrent use.
type Rest struct {
	After time.Duration // without a write

	wrote time.Time
	until time.Time     // not before, whatever was written
	spent time.Duration // merging at rest, since that was last over
}

// Wrote notes a write.
func (r *Rest) Wrote() { r.wrote = time.Now() }

// At returns from when on the index is at rest.
func (r *Rest) At() time.Time {
	at := r.wrote.Add(r.After)
	if r.until.After(at) {
		return r.until
	}
	return at
}

// Worked notes that merging at rest took so long, and whether it is over: nothing is left to merge.
func (r *Rest) Worked(took time.Duration, over bool) {
	r.spent += took
	if over {
		r.until, r.spent = time.Now().Add(share*r.spent), 0
	}
}
