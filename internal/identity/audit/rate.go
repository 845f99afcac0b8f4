package audit

import (
	"sync"
	"time"
)

// The refusals that are kept: of one credential, or from one address where nobody is known, twenty at once and then six
// in a minute; from all unknown callers together two hundred and then one in a second. At the worst strangers make
// 86,400 rows in a day, some 40 MB, and what a known caller tries is kept all the same.
const (
	sourceBurst = 20
	sourceEvery = 10 * time.Second
	totalBurst  = 200
	totalEvery  = time.Second
	// maxSources bounds the memory; beyond it the others share one allowance.
	maxSources = 10_000
)

// bucket is an allowance as the moment when it will be full: one taken moves the moment on by one period.
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

// rate says which refusals are kept. Safe for concurrent use.
type rate struct {
	mu      *sync.Mutex
	total   bucket
	sources map[string]*bucket
	leftOut int // since the last one kept
}

func newRate() rate { return rate{mu: new(sync.Mutex), sources: map[string]*bucket{}} }

// take reports whether a refusal of a credential or an address is kept, and how many were left out before it.
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

// of gives the allowance of a source. Full ones are forgotten when there are too many.
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
