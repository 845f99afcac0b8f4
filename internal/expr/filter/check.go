package filter

import "quarry/internal/fault"

// opcode is the operation of a node.
type opcode uint8

const (
	opConst opcode = iota
	opRef
	opOr
	opAnd
	opNot
	opIn       // args[0] IN args[1:]
	opContains // args[0] (a reference) contains args[1]
	opIsNull
	opEq
	opNe
	opLt
	opLe
	opGt
	opGe
	opAdd
	opSub
	opMul
	opDiv
	opMod
	opNeg
	opPlus
)

// node is one operation of a parsed filter.
type node struct {
	op      opcode
	kind    Type  // of the result, 0 for null; set by check
	at      int   // byte offset, for messages
	grouped bool  // was in parentheses
	attr    int   // ordinal of the attribute, of opRef
	value   Value // of opConst
	args    []*node
}

// check sets the type of every node, refuses operands of the wrong type, and rewrites comparisons with part.is_title
// (title.go).
func (p *parser) check(n *node) {
	for _, a := range n.args {
		p.check(a)
	}
	switch n.op {
	case opConst:
		n.kind = n.value.kind
	case opRef:
		n.kind = p.schema.all[n.attr].Type
	case opOr, opAnd, opNot:
		n.kind = Boolean
		for _, a := range n.args {
			p.condition(a)
		}
	case opIn, opContains:
		p.checkIn(n)
		p.rewriteTitleIn(n)
	case opIsNull:
		n.kind = Boolean
	case opEq, opNe, opLt, opLe, opGt, opGe:
		p.checkCompare(n)
		p.rewriteTitle(n)
	default:
		p.checkArithmetic(n)
	}
}

// condition refuses n unless it is a boolean expression.
func (p *parser) condition(n *node) {
	if n.kind == Boolean {
		return
	}
	if n.kind == 0 {
		panic(p.typeError(n.at, "null is not a condition"))
	}
	if n.kind.IsList() {
		panic(p.listHint(n))
	}
	panic(p.typeError(n.at, "a condition is needed here, but this is %s; compare it with =, <>, < or IN", n.kind))
}

// listHint returns the error of a list where a scalar is needed, which shows how lists are used.
func (p *parser) listHint(n *node) *fault.Fault {
	name := "the list"
	if n.op == opRef {
		name = p.schema.all[n.attr].key()
	}
	return p.typeError(n.at, "%s is %s: ask what it contains with value IN %s", name, n.kind, name)
}

func (p *parser) checkIn(n *node) {
	n.kind = Boolean
	if n.op == opContains {
		list, x := n.args[0], n.args[1]
		if x.kind.IsList() {
			panic(p.listHint(x))
		}
		if !comparable(list.kind.Element(), x.kind) {
			panic(p.typeError(x.at, "%s holds %s, which can't be compared with %s", p.schema.all[list.attr].key(), list.kind.Element(), x.kind))
		}
		return
	}
	x := n.args[0]
	if x.kind.IsList() {
		panic(p.listHint(x))
	}
	for _, e := range n.args[1:] {
		if e.kind.IsList() {
			panic(p.listHint(e))
		}
		if !comparable(x.kind, e.kind) {
			panic(p.typeError(e.at, "%s can't be compared with %s", e.kind, x.kind))
		}
	}
}

// comparable reports whether values of the two types can be compared with =; null can be with everything.
func comparable(a, b Type) bool {
	return a == 0 || b == 0 || a == b || a.numeric() && b.numeric()
}

func (p *parser) checkCompare(n *node) {
	n.kind = Boolean
	a, b := n.args[0], n.args[1]
	null := a.kind == 0 && a.op == opConst || b.kind == 0 && b.op == opConst // one is the literal null
	equality := n.op == opEq || n.op == opNe
	if null && equality {
		return
	}
	for _, x := range n.args {
		if x.kind.IsList() {
			panic(p.listHint(x))
		}
	}
	ordered := a.kind.numeric() && b.kind.numeric() || a.kind == TextType && b.kind == TextType
	if ordered || equality && comparable(a.kind, b.kind) {
		return
	}
	if null {
		panic(p.typeError(n.at, "null can be compared with =, <>, IS NULL and IS NOT NULL only"))
	}
	panic(p.typeError(n.at, "%s can't be compared with %s", a.kind, b.kind))
}

func (p *parser) checkArithmetic(n *node) {
	n.kind = Integer
	for _, a := range n.args {
		switch {
		case a.kind.IsList():
			panic(p.listHint(a))
		case a.kind == 0 && a.op == opConst: // arithmetic with null is null
		case !a.kind.numeric():
			panic(p.typeError(a.at, "arithmetic needs numbers, but this is %s", a.kind))
		}
		if a.kind == RealNumber {
			n.kind = RealNumber
		}
	}
	if n.op == opDiv {
		n.kind = RealNumber
	}
}
