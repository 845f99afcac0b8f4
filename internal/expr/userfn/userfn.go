// Package userfn implements the language of user functions, which has two uses. A Program is evaluated once per result of
// a search, and its value is the result's new score; package rerank calls it. A Condition holds or not for one JSON
// document. There are no statements, variables or loops, so evaluation takes at most as many steps as the text has nodes,
// and the limits on the text bound its time. The package reads only its arguments.
//
// The parts of the language are in parse.go (syntax), value.go (values and operators) and function.go (functions).
package userfn

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"quarry/internal/expr"
)

// Limits of a program.
const (
	maxText  = 16 << 10 // bytes
	maxDepth = 100      // nested expressions
	maxNodes = 2_000
)

// Error is the error of a text that is not a program. Line counts from 1, Column from 0 in code points.
type Error struct {
	Line, Column int
	Reason       string
}

func (e *Error) Error() string {
	return fmt.Sprintf("Syntax error at %d:%d %s", e.Line, e.Column, e.Reason)
}

// Program is a parsed user function. It is safe for concurrent use.
type Program struct {
	root    node
	passage bool
}

// Parse parses and checks a program. Any error is an *Error.
func Parse(text string) (*Program, error) {
	p := &parser{text: text}
	root, err := p.parse()
	if err != nil {
		return nil, err
	}
	return &Program{root: root, passage: p.passage}, nil
}

// parse parses the whole text. Any error is an *Error.
func (p *parser) parse() (node, error) {
	if len(p.text) > maxText {
		return nil, &Error{1, 0, fmt.Sprintf("the %s is longer than %d bytes", p.noun(), maxText)}
	}
	p.scan()
	root := p.program()
	if p.bad != nil {
		line, column := expr.Position(p.text, p.bad.offset)
		return nil, &Error{line, column, p.bad.reason}
	}
	return root, nil
}

// ReadsPassage reports whether the program reads text, document id or metadata. If not, a Result needs only its Index.
func (p *Program) ReadsPassage() bool { return p.passage }

// Result is the input of a program. The metadata are JSON objects.
type Result struct {
	Index            int // position among the scores of the Batch
	Text             string
	DocumentID       string
	DocumentMetadata json.RawMessage
	PartMetadata     json.RawMessage
}

// Batch is what the results of one ranking share. It is not safe for concurrent use.
type Batch struct {
	now    time.Time
	scores []float64
	bands  []int           // how many scores there were after each Add
	knees  map[knee][]bool // by settings: which scores are kept
}

// NewBatch returns a batch of results with these scores; now is the value of the function now().
func NewBatch(now time.Time, scores []float64) *Batch {
	b := &Batch{now: now}
	b.Add(scores)
	return b
}

// Add adds the scores of results that stand behind those that are there, and returns the Index of the first. What was
// computed for the earlier ones still holds.
func (b *Batch) Add(scores []float64) (first int) {
	first = len(b.scores)
	b.scores, b.knees = append(b.scores, scores...), map[knee][]bool{}
	b.bands = append(b.bands, len(b.scores))
	return first
}

// Score evaluates the program for one result. ok is false if the score is null or not a number. There are no run-time
// errors: an operation without a meaning, such as a division by zero, is null.
func (p *Program) Score(b *Batch, r Result) (score float64, ok bool) {
	v := p.root.eval(&run{Batch: b, result: r})
	switch v.kind {
	case number, boolean, duration, datetime:
		return v.num, !math.IsNaN(v.num) && !math.IsInf(v.num, 0)
	}
	return 0, false
}

// run is the evaluation of a program for one result, or of a condition.
type run struct {
	*Batch
	result   Result
	document decoded
	part     decoded

	judging bool  // a condition is evaluated
	subject any   // its document
	wrong   error // the first mismatch in it
}

// decoded is metadata that is decoded when first used.
type decoded struct {
	done  bool
	value any
}
