package signin

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/fault"
)

func fail(t *testing.T, th *throttle, username, address string) error {
	t.Helper()
	_, err := th.begin(username, address)
	if err != nil && !fault.Is(err, fault.KindLimited) {
		t.Fatalf("got %v, want a limit", err)
	}
	return err
}

// TestThrottleByUsername proves that a username gets its burst from wherever it is tried, then one try per interval,
// and that its success frees it.
func TestThrottleByUsername(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle()
		for i := range int(perUsername.burst) {
			if err := fail(t, th, "ann", fmt.Sprintf("192.0.2.%d", i)); err != nil {
				t.Fatalf("failure %d: %v", i, err)
			}
		}
		err := fail(t, th, "ann", "198.51.100.1")
		f, ok := fault.As(err)
		if !ok || f.RetryAfter != perUsername.every || f.Code != "rate_limit_exceeded" {
			t.Fatalf("got %+v, want a wait of %s", f, perUsername.every)
		}
		if err := fail(t, th, "bob", "198.51.100.1"); err != nil {
			t.Errorf("another user is refused: %v", err)
		}
		time.Sleep(perUsername.every)
		a, err := th.begin("ann", "198.51.100.1")
		if err != nil {
			t.Fatalf("after the wait: %v", err)
		}
		if err := fail(t, th, "ann", "198.51.100.1"); err == nil {
			t.Error("two tries after one interval")
		}
		a.succeeded()
		for i := range int(perUsername.burst) {
			if err := fail(t, th, "ann", fmt.Sprintf("203.0.113.%d", i)); err != nil {
				t.Fatalf("after a success, failure %d: %v", i, err)
			}
		}
	})
}

// TestThrottleOfStrangers proves that failures from elsewhere don't keep a user out of where they signed in before, that
// guessing there is slowed down all the same, and that one user's network is no other's.
func TestThrottleOfStrangers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle()
		a, err := th.begin("ann", "192.0.2.1")
		if err != nil {
			t.Fatal(err)
		}
		a.succeeded()
		for i := range 2 * int(perUsername.burst) {
			for _, name := range []string{"ann", "bob"} {
				_ = fail(t, th, name, fmt.Sprintf("198.51.100.%d", i))
			}
		}
		if err := fail(t, th, "ann", "203.0.113.1"); err == nil {
			t.Error("a stranger goes on guessing")
		}
		if err := fail(t, th, "bob", "192.0.2.1"); err == nil {
			t.Error("the network that ann signs in from is bob's")
		}
		for i := range int(perUsername.burst) {
			if err := fail(t, th, "ann", "192.0.2.1"); err != nil {
				t.Fatalf("where ann signed in before, failure %d: %v", i, err)
			}
		}
		if err := fail(t, th, "ann", "192.0.2.1"); err == nil {
			t.Error("guessing from where ann signs in is not slowed down")
		}
		for i := range 2 * maxRemembered {
			(&attempt{t: th, pair: uint64(i), named: true}).succeeded()
		}
		if n := len(th.known); n > maxRemembered {
			t.Errorf("%d pairs remembered", n)
		}
	})
}

// TestThrottleByAddress proves that one address, however its IPv6 host part or spelling varies, gets its burst over all
// usernames, and that what was refused or never tried is not charged.
func TestThrottleByAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle()
		for i := range int(perAddress.burst) {
			a, err := th.begin(fmt.Sprint("user", i), fmt.Sprintf("2001:db8::%x", i))
			if err != nil {
				t.Fatalf("failure %d: %v", i, err)
			}
			if i == 0 {
				a.undecided()
				if err := fail(t, th, "user0", "2001:db8::ffff%eth0"); err != nil {
					t.Fatalf("the charge was not taken back: %v", err)
				}
			}
		}
		if err := fail(t, th, "new", "2001:db8:0:0:1:2:3:4"); err == nil {
			t.Error("the same network is let through")
		}
		if err := fail(t, th, "new", "2001:db8:0:1::1"); err != nil {
			t.Errorf("another network is refused: %v", err)
		}
		for range 100 {
			_ = fail(t, th, "new", "2001:db8::1")
		}
		time.Sleep(perAddress.every)
		if err := fail(t, th, "new", "2001:db8::1"); err != nil {
			t.Errorf("refused attempts lengthened the wait: %v", err)
		}
	})
}

// TestThrottleMapped proves that an IPv4 address counts as one however it is written.
func TestThrottleMapped(t *testing.T) {
	t.Parallel()
	if a, b := network("192.0.2.1"), network("::ffff:192.0.2.1"); a != b {
		t.Errorf("%q and %q", a, b)
	}
	if a, b := network("192.0.2.1"), network("192.0.2.2"); a == b {
		t.Errorf("both are %q", a)
	}
}

// TestThrottleIsBounded proves that no number of usernames and addresses makes it remember more than its bound, that
// what is forgotten first has no failures left, and that the newest is remembered.
func TestThrottleIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle()
		for i := range maxRemembered {
			_ = fail(t, th, fmt.Sprint("old", i), fmt.Sprintf("10.%d.%d.1", i>>8, i&255))
		}
		time.Sleep(perUsername.every)
		for range perUsername.burst {
			_ = fail(t, th, "ann", "192.0.2.1")
		}
		if n := len(th.usernames.free); n != 1 {
			t.Errorf("%d usernames remembered, want the one that has failures", n)
		}
		for i := range 3 * maxRemembered {
			_ = fail(t, th, fmt.Sprint("new", i), fmt.Sprintf("10.%d.%d.1", i>>8, i&255))
		}
		if n, m := len(th.usernames.free), len(th.addresses.free); n > maxRemembered || m > maxRemembered {
			t.Errorf("%d usernames and %d addresses remembered", n, m)
		}
		last := fmt.Sprint("new", 3*maxRemembered-1)
		for range perUsername.burst - 1 {
			_ = fail(t, th, last, "192.0.2.9")
		}
		if err := fail(t, th, last, "192.0.2.9"); err == nil {
			t.Error("the newest username was forgotten")
		}
	})
}
