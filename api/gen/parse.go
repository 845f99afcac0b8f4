package main

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// object is a decoded YAML mapping; the order of its keys does not matter.
type object = map[string]any

// contract is openapi.yaml, decoded, with the order of its operations kept.
type contract struct {
	doc        object
	schemas    object // components/schemas
	parameters object // components/parameters
	operations []operation
}

// operation is one method of one path as the contract writes it.
type operation struct {
	method, path string
	spec         object
}

func (o operation) id() string { return str(o.spec["operationId"]) }

func parse(text []byte) (*contract, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("parse contract: %w", err)
	}
	c := &contract{doc: object{}}
	if err := root.Decode(&c.doc); err != nil {
		return nil, fmt.Errorf("decode contract: %w", err)
	}
	components := obj(c.doc["components"])
	c.schemas, c.parameters = obj(components["schemas"]), obj(components["parameters"])
	paths := child(root.Content[0], "paths")
	if paths == nil || len(c.schemas) == 0 {
		return nil, fmt.Errorf("contract has no paths or no schemas")
	}
	for i := 0; i < len(paths.Content); i += 2 {
		path, item := paths.Content[i].Value, paths.Content[i+1]
		for j := 0; j < len(item.Content); j += 2 {
			op := operation{method: strings.ToUpper(item.Content[j].Value), path: path}
			if err := item.Content[j+1].Decode(&op.spec); err != nil {
				return nil, fmt.Errorf("decode %s %s: %w", op.method, path, err)
			}
			c.operations = append(c.operations, op)
		}
	}
	return c, nil
}

// child returns the value of a key of a mapping node, nil if it has none.
func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// refName returns the last element of a $ref, "" if s is not a reference.
func refName(s object) string {
	ref := str(s["$ref"])
	return ref[strings.LastIndexByte(ref, '/')+1:]
}

// resolve returns the component schema that s refers to, or s if it is not a reference.
func (c *contract) resolve(s object) object {
	for {
		name := refName(s)
		if name == "" {
			return s
		}
		s = obj(c.schemas[name])
	}
}

func obj(v any) object {
	o, _ := v.(object)
	return o
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

func strs(v any) []string {
	var out []string
	for _, e := range list(v) {
		out = append(out, str(e))
	}
	return out
}
