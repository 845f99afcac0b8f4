package httpapi

import (
	"strings"
	"sync"

	"quarry/internal/api"
	"quarry/internal/identity/authz"
)

// Policy returns the api_policy of a principal: the operations open to it. "On any resource" is a member of its own,
// since the contract's schema takes no null for it.
func Policy(p authz.Principal) *api.ApiPolicy {
	out := &api.ApiPolicy{Name: p.Name, AllowedOperations: map[string]api.ApiOperationPolicy{}}
	for id, scope := range authz.Policy(p, policyOperations()) {
		allowed := api.ApiOperationPolicy{AllowAnyResource: scope.Any}
		if !scope.Any {
			allowed.AllowedResources = &scope.Resources
		}
		out.AllowedOperations[id] = allowed
	}
	return out
}

var policyOperations = sync.OnceValue(func() []authz.Operation {
	var out []authz.Operation
	for i := range api.Operations {
		if op := &api.Operations[i]; !op.Public {
			out = append(out, authz.Operation{ID: op.ID, Rule: roles(op), Corpus: corpusPlace(op), Agent: agentPlace(op)})
		}
	}
	return out
})

// corpusPlace returns where a request of the operation names its corpora.
func corpusPlace(op *api.Operation) string {
	if namesCorpus(op) {
		return "path.corpus_key"
	}
	return op.NamesCorpora
}

// agentPlace returns where a request of the operation names its agent.
func agentPlace(op *api.Operation) string {
	if strings.Contains(op.Path, "{agent_key}") {
		return "path.agent_key"
	}
	return "implicit.agent_key"
}
