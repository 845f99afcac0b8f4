package filter

import (
	"maps"
	"slices"
)

// Filter is a compiled filter. It is immutable and safe for concurrent use. A nil *Filter matches everything.
type Filter struct {
	text  string
	expr  *node
	root  Node
	attrs []int
}

// Text returns the filter as written, "" for a nil filter.
func (f *Filter) Text() string {
	if f == nil {
		return ""
	}
	return f.text
}

// Match reports whether a part passes the filter. It is the reference implementation of the language.
func (f *Filter) Match(r Row) bool { return f == nil || f.expr.eval(r).Bool() }

// Root returns the normalised tree, which is equivalent to Match. The caller must not modify it.
func (f *Filter) Root() Node {
	if f == nil {
		return Const{true}
	}
	return f.root
}

// Attrs returns the ordinals of the attributes that the filter uses, in ascending order.
func (f *Filter) Attrs() []int {
	if f == nil {
		return nil
	}
	return f.attrs
}

// Op is a comparison operator.
type Op uint8

// The comparison operators. For an absent attribute Ne holds and the others do not.
const (
	Eq Op = iota
	Ne
	Lt
	Le
	Gt
	Ge
)

// Node is a node of the normalised tree: And, Or, Not, Compare, In, Contains, IsNull, Const or General.
type Node interface{ isNode() }

type (
	// And holds if all of its nodes do. It has at least two, none of them a Const or an And.
	And struct{ Nodes []Node }
	// Or holds if one of its nodes does. It has at least two, none of them a Const or an Or.
	Or struct{ Nodes []Node }
	// Not holds if Node does not. Node is neither a Const nor a Not.
	Not struct{ Node Node }
	// Compare compares a scalar attribute with a constant of the attribute's own type.
	Compare struct {
		Attr  int
		Op    Op
		Const Value
	}
	// In holds if a scalar attribute equals one of the constants, which are at least two, of the attribute's own type, in
	// ascending order and distinct.
	In struct {
		Attr   int
		Consts []Value
	}
	// Contains holds if a list attribute contains the constant, which has the type of its elements.
	Contains struct {
		Attr  int
		Const Value
	}
	// IsNull holds if the attribute is absent.
	IsNull struct{ Attr int }
	// Const always holds, or never. It occurs only as the root of a tree.
	Const struct{ Holds bool }
	// General is any other condition, such as arithmetic or a comparison of attributes. It is evaluated row by row.
	General struct{ expr *node }
)

func (And) isNode()      {}
func (Or) isNode()       {}
func (Not) isNode()      {}
func (Compare) isNode()  {}
func (In) isNode()       {}
func (Contains) isNode() {}
func (IsNull) isNode()   {}
func (Const) isNode()    {}
func (General) isNode()  {}

// Match reports whether the condition holds for a row.
func (g General) Match(r Row) bool { return g.expr.eval(r).Bool() }

// Attrs returns the ordinals of the attributes that the condition uses, in ascending order.
func (g General) Attrs() []int { return g.expr.attrs() }

func (n *node) attrs() []int {
	seen := map[int]bool{}
	n.collect(seen)
	return slices.Sorted(maps.Keys(seen))
}

func (n *node) collect(seen map[int]bool) {
	if n.op == opRef {
		seen[n.attr] = true
	}
	for _, a := range n.args {
		a.collect(seen)
	}
}

// constant reports whether n has no references.
func (n *node) constant() bool {
	return n.op != opRef && !slices.ContainsFunc(n.args, func(a *node) bool { return !a.constant() })
}
