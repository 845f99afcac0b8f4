// Package syntax parses templates into trees. It evaluates nothing; package vtl does that.
package syntax

import (
	"fmt"
	"unicode/utf8"
)

// MaxTemplate is the maximum length of a template in bytes.
const MaxTemplate = 1 << 20

// maxNesting bounds the nesting of blocks, parentheses and the like, and so the recursion of parsing and evaluation.
const maxNesting = 100

// Parse returns the tree of a template. Any error is an *Error.
func Parse(text string) (root []Node, err error) {
	if len(text) > MaxTemplate {
		return nil, &Error{Line: 1, Column: 1, Text: fmt.Sprintf("the template has %d bytes, the most is %d", len(text), MaxTemplate)}
	}
	if !utf8.ValidString(text) {
		return nil, &Error{Line: 1, Column: 1, Text: "the template is not valid UTF-8"}
	}
	p := &parser{text: text}
	if failed := attempt(func() { root = p.template() }); failed != nil {
		return nil, p.located(failed)
	}
	return root, nil
}

// Error is the error of a template that does not compile.
type Error struct {
	Line, Column int // from 1; the column is in characters
	Text         string
}

// Error returns the position and the text of the error.
func (e *Error) Error() string {
	return fmt.Sprintf("syntax error at line %d, column %d: %s", e.Line, e.Column, e.Text)
}
