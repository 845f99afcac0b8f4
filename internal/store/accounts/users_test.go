package accounts_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/identity/signin"
	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
)

func createUser(t *testing.T, s stores, u account.User) account.User {
	t.Helper()
	if err := s.Accounts.CreateUser(t.Context(), u, account.CodeRow{}); err != nil {
		t.Fatalf("create user %q: %v", u.Username, err)
	}
	return u
}

func wantUser(t *testing.T, s stores, want account.User) {
	t.Helper()
	got, err := s.Accounts.UserByName(t.Context(), want.Username)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("%s: %v (-want +got): %s", want.Username, err, diff)
	}
}

// testTakenUser proves that a name or an e-mail address in another spelling is a conflict; a grant on no corpus names
// the place and leaves nothing behind.
func testTakenUser(t *testing.T, s stores) {
	createUser(t, s, storetest.User("Ann"))
	for _, u := range []account.User{
		{ID: "usr_1", Username: "ＡＮＮ", Email: "other@example.test"},
		{ID: "usr_1", Username: "other", Email: "ANN@example.test"},
	} {
		err := s.Accounts.CreateUser(t.Context(), u, account.CodeRow{})
		if f, ok := fault.As(err); !ok || f.Kind != fault.KindConflict || f.Code != "user_exists" {
			t.Errorf("%s, %s: %v, want the conflict user_exists", u.Username, u.Email, err)
		}
	}
	create(t, s, "a")
	u := storetest.User("bob")
	u.Rights.Corpora = []authz.Grant{{Key: "a", Role: "viewer"}, {Key: "none", Role: "viewer"}}
	err := s.Accounts.CreateUser(t.Context(), u, account.CodeRow{})
	if f, ok := fault.As(err); !ok || f.Kind != fault.KindInvalid || f.Fields["corpus_roles[1].corpus_key"] == "" {
		t.Errorf("grant on no corpus: %v, want a fault of corpus_roles[1].corpus_key", err)
	}
	if _, err := s.Accounts.UserByName(t.Context(), "bob"); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("the user that was refused: %v, want not found", err)
	}
	u.Rights.Corpora = u.Rights.Corpora[:1]
	wantUser(t, s, createUser(t, s, u))
}

// testTakenUserAtOnce proves that of several users with one name made at once exactly one is made.
func testTakenUserAtOnce(t *testing.T, s stores) {
	made := testkit.AtOnce(t.Context(), 12, func(ctx context.Context, i int) bool {
		u := storetest.User("Zoë")
		if u.Email = fmt.Sprint(i, "@example.test"); i%2 == 0 {
			u.Username = "zoe\u0308"
		}
		err := s.Accounts.CreateUser(ctx, u, account.CodeRow{})
		if err != nil && !fault.Is(err, fault.KindConflict) {
			t.Errorf("CreateUser: %v, want a conflict", err)
		}
		return err == nil
	})
	if n := count(made); n != 1 {
		t.Errorf("%d users were made, want 1", n)
	}
}

func userPages(t *testing.T, s stores, l account.UserList) (names []string) {
	t.Helper()
	for range 100 {
		page, more, err := s.Accounts.ListUsers(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) > l.Limit {
			t.Fatalf("%d users on a page of %d", len(page), l.Limit)
		}
		for _, u := range page {
			names = append(names, u.Username)
		}
		if !more {
			return names
		}
		last := page[len(page)-1]
		l.After = last.Position()
	}
	t.Fatal("the list does not end")
	return nil
}

