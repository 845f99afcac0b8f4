package authz_test

import (
	"slices"
	"strings"
	"testing"

	"quarry/internal/fault"
	"quarry/internal/identity/authz"
)

// with returns a principal with API roles and, after "key:", roles on one corpus or agent.
func with(api string, corpora, agents map[string][]string) authz.Principal {
	return authz.Principal{APIRoles: strings.Fields(api), CorpusRoles: corpora, AgentRoles: agents}
}

// TestCovers proves who may grant what: only what the granter holds or what a role of it includes.
func TestCovers(t *testing.T) {
	t.Parallel()
	api := func(roles ...string) authz.Rights { return authz.Rights{API: roles} }
	corpus := func(key, role string) authz.Rights { return authz.Rights{Corpora: []authz.Grant{{key, role}}} }
	agent := func(key, role string) authz.Rights { return authz.Rights{Agents: []authz.Grant{{key, role}}} }
	for _, tc := range []struct {
		name    string
		p       authz.Principal
		want    authz.Rights
		missing string // "" if p covers want
	}{
		{"nothing needs nothing", authz.Principal{}, authz.Rights{}, ""},
		{"owner grants all", with("owner", nil, nil), authz.Rights{
			API: authz.APIRoles(), Corpora: []authz.Grant{{"a", "owner"}}, Agents: []authz.Grant{{"g", "agent_administrator"}},
		}, ""},
		{"administrator grants all but owner and billing", with("administrator", nil, nil), api(slices.DeleteFunc(authz.APIRoles(), func(r string) bool { return r == "owner" || r == "billing_administrator" })...), ""},
		{"only owner grants owner", with("administrator", nil, nil), api("viewer", "owner"), "owner"},
		{"all others together do not make an owner", authz.Principal{APIRoles: slices.DeleteFunc(authz.APIRoles(), func(r string) bool { return r == "owner" })}, api("owner"), "owner"},
		{"viewer grants the four viewers", with("viewer", nil, nil), api("corpus_viewer", "agent_viewer", "pipeline_viewer", "metrics_viewer"), ""},
		{"the four viewers are not viewer", with("corpus_viewer agent_viewer pipeline_viewer metrics_viewer", nil, nil), api("viewer"), "viewer"},
		{"agent_administrator grants agent_end_user", with("agent_administrator", nil, nil), api("agent_end_user", "agent_user", "agent_viewer"), ""},
		{"agent_developer does not", with("agent_developer", nil, nil), api("agent_end_user"), "agent_end_user"},
		{"corpus_administrator does not grant viewer", with("corpus_administrator", nil, nil), api("viewer"), "viewer"},
		{"administrators do not grant billing", with("administrator", nil, nil), api("billing_administrator"), "billing_administrator"},
		{"corpus_viewer grants viewer on a corpus", with("corpus_viewer", nil, nil), corpus("a", "viewer"), ""},
		{"corpus_viewer does not grant editor", with("corpus_viewer", nil, nil), corpus("a", "editor"), "editor on the corpus a"},
		{"viewer grants viewer on a corpus", with("viewer", nil, nil), corpus("a", "viewer"), ""},
		{"corpus_developer grants editor", with("corpus_developer", nil, nil), corpus("a", "editor"), ""},
		{"corpus_developer does not grant administrator", with("corpus_developer", nil, nil), corpus("a", "administrator"), "administrator on the corpus a"},
		{"corpus_administrator grants owner of a corpus", with("corpus_administrator", nil, nil), corpus("a", "owner"), ""},
		{"a corpus role grants those below", with("", map[string][]string{"a": {"administrator"}}, nil), corpus("a", "editor"), ""},
		{"not those above", with("", map[string][]string{"a": {"administrator"}}, nil), corpus("a", "owner"), "owner on the corpus a"},
		{"and nothing elsewhere", with("", map[string][]string{"a": {"owner"}}, nil), corpus("b", "viewer"), "viewer on the corpus b"},
		{"and no API role", with("", map[string][]string{"a": {"owner"}}, nil), api("corpus_viewer"), "corpus_viewer"},
		{"agent_developer grants agent_user of an agent", with("agent_developer", nil, nil), agent("g", "agent_user"), ""},
		{"an agent role grants those below", with("", nil, map[string][]string{"g": {"agent_developer"}}), agent("g", "agent_viewer"), ""},
		{"siblings do not grant one another", with("", nil, map[string][]string{"g": {"agent_user"}}), agent("g", "agent_viewer"), "agent_viewer on the agent g"},
		{"a corpus role grants no agent", with("corpus_administrator", nil, nil), agent("g", "agent_viewer"), "agent_viewer on the agent g"},
		{"a role that does not exist is covered by nobody", with("owner", nil, nil), api("root"), "root"},
		{"nor one on a corpus", with("owner", nil, nil), corpus("a", "root"), "root on the corpus a"},
	} {
		err := authz.Covers(tc.p, tc.want)
		switch {
		case tc.missing == "" && err != nil:
			t.Errorf("%s: got %v, want nil", tc.name, err)
		case tc.missing != "" && (!fault.Is(err, fault.KindForbidden) || !strings.Contains(err.Error(), "role "+tc.missing+" ")):
			t.Errorf("%s: got %v, want forbidden that names %s", tc.name, err, tc.missing)
		}
	}
}

