package filter

import "slices"

// The index sets part.is_title only for titles, but clients select all other parts with part.is_title = false. So
// "= false" is rewritten to "<> true", which also holds for unset parts, and "<> false" to "= true" (contract:
// metadata-filters.md section 6). This is done by check, so that it holds for both evaluation and normalising.

// rewriteTitle rewrites an equality of part.is_title with false.
func (p *parser) rewriteTitle(n *node) {
	if n.op != opEq && n.op != opNe || !p.titleFalse(n.args[0], n.args[1]) {
		return
	}
	title := n.args[0]
	if title.op != opRef {
		title = n.args[1]
	}
	n.op = map[opcode]opcode{opEq: opNe, opNe: opEq}[n.op]
	n.args = []*node{title, {op: opConst, kind: Boolean, value: Bool(true)}}
}

// rewriteTitleIn rewrites IN to equalities if one of them compares part.is_title with false.
func (p *parser) rewriteTitleIn(n *node) {
	x, rest := n.args[0], n.args[1:]
	if !slices.ContainsFunc(rest, func(e *node) bool { return p.titleFalse(x, e) }) {
		return
	}
	either := &node{op: opOr, kind: Boolean, at: n.at}
	for _, e := range rest {
		if isNull(e) {
			continue // in a list, null equals nothing
		}
		eq := &node{op: opEq, kind: Boolean, at: n.at, args: []*node{x, e}}
		p.rewriteTitle(eq)
		either.args = append(either.args, eq)
	}
	*n = *either
}

// titleFalse reports whether one of a and b is part.is_title and the other is constant false.
func (p *parser) titleFalse(a, b *node) bool {
	if a.op != opRef {
		a, b = b, a
	}
	return a.op == opRef && p.schema.all[a.attr].key() == "part.is_title" && isFalse(b)
}

func isFalse(n *node) bool {
	return n.constant() && n.kind == Boolean && !n.eval(nil).Bool()
}
