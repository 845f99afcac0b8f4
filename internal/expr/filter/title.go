package filter

import "slices"

// The index leaves part.is_title unset for parts that are no titles, and clients ask for them with = false. So a
// comparison of the built-in with false is rewritten into one with true, which unset parts fail as well (contract:
// metadata-filters.md section 6). The rewriting is part of the check, before evaluation and normalising part ways.

// untitled rewrites an equality of part.is_title with false.
func (p *parser) untitled(n *node) {
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

// untitledIn rewrites IN into equalities where one of them compares part.is_title with false.
func (p *parser) untitledIn(n *node) {
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
		p.untitled(eq)
		either.args = append(either.args, eq)
	}
	*n = *either
}

func (p *parser) titleFalse(a, b *node) bool {
	if a.op != opRef {
		a, b = b, a
	}
	return a.op == opRef && p.schema.all[a.attr].key() == "part.is_title" && isFalse(b)
}

func isFalse(n *node) bool {
	return n.constant() && n.kind == Boolean && !n.eval(nil).Bool()
}
