package audit

import (
	"sync"
	"time"
)

// The refusals that are kept: from one address twenty at once and then six in a minute, from all together two hundred
// and then one in a second. At the worst that is 86,400 rows in a day, some 40 MB.
const (
	addressBurst = 20
	addressEvery = 10 * time.Second
	totalBurst   = 200
	totalEvery   = time.Second
	// maxAddresses bounds the memory; beyond it the addresses share one allowance.
	maxAddresses = 10_000
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
	mu        *sync.Mutex
	total     bucket
	addresses map[string]*bucket
	leftOut   int // since the last one kept
}

func newRate() rate { return rate{mu: new(sync.Mutex), addresses: map[string]*bucket{}} }

// take reports whether a refusal of an address is kept, and how many were left out before it.
func (r *rate) take(address string, now time.Time) (kept bool, leftOut int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.of(address, now)
	if !b.has(now, addressBurst, addressEvery) || !r.total.has(now, totalBurst, totalEvery) {
		r.leftOut++
		return false, 0
	}
	b.take(now, addressEvery)
	r.total.take(now, totalEvery)
	leftOut, r.leftOut = r.leftOut, 0
	return true, leftOut
}

// of gives the allowance of an address. Full ones are forgotten when there are too many.
func (r *rate) of(address string, now time.Time) *bucket {
	if b := r.addresses[address]; b != nil {
		return b
	}
	if len(r.addresses) >= maxAddresses {
		for a, b := range r.addresses {
			if b.full.Before(now) {
				delete(r.addresses, a)
			}
		}
	}
	if len(r.addresses) >= maxAddresses {
		address = ""
	}
	if r.addresses[address] == nil {
		r.addresses[address] = &bucket{}
	}
	return r.addresses[address]
}
