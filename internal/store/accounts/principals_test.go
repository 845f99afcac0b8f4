package accounts_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
)

// owner returns a first user whose key has the digest of its name.
func owner(name string) (account.User, account.Key) {
	u := storetest.User(name)
	u.Rights = authz.Rights{API: []string{authz.Owner}}
	k, _ := storetest.PersonalKey(u)
	k.Digest = account.Digest(name)
	return u, k
}

// asPrincipal reduces a user to what the read of a principal returns.
func asPrincipal(u account.User) account.User {
	return account.User{ID: u.ID, Username: u.Username, Email: u.Email, Enabled: u.Enabled, Rights: u.Rights}
}

// testAccounts proves that a key is found by its digest with its owner, as written; another digest gives ErrNoHolder.
func testAccounts(t *testing.T, s stores) {
	u, k := owner("ann")
	if made, err := s.Accounts.CreateOwner(t.Context(), u, k); err != nil || !made {
		t.Fatalf("CreateOwner = %v, %v; want true, nil", made, err)
	}
	gotKey, gotUser, err := s.Accounts.KeyByDigest(t.Context(), k.Digest)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(k, gotKey) + cmp.Diff(asPrincipal(u), gotUser); diff != "" {
		t.Error("key or user differ (-want +got):", diff)
	}
	if _, _, err := s.Accounts.KeyByDigest(t.Context(), "unknown"); !errors.Is(err, account.ErrNoHolder) {
		t.Errorf("unknown digest: error %v, want ErrNoHolder", err)
	}
	if _, err := s.Accounts.ClientByID(t.Context(), "unknown"); !errors.Is(err, account.ErrNoHolder) {
		t.Errorf("unknown client: error %v, want ErrNoHolder", err)
	}
	if _, err := s.Accounts.UserByID(t.Context(), "unknown"); !errors.Is(err, account.ErrNoHolder) {
		t.Errorf("unknown user: error %v, want ErrNoHolder", err)
	}
}

// testUserRights proves that a user comes back as written by its name in any spelling, and its rights follow what is
// granted: in the order given, without what was granted on a corpus that was deleted, also when another one has the
// same key.
func testUserRights(t *testing.T, s stores) {
	for _, key := range []string{"a", "b", "c"} {
		create(t, s, key)
	}
	want := storetest.User("Ann Müller")
	want.Rights = authz.Rights{API: []string{"corpus_viewer"}, Corpora: []authz.Grant{{Key: "c", Role: "editor"}, {Key: "a", Role: "viewer"}, {Key: "c", Role: "viewer"}}}
	if err := s.Accounts.CreateUser(t.Context(), want, account.CodeRow{}); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		for _, name := range []string{"Ann Müller", "ann mu\u0308ller", "ANN  MÜLLER", "ＡＮＮ müller"} {
			got, err := s.Accounts.UserByName(t.Context(), name)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("%q: %v (-want +got): %s", name, err, diff)
			}
		}
		got, err := s.Accounts.UserByID(t.Context(), want.ID)
		if diff := cmp.Diff(asPrincipal(want), got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("as principal: %v (-want +got): %s", err, diff)
		}
	}
	check()
	if err := s.Corpora.Delete(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	want.Rights.Corpora = []authz.Grant{{Key: "a", Role: "viewer"}}
	check()
	create(t, s, "c")
	check()
}

// testOwnerOnce proves that of several owners made at once exactly one is made, and its key alone works.
func testOwnerOnce(t *testing.T, s stores) {
	made := testkit.AtOnce(t.Context(), 8, func(ctx context.Context, i int) bool {
		u, k := owner(fmt.Sprint("user", i))
		ok, err := s.Accounts.CreateOwner(ctx, u, k)
		if err != nil {
			t.Errorf("CreateOwner: %v", err)
		}
		return ok
	})
	for i, ok := range made {
		_, _, err := s.Accounts.KeyByDigest(t.Context(), account.Digest(fmt.Sprint("user", i)))
		if found := err == nil; found != ok {
			t.Errorf("owner %d: made %v, key found %v", i, ok, found)
		}
	}
	if n := count(made); n != 1 {
		t.Errorf("%d owners were made, want 1", n)
	}
}
