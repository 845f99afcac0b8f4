package filter

import (
	"strconv"
	"strings"
)

// Key returns a condition as text that no other condition under the same schema has: attributes are their ordinals,
// operators stand in front. It is for looking results up, not for reading.
func Key(n Node) string {
	var b strings.Builder
	appendNode(&b, n)
	return b.String()
}

func appendNode(b *strings.Builder, n Node) {
	b.WriteByte('(')
	switch n := n.(type) {
	case And:
		appendNodes(b, "and", n.Nodes)
	case Or:
		appendNodes(b, "or", n.Nodes)
	case Not:
		appendNodes(b, "not", []Node{n.Node})
	case Const:
		b.WriteString(strconv.FormatBool(n.Holds))
	case Compare:
		b.WriteString("op" + strconv.Itoa(int(n.Op)) + " " + strconv.Itoa(n.Attr))
		appendValues(b, n.Const)
	case In:
		b.WriteString("in " + strconv.Itoa(n.Attr))
		appendValues(b, n.Consts...)
	case Contains:
		b.WriteString("has " + strconv.Itoa(n.Attr))
		appendValues(b, n.Const)
	case IsNull:
		b.WriteString("null " + strconv.Itoa(n.Attr))
	case General:
		b.WriteString("general ")
		n.expr.append(b)
	}
	b.WriteByte(')')
}

func appendNodes(b *strings.Builder, op string, nodes []Node) {
	b.WriteString(op)
	for _, n := range nodes {
		appendNode(b, n)
	}
}

// appendValues appends values with their types: 1 and 1.0 divide alike and are not the same.
func appendValues(b *strings.Builder, vs ...Value) {
	for _, v := range vs {
		b.WriteString(" " + strconv.Itoa(int(v.kind)) + ":" + v.String())
	}
}

func (n *node) append(b *strings.Builder) {
	b.WriteString("(" + strconv.Itoa(int(n.op)))
	switch n.op {
	case opConst:
		appendValues(b, n.value)
	case opRef:
		b.WriteString(" " + strconv.Itoa(n.attr))
	}
	for _, a := range n.args {
		a.append(b)
	}
	b.WriteByte(')')
}
