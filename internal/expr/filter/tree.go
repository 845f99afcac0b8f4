package filter

import (
	"slices"
	"sort"
)

// Filter is a compiled filter. It is immutable and safe for concurrent use. A nil *Filter passes everything.
type Filter struct {
	text  string
	expr  *node
	root  Node
	attrs []int
}

func newFilter(text string, e *node) *Filter {
	seen := map[int]bool{}
	e.collect(seen)
	f := &Filter{text: text, expr: e, root: normalise(e)}
	for a := range seen {
		f.attrs = append(f.attrs, a)
	}
	sort.Ints(f.attrs)
	return f
}

// Text is the filter as written.
func (f *Filter) Text() string { return f.text }

// Match reports whether a part passes: the reference of the language's meaning.
func (f *Filter) Match(r Row) bool { return f == nil || f.expr.eval(r).Bool() }

// Root is the normalised tree, equal in meaning to Match. The caller must not modify it.
func (f *Filter) Root() Node {
	if f == nil {
		return Const{true}
	}
	return f.root
}

// Attrs lists the ordinals that the filter uses, ascending.
func (f *Filter) Attrs() []int {
	if f == nil {
		return nil
	}
	return f.attrs
}

// Op is a comparison.
type Op uint8

// The comparisons. Where the attribute is absent, Ne holds and the others do not.
const (
	Eq Op = iota
	Ne
	Lt
	Le
	Gt
	Ge
)

// Node is a part of the normalised tree: And, Or, Not, Compare, In, Contains, IsNull, Const or General.
type Node interface{ isNode() }

type (
	// And holds when all do. And and Or have at least two nodes, none of them a Const or a node of the same kind.
	And struct{ Nodes []Node }
	// Or holds when one does.
	Or struct{ Nodes []Node }
	// Not holds when Node, which is no Const and no Not, does not.
	Not struct{ Node Node }
	// Compare compares a scalar attribute with a constant of the attribute's own type.
	Compare struct {
		Attr  int
		Op    Op
		Const Value
	}
	// In holds when a scalar attribute equals one of the constants: at least two of the attribute's own type, ascending,
	// without duplicates.
	In struct {
		Attr   int
		Consts []Value
	}
	// Contains holds when a list attribute holds the constant, which has the type of its elements.
	Contains struct {
		Attr  int
		Const Value
	}
	// IsNull holds when the attribute is absent.
	IsNull struct{ Attr int }
	// Const always holds, or never. Inside a tree none stands: it is at the root or nowhere.
	Const struct{ Holds bool }
	// General is anything else: arithmetic, comparisons between attributes. It is evaluated row by row.
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

// Match evaluates the condition for a row.
func (g General) Match(r Row) bool { return g.expr.eval(r).Bool() }

// Attrs lists the ordinals that the condition uses, ascending.
func (g General) Attrs() []int {
	seen := map[int]bool{}
	g.expr.collect(seen)
	var out []int
	for a := range seen {
		out = append(out, a)
	}
	sort.Ints(out)
	return out
}

func (n *node) collect(seen map[int]bool) {
	if n.op == opRef {
		seen[n.attr] = true
	}
	for _, a := range n.args {
		a.collect(seen)
	}
}

func (n *node) constant() bool {
	return n.op != opRef && !slices.ContainsFunc(n.args, func(a *node) bool { return !a.constant() })
}
