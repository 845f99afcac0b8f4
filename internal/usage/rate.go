package usage

import (
	"hash/maphash"
	"math"
	"sync"
	"time"
)

// Rate bounds the requests of each caller by a token bucket: burst tokens at the most, refilled at a steady rate, one
// for each request. It counts what this process sees. Safe for concurrent use.
//
// A bucket is one moment: when it will be full again if nothing more is taken. A caller that it has forgotten has a
// full bucket, so forgetting the callers that were seen longest ago is what bounds the memory, and costs exactness only
// while more than shards*perShard callers are at work.
type Rate struct {
	step   time.Duration // time in which one token grows
	depth  time.Duration // time in which an empty bucket fills
	burst  int64
	began  time.Time // moments are kept as time since then
	seed   maphash.Seed
	shards [shards]shard
}

// At most shards*2*perShard buckets are kept, of 16 bytes and their place in a map: about 20 MB when all are in use.
const (
	shards   = 64
	perShard = 4096
)

// shard holds two generations of buckets: when the younger one is full the older one is dropped and the younger takes
// its place. Keys are hashes of callers.
type shard struct {
	mu     sync.Mutex
	young  map[uint64]time.Duration // guarded by mu
	senior map[uint64]time.Duration // guarded by mu
}

// Allowance is the state of a caller's bucket after a request.
type Allowance struct {
	OK        bool
	Limit     int64         // tokens of a full bucket
	Remaining int64         // tokens left
	Wait      time.Duration // until a request is let in again; 0 while tokens remain
	Full      time.Duration // until the bucket is full
}

// MaxRate is the highest rate, and the highest burst, that a Rate tells from none.
const MaxRate = 1_000_000

// NewRate returns a Rate of perSecond requests and bursts of burst, each from 1 to MaxRate.
func NewRate(perSecond, burst int64) *Rate {
	step := time.Second / time.Duration(min(max(perSecond, 1), MaxRate))
	burst = min(max(burst, 1), MaxRate, math.MaxInt64/4/int64(step))
	return &Rate{step: step, depth: time.Duration(burst) * step, burst: burst, began: time.Now(), seed: maphash.MakeSeed()}
}

// Take takes a token for a request of caller at a moment.
func (r *Rate) Take(caller string, at time.Time) Allowance {
	now := at.Sub(r.began)
	h := maphash.String(r.seed, caller)
	s := &r.shards[h%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	full := max(s.bucket(h), now)
	a := Allowance{Limit: r.burst}
	if full+r.step <= now+r.depth {
		a.OK = true
		full += r.step
	}
	s.keep(h, full) // also where nothing was taken: who keeps calling is not forgotten
	a.Full = full - now
	a.Remaining = int64((r.depth - a.Full) / r.step)
	a.Wait = max(a.Full+r.step-r.depth, 0)
	return a
}

// bucket returns when the caller's bucket is full; long ago where none is kept.
func (s *shard) bucket(h uint64) time.Duration {
	if full, ok := s.young[h]; ok {
		return full
	}
	if full, ok := s.senior[h]; ok {
		return full
	}
	return math.MinInt64
}

func (s *shard) keep(h uint64, full time.Duration) {
	if _, here := s.young[h]; s.young == nil || !here && len(s.young) >= perShard {
		s.senior, s.young = s.young, map[uint64]time.Duration{}
	}
	s.young[h] = full
}

// Kept is how many buckets are in memory.
func (r *Rate) Kept() (n int) {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		n += len(s.young) + len(s.senior)
		s.mu.Unlock()
	}
	return n
}
