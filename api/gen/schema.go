package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// schemaURL is the address under which a schema refers to another one.
func schemaURL(name string) string { return "schema:" + name }

// schemasJSON returns one JSON object, schema name → JSON Schema 2020-12, with one schema per line for readable diffs.
func (c *contract) schemasJSON() ([]byte, error) {
	out := object{}
	for name, s := range c.schemas {
		out[name] = c.jsonSchema(obj(s))
	}
	for name, d := range c.discriminatorDefaults() {
		dropRequired(out, name, d)
	}
	for name, p := range c.parameters {
		out["param:"+name] = c.jsonSchema(obj(obj(p)["schema"]))
	}
	for _, op := range c.operations {
		for _, p := range list(op.spec["parameters"]) {
			if p := obj(p); refName(p) == "" {
				out["param:"+op.id()+":"+str(p["name"])] = c.jsonSchema(obj(p["schema"]))
			}
		}
	}
	return encodeLines(out)
}

func encodeLines(schemas object) ([]byte, error) {
	var b bytes.Buffer
	for i, name := range slices.Sorted(maps.Keys(schemas)) {
		b.WriteString(map[bool]string{true: "{\n", false: ",\n"}[i == 0])
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		fmt.Fprintf(&b, "%q: ", name)
		if err := enc.Encode(schemas[name]); err != nil {
			return nil, fmt.Errorf("encode schema %s: %w", name, err)
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteString("\n}\n")
	return b.Bytes(), nil
}

// copied are the keywords that mean the same in OpenAPI 3.0 and JSON Schema.
var copied = []string{
	"type", "enum", "pattern", "minLength", "maxLength", "minimum", "maximum",
	"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "required",
}

// asserted are the formats that a validator checks; the number formats become
// bounds and the rest is documentation.
var asserted = []string{"date-time", "email", "uri"}

// jsonSchema returns an OpenAPI 3.0 schema as JSON Schema.
func (c *contract) jsonSchema(s object) object {
	if name := refName(s); name != "" {
		return object{"$ref": schemaURL(name)}
	}
	out := object{}
	for _, k := range copied {
		if v, ok := s[k]; ok {
			out[k] = v
		}
	}
	if s["x-secret"] == true {
		out["writeOnly"] = true
	}
	if s["x-takes-mask"] == true {
		out["$comment"] = "takes the mask of a secret"
	}
	if s["x-unrecorded"] == true {
		out["$comment"] = "may repeat a secret"
	}
	if s["x-refuses-null"] == true {
		out["$comment"] = "null is no value"
	}
	bounds(s, out)
	c.nested(s, out)
	if names := obj(s["x-property-names"]); names != nil {
		onlyNamed(str(names["pattern"]), out)
	}
	if s["discriminator"] != nil {
		c.union(s, out)
	}
	if s["nullable"] == true {
		return nullable(out)
	}
	return out
}

// nested converts the schemas that s holds.
func (c *contract) nested(s, out object) {
	if props := obj(s["properties"]); len(props) > 0 {
		conv := object{}
		for name, p := range props {
			conv[name] = c.jsonSchema(obj(p))
		}
		out["properties"] = conv
	}
	for _, k := range []string{"items", "additionalProperties"} {
		switch v := s[k].(type) {
		case object:
			out[k] = c.jsonSchema(v)
		case bool:
			out[k] = v
		}
	}
	if not := obj(s["not"]); not != nil {
		out["not"] = c.jsonSchema(not)
	}
	for _, k := range []string{"allOf", "anyOf", "oneOf"} {
		if s["discriminator"] != nil && k == "oneOf" {
			continue
		}
		var conv []any
		for _, b := range list(s[k]) {
			conv = append(conv, c.jsonSchema(obj(b)))
		}
		if conv != nil {
			out[k] = conv
		}
	}
}

// onlyNamed refuses members whose name does not match the pattern. The errors of JSON Schema's own propertyNames lack the
// place of the object.
func onlyNamed(pattern string, out object) {
	values := out["additionalProperties"]
	if values == nil {
		values = true
	}
	out["patternProperties"] = object{pattern: values}
	out["additionalProperties"] = false
}

// bounds sets the formats that a validator checks, and the ranges of integer formats where the schema is not narrower.
func bounds(s, out object) {
	f := str(s["format"])
	if slices.Contains(asserted, f) {
		out["format"] = f
	}
	lo, hi := any(nil), any(nil)
	switch f {
	case "int32":
		lo, hi = math.MinInt32, math.MaxInt32
	case "int64":
		lo, hi = math.MinInt64, math.MaxInt64
	default:
		return
	}
	if _, ok := out["minimum"]; !ok {
		out["minimum"] = lo
	}
	if _, ok := out["maximum"]; !ok {
		out["maximum"] = hi
	}
}

// nullable returns a schema that takes null as well. Where s is more than a type, null is decided first, so that errors
// name the member at fault instead of "no branch fits".
func nullable(s object) object {
	composed := s["allOf"] != nil || s["anyOf"] != nil || s["oneOf"] != nil
	if t := str(s["type"]); t != "" && !composed {
		s["type"] = []any{t, "null"}
		if e := list(s["enum"]); e != nil {
			s["enum"] = append(slices.Clone(e), nil)
		}
		return s
	}
	return object{"if": object{"not": object{"type": "null"}}, "then": s}
}

// union writes a oneOf with a discriminator as one if/then per value. The errors of a literal oneOf, "several branches
// match" or "none does", name no member.
func (c *contract) union(s, out object) {
	prop := str(obj(s["discriminator"])["propertyName"])
	mapping := obj(obj(s["discriminator"])["mapping"])
	values := slices.Sorted(maps.Keys(mapping))
	branches := list(out["allOf"])
	for _, v := range values {
		is := object{"type": "object", "required": []any{prop}, "properties": object{prop: object{"const": v}}}
		branches = append(branches, object{"if": is, "then": c.branch(mapping, v)})
	}
	preset, _ := obj(obj(s["properties"])[prop])["default"].(string)
	if preset != "" {
		absent := object{"type": "object", "not": object{"required": []any{prop}}}
		branches = append(branches, object{"if": absent, "then": c.branch(mapping, preset)})
	}
	out["type"], out["allOf"] = "object", branches
	props := obj(out["properties"])
	if props == nil {
		props = object{}
	}
	props[prop] = object{"enum": values}
	out["properties"] = props
	required := list(out["required"])
	if preset == "" && s["x-discriminator-optional"] != true && !slices.Contains(required, any(prop)) {
		out["required"] = append(slices.Clone(required), prop)
	}
}

func (c *contract) branch(mapping object, value string) object {
	return object{"$ref": schemaURL(refName(object{"$ref": mapping[value]}))}
}

// discriminatorDefaults returns the branches that an absent discriminator selects: schema name → discriminator.
func (c *contract) discriminatorDefaults() map[string]string {
	out := map[string]string{}
	for _, s := range c.schemas {
		d := obj(obj(s)["discriminator"])
		prop := str(d["propertyName"])
		preset := str(obj(obj(obj(s)["properties"])[prop])["default"])
		if preset != "" {
			out[refName(object{"$ref": obj(d["mapping"])[preset]})] = prop
		}
	}
	return out
}

// dropRequired removes prop from what the named schema requires: the union that leads to it allows it to be absent.
func dropRequired(schemas object, name, prop string) {
	s := obj(schemas[name])
	for _, part := range append([]any{s}, list(s["allOf"])...) {
		p := obj(part)
		if left := slices.DeleteFunc(slices.Clone(list(p["required"])), func(v any) bool { return v == prop }); len(left) > 0 {
			p["required"] = left
		} else {
			delete(p, "required")
		}
	}
}
