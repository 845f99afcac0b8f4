package usage

import (
	"hash/maphash"
	"math"
	"sync"
	"time"
)

// Rate limits the requests of each caller with a token bucket: it holds at most burst tokens, is refilled at a steady rate,
// and each request takes one token. It counts what this process sees. A Rate is safe for concurrent use.
//
// A bucket is stored as one instant: when it will be full again if nothing more is taken (the "theoretical arrival time" of
// the generic cell rate algorithm, GCRA). A caller that is not stored has a full bucket. So memory is bounded by forgetting
// the callers seen longest ago, which is inexact only while more than shards*perShard callers are active.
type Rate struct {
	pace
	began  time.Time // instants are stored as the time since then
	seed   maphash.Seed
	shards [shards]shard
}

// At most shards*2*perShard buckets are stored, of 16 bytes each plus the overhead of a map: about 20 MB in all.
const (
	shards   = 64
	perShard = 4096
)

// shard has two generations of buckets: when the younger one is full, the older one is dropped and the younger takes its
// place. Keys are hashes of callers; two callers with the same hash share a bucket.
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
	Wait      time.Duration // until a request is admitted again; 0 while tokens remain
	Full      time.Duration // until the bucket is full
}

// MaxRate is the highest rate and the highest burst of a Rate; a higher one is cut to it.
const MaxRate = 1_000_000

// NewRate returns a Rate of perSecond requests and bursts of burst, each from 1 to MaxRate.
func NewRate(perSecond, burst int64) *Rate {
	return &Rate{pace: newPace(perSecond, burst), began: time.Now(), seed: maphash.MakeSeed()}
}

// Take takes a token for a request of caller at a moment.
func (r *Rate) Take(caller string, at time.Time) Allowance {
	now := at.Sub(r.began)
	h := maphash.String(r.seed, caller)
	s := &r.shards[h%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	full := max(s.bucket(h), now)
	ok := full+r.step <= now+r.depth
	if ok {
		full += r.step
	}
	s.keep(h, full) // also when nothing was taken, so that a caller who is refused is not forgotten
	a := r.allowance(full - now)
	a.OK = ok
	return a
}

// pace is how fast a bucket is refilled and how much it holds.
type pace struct {
	step  time.Duration // time to refill one token
	depth time.Duration // time to fill an empty bucket
	burst int64
}

func newPace(perSecond, burst int64) pace {
	step := time.Second / time.Duration(min(max(perSecond, 1), MaxRate))
	burst = min(max(burst, 1), MaxRate, math.MaxInt64/4/int64(step))
	return pace{step: step, depth: time.Duration(burst) * step, burst: burst}
}

// allowance describes a bucket that will be full after a time. It is longer than that of an empty bucket where tokens were
// taken that are not there yet.
func (p pace) allowance(full time.Duration) Allowance {
	wait := max(full+p.step-p.depth, 0)
	return Allowance{OK: wait == 0, Limit: p.burst, Remaining: max(int64((p.depth-full)/p.step), 0), Wait: wait, Full: full}
}

// bucket returns the instant at which the caller's bucket is full; long ago if none is stored.
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

// Kept returns how many buckets are in memory.
func (r *Rate) Kept() (n int) {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		n += len(s.young) + len(s.senior)
		s.mu.Unlock()
	}
	return n
}
