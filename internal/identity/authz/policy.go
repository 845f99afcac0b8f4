package authz

import (
	"maps"
	"slices"
)

// Operation is an operation with its rule and the places where a request names the corpus or agent that roles on one
// are checked against.
type Operation struct {
	ID            string
	Rule          Rule
	Corpus, Agent string // "path.corpus_key", "body.search.corpora.corpus_key", "implicit.corpus_key", …
}

// Scope is what an operation may be used on: anything, or the allowed keys for each place in the request.
type Scope struct {
	Any       bool
	Resources map[string][]string
}

// Policy returns the operations that p may run, each with its scope.
func Policy(p Principal, ops []Operation) map[string]Scope {
	out := map[string]Scope{}
	corpora, agents := slices.Sorted(maps.Keys(p.CorpusRoles)), slices.Sorted(maps.Keys(p.AgentRoles))
	for _, op := range ops {
		if op.Rule.refuses(p) {
			continue
		}
		if op.Rule.Open || holdsAny(apiIncludes, p.APIRoles, op.Rule.APIRoles) {
			out[op.ID] = Scope{Any: true}
			continue
		}
		on := map[string][]string{}
		if keys := keysWith(corpora, p.CorpusRoles, corpusIncludes, op.Rule.CorpusRoles); len(keys) > 0 {
			on[op.Corpus] = keys
		}
		if keys := keysWith(agents, p.AgentRoles, agentIncludes, op.Rule.AgentRoles); len(keys) > 0 {
			on[op.Agent] = keys
		}
		if len(on) > 0 {
			out[op.ID] = Scope{Resources: on}
		}
	}
	return out
}

// keysWith returns the keys for which one of the wanted roles is held.
func keysWith(keys []string, have, includes map[string][]string, want []string) []string {
	var out []string
	for _, k := range keys {
		if holdsAny(includes, have[k], want) {
			out = append(out, k)
		}
	}
	return out
}
