package pages

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// node is a place in the contract. Its members keep the order in which they are written. The zero node is one that isn't
// there, and has neither members nor items.
type node struct{ *yaml.Node }

// parse reads a document.
func parse(contract []byte) (node, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(contract, &root); err != nil {
		return node{}, fmt.Errorf("read the contract: %w", err)
	}
	if len(root.Content) != 1 {
		return node{}, errors.New("the contract is empty")
	}
	return node{root.Content[0]}, nil
}

// there reports whether the place exists.
func (n node) there() bool { return n.Node != nil }

// at returns the place that a path of member names leads to.
func (n node) at(names ...string) node {
	for _, name := range names {
		next := node{}
		for key, value := range n.members {
			if key == name {
				next = value
			}
		}
		n = next
	}
	return n
}

// members iterates over the members of an object.
func (n node) members(yield func(string, node) bool) {
	if n.Node == nil || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !yield(n.Content[i].Value, node{n.Content[i+1]}) {
			return
		}
	}
}

// items iterates over the items of a list.
func (n node) items(yield func(int, node) bool) {
	if n.Node == nil || n.Kind != yaml.SequenceNode {
		return
	}
	for i, item := range n.Content {
		if !yield(i, node{item}) {
			return
		}
	}
}

// text returns a scalar as it is written, "" for anything else.
func (n node) text() string {
	if n.Node == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// is reports whether a scalar is true.
func (n node) is() bool { return n.text() == "true" }

// texts returns the items of a list of scalars.
func (n node) texts() []string {
	var out []string
	for _, item := range n.items {
		out = append(out, item.text())
	}
	return out
}

// name returns what a $ref refers to, the last element of its path, "" for what is none.
func (n node) name() string {
	ref := n.at("$ref").text()
	return ref[strings.LastIndexByte(ref, '/')+1:]
}

// asJSON returns a YAML document as JSON, members in their order.
func asJSON(contract []byte) ([]byte, error) {
	root, err := parse(contract)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := writeJSON(&b, root.Node); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// writeJSON writes n as compact JSON.
func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode, yaml.SequenceNode:
		brackets, step := "[]", 1
		if n.Kind == yaml.MappingNode {
			brackets, step = "{}", 2
		}
		b.WriteByte(brackets[0])
		for i := 0; i < len(n.Content); i += step {
			if i > 0 {
				b.WriteByte(',')
			}
			if step == 2 {
				if err := writeValue(b, n.Content[i].Value); err != nil {
					return err
				}
				b.WriteByte(':')
			}
			if err := writeJSON(b, n.Content[i+step-1]); err != nil {
				return err
			}
		}
		b.WriteByte(brackets[1])
		return nil
	case yaml.ScalarNode:
		var v any = n.Value
		if tag := n.ShortTag(); tag == "!!int" || tag == "!!float" || tag == "!!bool" || tag == "!!null" {
			if err := n.Decode(&v); err != nil {
				return fmt.Errorf("line %d: %w", n.Line, err)
			}
		}
		return writeValue(b, v)
	}
	return fmt.Errorf("line %d: what JSON can't hold", n.Line)
}

func writeValue(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the newline that Encode adds
	return nil
}

// pretty returns a value as people read it: a text as it is, anything else as indented JSON.
func (n node) pretty() string {
	if n.Kind == yaml.ScalarNode {
		return strings.TrimSpace(n.Value)
	}
	var compact, out bytes.Buffer
	if writeJSON(&compact, n.Node) != nil || json.Indent(&out, compact.Bytes(), "", "  ") != nil {
		return ""
	}
	return out.String()
}
