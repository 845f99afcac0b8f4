// Package metadata implements the language that selects sessions by their metadata: a condition in the manner of SQL over
// one JSON object, such as plan = 'gold' AND "profile.country" IN ('US', 'CA'). Unlike the filters of corpora (package
// filter) it knows no attributes with types: names are looked up when it is evaluated, what is missing is null, and null
// makes a condition unknown, as in SQL (docs/decisions/0048). It reads only its arguments.
package metadata

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"quarry/internal/expr"
)

// MaxLength is the maximum length of a filter in characters. It also bounds the number of its parts.
const MaxLength = 8000

// maxDepth bounds nesting, so that no text can exhaust the stack.
const maxDepth = 200

// Error is the error of a text that is not a filter. Line counts from 1, Column from 0 in code points.
type Error struct {
	Line, Column int
	Reason       string
}

func (e *Error) Error() string {
	return fmt.Sprintf("Syntax error at %d:%d %s", e.Line, e.Column, e.Reason)
}

// Filter is a parsed filter. It is safe for concurrent use. A nil *Filter matches everything.
type Filter struct{ root node }

// Parse parses a filter. For blank text it returns nil. Any error is an *Error.
func Parse(text string) (f *Filter, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	if !utf8.ValidString(text) {
		return nil, &Error{1, 0, "the filter is not valid UTF-8"}
	}
	if n := utf8.RuneCountInString(text); n > MaxLength {
		return nil, &Error{1, 0, fmt.Sprintf("the filter has %d characters; at most %d are allowed", n, MaxLength)}
	}
	p := &parser{text: text, lex: expr.NewLexer(text)}
	defer func() {
		switch bad := recover().(type) {
		case nil:
		case *Error:
			f, err = nil, bad
		default:
			panic(bad)
		}
	}()
	p.next()
	root := p.or()
	if p.tok.Kind != expr.End {
		panic(p.unexpected("AND, OR or the end"))
	}
	return &Filter{root}, nil
}

// Matches reports whether the filter is true for metadata, which is decoded JSON. It is not if the filter is false or
// unknown.
func (f *Filter) Matches(metadata any) bool { return f == nil || f.root.eval(metadata) == yes }
