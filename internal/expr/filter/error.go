package filter

import (
	"fmt"
	"strings"

	"quarry/internal/expr"
)

// prefix begins every message about a filter. Clients test for it, so it must not change.
const prefix = "INVALID_ARGUMENT: The filter expression contains an error. "

// Error is a filter that does not compile.
type Error struct {
	Line, Col    int      // of a syntax or type error: line from 1, column from 0 in code points
	Text         string   // what is wrong
	Unrecognized []string // references that name no attribute, in order of appearance
	syntax       bool     // a syntax error rather than a type error
}

// Detail returns the message without the common prefix, for field_errors.
func (e *Error) Detail() string {
	switch {
	case len(e.Unrecognized) > 0:
		return "Unrecognized references: " + strings.Join(e.Unrecognized, ", ")
	case e.syntax:
		return fmt.Sprintf("Syntax error at %d:%d %s", e.Line, e.Col, e.Text)
	case e.Line > 0:
		return fmt.Sprintf("Type error at %d:%d %s", e.Line, e.Col, e.Text)
	}
	return e.Text
}

// Message returns the complete text, for messages[].
func (e *Error) Message() string { return prefix + e.Detail() }

// Error returns Message.
func (e *Error) Error() string { return e.Message() }

func (p *parser) syntax(at int, format string, args ...any) *Error {
	line, col := expr.Position(p.text, at)
	return &Error{Line: line, Col: col, Text: fmt.Sprintf(format, args...), syntax: true}
}

func (p *parser) typeError(at int, format string, args ...any) *Error {
	line, col := expr.Position(p.text, at)
	return &Error{Line: line, Col: col, Text: fmt.Sprintf(format, args...)}
}
