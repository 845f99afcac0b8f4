package filter

import (
	"fmt"
	"strings"

	"quarry/internal/expr"
)

// prefix begins every message about a filter; clients test for it.
const prefix = "INVALID_ARGUMENT: The filter expression contains an error. "

// Error is a filter that does not compile.
type Error struct {
	Line, Col    int      // of a syntax or type error: line from 1, column from 0 in code points
	Text         string   // what is wrong
	Unrecognized []string // references that no attribute answers to, in order of appearance
	syntax       bool
}

// Detail says what is wrong in the filter alone, for field_errors.
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

// Message is the whole text for messages[].
func (e *Error) Message() string { return prefix + e.Detail() }

// Error is Message.
func (e *Error) Error() string { return e.Message() }

func (p *parser) syntax(at int, format string, args ...any) *Error {
	line, col := expr.Position(p.text, at)
	return &Error{Line: line, Col: col, Text: fmt.Sprintf(format, args...), syntax: true}
}

func (p *parser) mistyped(at int, format string, args ...any) *Error {
	line, col := expr.Position(p.text, at)
	return &Error{Line: line, Col: col, Text: fmt.Sprintf(format, args...)}
}
