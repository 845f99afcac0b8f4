package vtl

import (
	"math"
	"strings"
)

// eval returns the value of an expression, or nil if it has none.
func (r *run) eval(e expression) Value {
	if !r.step(1) {
		return nil
	}
	switch e := e.(type) {
	case literal:
		return e.value
	case *reference:
		return r.reference(e)
	case quoted:
		return r.quoted(e)
	case listing:
		return r.list(e.items)
	case span:
		return r.span(e)
	case mapping:
		return r.mapping(e.items)
	case unary:
		v := r.eval(e.operand)
		if e.operator == "!" {
			return !truth(v)
		}
		return r.arithmetic("-", int64(0), v)
	case binary:
		return r.binary(e)
	}
	return nil
}

// textOf returns v, the value of e, as text. An undefined reference renders as its source text, or as nothing when quiet
// ($!x).
func (r *run) textOf(e expression, v Value) string {
	if s, ok := v.(string); ok {
		return s
	}
	if n, ok := e.(*reference); ok && v == nil {
		if n.quiet {
			return ""
		}
		return n.source
	}
	return r.string(v)
}

// string returns a value as text, charged to the memory limit.
func (r *run) string(v Value) string {
	if s, ok := v.(string); ok {
		return s
	}
	p := printer{most: max(0, r.limits.Memory-r.memory)}
	p.plain(v)
	if p.full {
		r.exceed("memory", r.limits.Memory)
		return ""
	}
	if !r.alloc(p.out.Len()) {
		return ""
	}
	return p.out.String()
}

func (r *run) quoted(q quoted) Value {
	var parts []string
	size := 0
	for _, n := range q.parts {
		part := ""
		switch n := n.(type) {
		case text:
			part = string(n)
		case *reference:
			part = r.textOf(n, r.reference(n))
		}
		if size += len(part); r.memory+size > r.limits.Memory { // fail before the parts exceed the limit
			r.alloc(size)
		}
		if r.failed != nil {
			return nil
		}
		parts = append(parts, part)
	}
	return r.join(parts...)
}

// join returns the concatenation of parts, charged to the memory limit.
func (r *run) join(parts ...string) Value {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if !r.alloc(size) {
		return nil
	}
	return strings.Join(parts, "")
}

// textStep is the number of bytes of a text whose processing counts as a step.
const textStep = 64

// slot is the approximate size of an element of a list or map in bytes.
const slot = 32

func (r *run) list(items []expression) Value {
	if !r.alloc(slot * (1 + len(items))) {
		return nil
	}
	out := make(List, len(items))
	for i, item := range items {
		out[i] = r.eval(item)
	}
	return out
}

func (r *run) span(e span) Value {
	from, ok := r.eval(e.from).(int64)
	to, also := r.eval(e.to).(int64)
	if !ok || !also {
		return nil
	}
	step := int64(1)
	if to < from {
		step = -1
	}
	size := math.Abs(float64(to)-float64(from)) + 1
	if size > float64(r.limits.Loops) { // a loop over it would exceed the limit anyway
		r.exceed("loop", r.limits.Loops)
		return nil
	}
	if !r.step(int(size)) || !r.alloc(slot*int(size)) {
		return nil
	}
	out := make(List, int(size))
	for i := range out {
		out[i] = from + int64(i)*step
	}
	return out
}

func (r *run) mapping(items []expression) Value {
	if !r.alloc(3 * slot * (1 + len(items))) {
		return nil
	}
	out := &Map{}
	for i := 0; i+1 < len(items); i += 2 {
		key := r.textOf(items[i], r.eval(items[i]))
		out.Put(key, r.eval(items[i+1]))
	}
	return out
}

// binary evaluates a chain of operators of one precedence. && and || short-circuit.
func (r *run) binary(e binary) Value {
	v, operand := r.eval(e.first), e.first
	for _, o := range e.rest {
		if r.failed != nil {
			return nil
		}
		switch o.operator {
		case "&&":
			v = truth(v) && truth(r.eval(o.operand))
		case "||":
			v = truth(v) || truth(r.eval(o.operand))
		case "==":
			v = r.equal(v, r.eval(o.operand))
		case "!=":
			v = !r.equal(v, r.eval(o.operand))
		case "<", "<=", ">", ">=":
			v = r.compare(o.operator, v, r.eval(o.operand))
		case "+":
			v = r.add(operand, v, o.operand)
		default:
			v = r.arithmetic(o.operator, v, r.eval(o.operand))
		}
		operand = nil // v is no longer the value of a single expression
	}
	return v
}

