package signin_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/fault"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/identity/signin"
	"quarry/internal/identity/token"
	"quarry/internal/store"
	"quarry/internal/store/accounts"
	"quarry/internal/store/storetest"
)

// issuer returns tokens that say whom they are for.
type issuer struct{}

func (issuer) Issue(_ context.Context, h token.Holder) (string, int, error) {
	if h.SignedIn.IsZero() {
		return "", 0, errors.New("it does not say when the user signed in")
	}
	return fmt.Sprintf("%s %s %d", h.Kind, h.ID, h.Epoch), 1800, nil
}

// rows are the stored passwords, with codes that expire early when late is set and a database that is away when gone is.
type rows struct {
	*accounts.Store
	late time.Duration
	gone error
}

func (r *rows) Login(ctx context.Context, username string) (signin.Login, error) {
	if r.gone != nil {
		return signin.Login{}, r.gone
	}
	l, err := r.Store.Login(ctx, username)
	l.CodeExpires = l.CodeExpires.Add(-r.late)
	return l, err
}

type fixture struct {
	*signin.Service
	rows *rows
	runs *atomic.Int64 // of argon2id
	log  bytes.Buffer
}

func setup(t *testing.T) *fixture {
	t.Helper()
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	f := &fixture{rows: &rows{Store: accounts.New(db)}}
	f.Service = signin.New(signin.Config{
		Store: f.rows, Issuer: issuer{}, PublicURL: "https://quarry.test/base/", Log: slog.New(slog.NewTextHandler(&f.log, nil)),
	})
	f.runs = f.Cheap()
	return f
}

// user makes a user with these API roles.
func (f *fixture) user(t *testing.T, name string, roles ...string) account.User {
	t.Helper()
	u := storetest.User(name)
	u.Rights = authz.Rights{API: roles}
	if err := f.rows.CreateUser(t.Context(), u, account.CodeRow{}); err != nil {
		t.Fatal(err)
	}
	return u
}

func (f *fixture) code(t *testing.T, u account.User) string {
	t.Helper()
	return f.issue(t, u).Secret
}

// issue returns the user a code beside what it has.
func (f *fixture) issue(t *testing.T, u account.User) account.Code {
	t.Helper()
	c, row := f.First(u.Username)
	if _, err := f.rows.SetCode(t.Context(), signin.NewCode{Username: u.Username, CodeRow: row}, func(account.User) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return c
}

// member makes a user who can sign in.
func (f *fixture) member(t *testing.T, name, password string, roles ...string) account.User {
	t.Helper()
	u := f.user(t, name, roles...)
	r := signin.Redemption{Username: name, Code: f.code(t, u), Password: password, Address: "192.0.2.1"}
	if err := f.SetPassword(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return u
}

func (f *fixture) try(t *testing.T, name, password string) (signin.Token, error) {
	return f.SignIn(t.Context(), signin.Attempt{Username: name, Password: password, Address: "192.0.2.1"})
}

const password = "correct horse battery"

// TestSignIn proves that a password buys a token for its user, however username and letters are composed, and that each
// other case is refused with the same words after the same work.
func TestSignIn(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ann := f.member(t, "Ann", "pass wörd "+password) // composed
	f.member(t, "off", password)
	f.user(t, "fresh")
	if _, err := f.rows.UpdateUser(t.Context(), "off", func(u account.User) (account.User, error) { u.Enabled = false; return u, nil }); err != nil {
		t.Fatal(err)
	}
	for _, spelled := range []string{"Ann", "ANN", "ａnn"} {
		got, err := f.try(t, spelled, "pass wo\u0308rd "+password)
		if want := (signin.Token{Secret: "user " + string(ann.ID) + " 1", Seconds: 1800, User: ann.ID, Name: spelled}); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", spelled, got, err, want)
		}
	}
	var first error
	for _, c := range []struct{ why, username, password string }{
		{"wrong password", "Ann", password}, {"disabled", "off", password}, {"disabled, wrong", "off", "something else"},
		{"no password", "fresh", password}, {"no password, none given", "fresh", ""}, {"unknown", "nobody", password}, {"no name", "", password},
		{"unknown, strange", "a%_\\'\"@/..", password},
	} {
		before := f.runs.Load()
		_, err := f.try(t, c.username, c.password)
		if first == nil {
			first = err
		}
		if !fault.Is(err, fault.KindUnauthenticated) || !cmp.Equal(err.Error(), first.Error()) {
			t.Errorf("%s: %v, want %v", c.why, err, first)
		}
		if n := f.runs.Load() - before; n != 1 {
			t.Errorf("%s: %d hashes were computed, want one as for any other", c.why, n)
		}
	}
	if _, err := f.try(t, "Ann", strings.Repeat("x", signin.MaxPassword+1)); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("a password too long: %v", err)
	}
}

