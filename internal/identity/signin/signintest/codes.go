package signintest

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quarry/internal/clock"
	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/signin"
)

const life = 5 * time.Minute

// row returns a code of a user, made at now.
func row(user id.User, digest string, now time.Time) signin.CodeRow {
	return signin.CodeRow{CodeRow: account.CodeRow{Digest: digest, Expires: now.Add(life)}, User: user}
}

// add writes a code, one of at most two of its user.
func add(t *testing.T, s Stores, c signin.CodeRow, now time.Time, want bool) {
	t.Helper()
	if added, err := s.SignIn.AddSignInCode(t.Context(), c, now, 2); err != nil || added != want {
		t.Errorf("code %s: added %t, %v, want %t", c.Digest, added, err, want)
	}
}

// use uses a code and reports whether it was valid.
func use(t *testing.T, s Stores, digest string, now time.Time) (c signin.CodeRow, ok bool) {
	t.Helper()
	c, err := s.SignIn.UseSignInCode(t.Context(), digest, now)
	if err != nil && !errors.Is(err, signin.ErrNoCode) {
		t.Errorf("code %s: %v", digest, err)
	}
	return c, err == nil
}

// testSignInCodes proves that a code signs its user in once, before it expires, while the user is enabled and in the epoch
// of the code; that it comes back as it was stored; and that a user has only so many, of which expired ones don't count.
func testSignInCodes(t *testing.T, s Stores) {
	ctx, now := t.Context(), clock.Now()
	ann, bob := newUser(t, s, "ann"), newUser(t, s, "bob")
	first := row(ann.ID, "first", now)
	first.SignedIn = time.Unix(1_700_000_000, 0).UTC()
	add(t, s, first, now, true)
	add(t, s, row(ann.ID, "second", now), now, true)
	add(t, s, row(ann.ID, "third", now), now, false)
	add(t, s, row(bob.ID, "bobs", now), now, true)
	if _, err := s.SignIn.AddSignInCode(ctx, row("usr_nobody", "x", now), now, 2); !errors.Is(err, signin.ErrNoUser) {
		t.Errorf("a code for nobody: %v", err)
	}
	first.Username = "ann"
	if got, ok := use(t, s, "first", now.Add(life-time.Microsecond)); !ok || got != first {
		t.Errorf("%+v, %t, want %+v", got, ok, first)
	}
	for digest, at := range map[string]time.Time{"first": now, "second": now.Add(life), "third": now, "nothing": now, "": now} {
		if _, ok := use(t, s, digest, at); ok {
			t.Errorf("the code %q was valid", digest)
		}
	}
	if got, ok := use(t, s, "second", now); !ok || got.User != ann.ID || !got.SignedIn.IsZero() {
		t.Errorf("the second code, which was too late before: %+v, %t", got, ok)
	}
	add(t, s, row(ann.ID, "fourth", now), now, true)
	add(t, s, row(ann.ID, "fifth", now), now, true)
	later := now.Add(life)
	add(t, s, row(ann.ID, "sixth", later), later, true)
	if _, ok := use(t, s, "fourth", now); ok {
		t.Error("an expired code was kept")
	}
	enable(t, s, "ann", false)
	if _, ok := use(t, s, "sixth", later); ok {
		t.Error("a disabled user signed in")
	}
	if _, err := s.SignIn.AddSignInCode(ctx, row(ann.ID, "x", later), later, 2); !errors.Is(err, signin.ErrNoUser) {
		t.Errorf("a code for a disabled user: %v", err)
	}
	enable(t, s, "ann", true)
	if _, ok := use(t, s, "sixth", later); ok {
		t.Error("a code came back with its user")
	}
	if err := s.Accounts.DeleteUser(ctx, "bob", anyone); err != nil {
		t.Fatal(err)
	}
	newUser(t, s, "bob")
	if _, ok := use(t, s, "bobs", now); ok {
		t.Error("the code of a deleted user was valid")
	}
}

func enable(t *testing.T, s Stores, name string, enabled bool) {
	t.Helper()
	if _, err := s.Accounts.UpdateUser(t.Context(), name, func(u account.User) (account.User, error) { u.Enabled = enabled; return u, nil }); err != nil {
		t.Fatal(err)
	}
}

// testSignInCodeAtOnce proves that of many who use one sign-in code at once, one gets it.
func testSignInCodeAtOnce(t *testing.T, s Stores) {
	ann, now := newUser(t, s, "ann"), clock.Now()
	add(t, s, row(ann.ID, "code", now), now, true)
	var used atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, ok := use(t, s, "code", now); ok {
				used.Add(1)
			}
		})
	}
	all.Wait()
	if used.Load() != 1 {
		t.Errorf("%d used the code", used.Load())
	}
}

// testCodesMadeAtOnce proves that a user who makes codes at once gets no more than in sequence.
func testCodesMadeAtOnce(t *testing.T, s Stores) {
	ann, now := newUser(t, s, "ann"), clock.Now()
	var made atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			added, err := s.SignIn.AddSignInCode(t.Context(), row(ann.ID, strconv.Itoa(i), now), now, 3)
			if err != nil {
				t.Errorf("add code: %v", err)
			}
			if added {
				made.Add(1)
			}
		})
	}
	all.Wait()
	if made.Load() != 3 {
		t.Errorf("%d codes were made, want 3", made.Load())
	}
}

// testEndSignIns proves that the end of a user's sign-ins begins an epoch of that user alone and takes the codes.
func testEndSignIns(t *testing.T, s Stores) {
	ann, bob, now := newUser(t, s, "ann"), newUser(t, s, "bob"), clock.Now()
	add(t, s, row(ann.ID, "anns", now), now, true)
	add(t, s, row(bob.ID, "bobs", now), now, true)
	for range 2 {
		if err := s.SignIn.EndSignIns(t.Context(), ann.ID); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := login(t, s, "ann"), login(t, s, "bob"); a.Epoch != 2 || b.Epoch != 0 {
		t.Errorf("epochs %d and %d, want 2 and 0", a.Epoch, b.Epoch)
	}
	if _, ok := use(t, s, "anns", now); ok {
		t.Error("a code outlived the end of sign-ins")
	}
	fresh := row(ann.ID, "fresh", now)
	fresh.Epoch = 2
	add(t, s, fresh, now, true)
	if _, ok := use(t, s, "fresh", now); !ok {
		t.Error("a code made afterwards is void")
	}
	if _, ok := use(t, s, "bobs", now); !ok {
		t.Error("another user's code was taken")
	}
}
