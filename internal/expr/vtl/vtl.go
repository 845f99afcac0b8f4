// Package vtl implements the template language of prompts, a subset of Apache Velocity 1.7. It has no macros, no inclusion,
// no evaluation of text and no reflection: a template can only call the methods that this package defines for a value's
// type or that an Object provides. Values are never parsed as templates. If a template produces JSON, values are written as
// JSON (output.go).
//
// Rendering is deterministic and bounded in loops, steps, memory and output. Package generate compiles prompts with it. It
// does not escape HTML. docs/guide/prompts.md describes the language to users.
package vtl

import (
	"fmt"
	"unicode/utf8"
)

// MaxTemplate is the maximum length of a template in bytes.
const MaxTemplate = 1 << 20

// maxNesting bounds the nesting of blocks, parentheses and the like, and so the recursion of parsing and evaluation.
const maxNesting = 100

// Template is a compiled template. It is safe for concurrent use.
type Template struct {
	root []node
	json bool // see writesJSON
}

// Parse compiles a template. Any error is a *SyntaxError.
func Parse(text string) (*Template, error) {
	if len(text) > MaxTemplate {
		return nil, &SyntaxError{Line: 1, Column: 1, Text: fmt.Sprintf("the template has %d bytes, the most is %d", len(text), MaxTemplate)}
	}
	if !utf8.ValidString(text) {
		return nil, &SyntaxError{Line: 1, Column: 1, Text: "the template is not valid UTF-8"}
	}
	p := &parser{text: text}
	root, err := p.template()
	if err != nil {
		return nil, p.located(err)
	}
	return &Template{root: root, json: writesJSON(root)}, nil
}

// JSON reports whether the template produces JSON, so that values are written as JSON.
func (t *Template) JSON() bool { return t.json }

// SyntaxError is the error of a template that does not compile.
type SyntaxError struct {
	Line, Column int // from 1; the column is in characters
	Text         string
}

// Error returns the position and the text of the error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("syntax error at line %d, column %d: %s", e.Line, e.Column, e.Text)
}

// Limits bound a rendering. Zero fields have the values of Defaults.
type Limits struct {
	Loops  int // iterations of all #foreach together
	Steps  int // nodes evaluated
	Output int // bytes of the result
	Memory int // bytes of intermediate strings and lists
}

// Defaults are the limits of prompts (contract: generation-and-citations, section 3.2).
var Defaults = Limits{Loops: 10_000, Steps: 1_000_000, Output: 2 << 20, Memory: 32 << 20}

// withDefaults returns l with the defaults for fields that are zero.
func (l Limits) withDefaults() Limits {
	for _, pair := range []struct {
		value *int
		or    int
	}{{&l.Loops, Defaults.Loops}, {&l.Steps, Defaults.Steps}, {&l.Output, Defaults.Output}, {&l.Memory, Defaults.Memory}} {
		if *pair.value == 0 {
			*pair.value = pair.or
		}
	}
	return l
}

// LimitError is the error of a rendering that exceeds one of its limits.
type LimitError struct {
	Limit string // "loop", "step", "output" or "memory"
	Most  int
	Line  int // in the template; 0 if unknown
}

// Error returns a message with the limit and the line.
func (e *LimitError) Error() string {
	unit := map[string]string{
		"loop": "iterations of #foreach", "step": "steps", "output": "bytes of output", "memory": "bytes of intermediate strings and lists",
	}[e.Limit]
	text := fmt.Sprintf("the template exceeds the %s limit of %d %s", e.Limit, e.Most, unit)
	if e.Line > 0 {
		text += fmt.Sprintf(" at line %d", e.Line)
	}
	return text
}
