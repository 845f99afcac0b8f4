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

func newFilter(text string, s *Schema, e *node) *Filter {
	seen := map[int]bool{}
	e.collect(seen)
	f := &Filter{text: text, expr: e, root: normalise(s, e)}
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
func (f *Filter) Root() Node { return f.root }

// Attrs lists the ordinals that the filter uses, ascending.
func (f *Filter) Attrs() []int { return f.attrs }

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
	// And holds when all do.
	And struct{ Nodes []Node }
	// Or holds when one does.
	Or struct{ Nodes []Node }
	// Not holds when Node does not.
	Not struct{ Node Node }
	// Compare compares a scalar attribute with a constant that is not absent.
	Compare struct {
		Attr  int
		Op    Op
		Const Value
	}
	// In holds when a scalar attribute equals one of the constants.
	In struct {
		Attr   int
		Consts []Value
	}
	// Contains holds when a list attribute holds the constant.
	Contains struct {
		Attr  int
		Const Value
	}
	// IsNull holds when the attribute is absent.
	IsNull struct{ Attr int }
	// Const always holds, or never.
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

// titleFalse is part.is_title = false, which matches unset parts as well (contract: section 6).
func titleFalse(s *Schema, ref, c *node) bool {
	return ref.op == opRef && s.all[ref.attr] == Attribute{Part, "is_title", Boolean} &&
		c.constant() && c.kind == Boolean && !c.eval(nil).Bool()
}

// normalise rewrites e and gives its tree. The only rewriting in place is the special case of part.is_title.
func normalise(s *Schema, e *node) Node {
	if e.constant() {
		return Const{e.eval(nil).Bool()}
	}
	switch e.op {
	case opAnd, opOr:
		var all []Node
		for _, a := range e.args {
			all = append(all, normalise(s, a))
		}
		if e.op == opAnd {
			return And{all}
		}
		return Or{all}
	case opNot:
		return Not{normalise(s, e.args[0])}
	case opRef:
		return Compare{e.attr, Eq, Bool(true)}
	case opIsNull:
		if e.args[0].op == opRef {
			return IsNull{e.args[0].attr}
		}
	case opEq, opNe, opLt, opLe, opGt, opGe:
		return comparison(s, e)
	case opIn:
		return membership(e)
	case opContains:
		list, x := e.args[0], e.args[1]
		switch {
		case !x.constant():
		case x.eval(nil).IsAbsent():
			return Const{false}
		case list.kind.IsList():
			return Contains{list.attr, x.eval(nil)}
		default:
			return Compare{list.attr, Eq, x.eval(nil)}
		}
	}
	return General{e}
}

var flipped = map[opcode]opcode{opEq: opEq, opNe: opNe, opLt: opGt, opLe: opGe, opGt: opLt, opGe: opLe}

var ops = map[opcode]Op{opEq: Eq, opNe: Ne, opLt: Lt, opLe: Le, opGt: Gt, opGe: Ge}

func comparison(s *Schema, e *node) Node {
	ref, c, op := e.args[0], e.args[1], e.op
	if ref.op != opRef {
		ref, c, op = c, ref, flipped[op]
	}
	if (op == opEq || op == opNe) && titleFalse(s, ref, c) {
		// Rewritten in the expression too, so that Match agrees.
		*c = node{op: opConst, kind: Boolean, value: Bool(true)}
		e.op = map[opcode]opcode{opEq: opNe, opNe: opEq}[op]
		op = e.op
	}
	if ref.op != opRef || !c.constant() {
		return General{e}
	}
	v := c.eval(nil)
	if v.IsAbsent() {
		null := isNull(c)
		switch {
		case null && op == opEq:
			return IsNull{ref.attr}
		case null && op == opNe:
			return Not{IsNull{ref.attr}}
		}
		return Const{op == opNe} // equal to nothing, ordered with nothing
	}
	return Compare{ref.attr, ops[op], v}
}

func membership(e *node) Node {
	if e.args[0].op != opRef {
		return General{e}
	}
	var consts []Value
	for _, a := range e.args[1:] {
		if !a.constant() {
			return General{e}
		}
		if v := a.eval(nil); !v.IsAbsent() {
			consts = append(consts, v)
		}
	}
	return In{e.args[0].attr, consts}
}
