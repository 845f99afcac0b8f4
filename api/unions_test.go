package contract_test

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	contract "quarry/api"
)

// document is the contract as it was written, for tests that walk through it.
type document struct {
	Paths      map[string]map[string]any
	Components struct {
		Schemas map[string]map[string]any
	}
}

func readDocument(t *testing.T) *document {
	t.Helper()
	d := &document{}
	if err := yaml.Unmarshal([]byte(contract.YAML), d); err != nil {
		t.Fatal(err)
	}
	return d
}

// follow returns the schema that s is or refers to.
func (d *document) follow(s map[string]any) map[string]any {
	if ref, ok := s["$ref"].(string); ok {
		return d.Components.Schemas[path.Base(ref)]
	}
	return s
}

// fixes lists the values that a schema, or each branch of the union that it is, allows for a member; nil when it is open there.
func (d *document) fixes(s map[string]any, member string) []string {
	s = d.follow(s)
	var out []string
	if p, ok := properties(s)[member].(map[string]any); ok {
		values, _ := p["enum"].([]any)
		for _, v := range values {
			out = append(out, fmt.Sprint(v))
		}
	}
	for _, part := range branches(s, "allOf") {
		if found := d.fixes(part, member); found != nil {
			out = found
		}
	}
	for _, b := range branches(s, "oneOf") {
		found := d.fixes(b, member)
		if found == nil {
			return nil
		}
		out = append(out, found...)
	}
	return out
}

func properties(s map[string]any) map[string]any {
	p, _ := s["properties"].(map[string]any)
	return p
}

func branches(s map[string]any, keyword string) (out []map[string]any) {
	all, _ := s[keyword].([]any)
	for _, b := range all {
		out = append(out, b.(map[string]any))
	}
	return out
}

// union states what is wrong with a union: a branch that is a JSON object must be told from the others by the value of one member.
func (d *document) union(s map[string]any) (wrong []string) {
	seen := map[string]bool{}
	note := func(values []string) {
		for _, v := range values {
			if seen[v] {
				wrong = append(wrong, "two branches have "+v)
			}
			seen[v] = true
		}
	}
	if by, ok := s["discriminator"].(map[string]any); ok {
		member := by["propertyName"].(string)
		mapping := by["mapping"].(map[string]any)
		for _, value := range slices.Sorted(maps.Keys(mapping)) {
			ref := mapping[value].(string)
			got := slices.Compact(slices.Sorted(slices.Values(d.fixes(map[string]any{"$ref": ref}, member))))
			if !slices.Equal(got, []string{value}) {
				wrong = append(wrong, fmt.Sprintf("%s has %q for %s, want %q", path.Base(ref), got, member, value))
			}
		}
		if n := len(branches(s, "oneOf")) + len(branches(s, "anyOf")); n != len(mapping) {
			wrong = append(wrong, fmt.Sprintf("%d branches, %d values", n, len(mapping)))
		}
		return wrong
	}
	objects := 0
	for _, b := range slices.Concat(branches(s, "oneOf"), branches(s, "anyOf")) {
		to := d.follow(b)
		if kind := to["type"]; kind != nil && kind != "object" || properties(to)["$ref"] != nil { // a reference is told by $ref
			continue
		}
		objects++
		values := d.fixes(b, "type")
		if values == nil && objects > 1 {
			wrong = append(wrong, fmt.Sprintf("branch %v is open in type", b))
		}
		note(slices.Compact(slices.Sorted(slices.Values(values))))
	}
	return wrong
}

// TestUnions proves that every union of the contract fixes in each branch the member that tells it from the others, so that
// generated clients know which it is.
func TestUnions(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	found := 0
	var walk func(place string, v any)
	walk = func(place string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if v["oneOf"] != nil || v["anyOf"] != nil {
				found++
				for _, wrong := range d.union(v) {
					t.Errorf("%s: %s", place, wrong)
				}
			}
			for k, inner := range v {
				walk(place+"/"+k, inner)
			}
		case []any:
			for i, inner := range v {
				walk(fmt.Sprint(place, "/", i), inner)
			}
		}
	}
	for name, s := range d.Components.Schemas {
		walk(name, s)
	}
	for at, item := range d.Paths {
		walk(at, item)
	}
	if found < 50 {
		t.Errorf("%d unions were found", found)
	}
}

// TestAnswersOfEveryOperation proves that an operation with a body lists 415, and one for which a deadline can be set 504.
func TestAnswersOfEveryOperation(t *testing.T) {
	t.Parallel()
	for at, item := range readDocument(t).Paths {
		for method, o := range item {
			op, ok := o.(map[string]any)
			if !ok || op["operationId"] == nil {
				continue
			}
			answers := op["responses"].(map[string]any)
			deadline := false
			shared, _ := item["parameters"].([]any)
			own, _ := op["parameters"].([]any)
			for _, p := range slices.Concat(shared, own) {
				ref, _ := p.(map[string]any)["$ref"].(string)
				deadline = deadline || strings.HasSuffix(ref, "/RequestTimeoutMillis")
			}
			for status, answered := range map[string]bool{"415": op["requestBody"] != nil, "504": deadline} {
				if _, listed := answers[status]; answered && !listed {
					t.Errorf("%s %s (%s) may answer %s and doesn't list it", strings.ToUpper(method), at, op["operationId"], status)
				}
			}
		}
	}
}
