// Package vtl is the template language of prompts: a subset of Velocity 1.7 that reads what it is given and nothing
// else. It has no macros, no inclusion, no evaluation of text, no reflection; what a template can ask of a value is
// what the value's kind lists here or, for an Object, what its maker offers. Values are data: they are written into the
// result and never read as template. Where a template writes JSON, values are written as JSON (output.go).
//
// Rendering is deterministic and bounded in loops, steps, memory and output. Package generate compiles prompts with it;
// agents' instructions and tool descriptions will, later. It is not for HTML and knows nothing of passages or messages.
// docs/guide/prompts.md describes the language to its users.
package vtl

import (
	"fmt"
	"unicode/utf8"
)

// MaxTemplate is the longest template, in bytes.
const MaxTemplate = 1 << 20

// maxNesting bounds blocks, parentheses and the like inside one another, and so the recursion of parser and evaluation.
const maxNesting = 100

// Template is a compiled template, safe for concurrent use.
type Template struct {
	root []node
	json bool // writes JSON: see writesJSON
}

// Parse compiles a template. An error is a *SyntaxError.
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

// JSON reports whether the template writes JSON, so that values are written as such.
func (t *Template) JSON() bool { return t.json }

// SyntaxError is a template that does not compile.
type SyntaxError struct {
	Line, Column int // from 1; the column in characters
	Text         string
}

// Error tells where and what.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("syntax error at line %d, column %d: %s", e.Line, e.Column, e.Text)
}

// Limits bound one rendering. A zero takes the default.
type Limits struct {
	Loops  int // turns of all #foreach together
	Steps  int // nodes evaluated
	Output int // bytes of the result
	Memory int // bytes of strings and lists made on the way
}

// Defaults are the limits of prompts (contract: generation-and-citations, section 3.2).
var Defaults = Limits{Loops: 10_000, Steps: 1_000_000, Output: 2 << 20, Memory: 32 << 20}

func (l Limits) filled() Limits {
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

// LimitError is a rendering that one of its limits ended.
type LimitError struct {
	Limit string // "loop", "step", "output" or "memory"
	Most  int
	Line  int // of the template, where it happened; 0 when not known
}

// Error names the limit.
func (e *LimitError) Error() string {
	unit := map[string]string{
		"loop": "turns of #foreach", "step": "steps", "output": "bytes of output", "memory": "bytes of strings and lists made on the way",
	}[e.Limit]
	text := fmt.Sprintf("the template exceeds the %s limit of %d %s", e.Limit, e.Most, unit)
	if e.Line > 0 {
		text += fmt.Sprintf(" at line %d", e.Line)
	}
	return text
}
