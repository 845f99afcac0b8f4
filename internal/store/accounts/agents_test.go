package accounts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/agent"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/identity/account"
	"quarry/internal/identity/authz"
	"quarry/internal/store/storetest"
)

// makeAgent makes an agent and returns its row number.
func makeAgent(t *testing.T, s stores, key string) int64 {
	t.Helper()
	a, err := s.Agents.Create(t.Context(), agent.Agent{Key: key, Created: clock.Now(), Updated: clock.Now()})
	if err != nil {
		t.Fatalf("create agent %q: %v", key, err)
	}
	return a.No
}

// testAgentRoles proves that roles on agents are kept beside those on corpora, that every read of a holder has them, that
// each kind can be replaced alone, and that what was granted on a deleted agent counts no more, also for a later agent of
// its key.
func testAgentRoles(t *testing.T, s stores) {
	create(t, s, "a")
	makeAgent(t, s, "a") // keys of corpora and agents have nothing to do with one another
	gone := makeAgent(t, s, "g")
	want := authz.Rights{
		Corpora: []authz.Grant{{Key: "a", Role: "viewer"}},
		Agents:  []authz.Grant{{Key: "g", Role: "agent_user"}, {Key: "a", Role: "agent_developer"}, {Key: "g", Role: "agent_viewer"}},
	}
	client, user := newClient("bot"), storetest.User("ann")
	client.Rights, user.Rights = want, want
	addClient(t, s, client)
	createUser(t, s, user)
	k := createKey(t, s, key("key", want))
	check := func() {
		t.Helper()
		c1, err1 := s.Accounts.GetClient(t.Context(), client.ID)
		c2, err2 := s.Accounts.ClientByID(t.Context(), client.ClientID)
		u1, err3 := s.Accounts.UserByName(t.Context(), user.Username)
		u2, err4 := s.Accounts.UserByID(t.Context(), user.ID)
		k1, err5 := s.Accounts.GetKey(t.Context(), k.ID)
		k2, _, err6 := s.Accounts.KeyByDigest(t.Context(), k.Digest)
		for i, err := range []error{err1, err2, err3, err4, err5, err6} {
			if err != nil {
				t.Fatalf("read %d: %v", i, err)
			}
		}
		for i, got := range []authz.Rights{c1.Rights, c2.Rights, u1.Rights, u2.Rights, k1.Rights, k2.Rights} {
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("read %d (-want +got): %s", i, diff)
			}
		}
	}
	check()
	if err := s.Agents.Delete(t.Context(), gone, clock.Now()); err != nil {
		t.Fatal(err)
	}
	makeAgent(t, s, "g")
	want.Agents = want.Agents[1:2]
	check()
	bad := newClient("other")
	bad.Rights.Agents = []authz.Grant{{Key: "a", Role: "agent_user"}, {Key: "nobody", Role: "agent_user"}}
	bad.Rights.Corpora = []authz.Grant{{Key: "nowhere", Role: "viewer"}}
	f, _ := fault.As(s.Accounts.CreateClient(t.Context(), bad))
	if diff := cmp.Diff(&fault.Fault{Kind: fault.KindInvalid, Code: "invalid_request", Fields: map[string]string{
		"agent_roles[1].agent_key": "agent nobody does not exist", "corpus_roles[0].corpus_key": "corpus nowhere does not exist",
	}}, f, cmpopts.IgnoreUnexported(fault.Fault{})); diff != "" {
		t.Errorf("roles on what does not exist (-want +got): %s", diff)
	}
	changed, err := s.Accounts.UpdateClient(t.Context(), client.ID, func(c account.Client) (account.Client, error) {
		c.Rights.Agents = nil
		return c, nil
	})
	if err != nil || len(changed.Rights.Agents) > 0 || len(changed.Rights.Corpora) != 1 {
		t.Errorf("after the roles on agents were taken: %+v, %v", changed.Rights, err)
	}
	if got, err := s.Accounts.ClientByID(t.Context(), client.ClientID); err != nil || len(got.Rights.Agents) > 0 || len(got.Rights.Corpora) != 1 {
		t.Errorf("kept after the roles on agents were taken: %+v, %v", got.Rights, err)
	}
}
