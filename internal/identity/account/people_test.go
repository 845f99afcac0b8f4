package account_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/fault"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/opt"
	"quarry/internal/store"
	"quarry/internal/store/accounts"
	"quarry/internal/store/storetest"
)

// as returns a caller with API roles.
func as(roles ...string) authz.Principal {
	return authz.Principal{Kind: authz.User, ID: "usr_by"}.With(authz.Rights{API: roles})
}

func rights(roles ...string) authz.Rights { return authz.Rights{API: roles} }

func make1(t *testing.T, s *account.Service, name string, r authz.Rights) account.User {
	t.Helper()
	u, _, err := s.CreateUser(t.Context(), as("owner"), account.CreateUser{Email: name + "@example.test", Username: name, Rights: r})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestCreateUser proves what is kept of a new user: composed names, the e-mail address for a name that is missing,
// metadata as it was sent.
func TestCreateUser(t *testing.T) {
	t.Parallel()
	s := service(t)
	made, code, err := s.CreateUser(t.Context(), as("owner"), account.CreateUser{
		Email: "zoe@example.test", Username: "Zoe\u0308", Metadata: json.RawMessage(`{ "n": 1.50, "s": "\u00e9" }`), Groups: []string{"e\u0301quipe"},
	})
	if err != nil || code != nil {
		t.Fatalf("%v, code %v", err, code)
	}
	if made.Username != "Zoë" || string(made.Metadata) != `{"n":1.50,"s":"\u00e9"}` || made.Groups[0] != "équipe" || !made.Enabled {
		t.Errorf("made %+v", made)
	}
	read, err := s.UserByName(t.Context(), "ZOË")
	if diff := cmp.Diff(made, read, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("read: %v (-made +read): %s", err, diff)
	}
	bare, _, err := s.CreateUser(t.Context(), as("administrator"), account.CreateUser{Email: "ann@example.test", Metadata: json.RawMessage(`{}`)})
	if err != nil || bare.Username != "ann@example.test" || bare.Metadata != nil {
		t.Errorf("%v: %+v", err, bare)
	}
}

// TestBadUsers proves that each thing wrong is named, all at once.
func TestBadUsers(t *testing.T) {
	t.Parallel()
	s := service(t)
	for _, tc := range []struct {
		name   string
		create account.CreateUser
		fields []string
	}{
		{"nothing", account.CreateUser{}, []string{"email", "username"}},
		{"long address, no name", account.CreateUser{Email: strings.Repeat("a", 120) + "@example.test"}, []string{"username"}},
		{"everything", account.CreateUser{
			Email: "a b@c", Username: "x\u2066", Description: strings.Repeat("é", 256), Metadata: json.RawMessage(`[]`), Groups: []string{"a", "a", ""},
			Rights: authz.Rights{API: []string{"boss"}, Corpora: []authz.Grant{{Key: "c", Role: "reader"}}, Agents: []authz.Grant{{Key: "g", Role: "user"}}},
		}, []string{
			"agent_roles[0].role", "api_roles[0]", "corpus_roles[0].role", "description", "email",
			"groups[1]", "groups[2]", "metadata", "username",
		}},
		{"metadata that breaks off", account.CreateUser{Email: "a@b", Metadata: json.RawMessage(`{"a":`)}, []string{"metadata"}},
	} {
		_, _, err := s.CreateUser(t.Context(), as("owner"), tc.create)
		f, ok := fault.As(err)
		if !ok || f.Kind != fault.KindInvalid {
			t.Errorf("%s: %v, want invalid", tc.name, err)
			continue
		}
		if diff := cmp.Diff(tc.fields, f.Paths()); diff != "" {
			t.Errorf("%s: fields (-want +got): %s", tc.name, diff)
		}
	}
}

// TestMetadataSize proves that the bound counts bytes of compact JSON, whatever spaces and escapes a client sends.
func TestMetadataSize(t *testing.T) {
	t.Parallel()
	s := service(t)
	make1(t, s, "ann", authz.Rights{})
	const most = 65_535
	for _, tc := range []struct {
		name string
		raw  string
		ok   bool
	}{
		{"most", `{"k":"` + strings.Repeat("x", most-8) + `"}`, true},
		{"one more", `{"k":"` + strings.Repeat("x", most-7) + `"}`, false},
		{"most, with spaces", ` { "k" : "` + strings.Repeat("x", most-8) + `" } `, true},
		{"most, in two bytes each", `{"k":"` + strings.Repeat("é", (most-9)/2) + `x"}`, true},
		{"the same, escaped", `{"k":"` + strings.Repeat(`\u00e9`, (most-9)/2) + `x"}`, true},
		{"one more, escaped", `{"k":"` + strings.Repeat(`\u00e9`, (most-9)/2) + `xx"}`, false},
		{"most, of characters that HTML escapes", `{"k":"` + strings.Repeat("<", most-8) + `"}`, true},
	} {
		_, err := s.UpdateUser(t.Context(), as("owner"), "ann", account.UserPatch{Metadata: opt.Some(json.RawMessage(tc.raw))})
		if f, refused := fault.As(err); tc.ok && err != nil || !tc.ok && (!refused || f.Fields["metadata"] == "") {
			t.Errorf("%s: %v, want taken %t", tc.name, err, tc.ok)
		}
	}
}

// TestGuards proves that nobody gives or takes what they don't hold: owners are made, changed in what they may do, and
// removed by owners alone.
func TestGuards(t *testing.T) {
	t.Parallel()
	s := service(t)
	make1(t, s, "first", rights("owner"))
	update := func(by authz.Principal, name string, p account.UserPatch) error {
		_, err := s.UpdateUser(t.Context(), by, name, p)
		return err
	}
	create := func(by authz.Principal, r authz.Rights) error {
		_, _, err := s.CreateUser(t.Context(), by, account.CreateUser{Email: "x@example.test", Username: "made", Rights: r})
		if err == nil {
			err = s.DeleteUser(t.Context(), as("owner"), "made")
		}
		return err
	}
	admin, boss := as("administrator"), as("owner")
	for _, tc := range []struct {
		name    string
		had     authz.Rights
		off     bool
		do      func() error
		refused bool
	}{
		{"administrator makes owner", authz.Rights{}, false, func() error { return create(admin, rights("viewer", "owner")) }, true},
		{"administrator makes administrator", authz.Rights{}, false, func() error { return create(admin, rights("administrator", "metrics_viewer")) }, false},
		{"administrator makes a billing administrator", authz.Rights{}, false, func() error { return create(admin, rights("billing_administrator")) }, true},
		{"owner makes owner", authz.Rights{}, false, func() error { return create(boss, rights("owner")) }, false},
		{"administrator promotes", rights("viewer"), false, func() error {
			return update(admin, "u", account.UserPatch{Patch: account.Patch{APIRoles: opt.Some([]string{"owner"})}})
		}, true},
		{"administrator demotes", rights("owner"), false, func() error {
			return update(admin, "u", account.UserPatch{Patch: account.Patch{APIRoles: opt.Some([]string{"viewer"})}})
		}, true},
		{"administrator disables an owner", rights("owner"), false, func() error {
			return update(admin, "u", account.UserPatch{Patch: account.Patch{Enabled: opt.Some(false)}})
		}, true},
		{"administrator enables an owner", rights("owner"), true, func() error {
			return update(admin, "u", account.UserPatch{Patch: account.Patch{Enabled: opt.Some(true)}})
		}, true},
		{"administrator says who an owner is", rights("owner"), false, func() error {
			return update(admin, "u", account.UserPatch{Patch: account.Patch{Enabled: opt.Some(true), APIRoles: opt.Some([]string{"owner"}), Description: opt.Some("boss")}})
		}, false},
		{"administrator deletes an owner", rights("owner"), false, func() error { return s.DeleteUser(t.Context(), admin, "u") }, true},
		{"administrator deletes an administrator", rights("administrator"), false, func() error { return s.DeleteUser(t.Context(), admin, "u") }, false},
		{"owner demotes", rights("owner"), false, func() error {
			return update(boss, "u", account.UserPatch{Patch: account.Patch{APIRoles: opt.Some([]string(nil))}})
		}, false},
		{"owner deletes", rights("owner"), false, func() error { return s.DeleteUser(t.Context(), boss, "u") }, false},
	} {
		make1(t, s, "u", tc.had)
		if tc.off {
			if err := update(boss, "u", account.UserPatch{Patch: account.Patch{Enabled: opt.Some(false)}}); err != nil {
				t.Fatal(err)
			}
		}
		before, err := s.UserByName(t.Context(), "u")
		if err != nil {
			t.Fatal(err)
		}
		switch err := tc.do(); {
		case !tc.refused && err != nil:
			t.Errorf("%s: %v", tc.name, err)
		case tc.refused && !fault.Is(err, fault.KindForbidden):
			t.Errorf("%s: %v, want forbidden", tc.name, err)
		case tc.refused:
			after, err := s.UserByName(t.Context(), "u")
			if diff := cmp.Diff(before, after); diff != "" || err != nil {
				t.Errorf("%s: %v, the user changed: %s", tc.name, err, diff)
			}
		}
		if err := s.DeleteUser(t.Context(), boss, "u"); err != nil && !fault.Is(err, fault.KindNotFound) {
			t.Fatal(err)
		}
	}
}

// TestUpdated proves that a patch without effect leaves the time of the last change alone.
func TestUpdated(t *testing.T) {
	t.Parallel()
	s := service(t)
	u := make1(t, s, "ann", rights("viewer"))
	same, err := s.UpdateUser(t.Context(), as("owner"), "ann", account.UserPatch{
		Patch:    account.Patch{Enabled: opt.Some(true), APIRoles: opt.Some([]string{"viewer"})},
		Metadata: opt.Null[json.RawMessage](), Groups: opt.Some([]string(nil)),
	})
	if err != nil || !same.Updated.Equal(u.Updated) {
		t.Errorf("%v: updated %v, want %v", err, same.Updated, u.Updated)
	}
	other, err := s.UpdateUser(t.Context(), as("owner"), "ann", account.UserPatch{Patch: account.Patch{Description: opt.Some("x")}})
	if err != nil || !other.Updated.After(u.Updated) {
		t.Errorf("%v: updated %v, want later than %v", err, other.Updated, u.Updated)
	}
}

// TestNextRequest proves that a personal key follows its owner at once, on every node over the database: roles, being
// disabled, enabled and deleted.
func TestNextRequest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one := storetest.Open(t, store.Config{Dir: dir})
	two := storetest.Open(t, store.Config{Dir: dir})
	s, node := account.New(accounts.New(one), nil), account.New(accounts.New(two), nil)
	make1(t, s, "boss", rights("owner"))
	k, secret := storetest.PersonalKey(make1(t, s, "ann", rights("viewer")))
	if err := accounts.New(one).CreateKey(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	want := func(what string, roles ...string) {
		t.Helper()
		for _, node := range []*account.Service{s, node} {
			p, err := node.Authenticate(t.Context(), secret)
			refused := fault.Is(err, fault.KindUnauthenticated)
			if refused != (roles == nil) || !refused && (err != nil || cmp.Diff(roles, p.APIRoles) != "" || p.Credential != string(k.ID)) {
				t.Errorf("%s: %v, %+v, want roles %v", what, err, p, roles)
			}
		}
	}
	change := func(p account.UserPatch) {
		t.Helper()
		if _, err := s.UpdateUser(t.Context(), as("owner"), "ann", p); err != nil {
			t.Fatal(err)
		}
	}
	want("made", "viewer")
	change(account.UserPatch{Patch: account.Patch{APIRoles: opt.Some([]string{"corpus_developer", "agent_user"})}})
	want("other roles", "corpus_developer", "agent_user")
	change(account.UserPatch{Patch: account.Patch{Enabled: opt.Some(false)}})
	want("disabled")
	change(account.UserPatch{Patch: account.Patch{Enabled: opt.Some(true)}})
	want("enabled", "corpus_developer", "agent_user")
	if err := s.DeleteUser(t.Context(), as("owner"), "ann"); err != nil {
		t.Fatal(err)
	}
	want("deleted")
}

type codes struct{}

func (codes) First(username string) (account.Code, account.CodeRow) {
	return account.Code{Secret: "code of " + username, Link: "https://example.test"}, account.CodeRow{Digest: "digest of " + username, Expires: time.Now()}
}

// TestCode proves that a new user comes with the code that the installation makes, and that neither is there without
// the other: a user whose code nobody has would keep the name from who tries again.
func TestCode(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	c := account.CreateUser{Email: "ann@example.test"}
	s := account.New(accounts.New(db), codes{})
	if _, code, err := s.CreateUser(t.Context(), as("owner"), c); err != nil || code == nil || code.Secret != "code of ann@example.test" {
		t.Errorf("code %v, %v", code, err)
	}
	if err := db.Write(t.Context(), func(tx *store.Tx) error {
		return tx.Exec(`CREATE TRIGGER no_codes BEFORE INSERT ON passwords BEGIN SELECT RAISE(ABORT, 'no more codes'); END`)
	}); err != nil {
		t.Fatal(err)
	}
	c.Email = "bob@example.test"
	if _, _, err := s.CreateUser(t.Context(), as("owner"), c); err == nil || !strings.Contains(err.Error(), "no more codes") {
		t.Errorf("a code that can't be written: %v", err)
	}
	if _, err := s.UserByName(t.Context(), "bob@example.test"); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("its user: %v, want none", err)
	}
}
