// Package signintest is the conformance suite of signin.Store. Only tests import it.
package signintest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/identity/account"
	"quarry/internal/identity/signin"
	"quarry/internal/store/storetest"
)

// Stores is one installation's passwords and the users who have them.
type Stores struct {
	Accounts account.Store
	SignIn   signin.Store
}

// Run checks a store against the comments of the interface. open returns the stores of a new, empty installation.
func Run(t *testing.T, open func(testing.TB) Stores) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Stores)
	}{
		{"one-time codes", testCodes}, {"one code at once", testCodeAtOnce}, {"rehash", testRehash}, {"epochs", testEpochs},
		{"sign-in codes", testSignInCodes}, {"one sign-in code at once", testSignInCodeAtOnce}, {"codes made at once", testCodesMadeAtOnce},
		{"the end of sign-ins", testEndSignIns},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, open(t))
		})
	}
}

func newUser(t *testing.T, s Stores, name string) account.User {
	t.Helper()
	u := storetest.User(name)
	if err := s.Accounts.CreateUser(t.Context(), u, account.CodeRow{}); err != nil {
		t.Fatal(err)
	}
	return u
}

func anyone(account.User) error { return nil }

func giveCode(t *testing.T, s Stores, c signin.NewCode) account.User {
	t.Helper()
	u, err := s.SignIn.SetCode(t.Context(), c, anyone)
	if err != nil {
		t.Fatalf("set code of %s: %v", c.Username, err)
	}
	return u
}

func login(t *testing.T, s Stores, name string) signin.Login {
	t.Helper()
	l, err := s.SignIn.Login(t.Context(), name)
	if err != nil {
		t.Fatalf("login of %s: %v", name, err)
	}
	return l
}

// testCodes proves that a code replaces the one before, sets a password once and for its own user alone, and that a
// reset voids the password.
func testCodes(t *testing.T, s Stores) {
	ctx := t.Context()
	ann, bob := newUser(t, s, "Ann"), newUser(t, s, "bob")
	if l := login(t, s, "Ann"); l != (signin.Login{User: ann.ID, Enabled: true, CodeExpires: time.UnixMicro(0).UTC()}) {
		t.Errorf("without a password: %+v", l)
	}
	if _, err := s.SignIn.Login(ctx, "nobody"); !errors.Is(err, signin.ErrNoUser) {
		t.Errorf("nobody: %v", err)
	}
	soon := clock.Now().Add(time.Hour)
	giveCode(t, s, signin.NewCode{Username: "ann", CodeRow: account.CodeRow{Digest: "first", Expires: soon}})
	if u := giveCode(t, s, signin.NewCode{Username: "ＡＮＮ", CodeRow: account.CodeRow{Digest: "second", Expires: soon}}); u.ID != ann.ID || u.Username != "Ann" {
		t.Errorf("the code went to %+v", u)
	}
	giveCode(t, s, signin.NewCode{Username: "bob", CodeRow: account.CodeRow{Digest: "bobs", Expires: soon}})
	if l := login(t, s, "aNN"); l.Code != "second" || !l.CodeExpires.Equal(soon) || l.Hash != "" || l.Epoch != 0 {
		t.Errorf("with a code: %+v", l)
	}
	for _, c := range []struct {
		u    account.User
		code string
		done bool
	}{{ann, "first", false}, {ann, "bobs", false}, {ann, "", false}, {storetest.User("x"), "second", false}, {ann, "second", true}, {ann, "second", false}, {ann, "", false}} {
		if done, err := s.SignIn.SetPassword(ctx, c.u.ID, c.code, "hash by "+c.code); err != nil || done != c.done {
			t.Errorf("code %q of %s: %t, %v", c.code, c.u.Username, done, err)
		}
	}
	if l := login(t, s, "Ann"); l.Hash != "hash by second" || l.Code != "" || l.Epoch != 1 {
		t.Errorf("with a password: %+v", l)
	}
	if l := login(t, s, "bob"); l.Hash != "" || l.Code != "bobs" || l.User != bob.ID || l.Epoch != 0 {
		t.Errorf("bob: %+v", l)
	}
	giveCode(t, s, signin.NewCode{Username: "ann", CodeRow: account.CodeRow{Digest: "third", Expires: soon}})
	if l := login(t, s, "Ann"); l.Hash != "hash by second" || l.Epoch != 1 {
		t.Errorf("a code beside the password: %+v", l)
	}
	giveCode(t, s, signin.NewCode{Username: "ann", CodeRow: account.CodeRow{Digest: "fourth", Expires: soon}, Void: true})
	if l := login(t, s, "Ann"); l.Hash != "" || l.Code != "fourth" || l.Epoch != 2 {
		t.Errorf("after a reset: %+v", l)
	}
	no := errors.New("not by you")
	if _, err := s.SignIn.SetCode(ctx, signin.NewCode{Username: "bob", CodeRow: account.CodeRow{Digest: "x", Expires: soon}, Void: true}, func(u account.User) error {
		if u.ID != bob.ID {
			t.Errorf("asked about %+v", u)
		}
		return no
	}); !errors.Is(err, no) {
		t.Errorf("refused: %v", err)
	}
	if l := login(t, s, "bob"); l.Code != "bobs" || l.Epoch != 0 {
		t.Errorf("the refused reset changed %+v", l)
	}
	if _, err := s.SignIn.SetCode(ctx, signin.NewCode{Username: "nobody", CodeRow: account.CodeRow{Expires: soon}}, anyone); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("a code for nobody: %v", err)
	}
	if err := s.Accounts.DeleteUser(ctx, "bob", anyone); err != nil {
		t.Fatal(err)
	}
	again := newUser(t, s, "bob")
	if l := login(t, s, "bob"); l.User != again.ID || l.Code != "" {
		t.Errorf("a later user of the name has %+v", l)
	}
}

