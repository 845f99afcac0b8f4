// Package authz decides what a caller may do: the roles of a principal against the role lists that the contract gives
// each operation, which roles include which, and who may grant what. It knows no storage and no transport. The chain
// of package httpapi asks it about every request, the identity services before they hand out roles.
package authz

import "slices"

// PrincipalKind says what kind of credential a principal used.
type PrincipalKind string

// The kinds of the contract's session.caller.type.
const (
	User           PrincipalKind = "user"            // a person, by a personal key or a sign-in
	APIKey         PrincipalKind = "api_key"         // a key with roles of its own
	AppClient      PrincipalKind = "app_client"      // an OAuth client
	ServiceAccount PrincipalKind = "service_account" // the service itself: jobs and, later, agents
)

// Principal is an authenticated caller with its current roles.
type Principal struct {
	Kind        PrincipalKind
	ID          string // user id, SHA-256 hex digest of a role-based key, or client_id
	Name        string // username, name of the key or of the client, for logs
	Email       string // of a user
	Credential  string // what was shown, by its public name: aky_… of a key, client_id, usr_… of a sign-in; who is limited and audited
	APIRoles    []string
	CorpusRoles map[string][]string // corpus key → roles
	AgentRoles  map[string][]string // agent key → roles
}

// Holds reports whether the principal has the API role or one that includes it.
func (p Principal) Holds(role string) bool { return holdsAny(apiIncludes, p.APIRoles, []string{role}) }

// Machine reports whether no person stands behind the credential, directly or by a personal key.
func (p Principal) Machine() bool { return p.Kind != User }

// Rule is the role lists of one operation, as the contract writes them (already expanded by inheritance).
type Rule struct {
	APIRoles, CorpusRoles, AgentRoles []string
	PersonalKeys                      bool // of API keys only personal ones are let in, whatever roles the others hold
}

// shuts reports whether the rule refuses the kind of credential.
func (r Rule) shuts(p Principal) bool { return r.PersonalKeys && p.Kind == APIKey }

// Target is what one request names.
type Target struct {
	Corpora []string // every corpus key of path and body
	Agent   string
}

// Allow reports whether p may run an operation with rule r on t: any API role listed, or a listed corpus role on
// every corpus named, or a listed agent role on the agent (on any agent when none is named). A role counts for those
// that it includes; the contract's lists are expanded already, so this matters only to roles that no list names
// (agent_end_user).
func Allow(p Principal, r Rule, t Target) bool {
	if r.shuts(p) {
		return false
	}
	if holdsAny(apiIncludes, p.APIRoles, r.APIRoles) {
		return true
	}
	if len(r.CorpusRoles) > 0 && len(t.Corpora) > 0 && onEvery(p.CorpusRoles, t.Corpora, r.CorpusRoles) {
		return true
	}
	if len(r.AgentRoles) == 0 {
		return false
	}
	if t.Agent != "" {
		return holdsAny(agentIncludes, p.AgentRoles[t.Agent], r.AgentRoles)
	}
	for _, roles := range p.AgentRoles {
		if holdsAny(agentIncludes, roles, r.AgentRoles) {
			return true
		}
	}
	return false
}

// AllowSome reports whether p may run the operation on some corpus or agent at least: what lets a request in whose
// body names the corpora, and its handler decides on these.
func AllowSome(p Principal, r Rule) bool {
	if r.shuts(p) {
		return false
	}
	if Allow(p, r, Target{}) {
		return true
	}
	for _, roles := range p.CorpusRoles {
		if holdsAny(corpusIncludes, roles, r.CorpusRoles) {
			return true
		}
	}
	return false
}

func onEvery(have map[string][]string, keys, want []string) bool {
	for _, k := range keys {
		if !holdsAny(corpusIncludes, have[k], want) {
			return false
		}
	}
	return true
}

// holdsAny reports whether one of have is one of want or includes it.
func holdsAny(includes map[string][]string, have, want []string) bool {
	for _, h := range have {
		if slices.Contains(want, h) {
			return true
		}
		if slices.ContainsFunc(includes[h], func(r string) bool { return slices.Contains(want, r) }) {
			return true
		}
	}
	return false
}
