package signin_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/identity/signin"
	"quarry/internal/identity/token"
	"quarry/internal/identity/token/tokentest"
)

// UseSignInCode is that of the store, later by late.
func (r *rows) UseSignInCode(ctx context.Context, digest string, now time.Time) (signin.CodeRow, error) {
	if r.gone != nil {
		return signin.CodeRow{}, r.gone
	}
	return r.Store.UseSignInCode(ctx, digest, now.Add(r.late))
}

// by returns the user as a caller with a personal key.
func (f *fixture) by(t *testing.T, u account.User) authz.Principal {
	t.Helper()
	l, err := f.rows.Login(t.Context(), u.Username)
	if err != nil {
		t.Fatal(err)
	}
	return authz.Principal{Kind: authz.User, ID: string(u.ID), Name: u.Username, Epoch: l.Epoch}
}

func (f *fixture) signInCode(t *testing.T, by authz.Principal) string {
	t.Helper()
	c, err := f.CreateCode(t.Context(), by)
	if left := time.Until(c.Expires); err != nil || left <= 4*time.Minute || left > signin.CodeLife {
		t.Fatalf("a code: %v, %s left", err, left)
	}
	return c.Secret
}

func (f *fixture) use(t *testing.T, code string) (signin.Token, error) {
	return f.SignInWithCode(t.Context(), signin.CodeAttempt{Code: code, Address: "192.0.2.1"})
}

// TestSignInCode proves that a code signs its user in once and within five minutes, that none of a user who is disabled,
// deleted, signed out or got another password does, that all refusals read the same, and that a code which sets a password
// is told apart.
func TestSignInCode(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ann := f.member(t, "ann", password)
	var first error
	refused := func(why, code string) {
		t.Helper()
		_, err := f.use(t, code)
		if first == nil {
			first = err
		}
		if !fault.Is(err, fault.KindUnauthenticated) || err.Error() != first.Error() || code != "" && strings.Contains(err.Error(), code) {
			t.Errorf("%s: %v, want %v", why, err, first)
		}
	}
	code := f.signInCode(t, f.by(t, ann))
	refused("another case", strings.ToUpper(code))
	refused("empty", "")
	got, err := f.use(t, code)
	if want := (signin.Token{Secret: "user " + string(ann.ID) + " 1", Seconds: 1800, User: ann.ID, Name: "ann"}); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	refused("used", code)

	code = f.signInCode(t, f.by(t, ann))
	f.rows.late = signin.CodeLife
	refused("expired", code)
	f.rows.late = 4 * time.Minute
	if _, err := f.use(t, code); err != nil {
		t.Errorf("after four minutes: %v", err)
	}
	f.rows.late = 0

	code = f.signInCode(t, f.by(t, ann))
	if err := f.SetPassword(t.Context(), signin.Redemption{Username: "ann", Code: f.code(t, ann), Password: "another " + password}); err != nil {
		t.Fatal(err)
	}
	refused("another password", code)
	code = f.signInCode(t, f.by(t, ann))
	if err := f.SignOut(t.Context(), f.by(t, ann)); err != nil {
		t.Fatal(err)
	}
	refused("signed out", code)
	code = f.signInCode(t, f.by(t, ann))
	enable := func(u account.User) (account.User, error) { u.Enabled = !u.Enabled; return u, nil }
	if _, err := f.rows.UpdateUser(t.Context(), "ann", enable); err != nil {
		t.Fatal(err)
	}
	refused("disabled", code)
	if _, err := f.CreateCode(t.Context(), f.by(t, ann)); !fault.Is(err, fault.KindUnauthenticated) {
		t.Errorf("a code for a disabled user: %v", err)
	}
	if _, err := f.rows.UpdateUser(t.Context(), "ann", enable); err != nil {
		t.Fatal(err)
	}
	refused("enabled again", code)
	code = f.signInCode(t, f.by(t, ann))
	if err := f.rows.DeleteUser(t.Context(), "ann", func(account.User) error { return nil }); err != nil {
		t.Fatal(err)
	}
	refused("deleted", code)
	if _, err := f.use(t, f.code(t, f.user(t, "bob"))); !fault.Is(err, fault.KindInvalid) || !strings.Contains(err.Error(), "/v2/set_password") {
		t.Errorf("a code that sets a password: %v", err)
	}
}

