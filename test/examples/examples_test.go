package examples

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	contract "quarry/api"
	"quarry/internal/api"
	"quarry/internal/app/apptest"
	"quarry/internal/provider/scripted"
)

// read reads the contract's examples by name, and what they need.
func read(t *testing.T) (map[string]*Example, Before) {
	t.Helper()
	list, err := Read(contract.YAML)
	if err != nil {
		t.Error(err)
	}
	all := map[string]*Example{}
	for _, e := range list {
		all[e.String()] = e
	}
	raw, err := os.ReadFile("testdata/before.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var before Before
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	if err := d.Decode(&before); err != nil {
		t.Fatal(err)
	}
	return all, before
}

func TestExamplesAnswerAsShown(t *testing.T) {
	// Proves that each example of the contract, sent to a service after those that it builds on, answers its success
	// status with what the contract shows.
	t.Parallel()
	all, before := read(t)
	for name := range before.Examples {
		if all[name] == nil {
			t.Errorf("testdata/before.yaml names %s, and the contract has no such example", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, key := apptest.Start(t, nil)
			s := &service{handler: a.Handler(), key: key, before: before, sent: map[string]bool{}, standIns: standIns{}}
			if before.Provider != "" {
				s.standIns[before.Provider] = scripted.Start(t).URL
			}
			if err := s.run(all, name); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestMarks(t *testing.T) {
	// Proves that x-status marks exactly the operations that have no handler.
	t.Parallel()
	a, _ := apptest.Start(t, nil)
	var marked []string
	for _, op := range api.Operations {
		if !op.Planned {
			marked = append(marked, op.ID)
		}
	}
	if diff := cmp.Diff(marked, a.Built()); diff != "" {
		t.Errorf("operations without x-status: planned (-) and with a handler (+) differ:\n%s", diff)
	}
}

func TestTexts(t *testing.T) {
	// Proves that each tag and each operation says what it is about, and that what is not built says 501.
	t.Parallel()
	var doc struct {
		Tags []struct{ Name, Description string }
		// Paths have operations by path and method.
		Paths map[string]map[string]struct {
			OperationID string `yaml:"operationId"`
			Description string
		}
	}
	if err := yaml.Unmarshal(contract.YAML, &doc); err != nil {
		t.Fatal(err)
	}
	for _, tag := range doc.Tags {
		if len(tag.Description) < 20 {
			t.Errorf("the tag %s has no description", tag.Name)
		}
	}
	for _, methods := range doc.Paths {
		for _, op := range methods {
			planned := api.OperationByID(op.OperationID).Planned
			if strings.Contains(op.Description, "answers 501 until") != planned {
				t.Errorf("%s is planned: %t, and its description says %q", op.OperationID, planned, op.Description)
			}
			if !planned && strings.Count(op.Description, ". ") < 1 {
				t.Errorf("%s has a description of less than two sentences: %q", op.OperationID, op.Description)
			}
		}
	}
}
