package filter

import (
	"math"
	"slices"
)

// normalise returns the normalised tree of a checked expression.
func normalise(e *node) Node {
	if e.constant() {
		return Const{e.eval(nil).Bool()}
	}
	switch e.op {
	case opAnd, opOr:
		all := make([]Node, len(e.args))
		for i, a := range e.args {
			all[i] = normalise(a)
		}
		return join(e.op, all)
	case opNot:
		return negate(normalise(e.args[0]))
	case opRef:
		return Compare{e.attr, Eq, Bool(true)}
	case opIsNull:
		if e.args[0].op == opRef {
			return IsNull{e.args[0].attr}
		}
	case opEq, opNe, opLt, opLe, opGt, opGe:
		return comparison(e)
	case opIn:
		return membership(e)
	case opContains:
		return containment(e)
	}
	return General{e}
}

// join returns the And or Or of nodes in normal form: without constants, without nested nodes of its own kind, and the
// node itself if only one is left.
func join(op opcode, all []Node) Node {
	var flat []Node
	for _, n := range all {
		c, isConst := n.(Const)
		and, isAnd := n.(And)
		or, isOr := n.(Or)
		switch {
		case isConst && c.Holds == (op == opOr):
			return c
		case isConst:
		case isAnd && op == opAnd:
			flat = append(flat, and.Nodes...)
		case isOr && op == opOr:
			flat = append(flat, or.Nodes...)
		default:
			flat = append(flat, n)
		}
	}
	switch {
	case len(flat) == 0:
		return Const{op == opAnd}
	case len(flat) == 1:
		return flat[0]
	case op == opAnd:
		return And{flat}
	}
	return Or{flat}
}

func negate(n Node) Node {
	switch x := n.(type) {
	case Const:
		return Const{!x.Holds}
	case Not:
		return x.Node
	}
	return Not{n}
}

// flipped maps each comparison to the one with its operands exchanged.
var flipped = map[opcode]opcode{opEq: opEq, opNe: opNe, opLt: opGt, opLe: opGe, opGt: opLt, opGe: opLe}

var ops = map[opcode]Op{opEq: Eq, opNe: Ne, opLt: Lt, opLe: Le, opGt: Gt, opGe: Ge}

func comparison(e *node) Node {
	ref, c, op := e.args[0], e.args[1], e.op
	if ref.op != opRef {
		ref, c, op = c, ref, flipped[op]
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
		return Const{op == opNe} // the result of an expression is absent: it equals nothing and has no order
	}
	if n, ok := compareWith(ref, ops[op], v); ok {
		return n
	}
	return General{e}
}

// compareWith returns the comparison of an attribute with a constant, which is converted to the attribute's type. An
// integer attribute is compared with a real constant by rounding the constant in the direction that keeps the meaning;
// ok is false if that is impossible, since the language compares such values as float64.
func compareWith(ref *node, op Op, v Value) (n Node, ok bool) {
	if ref.kind == RealNumber {
		v = Real(v.Float())
	}
	if ref.kind != Integer || v.kind == Integer {
		return Compare{ref.attr, op, v}, true
	}
	f := v.Float()
	switch {
	case f > 1<<63: // above every integer
		return outOfRange(ref, op == Lt || op == Le, op), true
	case f < -1<<63:
		return outOfRange(ref, op == Gt || op == Ge, op), true
	case math.Abs(f) >= 1<<53: // from here on several integers round to the same float64
		return nil, false
	case f == math.Trunc(f):
		return Compare{ref.attr, op, Int(int64(f))}, true
	case op == Eq || op == Ne:
		return Const{op == Ne}, true
	case op == Lt || op == Ge: // x < 2.5 is x < 3
		return Compare{ref.attr, op, Int(int64(math.Ceil(f)))}, true
	}
	return Compare{ref.attr, op, Int(int64(math.Floor(f)))}, true
}

// outOfRange returns the comparison of an attribute with a number outside the range of integers; holds is its result for
// every integer.
func outOfRange(ref *node, holds bool, op Op) Node {
	if holds {
		return Not{IsNull{ref.attr}}
	}
	return Const{op == Ne}
}

// membership normalises IN with a list: the constants become one In, the other elements a comparison each.
func membership(e *node) Node {
	x := e.args[0]
	if x.op != opRef && !x.constant() || isNull(x) {
		return General{e}
	}
	var others []Node
	var consts []Value
	for _, a := range e.args[1:] {
		if isNull(a) {
			continue // in a list, null equals nothing
		}
		n := normalise(&node{op: opEq, kind: Boolean, args: []*node{x, a}})
		if c, ok := n.(Compare); ok && x.op == opRef {
			consts = append(consts, c.Const)
		} else {
			others = append(others, n)
		}
	}
	slices.SortFunc(consts, func(a, b Value) int { o, _ := Order(a, b); return o })
	consts = slices.CompactFunc(consts, Equal)
	switch {
	case len(consts) == 1:
		others = append(others, Compare{x.attr, Eq, consts[0]})
	case len(consts) > 1:
		others = append(others, In{x.attr, consts})
	}
	return join(opOr, others)
}

// containment normalises IN with a list attribute.
func containment(e *node) Node {
	list, x := e.args[0], e.args[1]
	if !x.constant() {
		return General{e}
	}
	v := x.eval(nil)
	if v.IsAbsent() {
		return Const{false}
	}
	element := &node{op: opRef, attr: list.attr, kind: list.kind.Element()}
	n, ok := compareWith(element, Eq, v)
	c, isCompare := n.(Compare)
	switch {
	case !ok:
		return General{e}
	case !isCompare || !list.kind.IsList():
		return n
	}
	return Contains{list.attr, c.Const}
}
