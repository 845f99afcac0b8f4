package accounts_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
)

// key returns a key with rights of its own to create, with every member set but the rights.
func key(name string, r authz.Rights) account.Key {
	return account.Key{
		ID: id.NewAPIKey(), Name: name, Digest: account.Digest(id.Text(38)), Prefix: "zqt_", Tail: "hdiA", Creator: "usr_maker",
		Enabled: true, Rights: r, Created: clock.Now(),
	}
}

func createKey(t *testing.T, s stores, k account.Key) account.Key {
	t.Helper()
	if err := s.Accounts.CreateKey(t.Context(), k); err != nil {
		t.Fatalf("create key %s: %v", k.Name, err)
	}
	return k
}

// testKeys proves that a key is read as it was written, and refused by its digest once it is disabled or deleted.
func testKeys(t *testing.T, s stores) {
	create(t, s, "b")
	create(t, s, "a")
	k := key("Ünï <key>", authz.Rights{
		API: []string{"viewer", "agent_user"}, Corpora: []authz.Grant{{Key: "b", Role: "editor"}, {Key: "a", Role: "viewer"}, {Key: "b", Role: "viewer"}},
	})
	k.Style = account.StyleServing
	createKey(t, s, k)
	want := k
	want.Digest = ""
	got, err := s.Accounts.GetKey(t.Context(), k.ID)
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("get: %v %s", err, d)
	}
	byDigest, _, err := s.Accounts.KeyByDigest(t.Context(), k.Digest)
	if d := cmp.Diff(k, byDigest); d != "" || err != nil {
		t.Errorf("by digest: %v %s", err, d)
	}
	for _, enabled := range []bool{false, true} {
		if err := s.Accounts.EnableKey(t.Context(), k.ID, enabled); err != nil {
			t.Fatal(err)
		}
		if got, _, err := s.Accounts.KeyByDigest(t.Context(), k.Digest); err != nil || got.Enabled != enabled {
			t.Errorf("enabled is %t, want %t (%v)", got.Enabled, enabled, err)
		}
	}
	if err := s.Accounts.DeleteKey(t.Context(), k.ID); err != nil {
		t.Fatal(err)
	}
	_, getErr := s.Accounts.GetKey(t.Context(), k.ID)
	_, _, digestErr := s.Accounts.KeyByDigest(t.Context(), k.Digest)
	for what, err := range map[string]error{
		"get": getErr, "by digest": digestErr, "enable": s.Accounts.EnableKey(t.Context(), k.ID, true), "delete": s.Accounts.DeleteKey(t.Context(), k.ID),
	} {
		if !errors.Is(err, account.ErrNoHolder) {
			t.Errorf("%s of a deleted key: %v, want ErrNoHolder", what, err)
		}
	}
}

// testKeyRefused proves that nothing is written of a key whose owner or corpora don't exist.
func testKeyRefused(t *testing.T, s stores) {
	create(t, s, "there")
	k := key("k", authz.Rights{Corpora: []authz.Grant{{Key: "there", Role: "viewer"}, {Key: "nowhere", Role: "viewer"}}})
	err := s.Accounts.CreateKey(t.Context(), k)
	f, _ := fault.As(err)
	if f == nil || len(f.Fields) != 1 || f.Fields["corpus_roles[1].corpus_key"] == "" {
		t.Errorf("unknown corpus: %v", err)
	}
	personal, _ := storetest.PersonalKey(storetest.User("ghost"))
	if err := s.Accounts.CreateKey(t.Context(), personal); !errors.Is(err, account.ErrNoHolder) {
		t.Errorf("unknown owner: %v, want ErrNoHolder", err)
	}
	if all, _, err := s.Accounts.ListKeys(t.Context(), account.KeyList{Limit: 10}); err != nil || len(all) != 0 {
		t.Errorf("%d keys were written, %v", len(all), err)
	}
}