// testCodeAtOnce proves that of many who use one code at once, one sets a password.
func testCodeAtOnce(t *testing.T, s Stores) {
	ann := newUser(t, s, "ann")
	giveCode(t, s, signin.NewCode{Username: "ann", CodeRow: account.CodeRow{Digest: "code", Expires: time.Now().Add(time.Hour)}})
	var set atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			done, err := s.SignIn.SetPassword(t.Context(), ann.ID, "code", "hash")
			if err != nil {
				t.Errorf("set password: %v", err)
			}
			if done {
				set.Add(1)
			}
		})
	}
	all.Wait()
	if l := login(t, s, "ann"); set.Load() != 1 || l.Epoch != 1 {
		t.Errorf("%d set a password, epoch %d", set.Load(), l.Epoch)
	}
}

// testRehash proves that a hash is replaced in place of the one it was made for, and that tokens stay valid by it.
func testRehash(t *testing.T, s Stores) {
	ann := newUser(t, s, "ann")
	giveCode(t, s, signin.NewCode{Username: "ann", CodeRow: account.CodeRow{Digest: "code", Expires: time.Now().Add(time.Hour)}})
	if done, err := s.SignIn.SetPassword(t.Context(), ann.ID, "code", "old"); err != nil || !done {
		t.Fatal(done, err)
	}
	for _, c := range []struct{ old, hash, want string }{{"older", "x", "old"}, {"", "x", "old"}, {"old", "new", "new"}} {
		if err := s.SignIn.Rehash(t.Context(), ann.ID, c.old, c.hash); err != nil {
			t.Fatal(err)
		}
		if l := login(t, s, "ann"); l.Hash != c.want || l.Epoch != 1 {
			t.Errorf("%q in place of %q: %+v", c.hash, c.old, l)
		}
	}
}

// testEpochs proves that a token's user is read with its epoch, that disabling begins another one and enabling and other
// changes don't, and that a disabled user sets no password.
func testEpochs(t *testing.T, s Stores) {
	ctx := t.Context()
	ann := newUser(t, s, "ann")
	giveCode(t, s, signin.NewCode{Username: "ann", CodeRow: account.CodeRow{Digest: "code", Expires: time.Now().Add(time.Hour)}})
	for i, c := range []struct {
		change func(*account.User)
		epoch  int64
	}{
		{func(u *account.User) { u.Description = "other" }, 0},
		{func(u *account.User) { u.Enabled = false }, 1},
		{func(u *account.User) { u.Description = "disabled" }, 1},
		{func(u *account.User) { u.Enabled = true }, 1},
		{func(u *account.User) { u.Enabled = false }, 2},
	} {
		if _, err := s.Accounts.UpdateUser(ctx, "ann", func(u account.User) (account.User, error) { c.change(&u); return u, nil }); err != nil {
			t.Fatal(err)
		}
		u, err := s.Accounts.UserByID(ctx, ann.ID)
		if err != nil || u.Epoch != c.epoch {
			t.Errorf("change %d: epoch %d, %v, want %d", i, u.Epoch, err, c.epoch)
		}
	}
	if l := login(t, s, "ann"); l.Enabled || l.Epoch != 2 {
		t.Errorf("disabled: %+v", l)
	}
	if done, err := s.SignIn.SetPassword(ctx, ann.ID, "code", "hash"); err != nil || done {
		t.Errorf("a disabled user set a password: %t, %v", done, err)
	}
	if l := login(t, s, "ann"); l.Hash != "" || l.Code != "code" || l.Epoch != 2 {
		t.Errorf("that changed %+v", l)
	}
}
