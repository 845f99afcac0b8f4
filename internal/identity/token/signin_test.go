package token_test

import (
	"crypto/ecdsa"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/identity/authz"
	"quarry/internal/identity/token"
	"quarry/internal/identity/token/tokentest"
)

// A user's token ends with the sign-in at the latest, whenever it is renewed, and a shorter setting counts for tokens that
// are out already; clients have no sign-in.
func TestSignInEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		keys := new(tokentest.Memory)
		s := token.New(token.Config{Store: keys, Installation: installation, SignIn: 2 * time.Hour})
		if err := s.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		person := token.Holder{Kind: authz.User, ID: "usr_1", Epoch: 3, SignedIn: time.Now()}
		for _, c := range []struct {
			after   time.Duration
			seconds int
		}{{0, 1800}, {89 * time.Minute, 1800}, {time.Minute, 1800}, {29 * time.Minute, 60}, {59 * time.Second, 1}} {
			time.Sleep(c.after)
			out, seconds, err := s.Issue(t.Context(), person)
			if err != nil || seconds != c.seconds {
				t.Fatalf("%s later: %d seconds, %v, want %d", c.after, seconds, err, c.seconds)
			}
			got, err := s.Check(t.Context(), out)
			ends := time.Now().Add(time.Duration(c.seconds) * time.Second)
			if err != nil || !got.SignedIn.Equal(person.SignedIn) || !got.Expires.Equal(ends) {
				t.Errorf("%s later: %+v, %v, want it to end at %s", c.after, got, err, ends)
			}
			if c.seconds == 1800 {
				short := token.New(token.Config{Store: keys, Installation: installation, SignIn: time.Hour})
				if _, err := short.Check(t.Context(), out); (err == nil) != time.Now().Before(person.SignedIn.Add(time.Hour)) {
					t.Errorf("%s later, with a shorter setting: %v", c.after, err)
				}
			}
		}
		time.Sleep(time.Second)
		_, _, err := s.Issue(t.Context(), person)
		var over *token.InvalidError
		if !errors.As(err, &over) || !strings.Contains(over.Reason, "sign in again") {
			t.Errorf("at the end: %v", err)
		}
		if _, seconds, err := s.Issue(t.Context(), client); err != nil || seconds != 1800 {
			t.Errorf("a client: %d seconds, %v", seconds, err)
		}
	})
}

// A user's token from before tokens held the time of the sign-in began with it.
func TestTokenWithoutSignIn(t *testing.T) {
	t.Parallel()
	keys := new(tokentest.Memory)
	s := node(t, keys)
	now := time.Now()
	good := issue(t, s, token.Holder{Kind: authz.User, ID: "usr_1", SignedIn: now})
	claims := changed(t, good, "auth_time", nil)
	old := sign(t, strings.Split(good, ".")[0]+"."+encode(t, claims), private(t, keys).Key.(*ecdsa.PrivateKey))
	if got, err := s.Check(t.Context(), old); err != nil || got.SignedIn.Unix() != got.Issued.Unix() || got.SignedIn.Unix() < now.Unix() {
		t.Errorf("%+v, %v", got, err)
	}
}
