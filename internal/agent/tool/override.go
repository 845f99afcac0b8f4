package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"quarry/internal/agent/tool/reference"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/fault"
	"quarry/internal/jsonvalue"
)

// override is an argument that the configuration pins.
type override struct {
	key   string // as it was written
	path  []reference.Step
	value any // may hold references
}

// maxOverrides bounds how many arguments a configuration pins, and maxDepth how deeply their values are nested.
const (
	maxOverrides = 200
	maxDepth     = 50
)

// parseOverrides reads argument_override and adds to f what is wrong. refs are the references in it.
//
// Values are not held to the schema if final is false, since a transform follows.
func parseOverrides(raw json.RawMessage, s *schema.Schema, final bool, f *fault.Fault) (out []override, refs []reference.Reference) {
	const field = "argument_override"
	if absent(raw) {
		return nil, nil
	}
	members, ok := jsonvalue.Decode(raw).(map[string]any)
	switch {
	case !ok:
		f.Field(field, "must be an object")
		return nil, nil
	case len(members) > maxOverrides:
		f.Field(field, "has %d members, more than the %d that are allowed", len(members), maxOverrides)
		return nil, nil
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		place := fault.Join(field, key)
		path, err := reference.ParsePath(key)
		if err == nil {
			err = s.Find(path)
		}
		if err != nil {
			f.Field(place, "%s", err)
			continue
		}
		before := len(refs)
		refs = references(members[key], place, 0, refs, f)
		o := override{key, path, members[key]}
		if final && len(refs) == before && len(path) == 1 {
			checkLiteral(o, s, place, f)
		}
		out = append(out, o)
	}
	return out, refs
}

// checkLiteral holds a value without references to the schema.
func checkLiteral(o override, s *schema.Schema, place string, f *fault.Fault) {
	all, _ := jsonvalue.Decode(s.JSON()).(map[string]any)
	delete(all, "required")
	alone, err := schema.New(jsonvalue.Encode(all))
	if err != nil {
		return // the whole schema compiles, and so do its parts
	}
	if err := alone.Check(map[string]any{o.key: o.value}); err != nil {
		f.Field(place, "doesn't fit the tool: %s", err)
	}
}

// references adds the references within v to refs, and what is wrong with them to f.
func references(v any, place string, depth int, refs []reference.Reference, f *fault.Fault) []reference.Reference {
	if depth > maxDepth {
		f.Field(place, "is nested more than %d levels deep", maxDepth)
		return refs
	}
	switch r, is, err := reference.Of(v); {
	case err != nil:
		f.Field(place, "%s", err)
		return refs
	case is:
		return append(refs, r)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			refs = references(v[name], fault.Join(place, name), depth+1, refs, f)
		}
	case []any:
		for i, item := range v {
			refs = references(item, fmt.Sprintf("%s[%d]", place, i), depth+1, refs, f)
		}
	}
	return refs
}

// leafPaths returns the paths of the values that an override pins.
func (o *override) leafPaths() []string { return leafPaths(o.value, o.key, nil) }

func leafPaths(v any, at string, out []string) []string {
	if _, is, _ := reference.Of(v); is {
		return append(out, at)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			member := v[name]
			if name == "$$ref" {
				name = "$ref"
			}
			out = leafPaths(member, at+"."+name, out)
		}
		if len(v) > 0 {
			return out
		}
	case []any:
		for i := range v {
			out = leafPaths(v[i], fmt.Sprintf("%s[%d]", at, i), out)
		}
		if len(v) > 0 {
			return out
		}
	}
	return append(out, at)
}

// pin returns v with a value at a path. What stands in its way is replaced, and lists are filled up with null.
func pin(v any, path []reference.Step, value any) any {
	if len(path) == 0 {
		return value
	}
	if i := path[0].Index; i >= 0 {
		list, _ := v.([]any)
		out := slices.Clone(list)
		for len(out) <= i {
			out = append(out, nil)
		}
		out[i] = pin(out[i], path[1:], value)
		return out
	}
	object, _ := v.(map[string]any)
	out := maps.Clone(object)
	if out == nil {
		out = map[string]any{}
	}
	out[path[0].Name] = pin(out[path[0].Name], path[1:], value)
	return out
}

// absent reports whether a member is missing or null.
func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