// add adds numbers, and concatenates if one of the operands is a text.
func (r *run) add(left expression, a Value, right expression) Value {
	b := r.eval(right)
	_, first := a.(string)
	_, second := b.(string)
	if first || second {
		return r.join(r.textOf(left, a), r.textOf(right, b))
	}
	return r.arithmetic("+", a, b)
}

// arithmetic applies an operator to numbers. The result of integers is an integer unless it overflows, and nil if there is
// no finite result.
func (r *run) arithmetic(operator string, a, b Value) Value {
	x, whole := a.(int64)
	y, also := b.(int64)
	if whole && also {
		if n, ok := integers(operator, x, y); ok {
			return n
		}
		if y == 0 && (operator == "/" || operator == "%") {
			return nil
		}
	}
	f, ok := float(a)
	g, too := float(b)
	if !ok || !too {
		return nil
	}
	switch operator {
	case "+":
		f += g
	case "-":
		f -= g
	case "*":
		f *= g
	case "/":
		f /= g
	case "%":
		f = math.Mod(f, g)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return f
}

// integers applies an operator to integers; ok is false if the result overflows or does not exist.
func integers(operator string, x, y int64) (n int64, ok bool) {
	switch operator {
	case "+":
		n = x + y
		return n, (n > x) == (y > 0)
	case "-":
		n = x - y
		return n, (n < x) == (y > 0)
	case "*":
		if x == 0 || y == 0 {
			return 0, true
		}
		n = x * y
		return n, n/y == x && !(x == -1 && y == math.MinInt64) && !(y == -1 && x == math.MinInt64)
	case "/":
		if y == 0 || x == math.MinInt64 && y == -1 {
			return 0, false
		}
		return x / y, true
	}
	if y == 0 || y == -1 {
		return 0, y == -1
	}
	return x % y, true
}

func float(v Value) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// equal compares numbers by value, and all other values by the text that they render as. Nil equals only nil.
func (r *run) equal(a, b Value) bool {
	if !r.step(1) {
		return false
	}
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			return x == y
		}
	}
	f, ok := float(a)
	g, also := float(b)
	if ok && also {
		return f == g
	}
	s, t := r.string(a), r.string(b)
	return r.step(min(len(s), len(t))/textStep) && s == t
}

// compare compares two numbers, or two texts by code points. The result is false for any other pair.
func (r *run) compare(operator string, a, b Value) bool {
	f, ok := float(a)
	g, also := float(b)
	if ok && also {
		return ordered(operator, f, g)
	}
	s, ok := a.(string)
	t, also := b.(string)
	return ok && also && r.step(min(len(s), len(t))/textStep) && ordered(operator, s, t)
}

func ordered[T float64 | string](operator string, a, b T) bool {
	switch operator {
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	}
	return a >= b
}

// reference returns the value of a reference, or nil if it is undefined.
func (r *run) reference(n *reference) Value {
	r.line = n.line
	v := r.vars[n.name]
	for _, a := range n.path {
		if v == nil || !r.step(1) {
			return nil
		}
		switch {
		case a.name == "":
			v = r.index(v, r.eval(a.index))
		case a.call:
			arguments := make([]Value, len(a.arguments))
			for i, e := range a.arguments {
				arguments[i] = r.eval(e)
			}
			r.line = n.line
			v = r.call(v, a.name, arguments)
		default:
			v = r.property(v, a.name)
		}
	}
	return v
}

func (r *run) index(v, at Value) Value {
	switch v := v.(type) {
	case List:
		if i, ok := at.(int64); ok {
			return item(v, i)
		}
	case *Map:
		if key, ok := at.(string); ok {
			found, _ := v.Get(key)
			return found
		}
	case Object:
		return r.ask(v, "get", []Value{at})
	}
	return nil
}

func item(l List, i int64) Value {
	if i < 0 || i >= int64(len(l)) {
		return nil
	}
	return l[i]
}

func (r *run) property(v Value, name string) Value {
	switch v := v.(type) {
	case *Map:
		found, _ := v.Get(name)
		return found
	case Object:
		return r.ask(v, name, nil)
	}
	return nil
}