// testListUsers proves that List returns every user once with its rights, newest first, those of one moment by id,
// whatever the size of the page; asked for a corpus, those who may read it, by a role on it or on all.
func testListUsers(t *testing.T, s stores) {
	create(t, s, "a")
	create(t, s, "b")
	now := clock.Now()
	rights := []authz.Rights{
		{}, {API: []string{"corpus_viewer"}}, {Corpora: []authz.Grant{{Key: "a", Role: "viewer"}}},
		{Corpora: []authz.Grant{{Key: "b", Role: "owner"}, {Key: "a", Role: "editor"}}}, {API: []string{"owner"}},
		{API: []string{"agent_viewer", "pipeline_viewer", "metrics_viewer", "agent_administrator"}},
	}
	for i, age := range []int{0, 2, 1, 1, 1, 3} {
		u := storetest.User(fmt.Sprint("u", i))
		u.ID, u.Created, u.Rights = id.User(fmt.Sprintf("usr_%c", "aBcAbC"[i])), now.Add(-time.Duration(age)*time.Second), rights[i]
		createUser(t, s, u)
	}
	want := []string{"u0", "u2", "u4", "u3", "u1", "u5"}
	for n := 1; n <= 7; n++ {
		if diff := cmp.Diff(want, userPages(t, s, account.UserList{Limit: n})); diff != "" {
			t.Errorf("pages of %d (-want +got): %s", n, diff)
		}
		if diff := cmp.Diff([]string{"u2", "u4", "u3", "u1"}, userPages(t, s, account.UserList{Limit: n, Corpus: "a"})); diff != "" {
			t.Errorf("pages of %d, of those who may read a (-want +got): %s", n, diff)
		}
	}
	page, _, err := s.Accounts.ListUsers(t.Context(), account.UserList{Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rights[3], page[3].Rights, cmpopts.EquateEmpty()); diff != "" {
		t.Error("rights on the page (-want +got):", diff)
	}
	if got := userPages(t, s, account.UserList{Limit: 9, Corpus: "none"}); got != nil {
		t.Errorf("a corpus that does not exist is read by %v", got)
	}
}

// testUpdateUser proves that update keeps what change gives, under the name in any spelling; an error of change leaves
// the user as it is.
func testUpdateUser(t *testing.T, s stores) {
	create(t, s, "a")
	create(t, s, "b")
	want := storetest.User("Ann")
	want.Rights = authz.Rights{API: []string{"viewer"}, Corpora: []authz.Grant{{Key: "a", Role: "viewer"}}}
	createUser(t, s, want)
	for _, change := range []func(u *account.User){
		func(*account.User) {},
		func(u *account.User) { u.Enabled, u.Description = false, "" },
		func(u *account.User) { u.Metadata, u.Groups = nil, nil },
		func(u *account.User) { u.Metadata, u.Groups = []byte(`{"a":1}`), []string{"x"} },
		func(u *account.User) { u.Rights.API = nil },
		func(u *account.User) {
			u.Rights.Corpora = []authz.Grant{{Key: "b", Role: "owner"}, {Key: "a", Role: "editor"}}
		},
		func(u *account.User) { u.Rights.Corpora, u.Updated = nil, u.Updated.Add(time.Second) },
	} {
		change(&want)
		got, err := s.Accounts.UpdateUser(t.Context(), "ＡNN", func(u account.User) (account.User, error) { change(&u); return u, nil })
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%v (-want +got): %s", err, diff)
		}
		wantUser(t, s, want)
	}
	no := errors.New("no")
	if _, err := s.Accounts.UpdateUser(t.Context(), "ann", func(u account.User) (account.User, error) { u.Enabled = true; return u, no }); !errors.Is(err, no) {
		t.Errorf("error of change: %v", err)
	}
	if _, err := s.Accounts.UpdateUser(t.Context(), "ann", func(u account.User) (account.User, error) {
		u.Enabled, u.Rights.Corpora = true, []authz.Grant{{Key: "none", Role: "viewer"}}
		return u, nil
	}); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("grant on no corpus: %v, want invalid", err)
	}
	wantUser(t, s, want)
	if _, err := s.Accounts.UpdateUser(t.Context(), "none", func(u account.User) (account.User, error) { return u, nil }); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("update of nobody: %v, want not found", err)
	}
}