// testPersonalKey proves that a personal key has its owner's rights as they are, and ends with its owner.
func testPersonalKey(t *testing.T, s stores) {
	create(t, s, "c")
	u := storetest.User("ann")
	u.Rights = authz.Rights{API: []string{"viewer"}}
	createUser(t, s, u)
	k, _ := storetest.PersonalKey(u)
	k.Rights = authz.Rights{API: []string{"owner"}} // not heeded
	createKey(t, s, k)
	for _, r := range []authz.Rights{u.Rights, {Corpora: []authz.Grant{{Key: "c", Role: "owner"}}}, {}} {
		if _, err := s.Accounts.UpdateUser(t.Context(), u.Username, func(u account.User) (account.User, error) {
			u.Rights = r
			return u, nil
		}); err != nil {
			t.Fatal(err)
		}
		got, err := s.Accounts.GetKey(t.Context(), k.ID)
		if d := cmp.Diff(r, got.Rights); d != "" || err != nil {
			t.Errorf("rights: %v %s", err, d)
		}
	}
	if err := s.Accounts.DeleteUser(t.Context(), u.Username, func(account.User) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Accounts.GetKey(t.Context(), k.ID); !errors.Is(err, account.ErrNoHolder) {
		t.Errorf("the owner is deleted: %v, want ErrNoHolder", err)
	}
}

// testStaleGrants proves that a grant on a deleted corpus is left out everywhere, also when another corpus gets its key.
func testStaleGrants(t *testing.T, s stores) {
	create(t, s, "docs")
	create(t, s, "other")
	both := createKey(t, s, key("both", authz.Rights{Corpora: []authz.Grant{{Key: "docs", Role: "owner"}, {Key: "other", Role: "viewer"}}}))
	one := createKey(t, s, key("one", authz.Rights{Corpora: []authz.Grant{{Key: "docs", Role: "viewer"}}}))
	if err := s.Corpora.Delete(t.Context(), "docs"); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		for k, want := range map[*account.Key][]authz.Grant{&both: both.Rights.Corpora[1:], &one: nil} {
			got, err := s.Accounts.GetKey(t.Context(), k.ID)
			if d := cmp.Diff(want, got.Rights.Corpora); d != "" || err != nil {
				t.Errorf("%s: get %s: %v %s", when, k.Name, err, d)
			}
			got, _, err = s.Accounts.KeyByDigest(t.Context(), k.Digest)
			if d := cmp.Diff(want, got.Rights.Corpora); d != "" || err != nil {
				t.Errorf("%s: %s by digest: %v %s", when, k.Name, err, d)
			}
		}
		if all, _, err := s.Accounts.ListKeys(t.Context(), account.KeyList{Limit: 10, Corpus: "docs"}); err != nil || len(all) != 0 {
			t.Errorf("%s: %d keys of docs, %v", when, len(all), err)
		}
		all, _, err := s.Accounts.ListKeys(t.Context(), account.KeyList{Limit: 10})
		if err != nil || len(all) != 2 || len(all[0].Rights.Corpora)+len(all[1].Rights.Corpora) != 1 {
			t.Errorf("%s: list gives %+v, %v", when, all, err)
		}
	}
	check("deleted")
	create(t, s, "docs")
	check("made again")
}

