// Package userfn is the language of user functions: one expression that gives a result its new score, evaluated once
// per result. There are no statements, variables or loops, so a program ends after as many steps as it has nodes, and
// the bounds on its text bound its time. Package rerank calls it; the package reads nothing but its arguments and
// keeps no state between results.
//
// The contract is in three tables: syntax (parse.go), values and operators (value.go), functions (function.go).
package userfn

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"quarry/internal/expr"
)

// Bounds of a program.
const (
	maxText  = 16 << 10 // bytes
	maxDepth = 100      // expressions inside one another
	maxNodes = 2_000
)

// Error says why a text is no program. Line counts from 1, Column from 0.
type Error struct {
	Line, Column int
	Reason       string
}

func (e *Error) Error() string {
	return fmt.Sprintf("Syntax error at %d:%d %s", e.Line, e.Column, e.Reason)
}

// Program is a checked user function. Safe for concurrent use.
type Program struct {
	root    node
	passage bool
}

// Parse reads and checks a program; the error is an *Error.
func Parse(text string) (*Program, error) {
	if len(text) > maxText {
		return nil, &Error{1, 0, fmt.Sprintf("the function is longer than %d bytes", maxText)}
	}
	p := &parser{text: text}
	p.scan()
	root := p.program()
	if p.bad != nil {
		line, column := expr.Position(text, p.bad.offset)
		return nil, &Error{line, column, p.bad.reason}
	}
	return &Program{root: root, passage: p.passage}, nil
}

// ReadsPassage reports whether the program asks for text, document id or metadata; a Result needs only Index if not.
func (p *Program) ReadsPassage() bool { return p.passage }

// Result is what a program can ask about. The metadata are JSON objects.
type Result struct {
	Index            int // position among the scores of the Batch
	Text             string
	DocumentID       string
	DocumentMetadata json.RawMessage
	PartMetadata     json.RawMessage
}

// Batch is what the results of one run have in common. Not safe for concurrent use.
type Batch struct {
	now    time.Time
	scores []float64
	knees  map[knee][]bool
}

// NewBatch gives a batch of results with these scores, as of now.
func NewBatch(now time.Time, scores []float64) *Batch {
	return &Batch{now: now, scores: scores, knees: map[knee][]bool{}}
}

// Score evaluates the program for one result; ok is false when it gives null. It never fails: what goes wrong on the
// way is null for that result.
func (p *Program) Score(b *Batch, r Result) (score float64, ok bool) {
	v := p.root.eval(&run{Batch: b, result: r})
	switch v.kind {
	case number, boolean, duration, datetime:
		return v.num, !math.IsNaN(v.num) && !math.IsInf(v.num, 0)
	}
	return 0, false
}

// run is the evaluation for one result.
type run struct {
	*Batch
	result   Result
	document decoded
	part     decoded
}

// decoded is metadata, decoded at first use.
type decoded struct {
	done  bool
	value any
}
