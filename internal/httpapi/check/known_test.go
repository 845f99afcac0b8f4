package check

import (
	"testing"

	"quarry/internal/api"
	"quarry/internal/identity/audit"
)

// TestKnownMembers proves that what the contract doesn't know of a body is told from what it knows and from what it
// leaves to the client, through references, variants and lists.
func TestKnownMembers(t *testing.T) {
	t.Parallel()
	all, err := Contract()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		operation string
		path      []string // "[]" steps into the items
		ok        bool
	}{
		{"createUser", []string{"email"}, true},
		{"createUser", []string{"emial"}, false},
		{"createUser", []string{"metadata", "anything", "at", "all"}, true},
		{"createUser", []string{"corpus_roles", "[]", "role"}, true},
		{"createUser", []string{"corpus_roles", "[]", "rule"}, false},
		{"createAppClient", []string{"description"}, true},
		{"createAppClient", []string{"client_id_of_mine"}, false},
		{"createCorpus", []string{"filter_attributes", "[]", "level"}, true},
		{"createCorpus", []string{"filter_attributes", "[]", "secret"}, false},
		{"createCorpusDocument", []string{"sections", "[]", "sections", "[]", "text"}, true},
		{"createCorpusDocument", []string{"sections", "[]", "sections", "[]", "txet"}, false},
		{"createCorpusDocument", []string{"metadata", "x", "y"}, true},
	} {
		schema, err := all.get(api.OperationByID(c.operation).Body.JSON)
		if err != nil {
			t.Fatal(err)
		}
		var at audit.Known = known{schema}
		ok := true
		for _, step := range c.path {
			if at == nil || !ok {
				break
			}
			if step == "[]" {
				at = at.Item()
				continue
			}
			at, ok = at.Member(step)
		}
		if ok != c.ok {
			t.Errorf("%s %v: known is %v, want %v", c.operation, c.path, ok, c.ok)
		}
	}
}

// TestUnknownMembersAreTold proves that no body of the contract takes members of any name at its top, so that a
// mistyped secret is masked in every operation.
func TestUnknownMembersAreTold(t *testing.T) {
	t.Parallel()
	all, err := Contract()
	if err != nil {
		t.Fatal(err)
	}
	var free []string
	for _, op := range api.Operations {
		if op.Body.JSON == "" {
			continue
		}
		schema, err := all.get(op.Body.JSON)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := (known{schema}).Member("no such member"); ok {
			free = append(free, op.ID)
		}
	}
	if len(free) > 0 {
		t.Errorf("bodies of any members: %v", free)
	}
}
