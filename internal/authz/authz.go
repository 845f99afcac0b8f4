// Package authz decides what a caller may do: the roles of a principal against the role lists that the contract
// gives each operation. It knows no storage and no transport.
package authz

import "slices"

// PrincipalKind says what kind of credential a principal used.
type PrincipalKind string

// The kinds of the contract's session.caller.type that exist today.
const (
	User   PrincipalKind = "user"
	APIKey PrincipalKind = "api_key"
)

// Principal is an authenticated caller with its current roles.
type Principal struct {
	Kind        PrincipalKind
	ID          string // user id, or SHA-256 hex digest of a role-based key
	Name        string // username or key name, for logs
	APIRoles    []string
	CorpusRoles map[string][]string // corpus key → roles
	AgentRoles  map[string][]string // agent key → roles
}

// Rule is the role lists of one operation, as the contract writes them (already expanded by inheritance).
type Rule struct {
	APIRoles, CorpusRoles, AgentRoles []string
}

// Target is what one request names.
type Target struct {
	Corpora []string // every corpus key of path and body
	Agent   string
}

// Allow reports whether p may run an operation with rule r on t: any API role listed, or a listed corpus role on
// every corpus named, or a listed agent role on the agent (on any agent when none is named).
func Allow(p Principal, r Rule, t Target) bool {
	if intersects(p.APIRoles, r.APIRoles) {
		return true
	}
	if len(r.CorpusRoles) > 0 && len(t.Corpora) > 0 && onEvery(p.CorpusRoles, t.Corpora, r.CorpusRoles) {
		return true
	}
	if len(r.AgentRoles) == 0 {
		return false
	}
	if t.Agent != "" {
		return intersects(p.AgentRoles[t.Agent], r.AgentRoles)
	}
	for _, roles := range p.AgentRoles {
		if intersects(roles, r.AgentRoles) {
			return true
		}
	}
	return false
}

func onEvery(have map[string][]string, keys, want []string) bool {
	for _, k := range keys {
		if !intersects(have[k], want) {
			return false
		}
	}
	return true
}

func intersects(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}
