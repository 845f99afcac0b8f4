package snowball

import (
	"fmt"
	"math"
	"strconv"
)

// value is an arithmetic expression.
type value func(*machine) int

// arithmetic reads what follows "$": a comparison, or an assignment to an integer.
func (p *parser) arithmetic(d mode) (command, error) {
	if inside, err := p.accept("("); err != nil {
		return nil, err
	} else if inside {
		c, err := p.comparison(d)
		if err != nil {
			return nil, err
		}
		return c, p.expect(")")
	}
	if p.now.kind != word {
		return p.comparison(d)
	}
	n, assignable := p.numbers["integers"][p.now.text]
	left, err := p.sum(d)
	if err != nil {
		return nil, err
	}
	op := p.now.text
	set, ok := assignments[op]
	if !ok || !assignable {
		return p.compared(d, left)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	right, err := p.sum(d)
	return func(m *machine) bool {
		m.integers[n] = set(m.integers[n], right(m))
		return true
	}, err
}

var assignments = map[string]func(a, b int) int{
	"=":  func(_, b int) int { return b },
	"+=": func(a, b int) int { return a + b },
	"-=": func(a, b int) int { return a - b },
	"*=": func(a, b int) int { return a * b },
	"/=": divide,
}

var relations = map[string]func(a, b int) bool{
	"<":  func(a, b int) bool { return a < b },
	"<=": func(a, b int) bool { return a <= b },
	">":  func(a, b int) bool { return a > b },
	">=": func(a, b int) bool { return a >= b },
	"==": func(a, b int) bool { return a == b },
	"!=": func(a, b int) bool { return a != b },
}

func divide(a, b int) int {
	if b == 0 {
		return 0
	}
	return a / b
}

func (p *parser) comparison(d mode) (command, error) {
	left, err := p.sum(d)
	if err != nil {
		return nil, err
	}
	return p.compared(d, left)
}

// compared reads the rest of a comparison.
func (p *parser) compared(d mode, left value) (command, error) {
	holds, ok := relations[p.now.text]
	if !ok {
		return nil, p.unexpected()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	right, err := p.sum(d)
	return func(m *machine) bool { return holds(left(m), right(m)) }, err
}

// sum reads terms that are added and subtracted.
func (p *parser) sum(d mode) (value, error) {
	return p.operations([]string{"+", "-"}, func() (value, error) {
		return p.operations([]string{"*", "/"}, func() (value, error) { return p.factor(d) })
	})
}

// operations reads operands with these two operators between them.
func (p *parser) operations(signs []string, operand func() (value, error)) (value, error) {
	out, err := operand()
	for err == nil && (p.is(signs[0]) || p.is(signs[1])) {
		op := p.now.text
		if err = p.advance(); err != nil {
			break
		}
		a := out
		var b value
		if b, err = operand(); err == nil {
			apply := assignments[op+"="]
			out = func(m *machine) int { return apply(a(m), b(m)) }
		}
	}
	return out, err
}

func (p *parser) factor(d mode) (value, error) {
	t := p.now
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch {
	case t.kind == number:
		n, err := strconv.Atoi(t.text)
		return func(*machine) int { return n }, err
	case t.kind == sign && t.text == "-":
		v, err := p.factor(d)
		return func(m *machine) int { return -v(m) }, err
	case t.kind == sign && t.text == "(":
		v, err := p.sum(d)
		if err != nil {
			return nil, err
		}
		return v, p.expect(")")
	case t.kind == word:
		return p.quantity(d, t)
	}
	return nil, fmt.Errorf("line %d: %q is no number", t.line, t.text)
}

// quantity reads a name in an expression, which has been read.
func (p *parser) quantity(d mode, t token) (value, error) {
	switch t.text {
	case "cursor":
		return func(m *machine) int { return m.cursor }, nil
	case "limit":
		if d == backward {
			return func(m *machine) int { return m.behind }, nil
		}
		return func(m *machine) int { return m.limit }, nil
	case "len", "size":
		return func(m *machine) int { return len(m.text) }, nil
	case "maxint":
		return func(*machine) int { return math.MaxInt32 }, nil
	case "minint":
		return func(*machine) int { return math.MinInt32 }, nil
	case "lenof", "sizeof":
		s, err := p.text()
		return func(m *machine) int { return len(s(m)) }, err
	}
	n, ok := p.numbers["integers"][t.text]
	if !ok {
		return nil, fmt.Errorf("line %d: %s is no integer", t.line, t.text)
	}
	return func(m *machine) int { return m.integers[n] }, nil
}