// TestCode proves that a code sets a password once, is void after another one and when it has expired, serves nobody
// else, survives a password that is refused, and that the refusals of a code read the same.
func TestCode(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ann, bob := f.user(t, "ann"), f.user(t, "bob")
	old, bobs := f.code(t, ann), f.code(t, bob)
	c := f.issue(t, ann)
	link, err := url.Parse(c.Link)
	if err != nil || link.Scheme+"://"+link.Host+link.Path != "https://quarry.test/base/set_password" ||
		link.Query().Get("username") != "ann" || link.Query().Get("code") != c.Secret {
		t.Errorf("link %q, %v", c.Link, err)
	}
	set := func(username, code, password string) error {
		return f.SetPassword(t.Context(), signin.Redemption{Username: username, Code: code, Password: password, Address: "192.0.2.1"})
	}
	var first error
	refused := func(why, username, code string) {
		t.Helper()
		before := f.runs.Load()
		err := set(username, code, password)
		if first == nil {
			first = err
		}
		if !fault.Is(err, fault.KindUnauthenticated) || err.Error() != first.Error() || f.runs.Load() != before {
			t.Errorf("%s: %v, want %v and no hash computed", why, err, first)
		}
	}
	refused("replaced", "ann", old)
	refused("another's", "ann", bobs)
	refused("unknown user", "nobody", c.Secret)
	refused("another case", "ann", strings.ToLower(c.Secret))
	refused("empty", "ann", "")
	if err := set("ann", c.Secret, "short"); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("a short password: %v", err)
	}
	f.rows.late = 73 * time.Hour
	refused("expired", "ann", c.Secret)
	f.rows.late = 71 * time.Hour
	if err := set("ANN", c.Secret, password); err != nil {
		t.Errorf("the right code: %v", err)
	}
	refused("used", "ann", c.Secret)
	if _, err := f.try(t, "ann", password); err != nil {
		t.Errorf("sign in: %v", err)
	}
	if _, err := f.rows.UpdateUser(t.Context(), "bob", func(u account.User) (account.User, error) { u.Enabled = false; return u, nil }); err != nil {
		t.Fatal(err)
	}
	refused("disabled", "bob", bobs)
}

// TestReset proves that a reset voids password and tokens at once and returns a code, and that nobody resets the password
// of a user who may do more than they.
func TestReset(t *testing.T) {
	t.Parallel()
	f := setup(t)
	admin := authz.Principal{Kind: authz.User}.With(authz.Rights{API: []string{"administrator"}})
	f.member(t, "boss", password, "owner")
	ann := f.member(t, "ann", password, "corpus_viewer")
	if _, err := f.Reset(t.Context(), admin, "boss"); !fault.Is(err, fault.KindForbidden) {
		t.Errorf("an administrator resets an owner: %v", err)
	}
	if _, err := f.try(t, "boss", password); err != nil {
		t.Errorf("the refused reset voided the password: %v", err)
	}
	if _, err := f.Reset(t.Context(), admin, "nobody"); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("nobody: %v", err)
	}
	code, err := f.Reset(t.Context(), admin, "ANN")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.try(t, "ann", password); !fault.Is(err, fault.KindUnauthenticated) {
		t.Errorf("the password after a reset: %v", err)
	}
	people := account.New(f.rows, nil)
	if _, err := people.UserPrincipal(t.Context(), ann.ID, 1); !fault.Is(err, fault.KindUnauthenticated) {
		t.Errorf("a token from before the reset: %v", err)
	}
	if err := f.SetPassword(t.Context(), signin.Redemption{Username: "ann", Code: code.Secret, Password: "another " + password}); err != nil {
		t.Fatal(err)
	}
	got, err := f.try(t, "ann", "another "+password)
	if err != nil || got.Secret != "user "+string(ann.ID)+" 3" {
		t.Errorf("%+v, %v", got, err)
	}
	if p, err := people.UserPrincipal(t.Context(), ann.ID, 3); err != nil || p.Name != "ann" {
		t.Errorf("the new token: %+v, %v", p, err)
	}
}

