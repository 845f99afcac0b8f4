package agents_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent"
	"quarry/internal/clock"
	"quarry/internal/store"
	"quarry/internal/store/agents"
	"quarry/internal/store/storetest"
)

// testSealed proves that credentials of tools are in no row in clear, are there in each way of reading, and go with the configuration
// and with the agent.
func testSealed(t *testing.T, s stores) {
	sealing := s.Sealing(storetest.Secrets(t, s.db))
	want := full("sealed")
	want.Tools = map[string]json.RawMessage{
		"a": json.RawMessage(`{"argument_override":{"auth":{"token":"hidden-one","type":"bearer"},"auth.value":"hidden-two"},"type":"web_get"}`),
		"b": json.RawMessage(`{"type":"web_get","argument_override":{"auth":{"type":"bearer","token":{"$ref":"session.secrets.x"}}}}`),
		"c": json.RawMessage(`{"type":"web_search"}`),
		"d": json.RawMessage(`{"argument_override":{"auth":{"client_secret":"hidden-three","type":"oauth_client_credentials"}},"type":"web_get"}`),
	}
	made, err := sealing.Create(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	want.No, want.Revision = made.No, 1
	got, err := sealing.Get(t.Context(), "sealed")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("read: %v (-want +got): %s", err, diff)
	}
	page, _, err := sealing.List(t.Context(), agent.List{All: true, Limit: 10})
	if err != nil || len(page) != 1 || cmp.Diff(want, page[0]) != "" {
		t.Errorf("listed: %v, %+v", err, page)
	}
	want.Description = "changed"
	if _, err := sealing.Replace(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	for revision := range int64(2) {
		got, err := sealing.Revision(t.Context(), made.No, revision+1)
		if err != nil || cmp.Diff(want.Tools, got.Tools) != "" {
			t.Errorf("revision %d: %v, %s", revision+1, err, got.Tools)
		}
	}
	rows, err := store.Select(s.db.Reader(t.Context()), "read", store.One[string], `SELECT definition FROM agent_revisions`)
	if err != nil || len(rows) != 2 || strings.Contains(strings.Join(rows, ""), "hidden") {
		t.Errorf("%v: %s", err, rows)
	}
	if _, err := agents.New(s.db).Create(t.Context(), withKey(want, "unsealed")); err == nil {
		t.Error("a store without a place for credentials has taken some")
	}

	sweep := func() {
		t.Helper()
		for more := true; more; {
			if err := s.db.Write(t.Context(), func(tx *store.Tx) (err error) {
				more, err = agents.Sweeper{}.Sweep(tx)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.exec(t, `UPDATE agent_revisions SET replaced = 1 WHERE replaced > 0`)
	sweep()
	if n := s.count(t, `SELECT COUNT(*) FROM secrets WHERE name LIKE 'agent/%'`); n != 1 {
		t.Errorf("%d configurations are sealed, want the current one", n)
	}
	if err := sealing.Delete(t.Context(), made.No, clock.Now()); err != nil {
		t.Fatal(err)
	}
	sweep()
	if n := s.count(t, `SELECT COUNT(*) FROM secrets WHERE name LIKE 'agent/%'`); n != 0 {
		t.Errorf("%d secrets of the deleted agent are left", n)
	}
}

func withKey(a agent.Agent, key string) agent.Agent {
	a.Key = key
	return a
}
