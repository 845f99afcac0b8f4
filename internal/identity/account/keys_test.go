package account_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/store"
	"quarry/internal/store/accounts"
	"quarry/internal/store/storetest"
)

// keyring is a service, its rows, and callers by name.
type keyring struct {
	*account.Service
	rows   *accounts.Store
	people map[string]account.User
}

func newKeyring(t *testing.T, roles map[string][]string) *keyring {
	t.Helper()
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	k := &keyring{rows: accounts.New(db), people: map[string]account.User{}}
	k.Service = account.New(k.rows, nil)
	for name, api := range roles {
		now := clock.Now()
		u := account.User{
			ID: id.NewUser(), Username: name, Email: name + "@x.test", Enabled: true, Rights: authz.Rights{API: api}, Created: now, Updated: now,
		}
		if err := k.rows.CreateUser(t.Context(), u, account.CodeRow{}); err != nil {
			t.Fatal(err)
		}
		k.people[name] = u
	}
	return k
}

// as returns the principal of a person as the person is now, signed in without a key.
func (k *keyring) as(t *testing.T, name string) authz.Principal {
	t.Helper()
	u, err := k.rows.UserByID(t.Context(), k.people[name].ID)
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.UserPrincipal(t.Context(), u.ID, u.Epoch)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// make makes a key and returns it with its principal.
func (k *keyring) make(t *testing.T, p authz.Principal, c account.CreateKey) (account.Key, authz.Principal) {
	t.Helper()
	c.Name = "key"
	made, secret, err := k.CreateKey(t.Context(), p, c)
	if err != nil {
		t.Fatal(err)
	}
	as, err := k.Authenticate(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	return made, as
}

func (k *keyring) setRoles(t *testing.T, name string, api ...string) {
	t.Helper()
	if _, err := k.rows.UpdateUser(t.Context(), name, func(u account.User) (account.User, error) {
		u.Rights.API = api
		return u, nil
	}); err != nil {
		t.Fatal(err)
	}
}

// want holds an outcome to a kind of fault; kind 0 is success.
func want(t *testing.T, what string, err error, kind fault.Kind) {
	t.Helper()
	if kind == 0 && err != nil || kind != 0 && !fault.Is(err, kind) {
		t.Errorf("%s: got %v, want kind %d", what, err, kind)
	}
}

// TestManyCorpora proves that a key names at most as many corpora as a holder may have grants, in the old style as in the
// new one, and that a refusal names a hundred places of a long list and not all of them.
func TestManyCorpora(t *testing.T) {
	t.Parallel()
	k := newKeyring(t, map[string][]string{"boss": {"owner"}})
	all := make([]string, authz.MaxGrants+1)
	for i := range all {
		all[i] = fmt.Sprint("c", i)
	}
	for _, tc := range []struct {
		corpora []string
		fields  int
	}{{all, 1}, {all[:200], 100}} {
		_, _, err := k.CreateKey(t.Context(), k.as(t, "boss"), account.CreateKey{Name: "many", Style: account.StyleServing, Corpora: tc.corpora})
		f, ok := fault.As(err)
		if !ok || f.Kind != fault.KindInvalid || len(f.Fields) != tc.fields || tc.fields == 1 && f.Fields["corpus_keys"] == "" {
			t.Errorf("%d corpora: %.200v, want %d places", len(tc.corpora), err, tc.fields)
		}
	}
}

// TestPersonalKeyFollowsItsOwner proves that a personal key may what its owner may at the time, and ends with the owner.
func TestPersonalKeyFollowsItsOwner(t *testing.T) {
	t.Parallel()
	k := newKeyring(t, map[string][]string{"ann": {"viewer"}, "boss": {"owner"}})
	_, secret, err := k.CreateKey(t.Context(), k.as(t, "ann"), account.CreateKey{Name: "mine", Style: account.StylePersonal})
	if err != nil {
		t.Fatal(err)
	}
	for _, roles := range [][]string{{"viewer"}, {"administrator"}, {"corpus_viewer", "agent_user"}, nil} {
		k.setRoles(t, "ann", roles...)
		p, err := k.Authenticate(t.Context(), secret)
		if err != nil || p.Kind != authz.User || p.ID != string(k.people["ann"].ID) || !slices.Equal(p.APIRoles, roles) {
			t.Errorf("with roles %v the key gives %+v, %v", roles, p, err)
		}
	}
	enable := func(enabled bool) {
		if _, err := k.rows.UpdateUser(t.Context(), "ann", func(u account.User) (account.User, error) {
			u.Enabled = enabled
			return u, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	enable(false)
	_, err = k.Authenticate(t.Context(), secret)
	want(t, "key of a disabled user", err, fault.KindUnauthenticated)
	enable(true)
	_, err = k.Authenticate(t.Context(), secret)
	want(t, "key of a user enabled again", err, 0)
	if err := k.rows.DeleteUser(t.Context(), "ann", func(account.User) error { return nil }); err != nil {
		t.Fatal(err)
	}
	_, err = k.Authenticate(t.Context(), secret)
	want(t, "key of a deleted user", err, fault.KindUnauthenticated)
}

// TestKeysOfOthers proves who sees, disables and deletes whose key, and what the list of each holds.
func TestKeysOfOthers(t *testing.T) {
	t.Parallel()
	k := newKeyring(t, map[string][]string{
		"ann": {"viewer"}, "bob": {"viewer"}, "manager": {"corpus_administrator"}, "admin": {"administrator"}, "boss": {"owner"},
	})
	people := []string{"ann", "bob", "manager", "admin", "boss"}
	spare, _ := k.make(t, k.as(t, "boss"), account.CreateKey{Rights: authz.Rights{API: []string{"owner"}}}) // the boss's own key is not the last
	all := map[string]account.Key{}
	for _, name := range people {
		all[name], _ = k.make(t, k.as(t, name), account.CreateKey{Style: account.StylePersonal})
	}
	made, machine := k.make(t, k.as(t, "ann"), account.CreateKey{Rights: authz.Rights{API: []string{"corpus_viewer"}}})
	all["key of ann"] = made
	const ok, hidden, refused = fault.Kind(0), fault.KindNotFound, fault.KindForbidden
	for _, tc := range []struct {
		caller  string
		p       authz.Principal
		changes map[string]fault.Kind
	}{
		{"ann", k.as(t, "ann"), map[string]fault.Kind{"ann": ok, "key of ann": ok, "bob": hidden, "manager": hidden, "admin": hidden, "boss": hidden}},
		{"bob", k.as(t, "bob"), map[string]fault.Kind{"bob": ok, "key of ann": hidden, "ann": hidden, "boss": hidden}},
		{"key of ann", machine, map[string]fault.Kind{"key of ann": ok, "ann": hidden, "bob": hidden, "boss": hidden}},
		{"manager", k.as(t, "manager"), map[string]fault.Kind{"manager": ok, "key of ann": ok, "ann": refused, "admin": refused, "boss": refused}},
		{"admin", k.as(t, "admin"), map[string]fault.Kind{"admin": ok, "manager": ok, "ann": ok, "bob": ok, "key of ann": ok, "boss": refused}},
		{"boss", k.as(t, "boss"), map[string]fault.Kind{"admin": ok, "manager": ok, "ann": ok, "key of ann": ok, "boss": ok}},
	} {
		for whose, kind := range tc.changes {
			what := tc.caller + " on " + whose
			_, err := k.GetKey(t.Context(), tc.p, all[whose].ID)
			if kind == hidden {
				want(t, what+": get", err, hidden)
			} else {
				want(t, what+": get", err, ok)
			}
			_, err = k.EnableKey(t.Context(), tc.p, all[whose].ID, false)
			want(t, what+": disable", err, kind)
			_, err = k.EnableKey(t.Context(), tc.p, all[whose].ID, true)
			want(t, what+": enable", err, kind)
			if kind != ok {
				want(t, what+": delete", k.DeleteKey(t.Context(), tc.p, all[whose].ID), kind)
			}
		}
	}
	want(t, "delete the spare key", k.DeleteKey(t.Context(), k.as(t, "boss"), spare.ID), ok)
	want(t, "delete the last key", k.DeleteKey(t.Context(), k.as(t, "boss"), all["boss"].ID), fault.KindConflict)
	k.lists(t, machine)
}

// lists proves which keys the lists of callers hold.
func (k *keyring) lists(t *testing.T, machine authz.Principal) {
	t.Helper()
	for _, tc := range []struct {
		caller string
		style  string
		p      authz.Principal
		want   int
		kind   fault.Kind
	}{
		{"ann, all", "", k.as(t, "ann"), 0, fault.KindForbidden},
		{"ann, serving", account.StyleServing, k.as(t, "ann"), 0, fault.KindForbidden},
		{"ann, personal", account.StylePersonal, k.as(t, "ann"), 1, 0},
		{"key of ann, all", "", machine, 0, fault.KindForbidden},
		{"key of ann, personal", account.StylePersonal, machine, 0, 0},
		{"manager, all", "", k.as(t, "manager"), 6, 0},
		{"admin, all", "", k.as(t, "admin"), 6, 0},
		{"boss, personal", account.StylePersonal, k.as(t, "boss"), 5, 0},
	} {
		page, _, err := k.ListKeys(t.Context(), tc.p, account.KeyList{Style: tc.style, Limit: 100})
		want(t, tc.caller, err, tc.kind)
		if len(page) != tc.want {
			t.Errorf("%s: %d keys, want %d", tc.caller, len(page), tc.want)
		}
		if tc.caller == "ann, personal" && len(page) == 1 && page[0].Owner != k.people["ann"].ID {
			t.Errorf("ann sees the key of %s", page[0].Owner)
		}
	}
}

// TestDemotedMaker proves that one who lost a role can end the key that has it, and not bring it back.
func TestDemotedMaker(t *testing.T) {
	t.Parallel()
	k := newKeyring(t, map[string][]string{"ann": {"administrator"}, "boss": {"owner"}})
	made, _ := k.make(t, k.as(t, "ann"), account.CreateKey{Rights: authz.Rights{API: []string{"administrator"}}})
	k.setRoles(t, "ann", "viewer")
	_, err := k.EnableKey(t.Context(), k.as(t, "ann"), made.ID, true)
	want(t, "enable what is enabled", err, 0)
	_, err = k.EnableKey(t.Context(), k.as(t, "ann"), made.ID, false)
	want(t, "disable", err, 0)
	_, err = k.EnableKey(t.Context(), k.as(t, "ann"), made.ID, true)
	want(t, "enable", err, fault.KindForbidden)
	want(t, "delete", k.DeleteKey(t.Context(), k.as(t, "ann"), made.ID), 0)
}

// TestMachinesHaveNoPersonalKeys proves that only a person, signed in or by a personal key, makes personal keys.
func TestMachinesHaveNoPersonalKeys(t *testing.T) {
	t.Parallel()
	k := newKeyring(t, map[string][]string{"boss": {"owner"}})
	_, personal := k.make(t, k.as(t, "boss"), account.CreateKey{Style: account.StylePersonal})
	_, machine := k.make(t, personal, account.CreateKey{Rights: authz.Rights{API: []string{"owner"}}})
	client := authz.Principal{Kind: authz.AppClient, ID: "c", Credential: "c", APIRoles: []string{"owner"}}
	service := authz.Principal{Kind: authz.ServiceAccount, ID: "jobs", Credential: "jobs", APIRoles: []string{"owner"}}
	for name, p := range map[string]authz.Principal{"key": machine, "client": client, "service account": service} {
		_, _, err := k.CreateKey(t.Context(), p, account.CreateKey{Name: "x", Style: account.StylePersonal})
		want(t, name, err, fault.KindForbidden)
	}
	k.make(t, personal, account.CreateKey{Style: account.StylePersonal})
}

// TestPrefixes proves that a secret begins as what it is good for and is long enough that nobody guesses it.
func TestPrefixes(t *testing.T) {
	t.Parallel()
	k := newKeyring(t, map[string][]string{"boss": {"owner"}})
	seen := map[string]bool{}
	for _, tc := range []struct {
		c    account.CreateKey
		want string
	}{
		{account.CreateKey{Style: account.StylePersonal}, "zut_"},
		{account.CreateKey{Style: account.StyleServing}, "zqt_"},
		{account.CreateKey{Style: account.StyleServingAndIndexing}, "zwt_"},
		{account.CreateKey{}, "zqt_"},
		{account.CreateKey{Rights: authz.Rights{API: []string{"corpus_viewer", "agent_user"}}}, "zqt_"},
		{account.CreateKey{Rights: authz.Rights{API: []string{"agent_end_user"}}}, "zqt_"},
		{account.CreateKey{Rights: authz.Rights{API: []string{"viewer", "corpus_developer"}}}, "zwt_"},
		{account.CreateKey{Rights: authz.Rights{API: []string{"owner"}}}, "zwt_"},
	} {
		tc.c.Name = "x"
		made, secret, err := k.CreateKey(t.Context(), k.as(t, "boss"), tc.c)
		if err != nil {
			t.Fatal(err)
		}
		random, ok := strings.CutPrefix(secret, tc.want)
		if !ok || len(random) != 38 || seen[random] {
			t.Errorf("%+v gives %s", tc.c, secret)
		}
		seen[random] = true
		if mask := made.Masked(); mask != tc.want+"****"+secret[len(secret)-4:] {
			t.Errorf("the mask of %s is %s", secret, mask)
		}
	}
}

// watched remembers which digests were looked up.
type watched struct {
	*accounts.Store
	asked []string
}

func (w *watched) KeyByDigest(ctx context.Context, digest string) (account.Key, account.User, error) {
	w.asked = append(w.asked, digest)
	return w.Store.KeyByDigest(ctx, digest)
}

// TestWrongKeysCostTheSame proves that how much of a wrong key is right can't show in the time of its refusal: whatever
// is sent is looked up once, by a digest of one length that shares no more with the right one than chance gives.
func TestWrongKeysCostTheSame(t *testing.T) {
	t.Parallel()
	k := newKeyring(t, map[string][]string{"boss": {"owner"}})
	_, secret, err := k.CreateKey(t.Context(), k.as(t, "boss"), account.CreateKey{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{Store: k.rows}
	s := account.New(w, nil)
	right := account.Digest(secret)
	for n := range len(secret) {
		wrong := secret[:n] + strings.Repeat("!", len(secret)-n)
		w.asked = nil
		_, err := s.Authenticate(t.Context(), wrong)
		want(t, wrong, err, fault.KindUnauthenticated)
		if len(w.asked) != 1 || len(w.asked[0]) != len(right) {
			t.Fatalf("%s was looked up as %v", wrong, w.asked)
		}
		shared := 0
		for shared < len(right) && w.asked[0][shared] == right[shared] {
			shared++
		}
		if shared > 10 { // 42 digests share that much by chance once in 2^38
			t.Errorf("the digest of a key with %d right characters shares %d with the right one", n, shared)
		}
	}
}
