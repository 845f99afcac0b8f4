package authz

import (
	"maps"
	"slices"
)

// Operation is one operation as a policy reads it: its rule, and where a request names the corpus or the agent that a
// role on one is held against.
type Operation struct {
	ID            string
	Rule          Rule
	Corpus, Agent string // "path.corpus_key", "body.search.corpora.corpus_key", "implicit.corpus_key", …
}

// Scope is what an operation may be used on: anything, or by place in the request the keys that may stand there.
type Scope struct {
	Any       bool
	Resources map[string][]string
}

// Policy gives the operations open to p, each with what it is open on; those closed to p are absent.
func Policy(p Principal, ops []Operation) map[string]Scope {
	out := map[string]Scope{}
	for _, op := range ops {
		if holdsAny(apiIncludes, p.APIRoles, op.Rule.APIRoles) {
			out[op.ID] = Scope{Any: true}
			continue
		}
		on := map[string][]string{}
		if keys := keysWith(p.CorpusRoles, corpusIncludes, op.Rule.CorpusRoles); len(keys) > 0 {
			on[op.Corpus] = keys
		}
		if keys := keysWith(p.AgentRoles, agentIncludes, op.Rule.AgentRoles); len(keys) > 0 {
			on[op.Agent] = keys
		}
		if len(on) > 0 {
			out[op.ID] = Scope{Resources: on}
		}
	}
	return out
}

// keysWith lists the keys on which one of the roles wanted is held, sorted.
func keysWith(have, includes map[string][]string, want []string) []string {
	keys := slices.Sorted(maps.Keys(have))
	return slices.DeleteFunc(keys, func(k string) bool { return !holdsAny(includes, have[k], want) })
}
