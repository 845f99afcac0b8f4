package anthropic

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What output_config.format takes of JSON Schema (Anthropic's page on structured outputs). Other keywords are told to
// the model in the description instead of making the call fail.
var (
	kept    = []string{"$ref", "$defs", "definitions", "type", "anyOf", "allOf", "description", "title", "enum", "const", "default", "properties", "required", "additionalProperties", "items", "minItems", "format", "pattern"}
	formats = []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
)

// narrowed is a schema as output_config.format takes it; false when it can't be said: no object at its root, objects
// with free keys, or no JSON at all.
func narrowed(schema json.RawMessage) (json.RawMessage, bool) {
	var s map[string]any
	if json.Unmarshal(schema, &s) != nil || s["type"] != "object" {
		return nil, false
	}
	if !narrow(s) {
		return nil, false
	}
	out, err := json.Marshal(s)
	return out, err == nil
}

func narrow(s map[string]any) bool {
	if ref, ok := s["$ref"]; ok {
		defs := s["$defs"]
		clear(s)
		s["$ref"] = ref
		if defs != nil {
			s["$defs"] = defs
		}
	}
	if one, ok := s["oneOf"]; ok && s["anyOf"] == nil {
		s["anyOf"] = one
		delete(s, "oneOf")
	}
	if !closeObject(s) {
		return false
	}
	told := dropUnsupported(s)
	if len(told) > 0 {
		text, _ := s["description"].(string)
		s["description"] = strings.TrimSpace(text + "\n\n(" + strings.Join(told, ", ") + ")")
	}
	for _, name := range []string{"properties", "$defs", "definitions"} {
		if members, ok := s[name].(map[string]any); ok && !all(maps.Values(members), narrowAny) {
			return false
		}
	}
	for _, name := range []string{"anyOf", "allOf"} {
		if list, ok := s[name].([]any); ok && !all(slices.Values(list), narrowAny) {
			return false
		}
	}
	return s["items"] == nil || narrowAny(s["items"])
}

func narrowAny(v any) bool {
	s, ok := v.(map[string]any)
	return ok && narrow(s)
}

func all(seq func(func(any) bool), ok func(any) bool) bool {
	for v := range seq {
		if !ok(v) {
			return false
		}
	}
	return true
}

// closeObject forbids other members of an object; false when its purpose is to have them.
func closeObject(s map[string]any) bool {
	if s["type"] != "object" {
		return true
	}
	switch more := s["additionalProperties"].(type) {
	case map[string]any:
		return false
	case bool:
		if more && s["properties"] == nil {
			return false
		}
	case nil:
		if s["properties"] == nil {
			return false
		}
	}
	s["additionalProperties"] = false
	return true
}

// dropUnsupported removes the keywords that the API refuses and puts them into the description.
func dropUnsupported(s map[string]any) []string {
	var told []string
	for _, key := range slices.Sorted(maps.Keys(s)) {
		value := s[key]
		switch {
		case key == "minItems" && (value == 0.0 || value == 1.0), key == "format" && slices.Contains(formats, fmt.Sprint(value)):
		case key == "minItems", key == "format", !slices.Contains(kept, key):
			if key[0] != '$' {
				text, _ := json.Marshal(value)
				told = append(told, key+": "+string(text))
			}
			delete(s, key)
		}
	}
	return told
}
