package authz_test

import (
	"testing"

	"quarry/internal/identity/authz"
)

// TestAllow proves the union rule: an API role anywhere, or a corpus role on every corpus named, or an agent role; and
// that an open operation needs none, and may be for people alone.
func TestAllow(t *testing.T) {
	t.Parallel()
	rule := authz.Rule{APIRoles: []string{"owner", "viewer"}, CorpusRoles: []string{"editor", "owner"}, AgentRoles: []string{"agent_user"}}
	on := func(role string, keys ...string) map[string][]string {
		m := map[string][]string{}
		for _, k := range keys {
			m[k] = []string{role}
		}
		return m
	}
	for _, tc := range []struct {
		name string
		p    authz.Principal
		r    authz.Rule
		t    authz.Target
		want bool
	}{
		{"nothing", authz.Principal{}, rule, authz.Target{Corpora: []string{"a"}}, false},
		{"API role", authz.Principal{APIRoles: []string{"x", "viewer"}}, rule, authz.Target{}, true},
		{"other API role", authz.Principal{APIRoles: []string{"corpus_viewer"}}, rule, authz.Target{}, false},
		{"corpus role", authz.Principal{CorpusRoles: on("editor", "a")}, rule, authz.Target{Corpora: []string{"a"}}, true},
		{"weaker corpus role", authz.Principal{CorpusRoles: on("viewer", "a")}, rule, authz.Target{Corpora: []string{"a"}}, false},
		{"one of two corpora", authz.Principal{CorpusRoles: on("editor", "a")}, rule, authz.Target{Corpora: []string{"a", "b"}}, false},
		{"both corpora", authz.Principal{CorpusRoles: on("owner", "a", "b")}, rule, authz.Target{Corpora: []string{"a", "b"}}, true},
		{"corpus role, no corpus named", authz.Principal{CorpusRoles: on("editor", "a")}, rule, authz.Target{}, false},
		{"corpus role, operation has none", authz.Principal{CorpusRoles: on("owner", "a")}, authz.Rule{APIRoles: []string{"owner"}}, authz.Target{Corpora: []string{"a"}}, false},
		{"agent role", authz.Principal{AgentRoles: on("agent_user", "g")}, rule, authz.Target{Agent: "g"}, true},
		{"role on another agent", authz.Principal{AgentRoles: on("agent_user", "h")}, rule, authz.Target{Agent: "g"}, false},
		{"open, no role", authz.Principal{Kind: authz.APIKey}, authz.Rule{Open: true}, authz.Target{}, true},
		{"open to people, a person", authz.Principal{Kind: authz.User}, authz.Rule{Open: true, People: true}, authz.Target{}, true},
		{"open to people, a key", authz.Principal{Kind: authz.APIKey, APIRoles: []string{"owner"}}, authz.Rule{Open: true, People: true}, authz.Target{}, false},
		{"open to people, a client", authz.Principal{Kind: authz.AppClient, APIRoles: []string{"owner"}}, authz.Rule{Open: true, People: true}, authz.Target{}, false},
		{"any agent", authz.Principal{AgentRoles: on("agent_user", "h")}, rule, authz.Target{}, true},
	} {
		if got := authz.Allow(tc.p, tc.r, tc.t); got != tc.want {
			t.Errorf("%s: got %t, want %t", tc.name, got, tc.want)
		}
	}
}