// testDeleteUser proves that a user goes with its keys and grants, and keys made for others stay; the next user of the
// name has nothing of it.
func testDeleteUser(t *testing.T, s stores) {
	create(t, s, "a")
	u := storetest.User("ann")
	u.Rights = authz.Rights{API: []string{"viewer"}, Corpora: []authz.Grant{{Key: "a", Role: "viewer"}}}
	createUser(t, s, u)
	personal, _ := storetest.PersonalKey(u)
	machine, _ := storetest.PersonalKey(u)
	machine.Style, machine.Owner = account.StyleServing, ""
	for _, k := range []account.Key{personal, machine} {
		if err := s.Accounts.CreateKey(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	no := errors.New("no")
	if err := s.Accounts.DeleteUser(t.Context(), "ann", func(account.User) error { return no }); !errors.Is(err, no) {
		t.Errorf("delete that is not allowed: %v", err)
	}
	wantUser(t, s, u)
	if err := s.Accounts.DeleteUser(t.Context(), "ANN", func(got account.User) error {
		if diff := cmp.Diff(u, got); diff != "" {
			t.Error("the user to delete (-want +got):", diff)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Accounts.KeyByDigest(t.Context(), personal.Digest); !errors.Is(err, account.ErrNoHolder) {
		t.Errorf("the personal key of a deleted user: %v, want ErrNoHolder", err)
	}
	if _, _, err := s.Accounts.KeyByDigest(t.Context(), machine.Digest); err != nil {
		t.Errorf("a key that the user made for others: %v", err)
	}
	if err := s.Accounts.DeleteUser(t.Context(), "ann", func(account.User) error { return nil }); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("second delete: %v, want not found", err)
	}
	wantUser(t, s, createUser(t, s, storetest.User("ann")))
}

// testLastOwner proves that owners who go at once, by whatever way, leave one: the last enabled owner stays.
func testLastOwner(t *testing.T, s stores) {
	const n = 8
	for i := range n {
		u := storetest.User(fmt.Sprint("u", i))
		u.Rights.API = []string{"owner", "viewer"}
		createUser(t, s, u)
	}
	off := storetest.User("off")
	off.Enabled, off.Rights.API = false, []string{"owner"}
	createUser(t, s, off)
	for round := range 2 { // in the second one each try meets the one that is left
		var refused atomic.Int64
		testkit.AtOnce(t.Context(), n, func(ctx context.Context, i int) error {
			err := leave(ctx, s, fmt.Sprint("u", i), i%3)
			f, ok := fault.As(err)
			switch {
			case err == nil, ok && f.Kind == fault.KindNotFound:
			case ok && f.Kind == fault.KindInvalid && f.Code == "last_owner":
				refused.Add(1)
			default:
				t.Errorf("u%d: %v", i, err)
			}
			return err
		})
		left := 0
		page, _, err := s.Accounts.ListUsers(t.Context(), account.UserList{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range page {
			if u.Enabled && len(u.Rights.API) > 1 {
				left++
			}
		}
		if left != 1 || refused.Load() != 1 {
			t.Errorf("round %d: %d enabled owners are left and %d goodbyes were refused, want one of each", round, left, refused.Load())
		}
	}
}

// testLastWay proves that an owner without a key that works or a password is nobody to leave the installation to, whatever would end
// the only one with such a way, and that owners who have one and go at once leave one of them.
func testLastWay(t *testing.T, s stores) {
	owner := func(name string) account.User {
		u := storetest.User(name)
		u.Rights.API = []string{"owner", "viewer"}
		return createUser(t, s, u)
	}
	refused := func(what string, err error, code string) {
		t.Helper()
		if f, ok := fault.As(err); !ok || f.Code != code {
			t.Errorf("%s: %v, want %s", what, err, code)
		}
	}
	ann := owner("ann")
	owner("bob")
	if err := leave(t.Context(), s, "bob", 2); err != nil {
		t.Errorf("an owner without a way in beside another: %v", err)
	}
	bob := owner("bob2")
	k, _ := storetest.PersonalKey(ann)
	off, _ := storetest.PersonalKey(bob)
	off.Enabled = false
	for _, k := range []account.Key{k, off} {
		createKey(t, s, k)
	}
	for way := range 3 {
		refused(fmt.Sprint("the only owner with a key, way ", way), leave(t.Context(), s, "ann", way), "last_owner")
	}
	allow := func(account.User) error { return nil }
	code := signin.NewCode{Username: "bob2", CodeRow: account.CodeRow{Digest: "code", Expires: time.Now().Add(time.Hour)}, Void: true}
	if _, err := s.Accounts.SetCode(t.Context(), code, allow); err != nil {
		t.Fatal(err)
	}
	refused("beside an owner with a code", leave(t.Context(), s, "ann", 0), "last_owner")
	if done, err := s.Accounts.SetPassword(t.Context(), bob.ID, "code", "hash"); !done || err != nil {
		t.Fatal(done, err)
	}
	if err := leave(t.Context(), s, "ann", 1); err != nil {
		t.Errorf("beside an owner with a password: %v", err)
	}
	_, err := s.Accounts.SetCode(t.Context(), code, allow)
	refused("the only password", err, "last_password")
	code.Void = false
	if _, err := s.Accounts.SetCode(t.Context(), code, allow); err != nil {
		t.Errorf("a code beside the password: %v", err)
	}
	createKey(t, s, key("machine", authz.Rights{API: []string{"owner"}}))
	code.Void = true
	if _, err := s.Accounts.SetCode(t.Context(), code, allow); err != nil {
		t.Errorf("a password beside the key of a machine: %v", err)
	}
}

// testLastWayAtOnce proves the same of owners who go at once.
func testLastWayAtOnce(t *testing.T, s stores) {
	const n = 6
	idle := storetest.User("idle")
	idle.Rights.API = []string{"owner"}
	createUser(t, s, idle)
	for i := range n {
		u := storetest.User(fmt.Sprint("u", i))
		u.Rights.API = []string{"owner", "viewer"}
		createUser(t, s, u)
		k, _ := storetest.PersonalKey(u)
		createKey(t, s, k)
	}
	var refused atomic.Int64
	testkit.AtOnce(t.Context(), n, func(ctx context.Context, i int) error {
		err := leave(ctx, s, fmt.Sprint("u", i), i%3)
		if f, ok := fault.As(err); ok && f.Code == "last_owner" {
			refused.Add(1)
		} else if err != nil {
			t.Errorf("u%d: %v", i, err)
		}
		return err
	})
	if refused.Load() != 1 {
		t.Errorf("%d owners were kept beside the one without a way in, want 1", refused.Load())
	}
}

// leave ends being an owner by one of three ways.
func leave(ctx context.Context, s stores, name string, way int) error {
	if way == 0 {
		return s.Accounts.DeleteUser(ctx, name, func(account.User) error { return nil })
	}
	_, err := s.Accounts.UpdateUser(ctx, name, func(u account.User) (account.User, error) {
		if way == 1 {
			u.Enabled = false
		} else {
			u.Rights.API = []string{"viewer"}
		}
		return u, nil
	})
	return err
}
