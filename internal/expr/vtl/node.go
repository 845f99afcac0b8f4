package vtl

import "strings"

// node is a node of a template that produces output.
type node interface{}

// text is literal text.
type text string

// backslashes are an even number of backslashes before a reference or directive, which they do not escape. Half of them
// are output, or all of them in JSON, where each pair is an escape of its own.
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

// expression is a node of a template that has a value.
type expression interface{}

// literal is a literal value.
type literal struct{ value Value }

// quoted is a double-quoted string with references in it: texts and *reference.
type quoted struct{ parts []node }

// reference is $name and the path that follows it.
type reference struct {
	source string // as written
	quiet  bool   // $!name
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

// binary is a chain a op b op c of operators of one precedence, evaluated from left to right. It is flat, so that a long
// chain does not need deep recursion.
type binary struct {
	first expression
	rest  []operation
}

type operation struct {
	operator string
	operand  expression
}

// writesJSON reports whether a template produces JSON: it begins with the "{" of an object and the quote of its first key,
// or with the "[" of an array and such an object, and it ends with the matching bracket. White space, directives and
// comments are ignored; a reference is not. For a template without references it suffices that it begins with a bracket.
func writesJSON(root []node) bool {
	const most = 4  // bytes of head that are compared
	var head []byte // the first significant bytes; 0 stands for a reference
	var last byte
	refers := false
	add := func(b byte) {
		if len(head) < most {
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
	case strings.HasPrefix(begins, `[{"`), begins == "[\x00"+`{"`: // the reference may produce a comma
		return last == ']'
	}
	return false
}
