package vtl

import "strings"

// node is a piece of a template that writes.
type node interface{}

// text is written as it stands.
type text string

// backslashes stand before a reference or directive that they do not escape: as many as there are in JSON, where a
// pair means one, and half as many otherwise.
type backslashes int

// set is #set ($name = value).
type set struct {
	name  string
	value expression
}

// branch is one condition of #if with its block; the condition of #else is nil.
type branch struct {
	condition expression
	block     []node
}

// choice is #if … #end.
type choice struct{ branches []branch }

// loop is #foreach ($name in list) … #end.
type loop struct {
	name  string
	list  expression
	block []node
	line  int
}

// leave is #break.
type leave struct{}

// expression is a piece of a template that has a value.
type expression interface{}

// literal is a value that the template spells out.
type literal struct{ value Value }

// quoted is a double-quoted string with references in it: texts and *reference.
type quoted struct{ parts []node }

// reference is $name with what follows it.
type reference struct {
	source string // as written
	quiet  bool
	name   string
	path   []access
	line   int
}

// access is .name, .name(arguments) or [index].
type access struct {
	name      string // "" for an index
	call      bool
	arguments []expression
	index     expression
}

// listing is [a, b].
type listing struct{ items []expression }

// span is [from..to].
type span struct{ from, to expression }

// mapping is {"key": value}; keys and values alternate.
type mapping struct{ items []expression }

// unary is !x or -x.
type unary struct {
	operator string
	operand  expression
}

// binary is a chain a op b op c of operators of one precedence, evaluated from the left; a chain is flat so that a long
// one needs no deep recursion.
type binary struct {
	first expression
	rest  []operation
}

type operation struct {
	operator string
	operand  expression
}

// writesJSON reports whether a template writes JSON: what it begins with is an object's "{" and the quote of its first
// key, or an array's "[" and such an object, and it ends with the bracket that closes it. What a template begins and
// ends with is its own text: blanks, directives and comments do not count, a reference does. A template without
// references that begins with a bracket writes JSON, too, if it is any.
func writesJSON(root []node) bool {
	const kept = 4
	var head []byte // the first significant bytes; 0 stands for a reference
	var last byte
	refers := false
	add := func(b byte) {
		if len(head) < kept {
			head = append(head, b)
		}
		last = b
	}
	var walk func(block []node)
	walk = func(block []node) {
		for _, n := range block {
			switch n := n.(type) {
			case text:
				for i := 0; i < len(n); i++ {
					if b := n[i]; b != ' ' && b != '\n' && b != '\t' && b != '\r' {
						add(b)
					}
				}
			case *reference:
				refers = true
				add(0)
			case choice:
				for _, b := range n.branches {
					walk(b.block)
				}
			case loop:
				walk(n.block)
			}
		}
	}
	walk(root)
	switch begins := string(head); {
	case !refers:
		return strings.HasPrefix(begins, "[") || strings.HasPrefix(begins, "{")
	case strings.HasPrefix(begins, `{"`):
		return last == '}'
	case strings.HasPrefix(begins, `[{"`), begins == "[\x00"+`{"`: // a reference here is a comma, at times
		return last == ']'
	}
	return false
}
