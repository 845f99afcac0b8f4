package accounts_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/testkit"
)

// newClient returns an application client to create, with every member set but rights.
func newClient(name string) account.Client {
	now := clock.Now()
	return account.Client{
		ID: id.NewAppClient(), ClientID: "client of " + name, Name: name, Description: "all about " + name, Enabled: true,
		Digest: account.Digest("secret of " + name), Tail: "tail", Created: now, Updated: now,
	}
}

func addClient(t *testing.T, s stores, c account.Client) account.Client {
	t.Helper()
	if err := s.Accounts.CreateClient(t.Context(), c); err != nil {
		t.Fatalf("create client %s: %v", c.Name, err)
	}
	return c
}

func noClient(t *testing.T, what string, err error) {
	t.Helper()
	if f, ok := fault.As(err); !ok || f.Kind != fault.KindNotFound || f.Code != "app_client_not_found" {
		t.Errorf("%s of a client that does not exist: %v", what, err)
	}
}

// testClient proves that a client comes back as written by its id and by its client id, its grants without those on
// deleted corpora.
func testClient(t *testing.T, s stores) {
	for _, key := range []string{"a", "b"} {
		create(t, s, key)
	}
	want := newClient("bot")
	want.Rights = authz.Rights{API: []string{"viewer"}, Corpora: []authz.Grant{{Key: "b", Role: "owner"}, {Key: "a", Role: "viewer"}}}
	addClient(t, s, want)
	check := func() {
		t.Helper()
		got, err := s.Accounts.GetClient(t.Context(), want.ID)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("by id: %v (-want +got): %s", err, diff)
		}
		got, err = s.Accounts.ClientByID(t.Context(), want.ClientID)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(account.Client{}, "Description")); diff != "" || err != nil {
			t.Errorf("by client id: %v (-want +got): %s", err, diff)
		}
	}
	check()
	if err := s.Corpora.Delete(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	create(t, s, "b")
	want.Rights.Corpora = want.Rights.Corpora[1:]
	check()
	bad := newClient("other")
	bad.Rights.Corpora = []authz.Grant{{Key: "a", Role: "viewer"}, {Key: "nowhere", Role: "viewer"}}
	err := s.Accounts.CreateClient(t.Context(), bad)
	if f, ok := fault.As(err); !ok || f.Fields["corpus_roles[1].corpus_key"] == "" {
		t.Errorf("a grant on a corpus that does not exist: %v", err)
	}
	_, err = s.Accounts.GetClient(t.Context(), bad.ID)
	noClient(t, "read", err)
}

// testUpdateClient proves that an update keeps what change gives of description and rights, and nothing when change
// refuses.
func testUpdateClient(t *testing.T, s stores) {
	create(t, s, "a")
	want := addClient(t, s, newClient("bot"))
	change := func(c account.Client) (account.Client, error) {
		c.Description, c.Rights, c.Updated = "", authz.Rights{API: []string{"owner"}, Corpora: []authz.Grant{{Key: "a", Role: "editor"}}}, c.Created.Add(time.Hour)
		c.Name, c.ClientID, c.Digest = "x", "x", "x" // not kept
		return c, nil
	}
	if _, err := s.Accounts.UpdateClient(t.Context(), want.ID, change); err != nil {
		t.Fatal(err)
	}
	name, clientID, digest := want.Name, want.ClientID, want.Digest
	want, _ = change(want)
	want.Name, want.ClientID, want.Digest = name, clientID, digest
	refusal := errors.New("no")
	_, err := s.Accounts.UpdateClient(t.Context(), want.ID, func(account.Client) (account.Client, error) { return account.Client{}, refusal })
	if !errors.Is(err, refusal) {
		t.Errorf("a change that is refused: %v", err)
	}
	_, err = s.Accounts.UpdateClient(t.Context(), want.ID, func(c account.Client) (account.Client, error) {
		c.Description, c.Rights.Corpora = "lost", []authz.Grant{{Key: "nowhere", Role: "editor"}}
		return c, nil
	})
	if f, ok := fault.As(err); !ok || f.Fields["corpus_roles[0].corpus_key"] == "" {
		t.Errorf("a grant on a corpus that does not exist: %v", err)
	}
	got, err := s.Accounts.GetClient(t.Context(), want.ID)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("%v (-want +got): %s", err, diff)
	}
	_, err = s.Accounts.UpdateClient(t.Context(), "app_none", change)
	noClient(t, "update", err)
}

