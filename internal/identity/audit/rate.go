package audit

import (
	"sync"
	"time"
)

// The rates at which refusals are recorded: twenty at once and then six a minute for one credential or, without one, one
// address; two hundred at once and then one a second for all unknown callers together. In the worst case unknown callers
// cause 86,400 rows a day, about 40 MB, and the attempts of known callers are recorded all the same.
const (
	sourceBurst = 20
	sourceEvery = 10 * time.Second
	totalBurst  = 200
	totalEvery  = time.Second
	// maxSources bounds the memory; sources above it share one allowance.
	maxSources = 10_000
)

// bucket is an allowance, stored as the moment when it will be full again; each use moves that moment by one period.
type bucket struct{ full time.Time }

func (b *bucket) has(now time.Time, burst int, every time.Duration) bool {
	return b.full.Sub(now) <= time.Duration(burst-1)*every
}

func (b *bucket) take(now time.Time, every time.Duration) {
	if b.full.Before(now) {
		b.full = now
	}
	b.full = b.full.Add(every)
}

// rate decides which refusals are recorded. Safe for concurrent use.
type rate struct {
	mu      *sync.Mutex
	total   bucket
	sources map[string]*bucket
	leftOut int // since the last recorded one
}

func newRate() rate { return rate{mu: new(sync.Mutex), sources: map[string]*bucket{}} }

// take reports whether a refusal of a credential or address is to be recorded, and how many before it were not.
func (r *rate) take(credential, address string, now time.Time) (kept bool, leftOut int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stranger, source := credential == "", "credential "+credential
	if stranger {
		source = "address " + address
	}
	b := r.of(source, now)
	if !b.has(now, sourceBurst, sourceEvery) || stranger && !r.total.has(now, totalBurst, totalEvery) {
		r.leftOut++
		return false, 0
	}
	b.take(now, sourceEvery)
	if stranger {
		r.total.take(now, totalEvery)
	}
	leftOut, r.leftOut = r.leftOut, 0
	return true, leftOut
}

// of returns the allowance of a source. Full allowances are forgotten when there are too many.
func (r *rate) of(source string, now time.Time) *bucket {
	if b := r.sources[source]; b != nil {
		return b
	}
	if len(r.sources) >= maxSources {
		for a, b := range r.sources {
			if b.full.Before(now) {
				delete(r.sources, a)
			}
		}
	}
	if len(r.sources) >= maxSources {
		source = ""
	}
	if r.sources[source] == nil {
		r.sources[source] = &bucket{}
	}
	return r.sources[source]
}
