package httpapi_test

import (
	"strings"
	"testing"

	"quarry/internal/api"
	"quarry/internal/httpapi"
)

// TestNothingWithoutItsFacts proves that an operation for which the contract does not state what the chain needs, or
// states what cannot be, keeps the service from starting.
func TestNothingWithoutItsFacts(t *testing.T) {
	t.Parallel()
	if err := httpapi.CheckFacts(api.Operations); err != nil {
		t.Errorf("the contract: %v", err)
	}
	owner, viewer := []string{"owner"}, []string{"viewer"}
	for name, op := range map[string]api.Operation{
		"no rule":                       {Method: "GET"},
		"public with a rule":            {Method: "GET", Public: true, APIRoles: owner},
		"open with a rule":              {Method: "GET", OpenTo: api.OpenToCallers, APIRoles: owner},
		"open and public":               {Method: "GET", OpenTo: api.OpenToPeople, Public: true},
		"open to whom is unknown":       {Method: "GET", OpenTo: "machines"},
		"unknown API role":              {Method: "GET", APIRoles: []string{"owner", "corpus_admin"}},
		"unknown corpus role":           {Method: "GET", Path: "/{corpus_key}", CorpusRoles: []string{"corpus_viewer"}},
		"unknown agent role":            {Method: "GET", AgentRoles: viewer},
		"no recording":                  {Method: "POST", APIRoles: owner},
		"unknown recording":             {Method: "POST", APIRoles: owner, Audit: "sometimes"},
		"reading, recorded":             {Method: "GET", APIRoles: owner, Audit: api.RecordAlways},
		"public, unbounded":             {Method: "POST", Public: true, Audit: api.RecordAlways},
		"public, unrecorded":            {Method: "POST", Public: true, Audit: api.RecordNever},
		"private, as attempts":          {Method: "POST", APIRoles: owner, Audit: api.RecordAttempts},
		"corpora named nowhere":         {Method: "GET", CorpusRoles: viewer},
		"corpora named twice":           {Method: "GET", Path: "/{corpus_key}", CorpusRoles: viewer, NamesCorpora: "implicit.corpus_key"},
		"202, no word on a job":         {Method: "GET", APIRoles: owner, Statuses: []int{200, 202}},
		"a form, no word on its errors": {Method: "POST", APIRoles: owner, Audit: api.RecordAlways, Body: api.Body{Form: "F"}},
	} {
		op.ID = "it"
		good := api.Operation{ID: "good", Method: "GET", Public: true}
		if err := httpapi.CheckFacts([]api.Operation{good, op}); err == nil || !strings.HasPrefix(err.Error(), "operation it ") {
			t.Errorf("%s: got %v, want an error about the operation", name, err)
		}
	}
}
