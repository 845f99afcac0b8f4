package gemini

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// translate returns a JSON Schema in the terms of Google's Schema, which every model and both hosts accept. References are
// resolved, and keywords that it does not have are added to the description. It is false for schemas that can't be expressed:
// recursive ones, several types at once, schemas that are booleans.
func translate(schema json.RawMessage) (map[string]any, bool) {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil || root == nil {
		return nil, false
	}
	t := translation{root: root}
	out := t.schema(root, 0)
	return out, out != nil && t.nodes <= maxNodes
}

// maxDepth and maxNodes bound the expansion of references: that of a recursive schema has no end.
const (
	maxDepth = 24
	maxNodes = 5000
)

type translation struct {
	root  map[string]any
	nodes int
}

// asIs are the keywords that mean the same on both sides.
var asIs = []string{"description", "title", "pattern", "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties", "required", "propertyOrdering", "default", "example", "nullable"}

// schema returns nil for what can't be expressed.
func (t *translation) schema(in map[string]any, depth int) map[string]any {
	t.nodes++
	if depth > maxDepth || t.nodes > maxNodes {
		return nil
	}
	in, ok := t.resolve(in)
	if !ok {
		return nil
	}
	out, rest := map[string]any{}, []string{}
	for _, key := range slices.Sorted(maps.Keys(in)) {
		ok := true
		switch value := in[key]; key {
		case "type":
			ok = typed(out, value)
		case "properties":
			ok = t.properties(out, value, depth)
		case "items":
			ok = t.into(out, "items", value, depth)
		case "anyOf", "oneOf":
			ok = t.anyOf(out, value, depth)
		case "enum":
			enum(out, value, &rest)
		case "const":
			enum(out, []any{value}, &rest)
		case "format":
			format(out, value, &rest)
		case "additionalProperties", "$schema", "$id", "$defs", "definitions", "$comment", "strict":
		default:
			if slices.Contains(asIs, key) {
				out[key] = value
			} else {
				text, _ := json.Marshal(value)
				rest = append(rest, key+": "+string(text))
			}
		}
		if !ok {
			return nil
		}
	}
	if len(rest) > 0 {
		text, _ := out["description"].(string)
		out["description"] = strings.TrimSpace(text + "\n(" + strings.Join(rest, ", ") + ")")
	}
	return out
}

// resolve merges in what a reference or an allOf of one member refers to; members beside them win.
func (t *translation) resolve(in map[string]any) (map[string]any, bool) {
	for range maxDepth {
		var from map[string]any
		key := "$ref"
		if ref, ok := in["$ref"].(string); ok {
			from = t.at(ref)
		} else if list, ok := in["allOf"].([]any); ok && len(list) == 1 {
			key = "allOf"
			from, _ = list[0].(map[string]any)
		} else {
			return in, in["allOf"] == nil
		}
		if from == nil {
			return nil, false
		}
		both := maps.Clone(from)
		for k, v := range in {
			if k != key {
				both[k] = v
			}
		}
		in = both
	}
	return nil, false
}

func (t *translation) at(ref string) map[string]any {
	path, ok := strings.CutPrefix(ref, "#")
	var v any = t.root
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		members, isMap := v.(map[string]any)
		if !ok || !isMap {
			return nil
		}
		if part != "" {
			v = members[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
		}
	}
	out, _ := v.(map[string]any)
	return out
}

// typed sets type, and nullable if null is among the types.
func typed(out map[string]any, value any) bool {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	kind := ""
	for _, v := range list {
		name, ok := v.(string)
		switch {
		case !ok || kind != "" && name != "null":
			return false
		case name == "null":
			out["nullable"] = true
		default:
			kind = strings.ToUpper(name)
		}
	}
	out["type"] = kind
	return kind != ""
}

func (t *translation) properties(out map[string]any, value any, depth int) bool {
	members, ok := value.(map[string]any)
	if !ok {
		return false
	}
	translated := map[string]any{}
	for name, v := range members {
		if !t.into(translated, name, v, depth) {
			return false
		}
	}
	out["properties"] = translated
	return true
}

func (t *translation) into(out map[string]any, name string, value any, depth int) bool {
	in, ok := value.(map[string]any)
	if !ok {
		return false
	}
	s := t.schema(in, depth+1)
	out[name] = s
	return s != nil
}

// anyOf drops the alternative null and marks the rest as nullable.
func (t *translation) anyOf(out map[string]any, value any, depth int) bool {
	list, ok := value.([]any)
	if !ok {
		return false
	}
	var variants []any
	for _, v := range list {
		in, ok := v.(map[string]any)
		if !ok {
			return false
		}
		if in["type"] == "null" {
			out["nullable"] = true
			continue
		}
		s := t.schema(in, depth+1)
		if s == nil {
			return false
		}
		variants = append(variants, s)
	}
	if len(variants) == 1 {
		only, _ := variants[0].(map[string]any)
		for k, v := range only {
			if _, ok := out[k]; !ok {
				out[k] = v
			}
		}
		return true
	}
	out["anyOf"] = variants
	return true
}

// enum sets the values if all are texts, the only ones that Google accepts.
func enum(out map[string]any, value any, rest *[]string) {
	list, _ := value.([]any)
	var texts []string
	for _, v := range list {
		switch s, ok := v.(string); {
		case ok:
			texts = append(texts, s)
		case v == nil:
			out["nullable"] = true
		default:
			text, _ := json.Marshal(value)
			*rest = append(*rest, "one of: "+string(text))
			return
		}
	}
	out["enum"] = texts
	if _, ok := out["type"]; !ok {
		out["type"] = "STRING"
	}
}

// formats are those that Google knows; others make a call fail.
var formats = []string{"date-time", "enum", "float", "double", "int32", "int64"}

func format(out map[string]any, value any, rest *[]string) {
	if slices.Contains(formats, fmt.Sprint(value)) {
		out["format"] = value
		return
	}
	*rest = append(*rest, fmt.Sprintf("format: %v", value))
}
