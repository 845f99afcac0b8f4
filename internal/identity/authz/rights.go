package authz

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quarry/internal/fault"
)

// Rights is the roles that a user, key or client was granted.
type Rights struct {
	API     []string
	Corpora []Grant
	Agents  []Grant
}

// Grant is one role on one corpus or agent.
type Grant struct{ Key, Role string }

// None reports whether nothing was granted.
func (r Rights) None() bool { return len(r.API)+len(r.Corpora)+len(r.Agents) == 0 }

// With returns p with r as its only rights.
func (p Principal) With(r Rights) Principal {
	p.APIRoles, p.CorpusRoles, p.AgentRoles = slices.Clone(r.API), byKey(r.Corpora), byKey(r.Agents)
	return p
}

// Rights returns the roles of p, those on corpora and agents by key.
func (p Principal) Rights() Rights {
	return Rights{API: slices.Clone(p.APIRoles), Corpora: sorted(p.CorpusRoles), Agents: sorted(p.AgentRoles)}
}

func sorted(roles map[string][]string) (out []Grant) {
	for _, key := range slices.Sorted(maps.Keys(roles)) {
		for _, role := range roles[key] {
			out = append(out, Grant{key, role})
		}
	}
	return out
}

func byKey(grants []Grant) map[string][]string {
	if len(grants) == 0 {
		return nil
	}
	out := make(map[string][]string, len(grants))
	for _, g := range grants {
		out[g.Key] = append(out[g.Key], g.Role)
	}
	return out
}

// Check adds the roles that do not exist, and those given twice, to bad: api_roles[0], corpus_roles[0].role. It does
// not check whether corpora and agents exist.
func (r Rights) Check(bad *fault.Fault) {
	seen := map[string]bool{}
	for i, role := range r.API {
		path := fmt.Sprintf("api_roles[%d]", i)
		if _, ok := apiChain[role]; !ok {
			bad.Field(path, "must be one of %s, not %q", strings.Join(APIRoles(), ", "), role)
		}
		if seen[role] {
			bad.Field(path, "is given twice")
		}
		seen[role] = true
	}
	checkGrants(r.Corpora, "corpus_roles", "corpus_key", corpusChain, bad)
	checkGrants(r.Agents, "agent_roles", "agent_key", agentChain, bad)
}

// MaxGrants is the most roles on corpora, or on agents, that one user, key or client may have. Every request reads them,
// and one statement names all their corpora. Whoever needs more should get an API role.
const MaxGrants = 10_000

func checkGrants(grants []Grant, at, key string, roles chain, bad *fault.Fault) {
	if len(grants) > MaxGrants {
		bad.Field(at, "must have at most %d items, it has %d", MaxGrants, len(grants))
		return
	}
	seen := map[Grant]bool{}
	for i, g := range grants {
		path := fmt.Sprintf("%s[%d]", at, i)
		if g.Key == "" {
			bad.Field(path+"."+key, "is required")
		}
		if _, ok := roles[g.Role]; !ok {
			bad.Field(path+".role", "must be one of %s, not %q", strings.Join(ordered(roles), ", "), g.Role)
		}
		if seen[g] {
			bad.Field(path, "is given twice")
		}
		seen[g] = true
	}
}

// ordered lists the roles of a chain, weakest first.
func ordered(c chain) []string {
	reach := c.closed()
	return slices.SortedFunc(maps.Keys(c), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(reach[a]), len(reach[b])), strings.Compare(a, b))
	})
}
