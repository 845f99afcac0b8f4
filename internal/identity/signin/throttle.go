package signin

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"quarry/internal/fault"
)

// allowance is how many failures are free at once, and how soon one of them is forgotten.
type allowance struct {
	burst int64
	every time.Duration
}

// What fails may fail this often. The second is wider because many people may share an address.
var (
	perUsername = allowance{burst: 10, every: time.Minute}
	perAddress  = allowance{burst: 50, every: 6 * time.Second}
)

// maxRemembered is how many usernames, addresses and pairs of them are remembered at once: some 400 kB each.
const maxRemembered = 10_000

// throttle slows down guessing: failures are counted by username and by address, in memory that is bounded. Where a
// user has signed in from before, the failures of the rest of the world do not count: who fails on purpose as somebody
// else must not keep that person out. It is safe for concurrent use.
type throttle struct {
	seed maphash.Seed

	mu        sync.Mutex
	usernames counters // guarded by mu
	addresses counters // guarded by mu
	// Usernames with the networks that they signed in from: they have an allowance of their own. Guarded by mu.
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

// attempt is one attempt under way, charged as a failure until it succeeds.
type attempt struct {
	t                 *throttle
	username, address uint64 // what is charged; a known pair stands in for the username
	pair              uint64
	named             bool
}

// begin charges an attempt before it is tried, so that many at once don't get more chances than one after another. An
// empty username is not counted. An attempt beyond the allowance is a fault.KindLimited and charged nothing.
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

// succeeded takes the charge back, forgets the failures and remembers where the user signs in from.
func (a *attempt) succeeded() {
	a.t.mu.Lock()
	defer a.t.mu.Unlock()
	a.t.addresses.refund(a.address)
	if !a.named {
		return
	}
	delete(a.t.usernames.free, a.username)
	for pair := range a.t.known { // any one goes for a new one
		if len(a.t.known) < maxRemembered {
			break
		}
		delete(a.t.known, pair)
	}
	a.t.known[a.pair] = struct{}{}
}

// undecided takes the charge back: the attempt was never tried.
func (a *attempt) undecided() {
	a.t.mu.Lock()
	defer a.t.mu.Unlock()
	a.t.addresses.refund(a.address)
	if a.named {
		a.t.usernames.refund(a.username)
	}
}

// network is what counts as one address: one household or host has a whole /64 of IPv6.
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

// counters are leaky buckets: each is the instant at which it has forgotten every failure.
type counters struct {
	allowance
	free  map[uint64]time.Time
	swept time.Time
}

// wait gives how long until one more failure is allowed, 0 for now.
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

// sweepEvery bounds what sweeping costs while the memory is full.
const sweepEvery = time.Second

// makeRoom forgets what has no failures left and, where that is nothing, any one: whoever wants a certain username
// forgotten must fail with thousands of others first, which its address is not allowed to.
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
