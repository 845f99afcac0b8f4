package httpapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	contract "quarry/api"
	"quarry/internal/api"
)

// TestImpossibleNames proves that a path parameter which can name nothing is 404 like a name that nothing has, save
// agent, session and event keys, whose form the contract holds apart with 400; that who may not use the operation
// learns neither; and that no such name reaches a handler.
func TestImpossibleNames(t *testing.T) {
	t.Parallel()
	s := start(t, area{
		"getCorpus": seen, "getCorpusDocument": seen, "getUser": seen, "getApiKey": seen, "getJob": seen, "getQueryHistory": seen,
		"getAgent": seen, "getAgentSession": seen, "getAgentEvent": seen, "deleteAgentEvent": seen,
	})
	long := strings.Repeat("i", 10<<10)
	for _, c := range []struct {
		path   string
		status int
		code   string
	}{
		{"/v2/users/ann%40x.test", 200, ""},
		{"/v2/users/ann@x.test", 200, ""},
		{"/v2/users/a%2Fb", 200, ""},
		{"/v2/users/..", 200, ""},
		{"/v2/users/" + long, 200, ""},
		{"/v2/users/ann%00", 404, "user_not_found"},
		{"/v2/users/%ff", 404, "user_not_found"},
		{"/v2/api_keys/%00", 404, "api_key_not_found"},
		{"/v2/corpora/a%00b", 404, "corpus_not_found"},
		{"/v2/corpora/mine/documents/%c0%ae", 404, "document_not_found"},
		{"/v2/corpora/mine/documents/a/%00/b", 404, "document_not_found"},
		{"/v2/corpora/%00/documents/%00", 404, "corpus_not_found"},
		{"/v2/jobs/%00", 404, "job_not_found"},
		{"/v2/queries/%00", 404, "query_not_found"},
		{"/v2/agents/agt_1", 200, ""},
		{"/v2/agents/plain-Key_0", 200, ""},
		{"/v2/agents/a%00", 400, "path.agent_key"},
		{"/v2/agents/..", 400, "path.agent_key"},
		{"/v2/agents/a%20b", 400, "path.agent_key"},
		{"/v2/agents/caf%C3%A9", 400, "path.agent_key"},
		{"/v2/agents/" + long, 400, "path.agent_key"},
		{"/v2/agents/a/sessions/ase_1", 200, ""},
		{"/v2/agents/a/sessions/ase%2F1", 400, "path.session_key"},
		{"/v2/agents/a/sessions/ase_1/events/aev_1", 200, ""},
		{"/v2/agents/a/sessions/ase_1/events/aev:1", 400, "path.event_id"},
	} {
		got := s.ask(t, "GET", c.path, "")
		if got.StatusCode != c.status {
			t.Errorf("%.60s: %d %.300s, want %d", c.path, got.StatusCode, got.raw, c.status)
			continue
		}
		switch {
		case c.status == 404 && (got.body.Code != c.code || got.body.ID == nil):
			t.Errorf("%.60s: %.300s, want code %s", c.path, got.raw, c.code)
		case c.status == 400 && (got.body.Code != "invalid_request" || got.body.FieldErrors[c.code] == ""):
			t.Errorf("%.60s: %.300s, want a field error for %s", c.path, got.raw, c.code)
		case c.status != 200 && len(got.raw) > 2000:
			t.Errorf("%.60s: the refusal has %d bytes", c.path, len(got.raw))
		}
		for key, status := range map[string]int{"": 401, noneKey: 403} {
			if got := s.ask(t, "GET", c.path, "", "X-Api-Key: "+key); got.StatusCode != status {
				t.Errorf("%.60s with key %q: %d, want %d", c.path, key, got.StatusCode, status)
			}
		}
	}
}

// TestEnumeratedQueryParameters proves for every operation, also those whose handlers do not exist yet, that a value
// which an enumerated query parameter does not list is 400 and that the text shows the value.
func TestEnumeratedQueryParameters(t *testing.T) {
	t.Parallel()
	all := area{}
	for _, op := range api.Operations {
		if !strings.HasPrefix(op.Path, "/v2/") {
			continue
		}
		all[op.ID] = seen
	}
	s := start(t, all)
	checked := 0
	for id, names := range enumerated(t) {
		op := api.OperationByID(id)
		for _, name := range names {
			got := s.ask(t, op.Method, fill(op.Path)+"?"+name+"=unheard-of", "")
			text := got.body.FieldErrors["query."+name]
			if got.StatusCode != 400 || !strings.Contains(text, `"unheard-of"`) || !strings.Contains(strings.Join(got.body.Messages, ""), "unheard-of") {
				t.Errorf("%s with %s: %d %s, want 400 that shows the value under query.%s", id, name, got.StatusCode, got.raw, name)
			}
			checked++
		}
	}
	if checked < 20 {
		t.Errorf("the contract has %d enumerated query parameters, at least 20 are known", checked)
	}
}

// enumerated returns the enumerated query parameters of the contract by operation.
func enumerated(t *testing.T) map[string][]string {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(contract.YAML)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, ref := range append(slices.Clone(item.Parameters), op.Parameters...) {
				s := ref.Value.Schema.Value
				if s.Items != nil {
					s = s.Items.Value
				}
				if ref.Value.In == "query" && len(s.Enum) > 0 {
					out[op.OperationID] = append(out[op.OperationID], ref.Value.Name)
				}
			}
		}
	}
	return out
}

// fill puts a key that fits everywhere in the place of each parameter.
func fill(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if strings.HasPrefix(segment, "{") {
			segments[i] = "mine"
		}
	}
	return strings.Join(segments, "/")
}
