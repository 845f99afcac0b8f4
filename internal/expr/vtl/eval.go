package vtl

import (
	"cmp"
	"math"
	"strings"

	"quarry/internal/expr"
	"quarry/internal/expr/vtl/syntax"
)

// eval returns the value of an expression, or nil if it has none.
func (r *run) eval(e syntax.Expression) Value {
	if !r.step(1) {
		return nil
	}
	switch e := e.(type) {
	case syntax.Literal:
		return e.Value
	case *syntax.Reference:
		return r.reference(e)
	case syntax.Quoted:
		return r.quoted(e)
	case syntax.List:
		return r.list(e.Items)
	case syntax.Range:
		return r.span(e)
	case syntax.Map:
		return r.mapping(e.Items)
	case syntax.Unary:
		v := r.eval(e.Operand)
		if e.Operator == "!" {
			return !truth(v)
		}
		return r.arithmetic("-", int64(0), v)
	case syntax.Binary:
		return r.binary(e)
	}
	return nil
}

// textOf returns v, the value of e, as text. An undefined reference renders as its source text, or as nothing when quiet
// ($!x).
func (r *run) textOf(e syntax.Expression, v Value) string {
	if s, ok := v.(string); ok {
		return s
	}
	if n, ok := e.(*syntax.Reference); ok && v == nil {
		if n.Quiet {
			return ""
		}
		return n.Source
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

func (r *run) quoted(q syntax.Quoted) Value {
	var parts []string
	size := 0
	for _, n := range q.Parts {
		part := ""
		switch n := n.(type) {
		case syntax.Text:
			part = string(n)
		case *syntax.Reference:
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

func (r *run) list(items []syntax.Expression) Value {
	if !r.alloc(slot * (1 + len(items))) {
		return nil
	}
	out := make(List, len(items))
	for i, item := range items {
		out[i] = r.eval(item)
	}
	return out
}

func (r *run) span(e syntax.Range) Value {
	from, ok := r.eval(e.From).(int64)
	to, also := r.eval(e.To).(int64)
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

func (r *run) mapping(items []syntax.Expression) Value {
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
func (r *run) binary(e syntax.Binary) Value {
	v, operand := r.eval(e.First), e.First
	for _, o := range e.Rest {
		if r.failed != nil {
			return nil
		}
		switch o.Operator {
		case "&&":
			v = truth(v) && truth(r.eval(o.Operand))
		case "||":
			v = truth(v) || truth(r.eval(o.Operand))
		case "==":
			v = r.equal(v, r.eval(o.Operand))
		case "!=":
			v = !r.equal(v, r.eval(o.Operand))
		case "<", "<=", ">", ">=":
			v = r.compare(o.Operator, v, r.eval(o.Operand))
		case "+":
			v = r.add(operand, v, o.Operand)
		default:
			v = r.arithmetic(o.Operator, v, r.eval(o.Operand))
		}
		operand = nil // v is no longer the value of a single expression
	}
	return v
}

// add adds numbers, and concatenates if one of the operands is a text.
func (r *run) add(left syntax.Expression, a Value, right syntax.Expression) Value {
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
		if n, ok := expr.Integers(operator[0], x, y); ok {
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
	f = expr.Reals(operator[0], f, g)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return f
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
		return expr.Ordered(operator, cmp.Compare(f, g))
	}
	s, ok := a.(string)
	t, also := b.(string)
	return ok && also && r.step(min(len(s), len(t))/textStep) && expr.Ordered(operator, strings.Compare(s, t))
}

// reference returns the value of a reference, or nil if it is undefined.
func (r *run) reference(n *syntax.Reference) Value {
	r.line = n.Line
	v := r.vars[n.Name]
	for _, a := range n.Path {
		if v == nil || !r.step(1) {
			return nil
		}
		switch {
		case a.Name == "":
			v = r.index(v, r.eval(a.Index))
		case a.Call:
			arguments := make([]Value, len(a.Arguments))
			for i, e := range a.Arguments {
				arguments[i] = r.eval(e)
			}
			r.line = n.Line
			v = r.call(v, a.Name, arguments)
		default:
			v = r.property(v, a.Name)
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