// testListKeys proves order, pages and filters of the list.
func testListKeys(t *testing.T, s stores) {
	create(t, s, "c")
	create(t, s, "d")
	ann, bob := storetest.User("ann"), storetest.User("bob")
	ann.Rights.Corpora = []authz.Grant{{Key: "c", Role: "viewer"}}
	createUser(t, s, ann)
	createUser(t, s, bob)
	on := func(keys ...string) (r authz.Rights) {
		for _, k := range keys {
			r.Corpora = append(r.Corpora, authz.Grant{Key: k, Role: "viewer"}, authz.Grant{Key: k, Role: "editor"})
		}
		return r
	}
	annKey, _ := storetest.PersonalKey(ann)
	bobKey, _ := storetest.PersonalKey(bob)
	all := []account.Key{annKey, bobKey, key("c", on("c")), key("d", on("d")), key("both", on("c", "d")), key("none", authz.Rights{})}
	all[2].Style, all[3].Style = account.StyleServing, account.StyleServingAndIndexing
	start := clock.Now()
	for i := range all {
		all[i].Created = start.Add(time.Duration(i/2) * time.Microsecond) // two of each instant
		createKey(t, s, all[i])
	}
	for _, tc := range []struct {
		name string
		list account.KeyList
		want []int
	}{
		{"all", account.KeyList{}, []int{0, 1, 2, 3, 4, 5}},
		{"personal", account.KeyList{Style: account.StylePersonal}, []int{0, 1}},
		{"serving", account.KeyList{Style: account.StyleServing}, []int{2}},
		{"of ann", account.KeyList{Style: account.StylePersonal, Owner: ann.ID}, []int{0}},
		{"on c", account.KeyList{Corpus: "c"}, []int{0, 2, 4}},
		{"personal on c", account.KeyList{Corpus: "c", Style: account.StylePersonal}, []int{0}},
		{"of bob on c", account.KeyList{Corpus: "c", Owner: bob.ID}, nil},
		{"on nothing", account.KeyList{Corpus: "nothing"}, nil},
	} {
		want := make([]account.Key, len(tc.want))
		for i, n := range tc.want {
			want[i] = all[n]
		}
		slices.SortFunc(want, func(a, b account.Key) int {
			if c := b.Created.Compare(a.Created); c != 0 {
				return c
			}
			return strings.Compare(string(b.ID), string(a.ID))
		})
		for limit := 1; limit <= 7; limit++ {
			tc.list.Limit = limit
			if d := cmp.Diff(names(want), names(walkKeys(t, s, tc.list))); d != "" {
				t.Errorf("%s, pages of %d: %s", tc.name, limit, d)
			}
		}
	}
}

func names(all []account.Key) []string {
	out := []string{}
	for _, k := range all {
		out = append(out, k.Name)
	}
	return out
}

// walkKeys reads all pages of a list.
func walkKeys(t *testing.T, s stores, l account.KeyList) (out []account.Key) {
	t.Helper()
	for {
		page, more, err := s.Accounts.ListKeys(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, page...)
		if !more {
			return out
		}
		if len(page) != l.Limit {
			t.Fatalf("a page of %d keys says that more follow, limit %d", len(page), l.Limit)
		}
		last := page[len(page)-1]
		l.After = last.Position()
	}
}

// testLastKey proves that of the keys with which somebody can manage the installation one is left, also when all end at once.
func testLastKey(t *testing.T, s stores) {
	boss := storetest.User("boss")
	boss.Rights.API = []string{"owner"}
	createUser(t, s, boss)
	const n = 6
	var all []account.Key
	for i := range n {
		k := key(fmt.Sprint("k", i), authz.Rights{})
		if k.Owner = boss.ID; i == 0 {
			k.Owner, k.Rights.API = "", []string{"owner"}
		}
		all = append(all, createKey(t, s, k))
	}
	createKey(t, s, key("weak", authz.Rights{API: []string{"administrator"}}))
	var refused atomic.Int64
	testkit.AtOnce(t.Context(), n, func(ctx context.Context, i int) error {
		var err error
		if i%2 == 0 {
			err = s.Accounts.DeleteKey(ctx, all[i].ID)
		} else {
			err = s.Accounts.EnableKey(ctx, all[i].ID, false)
		}
		if f, ok := fault.As(err); ok && f.Kind == fault.KindConflict && f.Code == "last_key" {
			refused.Add(1)
		} else if err != nil {
			t.Errorf("key %d: %v", i, err)
		}
		return err
	})
	if refused.Load() != 1 {
		t.Errorf("%d keys were kept, want 1", refused.Load())
	}
}
