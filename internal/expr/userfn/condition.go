package userfn

import (
	"fmt"
	"strings"
	"time"
)

// Condition is a parsed condition: an expression of the language that holds for a JSON document or not. It differs from a
// program in two points (contract: agents.md, section 3.2). get selects from the document, and a comparison with a side
// that is null is false, for != too, unless one side is the literal null. A Condition is safe for concurrent use.
type Condition struct{ root node }

// ParseCondition parses and checks a condition. Any error is an *Error.
func ParseCondition(text string) (*Condition, error) {
	p := &parser{text: text, judging: true}
	root, err := p.parse()
	if err != nil {
		return nil, err
	}
	return &Condition{root}, nil
}

// Holds reports whether the condition is true for a document, which is decoded JSON: a value that is neither null, false
// nor the number 0. now is the value of the function now(). Operands of the wrong kinds, such as those of 'a' < 1, are an
// error, which is for the log; then the condition does not hold, whatever the rest of it is.
func (c *Condition) Holds(document any, now time.Time) (bool, error) {
	r := &run{Batch: &Batch{now: now}, judging: true, subject: document}
	v := c.root.eval(r)
	if r.wrong != nil {
		return false, r.wrong
	}
	return v.holds(), nil
}

// mismatched records that what, an operator or a function, has no meaning for these operands, and returns null.
func (r *run) mismatched(what string, operands ...value) value {
	if r.judging && r.wrong == nil {
		kinds := make([]string, len(operands))
		for i, v := range operands {
			kinds[i] = v.kind.String()
		}
		r.wrong = fmt.Errorf("%s has no meaning for %s", what, strings.Join(kinds, " and "))
	}
	return nothing
}