// TestOutdatedHash proves that signing in brings a hash to today's cost and leaves the tokens valid.
func TestOutdatedHash(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.member(t, "ann", password)
	was, _ := f.rows.Login(t.Context(), "ann")
	f.Dearer()
	for range 2 {
		if _, err := f.try(t, "ann", password); err != nil {
			t.Fatal(err)
		}
	}
	is, _ := f.rows.Login(t.Context(), "ann")
	if !strings.Contains(was.Hash, "t=1") || !strings.Contains(is.Hash, "t=2") || was.Epoch != is.Epoch {
		t.Errorf("from %+v to %+v", was, is)
	}
	if n := f.runs.Load(); n != 4 { // set, check, anew, check
		t.Errorf("%d hashes were computed", n)
	}
	if f.log.Len() > 0 {
		t.Errorf("the log says %s", &f.log)
	}
}

// TestGuessing proves that failures are limited by username and address without any hash computed beyond, that a right
// password is limited by the username's failures too but where its user signed in before, that neither successes nor a
// database that is away count, and that codes are limited by address alone.
func TestGuessing(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ann := f.member(t, "ann", password)
	perName, perAddress := signin.Burst()
	for range 3 * perAddress {
		if _, err := f.try(t, "ann", password); err != nil {
			t.Fatal(err)
		}
	}
	f.rows.gone = errors.New("away")
	for range 3 * perAddress {
		if _, err := f.try(t, "ann", password); !errors.Is(err, f.rows.gone) {
			t.Fatal(err)
		}
	}
	f.rows.gone = nil
	from := func(address, password string) error {
		_, err := f.SignIn(t.Context(), signin.Attempt{Username: "ANN", Password: password, Address: address})
		return err
	}
	wrong := "wrong " + password
	for i := range perName {
		if err := from(fmt.Sprintf("198.51.100.%d", i), wrong); !fault.Is(err, fault.KindUnauthenticated) {
			t.Fatal(err)
		}
	}
	before := f.runs.Load()
	for _, err := range []error{from("203.0.113.1", wrong), from("203.0.113.2", password)} {
		if limited, ok := fault.As(err); !ok || limited.Kind != fault.KindLimited || limited.RetryAfter <= 0 {
			t.Errorf("one more: %v", err)
		}
	}
	for range perAddress {
		_ = f.SetPassword(t.Context(), signin.Redemption{Username: "bob", Code: "guess", Password: password, Address: "203.0.113.9"})
	}
	r := signin.Redemption{Username: "ann", Code: f.code(t, ann), Password: password, Address: "203.0.113.9"}
	if err := f.SetPassword(t.Context(), r); !fault.Is(err, fault.KindLimited) {
		t.Errorf("the right code after too many wrong ones: %v", err)
	}
	if f.runs.Load() != before {
		t.Error("hashes were computed for refused attempts")
	}
	if _, err := f.try(t, "ann", password); err != nil {
		t.Errorf("the right password where ann signed in before: %v", err)
	}
	r.Address = "203.0.113.10"
	if err := f.SetPassword(t.Context(), r); err != nil {
		t.Errorf("the right code from elsewhere: %v", err)
	}
}
