// Package authz decides what a caller may do. It compares the roles of a principal with the roles that the contract
// lists for an operation, knows which roles include which, and who may grant what. The chain of package httpapi asks it
// about every request, the identity services before they grant roles.
package authz

import (
	"maps"
	"slices"
	"time"
)

// PrincipalKind is the kind of credential that a principal used.
type PrincipalKind string

// The kinds of the contract's session.caller.type.
const (
	User           PrincipalKind = "user"            // a person, by a personal key or a sign-in
	APIKey         PrincipalKind = "api_key"         // a key with roles of its own
	AppClient      PrincipalKind = "app_client"      // an OAuth client
	Agent          PrincipalKind = "agent"           // an agent whose tool is called, by its identity; no credential is of this kind
	ServiceAccount PrincipalKind = "service_account" // the service itself: jobs
)

// Principal is an authenticated caller with its current roles.
type Principal struct {
	Kind        PrincipalKind
	ID          string // user id, SHA-256 hex digest of a role-based key, or client_id
	Name        string // username, name of the key or of the client, for logs
	Email       string // of a user
	Credential  string // public name of the credential, by which callers are limited and audited: aky_… of a key, client_id, usr_… of a sign-in
	APIRoles    []string
	CorpusRoles map[string][]string // corpus key → roles
	AgentRoles  map[string][]string // agent key → roles

	Epoch    int64     // of a user's tokens when the credential was checked
	SignedIn time.Time // when the user of an access token gave password or code; zero for anyone else
	Expires  time.Time // when the access token expires; zero for API keys
}

// Holds reports whether the principal has the API role or one that includes it.
func (p Principal) Holds(role string) bool { return holdsAny(apiIncludes, p.APIRoles, []string{role}) }

// Machine reports whether no person stands behind the credential, directly or by a personal key.
func (p Principal) Machine() bool { return p.Kind != User }

// Rule is the roles that may run an operation, as the contract lists them (already expanded by inheritance).
type Rule struct {
	APIRoles, CorpusRoles, AgentRoles []string
	PersonalKeys                      bool // other API keys are refused, whatever roles they hold
	Open                              bool // no role is needed
	People                            bool // keys with roles of their own and clients are refused, whatever roles they hold
}

// refuses reports whether the rule refuses the kind of credential that p used.
func (r Rule) refuses(p Principal) bool {
	return r.PersonalKeys && p.Kind == APIKey || r.People && p.Machine()
}

// Target is the corpora and the agent that a request names.
type Target struct {
	Corpora []string // every corpus key of path and body
	Agent   string
}

// Allow reports whether p may run an operation with rule r on t: any API role listed, or a listed corpus role on
// every corpus named, or a listed agent role on the agent (on any agent when none is named). A role counts for those
// that it includes; the contract's lists are expanded already, so this matters only to roles that no list names
// (agent_end_user).
func Allow(p Principal, r Rule, t Target) bool {
	if r.refuses(p) {
		return false
	}
	if r.Open || holdsAny(apiIncludes, p.APIRoles, r.APIRoles) {
		return true
	}
	lacks := func(key string) bool { return !holdsAny(corpusIncludes, p.CorpusRoles[key], r.CorpusRoles) }
	if len(t.Corpora) > 0 && !slices.ContainsFunc(t.Corpora, lacks) {
		return true
	}
	if t.Agent != "" {
		return holdsAny(agentIncludes, p.AgentRoles[t.Agent], r.AgentRoles)
	}
	return onSome(agentIncludes, p.AgentRoles, r.AgentRoles)
}

// AllowSome reports whether p may run the operation on at least one corpus or agent. A request whose body names the
// corpora is let in by this, and its handler then decides about them.
func AllowSome(p Principal, r Rule) bool {
	return Allow(p, r, Target{}) || !r.refuses(p) && onSome(corpusIncludes, p.CorpusRoles, r.CorpusRoles)
}

// Corpora returns on which corpora p holds a role of the rule: on all with a role over the account, otherwise on those with
// certain keys, sorted.
func Corpora(p Principal, r Rule) (all bool, keys []string) {
	return holds(p, r, p.CorpusRoles, corpusIncludes, r.CorpusRoles)
}

// Agents returns on which agents p holds a role of the rule, as Corpora does.
func Agents(p Principal, r Rule) (all bool, keys []string) {
	return holds(p, r, p.AgentRoles, agentIncludes, r.AgentRoles)
}

func holds(p Principal, r Rule, have, includes map[string][]string, want []string) (all bool, keys []string) {
	if holdsAny(apiIncludes, p.APIRoles, r.APIRoles) {
		return true, nil
	}
	return false, keysWith(slices.Sorted(maps.Keys(have)), have, includes, want)
}

// onSome reports whether one of want is held on any corpus or agent.
func onSome(includes, have map[string][]string, want []string) bool {
	for _, roles := range have {
		if holdsAny(includes, roles, want) {
			return true
		}
	}
	return false
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
