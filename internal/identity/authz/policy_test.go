package authz_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/identity/authz"
)

// TestRights proves that the rights of a principal are those that it was given, in the order of their keys.
func TestRights(t *testing.T) {
	t.Parallel()
	given := authz.Rights{
		API:     []string{"viewer", "agent_user"},
		Corpora: []authz.Grant{{"b", "viewer"}, {"a", "owner"}, {"b", "editor"}}, Agents: []authz.Grant{{"g", "agent_viewer"}},
	}
	want := given
	want.Corpora = []authz.Grant{{"a", "owner"}, {"b", "viewer"}, {"b", "editor"}}
	if d := cmp.Diff(want, authz.Principal{}.With(given).Rights()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if r := (authz.Principal{}).Rights(); !r.None() {
		t.Errorf("without a role: %+v", r)
	}
}

// TestPolicy proves that a policy names what is open, with the corpora and agents it is open on, and nothing else.
func TestPolicy(t *testing.T) {
	t.Parallel()
	ops := []authz.Operation{
		{ID: "read", Rule: authz.Rule{APIRoles: []string{"corpus_viewer", "owner"}, CorpusRoles: []string{"viewer", "editor"}}, Corpus: "path.corpus_key"},
		{ID: "write", Rule: authz.Rule{APIRoles: []string{"owner"}, CorpusRoles: []string{"editor"}}, Corpus: "path.corpus_key"},
		{ID: "talk", Rule: authz.Rule{APIRoles: []string{"agent_user", "owner"}, AgentRoles: []string{"agent_user"}}, Agent: "path.agent_key"},
		{ID: "self", Rule: authz.Rule{Open: true, People: true}},
		{ID: "list", Rule: authz.Rule{APIRoles: []string{"owner"}}},
	}
	everything := authz.Scope{Any: true}
	on := func(path string, keys ...string) authz.Scope {
		return authz.Scope{Resources: map[string][]string{path: keys}}
	}
	corpora := map[string][]string{"b": {"viewer"}, "a": {"editor"}}
	for _, tc := range []struct {
		name string
		p    authz.Principal
		want map[string]authz.Scope
	}{
		{"nobody", authz.Principal{}, map[string]authz.Scope{}},
		{"a person without a role", authz.Principal{Kind: authz.User}, map[string]authz.Scope{"self": everything}},
		{"owner", with("owner", corpora, nil), map[string]authz.Scope{"read": everything, "write": everything, "talk": everything, "list": everything}},
		{"roles on corpora", with("", corpora, nil), map[string]authz.Scope{"read": on("path.corpus_key", "a", "b"), "write": on("path.corpus_key", "a")}},
		{"an API role beside them", with("corpus_viewer", corpora, nil), map[string]authz.Scope{"read": everything, "write": on("path.corpus_key", "a")}},
		{"a role on an agent that includes the one listed", with("", nil, map[string][]string{"g": {"agent_administrator"}}), map[string]authz.Scope{"talk": on("path.agent_key", "g")}},
	} {
		if d := cmp.Diff(tc.want, authz.Policy(tc.p, ops)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, d)
		}
	}
}
