package syntax

import "strings"

// Node is a node of a template that produces output.
type Node interface{}

// Text is literal text.
type Text string

// Backslashes are an even number of backslashes before a reference or directive, which they do not escape. Half of them
// are output, or all of them in JSON, where each pair is an escape of its own.
type Backslashes int

// Set is #set ($name = value).
type Set struct {
	Name  string
	Value Expression
}

// Branch is one condition of #if with its block; the condition of #else is nil.
type Branch struct {
	Condition Expression
	Block     []Node
}

// If is #if … #end.
type If struct{ Branches []Branch }

// Foreach is #foreach ($name in list) … #end.
type Foreach struct {
	Name  string
	List  Expression
	Block []Node
	Line  int
}

// Break is #break.
type Break struct{}

// Expression is a node of a template that has a value.
type Expression interface{}

// Literal is a literal value: nil, a bool, int64, float64 or string.
type Literal struct{ Value any }

// Quoted is a double-quoted string with references in it: Text and *Reference.
type Quoted struct{ Parts []Node }

// Reference is $name and the path that follows it.
type Reference struct {
	Source string // as written
	Quiet  bool   // $!name
	Name   string
	Path   []Access
	Line   int
}

// Access is .name, .name(arguments) or [index].
type Access struct {
	Name      string // "" for an index
	Call      bool
	Arguments []Expression
	Index     Expression
}

// List is [a, b].
type List struct{ Items []Expression }

// Range is [from..to].
type Range struct{ From, To Expression }

// Map is {"key": value}; keys and values alternate.
type Map struct{ Items []Expression }

// Unary is !x or -x.
type Unary struct {
	Operator string
	Operand  Expression
}

// Binary is a chain a op b op c of operators of one precedence, evaluated from left to right. It is flat, so that a long
// chain does not need deep recursion.
type Binary struct {
	First Expression
	Rest  []Operation
}

// Operation is an operator and what stands behind it.
type Operation struct {
	Operator string
	Operand  Expression
}

// WritesJSON reports whether a template produces JSON: it begins with the "{" of an object and the quote of its first key,
// or with the "[" of an array and such an object, and it ends with the matching bracket. White space, directives and
// comments are ignored; a reference is not. For a template without references it suffices that it begins with a bracket.
func WritesJSON(root []Node) bool {
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
	var walk func(block []Node)
	walk = func(block []Node) {
		for _, n := range block {
			switch n := n.(type) {
			case Text:
				for i := 0; i < len(n); i++ {
					if b := n[i]; b != ' ' && b != '\n' && b != '\t' && b != '\r' {
						add(b)
					}
				}
			case *Reference:
				refers = true
				add(0)
			case If:
				for _, b := range n.Branches {
					walk(b.Block)
				}
			case Foreach:
				walk(n.Block)
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
