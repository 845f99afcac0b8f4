package metadata

import (
	"cmp"
	"encoding/json"
	"strings"

	"quarry/internal/expr"
)

// truth is the value of a condition in the logic of SQL.
type truth int8

const (
	no truth = iota - 1
	unknown
	yes
)

func known(b bool) truth {
	if b {
		return yes
	}
	return no
}

// node is a condition.
type node interface{ eval(metadata any) truth }

// operand is a value: nil (null), bool, string, int64, float64, []any, or map[string]any.
type operand interface{ value(metadata any) any }

type constant struct{ is any }

func (c constant) value(any) any { return c.is }

// reference is a name: that of a member, or with periods the path to a member of members. A member whose own name has
// periods comes before a path.
type reference string

func (r reference) value(metadata any) any {
	rest := string(r)
	for {
		object, ok := metadata.(map[string]any)
		if !ok {
			return nil
		}
		if v, ok := object[rest]; ok {
			return scalar(v)
		}
		first, after, more := strings.Cut(rest, ".")
		if !more {
			return nil
		}
		metadata, rest = object[first], after
	}
}

// scalar returns a decoded number as an int64 or float64, and any other value as it is.
func scalar(v any) any {
	n, ok := v.(json.Number)
	if !ok {
		return v
	}
	if i, err := n.Int64(); err == nil {
		return i
	}
	f, err := n.Float64()
	if err != nil {
		return nil // beyond what a number can be
	}
	return f
}

// junction is AND or OR: one condition that is decides makes the whole so.
type junction struct {
	decides truth
	all     []node
}

func (j junction) eval(metadata any) truth {
	out := -j.decides
	for _, n := range j.all {
		switch n.eval(metadata) {
		case j.decides:
			return j.decides
		case unknown:
			out = unknown
		}
	}
	return out
}

type not struct{ of node }

func (n not) eval(metadata any) truth { return -n.of.eval(metadata) }

// boolean is an operand that stands alone.
type boolean struct{ of operand }

func (b boolean) eval(metadata any) truth {
	if is, ok := b.of.value(metadata).(bool); ok {
		return known(is)
	}
	return unknown
}

type absent struct{ of operand }

func (a absent) eval(metadata any) truth { return known(a.of.value(metadata) == nil) }

// comparisons are the symbols of comparison.
var comparisons = []string{"=", "!=", "<>", "<", "<=", ">", ">="}

type comparison struct {
	op          string
	left, right operand
}

func (c comparison) eval(metadata any) truth {
	a, b := c.left.value(metadata), c.right.value(metadata)
	switch c.op {
	case "=":
		return equal(a, b)
	case "!=", "<>":
		return -equal(a, b)
	}
	if order, ok := compare(a, b); ok {
		return known(expr.Ordered(c.op, order))
	}
	return unknown
}

// equal compares two values. Those of different kinds differ; null, arrays and objects cannot be compared.
func equal(a, b any) truth {
	if order, ok := compare(a, b); ok {
		return known(order == 0)
	}
	if single(a) && single(b) {
		return no
	}
	return unknown
}

// single reports whether v is a boolean, a text or a number.
func single(v any) bool {
	switch v.(type) {
	case bool, string, int64, float64:
		return true
	}
	return false
}

// compare compares two numbers, two texts (by code points) or two booleans; ok is false for any other pair.
func compare(a, b any) (order int, ok bool) {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return strings.Compare(x, y), ok
	case bool:
		y, ok := b.(bool)
		switch {
		case x == y:
			return 0, ok
		case x:
			return 1, ok
		}
		return -1, ok
	case int64:
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y), true
		}
	}
	x, isNumber := number(a)
	y, also := number(b)
	return cmp.Compare(x, y), isNumber && also
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// member is IN: a value is one of several, of which an array counts as its elements.
type member struct {
	left operand
	of   []operand
}

func (m member) eval(metadata any) truth {
	x, out := m.left.value(metadata), no
	for _, o := range m.of {
		v := o.value(metadata)
		elements, ok := v.([]any)
		if !ok {
			elements = []any{v}
		}
		for _, e := range elements {
			if is := equal(x, scalar(e)); is > out {
				out = is
			}
		}
		if out == yes {
			break
		}
	}
	return out
}

type like struct {
	left    operand
	pattern pattern
}

func (l like) eval(metadata any) truth {
	s, ok := l.left.value(metadata).(string)
	if !ok {
		return unknown
	}
	return known(l.pattern.matches(s))
}
