package filter

import (
	"math"
	"slices"

	"quarry/internal/expr"
)

// Row holds the attribute values of one part, including those of its document, by ordinal.
type Row interface{ Value(ordinal int) Value }

// eval returns the value of a node for a row. Null is the absent Value. Unlike in SQL, conditions are never null: logic
// is two-valued (contract: metadata-filters.md section 5).
func (n *node) eval(r Row) Value {
	switch n.op {
	case opConst:
		return n.value
	case opRef:
		return r.Value(n.attr)
	case opOr, opAnd:
		for _, a := range n.args {
			if a.eval(r).Bool() == (n.op == opOr) {
				return Bool(n.op == opOr)
			}
		}
		return Bool(n.op == opAnd)
	case opNot:
		return Bool(!n.args[0].eval(r).Bool())
	case opIn:
		x := n.args[0].eval(r)
		return Bool(slices.ContainsFunc(n.args[1:], func(e *node) bool { return Equal(x, e.eval(r)) }))
	case opContains:
		return Bool(contains(n.args[0].eval(r), n.args[1].eval(r)))
	case opIsNull:
		return Bool(n.args[0].eval(r).IsAbsent())
	case opEq, opNe, opLt, opLe, opGt, opGe:
		return n.compare(r)
	}
	return n.arithmetic(r)
}

// contains reports whether list has an element equal to x; a scalar counts as a list of one.
func contains(list, x Value) bool {
	if !list.kind.IsList() {
		return Equal(list, x)
	}
	return slices.ContainsFunc(list.Elements(), func(e Value) bool { return Equal(e, x) })
}

func (n *node) compare(r Row) Value {
	a, b := n.args[0], n.args[1]
	if n.op == opEq || n.op == opNe {
		var equal bool
		switch {
		case isNull(b):
			equal = a.eval(r).IsAbsent()
		case isNull(a):
			equal = b.eval(r).IsAbsent()
		default:
			equal = Equal(a.eval(r), b.eval(r))
		}
		return Bool(equal == (n.op == opEq))
	}
	order, ok := Order(a.eval(r), b.eval(r))
	return Bool(ok && holds(n.op, order))
}

func isNull(n *node) bool { return n.op == opConst && n.value.IsAbsent() }

func holds(op opcode, order int) bool {
	switch op {
	case opLt:
		return order < 0
	case opLe:
		return order <= 0
	case opGt:
		return order > 0
	case opGe:
		return order >= 0
	case opEq:
		return order == 0
	}
	return order != 0
}

// signs are the binary operators of arithmetic.
var signs = [...]byte{opAdd: '+', opSub: '-', opMul: '*', opDiv: '/', opMod: '%'}

// arithmetic evaluates an arithmetic operation. It is done in integers if both operands are, except for division. A
// result that overflows 64 bits, or is not a finite number, is absent.
func (n *node) arithmetic(r Row) Value {
	a := n.args[0].eval(r)
	if a.IsAbsent() {
		return Value{}
	}
	if len(n.args) == 1 {
		return sign(n.op, a)
	}
	b := n.args[1].eval(r)
	switch {
	case b.IsAbsent():
		return Value{}
	case a.kind == Integer && b.kind == Integer && n.op != opDiv:
		if c, ok := expr.Integers(signs[n.op], a.n, b.n); ok {
			return Int(c)
		}
		return Value{}
	}
	z := expr.Reals(signs[n.op], a.Float(), b.Float())
	if math.IsNaN(z) || math.IsInf(z, 0) {
		return Value{}
	}
	return Real(z)
}

// sign applies unary plus or minus. The negative of the smallest integer overflows and is absent.
func sign(op opcode, a Value) Value {
	switch {
	case op == opPlus:
		return a
	case a.kind == RealNumber:
		return Real(-a.Float())
	case a.n == math.MinInt64:
		return Value{}
	}
	return Int(-a.n)
}