// TestHolds proves that a role counts for those it includes, in decisions too: an operation for agent_end_user is
// open to an agent administrator although its list does not say so.
func TestHolds(t *testing.T) {
	t.Parallel()
	rule := authz.Rule{APIRoles: []string{"agent_end_user"}}
	for role, want := range map[string]bool{
		"agent_end_user": true, "agent_administrator": true, "administrator": true, "owner": true,
		"agent_developer": false, "agent_user": false, "viewer": false, "billing_administrator": false, "nonsense": false,
	} {
		p := with(role, nil, nil)
		if got := authz.Allow(p, rule, authz.Target{}); got != want {
			t.Errorf("Allow for %s: got %t, want %t", role, got, want)
		}
		if got := p.Holds("agent_end_user"); got != want {
			t.Errorf("%s holds agent_end_user: got %t, want %t", role, got, want)
		}
	}
	if (authz.Principal{}).Holds("") || with("owner", nil, nil).Holds("") {
		t.Error("somebody holds the empty role")
	}
}

// TestAllowSome proves that a corpus role anywhere lets a request in whose body names corpora, and only a listed one.
func TestAllowSome(t *testing.T) {
	t.Parallel()
	rule := authz.Rule{APIRoles: []string{"owner"}, CorpusRoles: []string{"editor", "administrator", "owner"}}
	for _, tc := range []struct {
		p    authz.Principal
		want bool
	}{
		{authz.Principal{}, false},
		{with("owner", nil, nil), true},
		{with("viewer", nil, nil), false},
		{with("", map[string][]string{"a": {"viewer"}}, nil), false},
		{with("", map[string][]string{"a": {"viewer"}, "b": {"editor"}}, nil), true},
	} {
		if got := authz.AllowSome(tc.p, rule); got != tc.want {
			t.Errorf("%+v: got %t, want %t", tc.p, got, tc.want)
		}
	}
}

// TestCheck proves which rights are refused, and at which place.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		r     authz.Rights
		paths []string
	}{
		{"nothing", authz.Rights{}, nil},
		{"every role", authz.Rights{API: authz.APIRoles(), Corpora: []authz.Grant{{"a", "viewer"}, {"a", "editor"}, {"b", "viewer"}}, Agents: []authz.Grant{{"g", "agent_user"}}}, nil},
		{"old names", authz.Rights{API: []string{"viewer", "corpus_admin", "query_writer"}}, []string{"api_roles[1]", "api_roles[2]"}},
		{"twice", authz.Rights{API: []string{"viewer", "viewer"}, Corpora: []authz.Grant{{"a", "viewer"}, {"a", "viewer"}}}, []string{"api_roles[1]", "corpus_roles[1]"}},
		{"role of another kind", authz.Rights{API: []string{"editor"}, Corpora: []authz.Grant{{"a", "corpus_viewer"}}, Agents: []authz.Grant{{"g", "viewer"}}}, []string{"agent_roles[0].role", "api_roles[0]", "corpus_roles[0].role"}},
		{"no key", authz.Rights{Corpora: []authz.Grant{{"", "viewer"}}, Agents: []authz.Grant{{"", "agent_user"}}}, []string{"agent_roles[0].agent_key", "corpus_roles[0].corpus_key"}},
		{"too many", authz.Rights{Corpora: make([]authz.Grant, 10_001)}, []string{"corpus_roles"}},
		{"other case", authz.Rights{API: []string{"Owner"}}, []string{"api_roles[0]"}},
	} {
		bad := fault.Invalid()
		tc.r.Check(bad)
		if got := bad.Paths(); !slices.Equal(got, tc.paths) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.paths)
		}
	}
}

// TestWith proves that a principal gets the rights given and loses those it had.
func TestWith(t *testing.T) {
	t.Parallel()
	p := with("owner", map[string][]string{"old": {"owner"}}, map[string][]string{"old": {"agent_user"}})
	got := p.With(authz.Rights{API: []string{"viewer"}, Corpora: []authz.Grant{{"a", "viewer"}, {"a", "editor"}}})
	if !slices.Equal(got.APIRoles, []string{"viewer"}) || len(got.CorpusRoles) != 1 || !slices.Equal(got.CorpusRoles["a"], []string{"viewer", "editor"}) || got.AgentRoles != nil {
		t.Errorf("got %+v", got)
	}
	if !slices.Equal(p.APIRoles, []string{"owner"}) {
		t.Errorf("the principal given was changed: %+v", p)
	}
}
