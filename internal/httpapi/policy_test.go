package httpapi_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/api"
	"quarry/internal/httpapi"
	"quarry/internal/identity/authz"
)

// TestPolicy proves what api_policy holds: an owner may use every operation that asks for a role, on anything; a role
// on a corpus opens the operations that list it, on that corpus alone, under the place where a request names it.
func TestPolicy(t *testing.T) {
	t.Parallel()
	owner := httpapi.Policy(authz.Principal{Kind: authz.User, Name: "ann", APIRoles: []string{"owner"}})
	private := 0
	for _, op := range api.Operations {
		if op.Public {
			if _, listed := owner.AllowedOperations[op.ID]; listed {
				t.Errorf("the public operation %s is in the policy", op.ID)
			}
			continue
		}
		private++
		if !owner.AllowedOperations[op.ID].AllowAnyResource {
			t.Errorf("%s is not open to the owner", op.ID)
		}
	}
	if owner.Name != "ann" || len(owner.AllowedOperations) != private {
		t.Errorf("got name %q and %d operations, want ann and %d", owner.Name, len(owner.AllowedOperations), private)
	}
	on := func(place string) api.ApiOperationPolicy {
		return api.ApiOperationPolicy{AllowedResources: &map[string][]string{place: {"docs"}}}
	}
	editor := httpapi.Policy(authz.Principal{CorpusRoles: map[string][]string{"docs": {"editor"}}})
	for id, want := range map[string]api.ApiOperationPolicy{
		"createCorpusDocument": on("path.corpus_key"), "queryCorpus": on("path.corpus_key"),
		"query": on("body.search.corpora.corpus_key"), "getQueryHistories": on("implicit.corpus_key"),
		"deleteCorpus": {}, "listCorpora": {}, "createUser": {}, "listAgents": {},
	} {
		if d := cmp.Diff(want, editor.AllowedOperations[id]); d != "" {
			t.Errorf("%s (-want +got):\n%s", id, d)
		}
	}
	agent := httpapi.Policy(authz.Principal{AgentRoles: map[string][]string{"docs": {"agent_user"}}})
	for id, place := range map[string]string{"createAgentSession": "path.agent_key", "listAgents": "implicit.agent_key"} {
		if d := cmp.Diff(on(place), agent.AllowedOperations[id]); d != "" {
			t.Errorf("%s (-want +got):\n%s", id, d)
		}
	}
}