// TestGuessingSignInCodes proves that wrong codes are limited by address as wrong passwords are, together with them, that
// neither right ones nor a database that is away count, and that a user has twenty codes at most.
func TestGuessingSignInCodes(t *testing.T) {
	t.Parallel()
	f := setup(t)
	by := f.by(t, f.user(t, "ann"))
	_, perAddress := signin.Burst()
	for range perAddress + 1 {
		if _, err := f.use(t, f.signInCode(t, by)); err != nil {
			t.Fatal(err)
		}
	}
	right := f.signInCode(t, by)
	f.rows.gone = errors.New("away")
	for range perAddress + 1 {
		if _, err := f.use(t, right); !errors.Is(err, f.rows.gone) {
			t.Fatal(err)
		}
	}
	f.rows.gone = nil
	for range perAddress - 1 {
		if _, err := f.use(t, "guess"); !fault.Is(err, fault.KindUnauthenticated) {
			t.Fatal(err)
		}
	}
	if err := f.SetPassword(t.Context(), signin.Redemption{Username: "ann", Code: "guess", Password: password, Address: "192.0.2.1"}); !fault.Is(err, fault.KindUnauthenticated) {
		t.Fatal(err)
	}
	if _, err := f.use(t, right); !fault.Is(err, fault.KindLimited) {
		t.Errorf("the right code after too many wrong ones: %v", err)
	}
	if _, err := f.SignInWithCode(t.Context(), signin.CodeAttempt{Code: right, Address: "192.0.2.2"}); err != nil {
		t.Errorf("the right code from elsewhere: %v", err)
	}
	for range signin.MaxCodes {
		f.signInCode(t, by)
	}
	_, err := f.CreateCode(t.Context(), by)
	if limited, ok := fault.As(err); !ok || limited.Kind != fault.KindLimited || limited.RetryAfter <= 0 {
		t.Errorf("one code more: %v", err)
	}
}

// memory is a store of one user and its sign-in codes, without a database, so that time can be that of a test.
type memory struct {
	signin.Store
	login signin.Login
	codes map[string]signin.CodeRow
}

func (m *memory) Login(context.Context, string) (signin.Login, error) { return m.login, nil }

func (m *memory) AddSignInCode(_ context.Context, c signin.CodeRow, _ time.Time, _ int) (bool, error) {
	m.codes[c.Digest] = c
	return true, nil
}

func (m *memory) UseSignInCode(_ context.Context, digest string, now time.Time) (signin.CodeRow, error) {
	c, ok := m.codes[digest]
	delete(m.codes, digest)
	if !ok || !now.Before(c.Expires) {
		return c, signin.ErrNoCode
	}
	return c, nil
}

// TestRenew proves that a sign-in is renewed until the setting's time after the code that began it, that the token of each
// renewal keeps that time and the epoch, that a code made by it goes on with it, and that a key is told that it needs none.
func TestRenew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tokens := token.New(token.Config{Store: new(tokentest.Memory), Installation: "urn:quarry:test", SignIn: 12 * time.Hour})
		if err := tokens.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		rows := &memory{codes: map[string]signin.CodeRow{}}
		s := signin.New(signin.Config{Store: rows, Issuer: tokens, Log: slog.New(slog.DiscardHandler)})
		key := authz.Principal{Kind: authz.User, ID: "usr_1", Name: "ann", Epoch: 4}
		if _, err := s.Renew(t.Context(), key); !fault.Is(err, fault.KindForbidden) {
			t.Errorf("by a key: %v", err)
		}
		code := func(by authz.Principal) signin.Token {
			t.Helper()
			c, err := s.CreateCode(t.Context(), by)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.SignInWithCode(t.Context(), signin.CodeAttempt{Code: c.Secret})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		caller := func(got signin.Token) authz.Principal {
			t.Helper()
			c, err := tokens.Check(t.Context(), got.Secret)
			if err != nil || id.User(c.ID) != got.User || c.Epoch != 4 {
				t.Fatalf("%+v, %v", c, err)
			}
			return authz.Principal{Kind: c.Kind, ID: c.ID, Name: "ann", Epoch: c.Epoch, SignedIn: c.SignedIn, Expires: c.Expires}
		}
		by, began := caller(code(key)), time.Now()
		for time.Since(began) < 12*time.Hour-20*time.Minute {
			time.Sleep(20 * time.Minute)
			got, err := s.Renew(t.Context(), by)
			if err != nil || got.Name != "ann" {
				t.Fatalf("after %s: %+v, %v", time.Since(began), got, err)
			}
			if by = caller(got); !by.SignedIn.Equal(began) {
				t.Fatalf("after %s it began at %s, not %s", time.Since(began), by.SignedIn, began)
			}
		}
		if other := caller(code(by)); !other.SignedIn.Equal(began) || !other.Expires.Equal(began.Add(12*time.Hour)) {
			t.Errorf("the sign-in of a code that a token made: %+v, begun %s", other, began)
		}
		if fresh := caller(code(key)); !fresh.SignedIn.Equal(time.Now()) {
			t.Errorf("the sign-in of a code that a key made: %+v", fresh)
		}
		time.Sleep(20 * time.Minute)
		if _, err := s.Renew(t.Context(), by); !fault.Is(err, fault.KindUnauthenticated) || !strings.Contains(err.Error(), "sign in again") {
			t.Errorf("at the end: %v", err)
		}
	})
}
