package anthropic

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The keywords and formats of JSON Schema that output_config.format accepts (Anthropic's page on structured outputs). Others
// would make the call fail, so the description holds them instead.
var (
	kept    = []string{"$ref", "$defs", "definitions", "type", "anyOf", "allOf", "description", "title", "enum", "const", "default", "properties", "required", "additionalProperties", "items", "minItems", "format", "pattern"}
	formats = []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
)

// narrowed returns a schema as output_config.format accepts it; false if it can't be expressed: its root is not an object, it
// has objects with free keys, or it is not JSON.
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
	if dropped := dropUnsupported(s); len(dropped) > 0 {
		text, _ := s["description"].(string)
		s["description"] = strings.TrimSpace(text + "\n\n(" + strings.Join(dropped, ", ") + ")")
	}
	var inner []any
	for _, name := range []string{"properties", "$defs", "definitions"} {
		members, _ := s[name].(map[string]any)
		inner = slices.AppendSeq(inner, maps.Values(members))
	}
	for _, name := range []string{"anyOf", "allOf"} {
		list, _ := s[name].([]any)
		inner = append(inner, list...)
	}
	if s["items"] != nil {
		inner = append(inner, s["items"])
	}
	return !slices.ContainsFunc(inner, func(v any) bool {
		s, ok := v.(map[string]any)
		return !ok || !narrow(s)
	})
}

// closeObject forbids other members of an object; false if such members are its purpose.
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

// dropUnsupported removes the keywords that the API refuses, and returns them for the description.
func dropUnsupported(s map[string]any) []string {
	var dropped []string
	for _, key := range slices.Sorted(maps.Keys(s)) {
		value := s[key]
		switch {
		case key == "minItems" && (value == 0.0 || value == 1.0), key == "format" && slices.Contains(formats, fmt.Sprint(value)):
		case key == "minItems", key == "format", !slices.Contains(kept, key):
			if key[0] != '$' {
				text, _ := json.Marshal(value)
				dropped = append(dropped, key+": "+string(text))
			}
			delete(s, key)
		}
	}
	return dropped
}
