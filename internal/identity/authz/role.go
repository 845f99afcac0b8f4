package authz

import (
	"maps"
	"slices"

	"quarry/internal/fault"
)

// The API roles that the code refers to. The others appear only in the contract's lists.
const (
	Owner               = "owner"
	Administrator       = "administrator"
	CorpusAdministrator = "corpus_administrator"
)

// chain maps each role of one kind to the roles that it directly includes.
type chain map[string][]string

// The chains of the contract (identity and access, Inheritance). The corpus and agent
// roles that API roles include are in wide.
var (
	apiChain = chain{
		Owner:         {Administrator, "billing_administrator"}, // administrators manage no billing
		Administrator: {CorpusAdministrator, "agent_administrator", "pipeline_administrator", "viewer"},
		"viewer":      {"corpus_viewer", "agent_viewer", "pipeline_viewer", "metrics_viewer"},

		CorpusAdministrator: {"corpus_developer"},
		"corpus_developer":  {"corpus_viewer"},
		"corpus_viewer":     {},

		"agent_administrator": {"agent_developer", "agent_end_user"},
		"agent_developer":     {"agent_user", "agent_viewer"},
		"agent_user":          {},
		"agent_viewer":        {},
		"agent_end_user":      {},

		"pipeline_administrator": {"pipeline_viewer"},
		"pipeline_viewer":        {},

		"billing_administrator": {},
		"metrics_viewer":        {},
	}
	corpusChain = chain{
		"owner":         {"administrator"},
		"administrator": {"editor"},
		"editor":        {"viewer"},
		"viewer":        {},
	}
	agentChain = chain{
		"agent_administrator": {"agent_developer"},
		"agent_developer":     {"agent_user", "agent_viewer"},
		"agent_user":          {},
		"agent_viewer":        {},
	}
)

// wide maps a role on one corpus or agent to the API role that grants the same on all of them.
var wide = map[string]string{
	"viewer": "corpus_viewer", "editor": "corpus_developer",
	"administrator": CorpusAdministrator, "owner": CorpusAdministrator,
	"agent_user": "agent_user", "agent_viewer": "agent_viewer",
	"agent_developer": "agent_developer", "agent_administrator": "agent_administrator",
}

// The roles that each role includes, directly or not.
var (
	apiIncludes    = apiChain.closed()
	corpusIncludes = corpusChain.closed()
	agentIncludes  = agentChain.closed()
)

func (c chain) closed() map[string][]string {
	out := map[string][]string{}
	for role := range c {
		seen := map[string]bool{}
		c.walk(role, seen)
		out[role] = slices.Sorted(maps.Keys(seen))
	}
	return out
}

func (c chain) walk(role string, seen map[string]bool) {
	for _, next := range c[role] {
		if !seen[next] {
			seen[next] = true
			c.walk(next, seen)
		}
	}
}

// APIRoles lists the API roles, sorted.
func APIRoles() []string { return slices.Sorted(maps.Keys(apiChain)) }

// CorpusRoles lists the roles on a corpus, sorted.
func CorpusRoles() []string { return slices.Sorted(maps.Keys(corpusChain)) }

// AgentRoles lists the roles on an agent, sorted.
func AgentRoles() []string { return slices.Sorted(maps.Keys(agentChain)) }

// Includes lists the roles that an API role includes, directly or not, sorted.
func Includes(role string) []string { return slices.Clone(apiIncludes[role]) }

// Covers returns nil if p holds every right in want, directly or by a role that includes it, and otherwise a forbidden
// fault that names the first missing role. It guards every grant: nobody grants more than they hold.
func Covers(p Principal, want Rights) error {
	for _, role := range want.API {
		if !p.Holds(role) {
			return notHeld(role, "")
		}
	}
	for _, g := range want.Corpora {
		if !holdsAny(corpusIncludes, p.CorpusRoles[g.Key], []string{g.Role}) && !p.Holds(wide[g.Role]) {
			return notHeld(g.Role, " on the corpus "+g.Key)
		}
	}
	for _, g := range want.Agents {
		if !holdsAny(agentIncludes, p.AgentRoles[g.Key], []string{g.Role}) && !p.Holds(wide[g.Role]) {
			return notHeld(g.Role, " on the agent "+g.Key)
		}
	}
	return nil
}

func notHeld(role, where string) error {
	return fault.Forbidden("the role %s%s can be given or taken only by a caller who holds it or a role that includes it", role, where)
}
