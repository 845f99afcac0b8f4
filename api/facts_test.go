package contract_test

import (
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	contract "quarry/api"
)

// factsFile holds the bare facts of the contract as they were given to the
// project. It is not part of the repository.
const factsFile = "../../shared/contract/openapi-facts.yaml"

// A difference is a place where our contract departs from the facts on
// purpose. Where is a pattern over places, * standing for one element and **
// for any number. Ours and Theirs are the values there, "-" for none and "*"
// for any.
type difference struct {
	Where        string
	Ours, Theirs string
	Reason       string
}

func TestContractAgreesWithFacts(t *testing.T) {
	// Proves that paths, methods, operation ids, required members, types, bounds, enums and
	// roles are those of the facts, both ways, apart from the differences that are listed,
	// and that every listed difference exists.
	t.Parallel()
	text, err := os.ReadFile(factsFile)
	if err != nil {
		t.Skipf("the facts are not on this machine: %v", err)
	}
	ours, theirs := flatten(t, contract.YAML), flatten(t, text)
	listed := readDifferences(t)
	used := make([]bool, len(listed))
	places := maps.Clone(ours)
	maps.Copy(places, theirs)
	for _, place := range slices.Sorted(maps.Keys(places)) {
		our, their := value(ours, place), value(theirs, place)
		if our == their {
			continue
		}
		explained := false
		for i, d := range listed {
			if matches(d.Where, place) && (d.Ours == "*" || d.Ours == our) && (d.Theirs == "*" || d.Theirs == their) {
				used[i], explained = true, true
			}
		}
		if !explained {
			t.Errorf("unlisted difference at %s: ours %s, theirs %s", place, our, their)
		}
	}
	for i, d := range listed {
		if !used[i] {
			t.Errorf("listed difference that does not exist: %s: ours %s, theirs %s", d.Where, d.Ours, d.Theirs)
		}
	}
}

func TestMatches(t *testing.T) {
	// Proves how the patterns of differences.yaml select places.
	t.Parallel()
	for _, c := range []struct {
		pattern, place string
		want           bool
	}{
		{"a/b", "a/b", true},
		{"a/b", "a/b/c", false},
		{"a/*/c", "a/b/c", true},
		{"a/*/c", "a/b/b/c", false},
		{"a/**", "a/b/c", true},
		{"a/**", "a", true},
		{"**/c", "a/b/c", true},
		{"**/c", "a/b/cc", false},
		{"*/list[[]x]", "a/list[x]", true},
	} {
		if got := matches(c.pattern, c.place); got != c.want {
			t.Errorf("matches(%q, %q): got %t, want %t", c.pattern, c.place, got, c.want)
		}
	}
}

func readDifferences(t *testing.T) []difference {
	t.Helper()
	text, err := os.ReadFile("differences.yaml")
	if err != nil {
		t.Fatalf("read differences: %v", err)
	}
	var listed []difference
	if err := yaml.Unmarshal(text, &listed); err != nil {
		t.Fatalf("parse differences: %v", err)
	}
	for _, d := range listed {
		if d.Where == "" || d.Ours == "" || d.Theirs == "" || len(d.Reason) < 10 {
			t.Errorf("difference %q is incomplete", d.Where)
		}
	}
	return listed
}

func value(facts map[string]string, place string) string {
	if v, ok := facts[place]; ok {
		return v
	}
	return "-"
}

// matches compares place with pattern element by element.
func matches(pattern, place string) bool {
	return matchParts(strings.Split(pattern, "/"), strings.Split(place, "/"))
}

func matchParts(pattern, place []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := range len(place) + 1 {
				if matchParts(pattern[1:], place[i:]) {
					return true
				}
			}
			return false
		}
		if len(place) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], place[0]); err != nil || !ok {
			return false
		}
		pattern, place = pattern[1:], place[1:]
	}
	return len(place) == 0
}

// flattener turns a contract into facts: place → value. Lists whose order
// carries nothing become sets.
type flattener struct {
	facts      map[string]string
	components map[string]any
}

func flatten(t *testing.T, text []byte) map[string]string {
	t.Helper()
	var doc map[string]any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatalf("parse contract: %v", err)
	}
	f := &flattener{facts: map[string]string{}, components: doc["components"].(map[string]any)}
	for route, item := range doc["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			op := op.(map[string]any)
			place := "operations/" + fmt.Sprint(op["operationId"])
			f.facts[place] = strings.ToUpper(method) + " " + route
			f.operation(place, op)
		}
	}
	for name, s := range f.components["schemas"].(map[string]any) {
		f.schema("schemas/"+name, s)
	}
	f.any("securitySchemes", f.components["securitySchemes"])
	return f.facts
}

