package store_test

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/permit"
	"quarry/internal/identity/authz"
	"quarry/internal/store"
	"quarry/internal/store/agents"
)

// TestIdentitiesOfAgents proves that agents of the version before have identities, each with a client id of its own, with the roles that
// their own configurations of tools and those they refer to lead to, and that one which was deleted has none.
func TestIdentitiesOfAgents(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c store.Config) {
		driver, at := "sqlite", filepath.Join(c.Dir, "quarry.db")
		if c.URL != "" {
			driver, at = "pgx", c.URL
		}
		raw, err := sql.Open(driver, at)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.MigrateTo(t.Context(), raw, c.URL != "", 33); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			`INSERT INTO agents (key, revision, enabled, created, updated, deleted) VALUES ('one', 2, TRUE, 1, 1, 0)`,
			`INSERT INTO agents (key, revision, enabled, created, updated, deleted) VALUES ('two', 1, TRUE, 1, 1, 0)`,
			`INSERT INTO agents (key, revision, enabled, created, updated, deleted) VALUES (NULL, 1, TRUE, 1, 1, 9)`,
			`INSERT INTO agent_revisions (agent_no, revision, definition, replaced) SELECT no, 1, '{"tools":{"a":{"use":"old"}}}', 5 FROM agents WHERE key = 'one'`,
			`INSERT INTO agent_revisions (agent_no, revision, definition, replaced)
				SELECT no, 2, '{"tools":{"a":{"use":"two"},"b":{"type":"reference","tool_configuration_key":"shared"}}}', 0 FROM agents WHERE key = 'one'`,
			`INSERT INTO agent_revisions (agent_no, revision, definition, replaced) SELECT no, 1, '{}', 0 FROM agents WHERE key = 'two'`,
			`INSERT INTO tool_configurations (key, version, definition, created, updated) VALUES ('shared', 3, '{"entry":{"use":"one"}}', 1, 1)`,
			`INSERT INTO tool_configuration_uses (agent_no, configuration_no) SELECT a.no, t.no FROM agents a, tool_configurations t WHERE a.key = 'one'`,
		} {
			if _, err := raw.ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		if err := raw.Close(); err != nil {
			t.Fatal(err)
		}
		db := open(t, c)
		s := agents.New(db).Naming(func(all map[string]json.RawMessage) (out []permit.Need) {
			for _, entry := range all {
				var e struct{ Use string }
				if json.Unmarshal(entry, &e) == nil && e.Use != "" {
					out = append(out, permit.Need{Agent: e.Use, Level: permit.Use})
				}
			}
			return out
		})
		clients := map[string]bool{}
		for key, want := range map[string][]authz.Grant{"one": {{Key: "one", Role: "agent_user"}, {Key: "two", Role: "agent_user"}}, "two": nil} {
			a, err := s.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			is, err := s.Identity(t.Context(), a.No)
			if diff := cmp.Diff(want, is.Roles.Agents); err != nil || diff != "" || is.Manual || len(is.Roles.API)+len(is.Roles.Corpora) > 0 {
				t.Errorf("%s: %+v, %v, %s", key, is, err, diff)
			}
			if !regexp.MustCompile(`^agc_[0-9a-f]{26}$`).MatchString(is.ClientID) || clients[is.ClientID] {
				t.Errorf("%s has the client id %q", key, is.ClientID)
			}
			clients[is.ClientID] = true
			if again, err := s.Identity(t.Context(), a.No); err != nil || again.ClientID != is.ClientID {
				t.Errorf("%s has the client id %s, and then %s, %v", key, is.ClientID, again.ClientID, err)
			}
		}
		var n int
		if err := db.Reader(t.Context()).QueryRow(`SELECT count(*) FROM agent_identities`).Scan(&n); err != nil || n != 2 {
			t.Errorf("%d identities, %v", n, err)
		}
	})
}