// testUpdateClientAtOnce proves that of updates at once none is lost: each sees what the one before left.
func testUpdateClientAtOnce(t *testing.T, s stores) {
	c := newClient("bot")
	c.Description = ""
	addClient(t, s, c)
	testkit.AtOnce(t.Context(), 8, func(ctx context.Context, _ int) error {
		_, err := s.Accounts.UpdateClient(ctx, c.ID, func(c account.Client) (account.Client, error) {
			c.Description += "x"
			return c, nil
		})
		if err != nil {
			t.Errorf("update: %v", err)
		}
		return err
	})
	if got, err := s.Accounts.GetClient(t.Context(), c.ID); err != nil || got.Description != "xxxxxxxx" {
		t.Errorf("description %q, %v; want 8 of x", got.Description, err)
	}
}

// testDeleteClient proves that a deleted client is gone with its grants, by both ids; a refusal leaves it.
func testDeleteClient(t *testing.T, s stores) {
	create(t, s, "a")
	c := newClient("bot")
	c.Rights.Corpora = []authz.Grant{{Key: "a", Role: "editor"}}
	addClient(t, s, c)
	refusal := errors.New("no")
	if err := s.Accounts.DeleteClient(t.Context(), c.ID, func(account.Client) error { return refusal }); !errors.Is(err, refusal) {
		t.Errorf("a refused deletion: %v", err)
	}
	var seen account.Client
	allow := func(c account.Client) error { seen = c; return nil }
	if err := s.Accounts.DeleteClient(t.Context(), c.ID, allow); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, seen); diff != "" {
		t.Errorf("what was deleted (-want +got): %s", diff)
	}
	_, err := s.Accounts.GetClient(t.Context(), c.ID)
	noClient(t, "read", err)
	if _, err := s.Accounts.ClientByID(t.Context(), c.ClientID); !errors.Is(err, account.ErrNoHolder) {
		t.Errorf("by client id: %v", err)
	}
	noClient(t, "deletion", s.Accounts.DeleteClient(t.Context(), c.ID, allow))
}

// testListClients proves that lists are newest first, in pages that go on where the last one ended, and filtered by
// name.
func testListClients(t *testing.T, s stores) {
	var want []account.Client
	for i := range 7 {
		c := newClient(fmt.Sprintf("bot %d", i))
		c.Created = time.UnixMicro(int64(1_000_000 + i/2)).UTC() // pairs of one age go by id
		addClient(t, s, c)
		want = append(want, c)
	}
	newest := func(a, b account.Client) bool {
		return a.Created.After(b.Created) || a.Created.Equal(b.Created) && a.ID > b.ID
	}
	for i := range want {
		for j := i + 1; j < len(want); j++ {
			if newest(want[j], want[i]) {
				want[i], want[j] = want[j], want[i]
			}
		}
	}
	for _, c := range []struct {
		match string
		limit int
	}{{"", 1}, {"", 3}, {"", 7}, {"", 100}, {"^bot [0-4]$", 2}, {"[135]", 3}, {"none", 2}} {
		l := account.ClientList{Limit: c.limit}
		expected := want
		if c.match != "" {
			l.Match = regexp.MustCompile(c.match)
			expected = nil
			for _, w := range want {
				if l.Match.MatchString(w.Name) {
					expected = append(expected, w)
				}
			}
		}
		var got []account.Client
		for more := true; more; {
			page, next, err := s.Accounts.ListClients(t.Context(), l)
			if err != nil || len(page) > c.limit || next && len(page) < c.limit {
				t.Fatalf("%q by %d: %d clients, more %v, %v", c.match, c.limit, len(page), next, err)
			}
			got = append(got, page...)
			if more = next; more {
				last := page[len(page)-1]
				l.After = last.Position()
			}
		}
		if diff := cmp.Diff(expected, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q by %d (-want +got): %s", c.match, c.limit, diff)
		}
	}
}