// follow resolves a reference to a shared parameter or response.
func (f *flattener) follow(v any) map[string]any {
	m := v.(map[string]any)
	ref, ok := m["$ref"].(string)
	if !ok {
		return m
	}
	parts := strings.Split(ref, "/")
	return f.components[parts[2]].(map[string]any)[parts[3]].(map[string]any)
}

func (f *flattener) operation(place string, op map[string]any) {
	for k, v := range op {
		switch k {
		case "operationId", "summary", "description", "tags", "x-not-sent":
		case "x-required-roles":
			for _, r := range v.([]any) {
				r := r.(map[string]any)
				f.set(place+"/roles/"+fmt.Sprint(r["type"]), r["roles"])
			}
		case "parameters":
			for _, p := range v.([]any) {
				f.parameter(place, f.follow(p))
			}
		case "requestBody":
			body := v.(map[string]any)
			f.facts[place+"/body/required"] = fmt.Sprint(body["required"] == true)
			f.content(place+"/body", body)
		case "responses":
			for status, r := range v.(map[string]any) {
				f.facts[place+"/responses/"+status] = "sent"
				f.content(place+"/responses/"+status, f.follow(r))
			}
		default:
			f.any(place+"/"+k, v)
		}
	}
}

func (f *flattener) parameter(place string, p map[string]any) {
	place += "/parameters/" + fmt.Sprint(p["in"]) + "." + fmt.Sprint(p["name"])
	f.facts[place] = map[bool]string{true: "required", false: "optional"}[p["required"] == true]
	f.schema(place, p["schema"])
	for _, k := range []string{"style", "explode"} {
		if v, ok := p[k]; ok {
			f.facts[place+"/"+k] = fmt.Sprint(v)
		}
	}
}

func (f *flattener) content(place string, holder map[string]any) {
	content, _ := holder["content"].(map[string]any)
	for media, c := range content {
		place := place + "/" + strings.ReplaceAll(media, "/", ":")
		f.schema(place, c.(map[string]any)["schema"])
		if e, ok := c.(map[string]any)["encoding"]; ok {
			f.any(place+"/encoding", e)
		}
	}
}

// schema states the facts of a schema. A reference is one fact: the schema
// that it leads to is compared under its own name.
func (f *flattener) schema(place string, v any) {
	s, ok := v.(map[string]any)
	if !ok {
		f.facts[place] = fmt.Sprint(v)
		return
	}
	if _, described := s["description"]; len(s) == 0 || len(s) == 1 && described {
		f.facts[place+"/any"] = "true"
	}
	s = unwrap(s)
	for k, v := range s {
		switch k {
		case "description", "title", "example", "examples":
		case "properties":
			for name, p := range v.(map[string]any) {
				f.facts[place+"/properties/"+name] = "known"
				f.schema(place+"/properties/"+name, p)
			}
		case "items", "additionalProperties", "not":
			f.schema(place+"/"+k, v)
		case "allOf", "oneOf", "anyOf":
			for i, b := range v.([]any) {
				f.branch(place+"/"+k, i, b)
			}
		case "required", "enum":
			f.set(place+"/"+k, v)
		default:
			f.any(place+"/"+k, v)
		}
	}
}

// unwrap takes a reference out of an allOf that holds nothing else: that is
// how OpenAPI 3.0 lets a reference have siblings.
func unwrap(s map[string]any) map[string]any {
	all, _ := s["allOf"].([]any)
	if len(all) != 1 || s["$ref"] != nil {
		return s
	}
	ref, ok := all[0].(map[string]any)["$ref"]
	if !ok {
		return s
	}
	s = maps.Clone(s)
	delete(s, "allOf")
	s["$ref"] = ref
	return s
}

// branch names a branch by what it refers to, else by its position.
func (f *flattener) branch(place string, i int, b any) {
	s := b.(map[string]any)
	if ref, ok := s["$ref"].(string); ok && len(s) == 1 {
		f.facts[place+"/"+path.Base(ref)] = "branch"
		return
	}
	f.schema(fmt.Sprintf("%s/%d", place, i), b)
}

// set states each element of a list whose order carries nothing; a value
// that is no list is a fact of its own.
func (f *flattener) set(place string, v any) {
	l, ok := v.([]any)
	if !ok {
		f.facts[place] = fmt.Sprint(v)
		return
	}
	for _, e := range l {
		f.facts[place+"/"+fmt.Sprint(e)] = "member"
	}
}

// any states every leaf of a tree.
func (f *flattener) any(place string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			f.any(place+"/"+strings.ReplaceAll(k, "/", ":"), e)
		}
	case []any:
		f.facts[place] = "list"
		for i, e := range v {
			f.any(fmt.Sprintf("%s/%d", place, i), e)
		}
	default:
		f.facts[place] = fmt.Sprint(v)
	}
}
