package examples

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	contract "quarry/api"
	"quarry/internal/api"
	"quarry/internal/app/apptest"
	"quarry/internal/config"
	"quarry/internal/provider/scripted"
	"quarry/test/toolserver"
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
			if err := start(t, before).run(all, name); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRefusalsAnswerAsShown(t *testing.T) {
	// Proves that the refusals which the contract shows come as they are shown.
	t.Parallel()
	all, before := read(t)
	doc, err := openapi3.NewLoader().LoadFromData(contract.YAML)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]any{}
	for name, response := range doc.Components.Responses {
		if example := response.Value.Content["application/json"].Example; example != nil {
			shown[name] = example
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(shown)), slices.Sorted(maps.Keys(before.Refusals))); diff != "" {
		t.Errorf("responses with an example (-) and refusals of testdata/before.yaml (+) differ:\n%s", diff)
	}
	for name, refusal := range before.Refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := start(t, before).refuse(all, refusal, shown[name]); err != nil {
				t.Error(err)
			}
		})
	}
}

// start starts a service of its own for one example.
func start(t *testing.T, before Before) *service {
	t.Helper()
	a, key := apptest.Start(t, func(c *config.Config) { c.OutboundAllow, c.KeepFiles = "127.0.0.1", true }) // where tool servers are played
	models := scripted.Start(t)
	models.On("You find filters in the words of a search query", scripted.Reply{Text: `{"query":"What may a hotel cost?","metadata_filter":"doc.year = 2026"}`})
	known := standIns{before.Provider: models.URL, before.Tools: toolserver.Start(t).URL}
	for shown, after := range before.Moments {
		known[shown] = time.Now().Add(after).UTC().Format(time.RFC3339)
	}
	return &service{handler: a.Handler(), key: key, before: before, sent: map[string]bool{}, standIns: known}
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
	// Proves that each tag and each operation says what it is about, that what is not built says 501, and that each
	// parameter and member of what is built says what it means.
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(contract.YAML)
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range doc.Tags {
		if len(tag.Description) < 20 {
			t.Errorf("the tag %s has no description", tag.Name)
		}
	}
	seen := described{}
	for _, op := range api.Operations {
		spec := doc.Paths.Value(op.Path).GetOperation(op.Method)
		if strings.Contains(spec.Description, "answers 501 until") != op.Planned {
			t.Errorf("%s is planned: %t, and its description says %q", op.ID, op.Planned, spec.Description)
		}
		if op.Planned {
			continue
		}
		if !strings.Contains(spec.Description, ". ") {
			t.Errorf("%s has a description of less than two sentences: %q", op.ID, spec.Description)
		}
		for _, p := range spec.Parameters {
			if p.Value.Description == "" {
				t.Errorf("%s: the parameter %s has no description", op.ID, p.Value.Name)
			}
		}
		if spec.RequestBody != nil {
			seen.content(t, op.ID+": body", spec.RequestBody.Value.Content)
		}
		for status, response := range spec.Responses.Map() {
			seen.content(t, op.ID+": "+status, response.Value.Content)
		}
	}
}

// described has the schemas that were looked at.
type described map[*openapi3.Schema]bool

func (d described) content(t *testing.T, place string, content openapi3.Content) {
	t.Helper()
	for _, c := range content {
		d.members(t, place, c.Schema)
	}
}

// members demands a description of every member that a schema leads to.
func (d described) members(t *testing.T, place string, ref *openapi3.SchemaRef) {
	t.Helper()
	if ref == nil || d[ref.Value] {
		return
	}
	s := ref.Value
	d[s] = true
	for name, member := range s.Properties {
		if member.Value.Description == "" {
			t.Errorf("%s.%s has no description", place, name)
		}
		d.members(t, place+"."+name, member)
	}
	d.members(t, place+"[]", s.Items)
	d.members(t, place+".*", s.AdditionalProperties.Schema)
	for _, branches := range []openapi3.SchemaRefs{s.AllOf, s.OneOf, s.AnyOf} {
		for _, branch := range branches {
			d.members(t, place, branch)
		}
	}
}
