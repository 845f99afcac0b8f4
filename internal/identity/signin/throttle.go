package signin

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"quarry/internal/fault"
)

// allowance is how many failures are free at once, and after how long one of them is forgotten.
type allowance struct {
	burst int64
	every time.Duration
}

// The allowances of usernames and addresses. Many people may share an address, so the second is larger.
var (
	perUsername = allowance{burst: 10, every: time.Minute}
	perAddress  = allowance{burst: 50, every: 6 * time.Second}
)

// maxRemembered is how many usernames, addresses and pairs of both are remembered at most, about 400 kB each.
const maxRemembered = 10_000

// throttle slows down guessing: it counts failures by username and by address, in bounded memory. From a network where a
// user has signed in before, failures elsewhere do not count, so that nobody can lock a user out by failing on purpose.
// It is safe for concurrent use.
type throttle struct {
	seed maphash.Seed

	mu        sync.Mutex
	usernames counters // guarded by mu
	addresses counters // guarded by mu
	// Pairs of a username and a network from which it signed in, which have their own allowance. Guarded by mu.
	known map[uint64]struct{}
}

func newThrottle() *throttle {
	return &throttle{
		seed:      maphash.MakeSeed(),
		usernames: counters{allowance: perUsername, free: map[uint64]time.Time{}},
		addresses: counters{allowance: perAddress, free: map[uint64]time.Time{}},
		known:     map[uint64]struct{}{},
	}
}

// attempt is an attempt under way, counted as a failure until it succeeds.
type attempt struct {
	t                 *throttle
	username, address uint64 // what the failure is counted for; a known pair takes the place of the username
	pair              uint64
	named             bool
}

// begin counts an attempt as a failure before it is tried, so that attempts in parallel get no more chances than those
// in sequence. An empty username is not counted. An attempt above the allowance is fault.KindLimited and not counted.
func (t *throttle) begin(username, address string) (*attempt, error) {
	from := network(address)
	a := &attempt{
		t: t, username: maphash.String(t.seed, username), address: maphash.String(t.seed, from),
		pair: maphash.String(t.seed, from+" "+username), named: username != "",
	}
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.known[a.pair]; ok {
		a.username = a.pair
	}
	wait := t.addresses.wait(a.address, now)
	if a.named {
		wait = max(wait, t.usernames.wait(a.username, now))
	}
	if wait > 0 {
		return nil, fault.Limited("rate_limit_exceeded", "too many failed attempts; wait before the next one").After(wait)
	}
	t.addresses.charge(a.address, now)
	if a.named {
		t.usernames.charge(a.username, now)
	}
	return a, nil
}

// succeeded clears the failures of the attempt's username and remembers the network from which the user signs in.
func (a *attempt) succeeded() {
	a.t.mu.Lock()
	defer a.t.mu.Unlock()
	a.t.addresses.refund(a.address)
	if !a.named {
		return
	}
	delete(a.t.usernames.free, a.username)
	for pair := range a.t.known { // an arbitrary pair makes room for the new one
		if len(a.t.known) < maxRemembered {
			break
		}
		delete(a.t.known, pair)
	}
	a.t.known[a.pair] = struct{}{}
}

// undecided takes the count back, as the attempt was not decided.
func (a *attempt) undecided() {
	a.t.mu.Lock()
	defer a.t.mu.Unlock()
	a.t.addresses.refund(a.address)
	if a.named {
		a.t.usernames.refund(a.username)
	}
}

// network returns the part of an address that is counted: a household or host usually has a whole /64 of IPv6.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	return netip.PrefixFrom(ip, 64).Masked().String()
}

// counters are leaky buckets, each stored as the instant at which it will be empty.
type counters struct {
	allowance
	free  map[uint64]time.Time
	swept time.Time
}

// wait returns how long until one more failure is allowed, 0 for now.
func (c *counters) wait(key uint64, now time.Time) time.Duration {
	return max(0, c.free[key].Add(-time.Duration(c.burst-1)*c.every).Sub(now)) // Sub saturates, so the zero time is fine
}

func (c *counters) charge(key uint64, now time.Time) {
	at, known := c.free[key]
	if !known && len(c.free) >= maxRemembered {
		c.makeRoom(now)
	}
	if at.Before(now) {
		at = now
	}
	c.free[key] = at.Add(c.every)
}

func (c *counters) refund(key uint64) {
	if at, ok := c.free[key]; ok {
		c.free[key] = at.Add(-c.every)
	}
}

// sweepEvery bounds the cost of sweeping while the memory is full.
const sweepEvery = time.Second

// makeRoom forgets counters without failures or, if there are none, an arbitrary one. To have a certain username
// forgotten, somebody would have to fail with thousands of others first, which the limit by address prevents.
func (c *counters) makeRoom(now time.Time) {
	if now.Sub(c.swept) >= sweepEvery {
		c.swept = now
		for key, at := range c.free {
			if !at.After(now) {
				delete(c.free, key)
			}
		}
	}
	for key := range c.free {
		if len(c.free) < maxRemembered {
			return
		}
		delete(c.free, key)
	}
}
