// Package vtl implements the template language of prompts, a subset of Apache Velocity 1.7. It has no macros, no inclusion,
// no evaluation of text and no reflection: a template can only call the methods that this package defines for a value's
// type or that an Object provides. Values are never parsed as templates. If a template produces JSON, values are written as
// JSON (output.go), unless it is parsed by ParseText.
//
// Rendering is deterministic and bounded in loops, steps, memory and output. Package generate compiles prompts with it, and
// agents their instructions. It does not escape HTML. docs/guide/prompts.md describes the language to users.
package vtl

import (
	"cmp"
	"fmt"

	"quarry/internal/expr/vtl/syntax"
)

// MaxTemplate is the maximum length of a template in bytes.
const MaxTemplate = syntax.MaxTemplate

// SyntaxError is the error of a template that does not compile.
type SyntaxError = syntax.Error

// Template is a compiled template. It is safe for concurrent use.
type Template struct {
	root []syntax.Node
	json bool // see syntax.WritesJSON
}

// Parse compiles a template. Any error is a *SyntaxError.
func Parse(text string) (*Template, error) {
	root, err := syntax.Parse(text)
	if err != nil {
		return nil, err
	}
	return &Template{root: root, json: syntax.WritesJSON(root)}, nil
}

// ParseText is Parse for a template that produces text for people or models, such as an instruction. Even if it looks like
// JSON, values are written as they are.
func ParseText(text string) (*Template, error) {
	root, err := syntax.Parse(text)
	if err != nil {
		return nil, err
	}
	return &Template{root: root}, nil
}

// JSON reports whether the template produces JSON, so that values are written as JSON.
func (t *Template) JSON() bool { return t.json }

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
	return Limits{
		cmp.Or(l.Loops, Defaults.Loops), cmp.Or(l.Steps, Defaults.Steps), cmp.Or(l.Output, Defaults.Output), cmp.Or(l.Memory, Defaults.Memory),
	}
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
