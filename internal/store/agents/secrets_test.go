package agents_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"quarry/internal/agent/secret"
	"quarry/internal/agent/session"
	"quarry/internal/agent/tool"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/secret/seal"
	"quarry/internal/secret/vault"
	"quarry/internal/store"
	"quarry/internal/store/agents"
	"quarry/internal/store/secrets"
	"quarry/internal/store/sessions"
	"quarry/internal/store/storetest"
)

// keptSecret is what a turn has resolved.
var keptSecret = &tool.Kept{Text: `{"t":{"p":{"value":"clear-1","secret":true}}}`, Secret: true}

// change sets secrets, or removes those that are "".
func change(t *testing.T, s *agents.Store, no int64, values map[string]string) {
	t.Helper()
	fields := map[string]opt.Field[string]{}
	for name, v := range values {
		if fields[name] = opt.Some(v); v == "" {
			fields[name] = opt.Null[string]()
		}
	}
	if _, err := secret.New(s).Update(t.Context(), no, fields); err != nil {
		t.Fatal(err)
	}
}

// sweep runs the sweeper until nothing is left to do, a long time after all that has ended did.
func (s stores) sweep(t *testing.T) {
	t.Helper()
	s.exec(t, `UPDATE agent_secrets SET ended = 1 WHERE ended > 0`)
	for more := true; more; {
		if err := s.db.Write(t.Context(), func(tx *store.Tx) (err error) {
			more, err = agents.Sweeper{}.Sweep(tx)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// testSecrets proves that secrets are read in the state that is asked for, that no row has one in clear, that they stay as long as a run
// or a parked turn names them, and go with the agent.
func testSecrets(t *testing.T, s stores) {
	sealed := storetest.Secrets(t, s.db)
	rows := s.Sealing(sealed)
	a := s.make(t, full("a"))
	other := s.make(t, full("b"))
	states := []map[string]string{nil, {"one": "clear-1", "two": "clear-2"}, {"one": "clear-3", "two": "clear-2"}, {"one": "clear-3", "three": "clear-4"}, {}}
	change(t, rows, a.No, map[string]string{"one": "clear-1", "two": "clear-2"})
	change(t, rows, other.No, map[string]string{"one": "clear-of-b"})
	change(t, rows, a.No, map[string]string{"one": "clear-3", "never": ""})
	change(t, rows, a.No, map[string]string{"two": "", "three": "clear-4"})
	if names, err := rows.SecretNames(t.Context(), a.No); err != nil || !slices.Equal(names, []string{"one", "three"}) {
		t.Errorf("%v, %q", err, names)
	}
	change(t, rows, a.No, map[string]string{"one": "", "three": ""})
	want := func(what string, no int64, state int, want map[string]string) {
		t.Helper()
		got, err := rows.Secrets(t.Context(), no, int64(state))
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%s, state %d: %v, %v; want %v", what, state, err, got, want)
		}
	}
	for state, values := range states {
		want("all there", a.No, state, values)
	}
	want("of another agent", other.No, 1, map[string]string{"one": "clear-of-b"})
	all, err := store.Select(s.db.Reader(t.Context()), "read", store.One[[]byte], `SELECT sealed FROM secrets WHERE name LIKE 'agent_secret/%'`)
	if err != nil || len(all) != 5 || bytes.Contains(bytes.Join(all, nil), []byte("clear")) {
		t.Errorf("%v, %q", err, all)
	}

	s.exec(t, fmt.Sprintf(`INSERT INTO sessions (agent_no, key, name, description, metadata, enabled, idle_minutes, secrets, step, usage, compaction, created, active, deleted, turn, last_ord, last_created, events, hidden, edits, failed_ord)
		SELECT %d, k, '', '', '{}', TRUE, 0, '[]', '', '', '{}', 1, 1, 0, 0, 0, 0, 0, 0, 0, 0 FROM (SELECT 'r' AS k UNION SELECT 'p') AS x`, a.No))
	s.exec(t, fmt.Sprintf(`INSERT INTO runs (session_no, agent_no, holder, node, until, turn, first_ord, opening, revision, step, transitions, calls, began, caller, resolved, interrupted, recovered, compaction, secrets)
		SELECT no, %d, '', '', 0, 1, 1, 1, 1, '', 0, 0, 1, '{}', '', FALSE, 0, '', 2 FROM sessions WHERE key = 'r'`, a.No))
	s.exec(t, fmt.Sprintf(`INSERT INTO parked (session_no, agent_no, turn, first_ord, opening, revision, step, transitions, calls, began, caller, next_step, secrets)
		SELECT no, %d, 1, 1, 1, 1, '', 0, 0, 1, '{}', '', 3 FROM sessions WHERE key = 'p'`, a.No))
	s.sweep(t)
	want("a run names it", a.No, 2, states[2])
	want("a parked turn names it", a.No, 3, states[3])
	want("another agent", other.No, 1, map[string]string{"one": "clear-of-b"})
	if n := s.count(t, `SELECT COUNT(*) FROM secrets WHERE name LIKE 'agent_secret/%'`); n != 4 {
		t.Errorf("%d values are sealed, want the three that turns name and that of the other agent", n)
	}
	s.exec(t, `DELETE FROM runs`)
	s.exec(t, `DELETE FROM parked`)
	s.sweep(t)
	if n := s.count(t, `SELECT (SELECT COUNT(*) FROM secrets WHERE name LIKE 'agent_secret/%') + (SELECT COUNT(*) FROM agent_secrets)`); n != 2 {
		t.Errorf("%d rows are left, want those of the other agent", n)
	}
	if err := rows.Delete(t.Context(), other.No, clock.Now()); err != nil {
		t.Fatal(err)
	}
	if n := s.count(t, `SELECT COUNT(*) FROM secrets WHERE name LIKE 'agent_secret/%'`); n != 0 {
		t.Errorf("%d secrets of the deleted agent are left", n)
	}
	if _, err := secret.New(rows).Replace(t.Context(), other.No, map[string]string{"x": "y"}); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("of an agent that is gone: %v", err)
	}
	s.sweep(t)
	if n := s.count(t, `SELECT COUNT(*) FROM agent_secrets`); n != 0 {
		t.Errorf("%d rows of the deleted agent are left", n)
	}
}

// testSecretsAtOnce proves that changes at once follow one another and that the bound on their number holds among them.
func testSecretsAtOnce(t *testing.T, s stores) {
	rows := s.Sealing(storetest.Secrets(t, s.db))
	a := s.make(t, full("a"))
	var group sync.WaitGroup
	for i := range 12 {
		group.Go(func() {
			values := map[string]opt.Field[string]{}
			for k := range 9 {
				values[fmt.Sprintf("s%d_%d", i, k)] = opt.Some("value")
			}
			if _, err := secret.New(rows).Update(t.Context(), a.No, values); err != nil && !fault.Is(err, fault.KindInvalid) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	names, err := rows.SecretNames(t.Context(), a.No)
	if err != nil || len(names) != 99 {
		t.Errorf("%v, %d names, want those of eleven changes", err, len(names))
	}
	if got, err := rows.Secrets(t.Context(), a.No, 11); err != nil || len(got) != 99 {
		t.Errorf("%v, %d values", err, len(got))
	}
}

// testSecretsRotated proves that a rotation of the secret keys includes secrets of agents, those that only a turn still names, and what
// a turn in progress has resolved.
func testSecretsRotated(t *testing.T, s stores) {
	file := seal.NewFile(t.TempDir() + "/secret.key")
	v, err := vault.Open(t.Context(), vault.Config{Rows: secrets.NewRows(s.db), File: file})
	if err != nil {
		t.Fatal(err)
	}
	rows, log := s.Sealing(secrets.New(s.db, v.Keyring())), sessions.New(s.db, secrets.New(s.db, v.Keyring()))
	a := s.make(t, full("a"))
	change(t, rows, a.No, map[string]string{"one": "clear-1"})
	now := clock.Now()
	x, err := log.Create(t.Context(), session.Session{Key: "k", AgentNo: a.No, Metadata: []byte(`{}`), Enabled: true, Created: now, Updated: now}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := session.Lease{Session: x.No, Holder: "h", Node: "n", Until: now}
	began, err := log.Accept(t.Context(), session.Input{Session: x.No, Event: id.NewEvent(), Parts: []session.Part{{Text: "hi"}}}, l, now)
	if err != nil || began.Run.Secrets != 1 {
		t.Fatalf("%v, state %d", err, began.Run.Secrets)
	}
	if _, err := log.Commit(t.Context(), l, session.Commit{Resolved: keptSecret}, now); err != nil {
		t.Fatal(err)
	}
	change(t, rows, a.No, map[string]string{"one": "clear-2"})
	for done := false; !done; {
		p, err := v.Rotate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		done = p.Done
	}
	// another process, which has the new key alone
	v, err = vault.Open(t.Context(), vault.Config{Rows: secrets.NewRows(s.db), File: file})
	if err != nil || len(v.Keyring().IDs()) != 1 {
		t.Fatalf("%v, keys %q", err, v.Keyring().IDs())
	}
	rows, log = s.Sealing(secrets.New(s.db, v.Keyring())), sessions.New(s.db, secrets.New(s.db, v.Keyring()))
	for state, want := range map[int64]string{1: "clear-1", 2: "clear-2"} {
		if got, err := rows.Secrets(t.Context(), a.No, state); err != nil || got["one"] != want {
			t.Errorf("state %d: %v, %v", state, err, got)
		}
	}
	run, err := log.Claim(t.Context(), now, true, 1, func(int64) session.Lease { return l })
	if err != nil || len(run) != 1 || run[0].Secrets != 1 || !run[0].Resolved.Secret || run[0].Resolved.Text != "" {
		t.Errorf("%v, %+v", err, run)
	}
	if got, err := log.Resolved(t.Context(), x.No); err != nil || got != keptSecret.Text {
		t.Errorf("%v, %q", err, got)
	}
	if n := s.count(t, `SELECT COUNT(*) FROM runs WHERE resolved LIKE '%clear%'`); n > 0 {
		t.Error("what a turn has resolved lies in clear")
	}
}
