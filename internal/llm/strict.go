package llm

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"quarry/internal/fault"
)

// The bounds of a strict schema.
const (
	maxStrictProperties = 100
	maxStrictDepth      = 5
)

// bounding are the keywords that a strict schema must not have: servers that enforce schemas word by word can't count.
var bounding = []string{
	"minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "minContains", "maxContains",
}

// CheckStrict checks a JSON Schema by the rules of strict structured output (contract: chats-llms-and-evaluation,
// section 3): the root is an object without anyOf, each object requires all its properties and no others, with at most 100
// properties in 5 levels and no keyword of length or range, and none of those that the caller forbids besides. The fault names places in
// the schema.
func CheckStrict(schema json.RawMessage, besides ...string) error {
	var root map[string]any
	if err := json.Unmarshal(schema, &root); err != nil {
		return fault.InvalidField("", "must be a JSON Schema of an object")
	}
	c := strict{bad: fault.Invalid(), words: slices.Concat(bounding, besides)}
	if root["type"] != "object" {
		c.bad.Field("type", "must be object at the root of a strict schema")
	}
	if _, ok := root["anyOf"]; ok {
		c.bad.Field("anyOf", "must not stand at the root of a strict schema; put it into a property")
	}
	c.check("", root, 1)
	if c.properties > maxStrictProperties {
		c.bad.Field("", "has %d properties; a strict schema may have %d", c.properties, maxStrictProperties)
	}
	return c.bad.Err()
}

// strict is one check.
type strict struct {
	bad        *fault.Fault
	words      []string // that must not stand in the schema
	properties int
}

// check checks the schema at a place. depth is its level if it is an object or a list: the number of those around it, and
// one. What is neither has no level of its own.
func (c *strict) check(at string, s map[string]any, depth int) {
	properties, _ := s["properties"].(map[string]any)
	object := isObject(s["type"]) || properties != nil
	if depth > maxStrictDepth && (object || s["items"] != nil) {
		c.bad.Field(at, "is nested deeper than the %d levels of a strict schema", maxStrictDepth)
		return
	}
	for _, word := range c.words {
		if bound, ok := s[word]; ok && !boundless(word, bound) {
			c.bad.Field(fault.Join(at, word), "must not stand in a strict schema; say it in the description")
		}
	}
	if object {
		c.object(at, s, properties)
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		c.below(at, "properties."+name, properties[name], depth+1)
	}
	if s["items"] != nil {
		c.below(at, "items", s["items"], depth+1)
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf"} {
		forms, _ := s[word].([]any)
		for i, form := range forms {
			c.below(at, fmt.Sprintf("%s[%d]", word, i), form, depth)
		}
	}
	for _, word := range []string{"$defs", "definitions"} {
		named, _ := s[word].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(named)) {
			c.below(at, word+"."+name, named[name], 1)
		}
	}
}

// boundless reports whether a keyword of range says no more than that a number is an integer which JSON holds exactly, as
// zod, with which OpenAI's library for JavaScript makes its schemas, writes it at each of them.
func boundless(word string, bound any) bool {
	const safe = 1<<53 - 1
	return word == "minimum" && bound == float64(-safe) || word == "maximum" && bound == float64(safe)
}

// object checks what strict schemas ask of objects alone.
func (c *strict) object(at string, s, properties map[string]any) {
	if open, ok := s["additionalProperties"].(bool); !ok || open {
		c.bad.Field(fault.Join(at, "additionalProperties"), "must be false in each object of a strict schema")
	}
	required, _ := s["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains(required, any(name)) {
			c.bad.Field(fault.Join(at, "required"), "must name every property of a strict schema, and lacks %q; let it be null instead", name)
		}
	}
	c.properties += len(properties)
}

func (c *strict) below(at, step string, schema any, depth int) {
	if s, ok := schema.(map[string]any); ok {
		c.check(fault.Join(at, step), s, depth)
	}
}

// isObject reports whether a type is object, or a list of types with object among them.
func isObject(t any) bool {
	all, _ := t.([]any)
	return t == "object" || slices.Contains(all, any("object"))
}
