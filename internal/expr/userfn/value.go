package userfn

import (
	"cmp"
	"encoding/json"
	"math"
	"strings"

	"quarry/internal/expr"
)

type kind uint8

// String returns the kind as messages name it.
func (k kind) String() string {
	return [...]string{"null", "a number", "a string", "a boolean", "a datetime", "a duration", "an array or object"}[k]
}

const (
	null kind = iota
	number
	text
	boolean  // num is 1 or 0
	datetime // num is seconds since the epoch
	duration // num is seconds
	compound // a JSON array or object, which can only be compared with null
)

// value is a value of the language.
type value struct {
	kind kind
	num  float64
	str  string
}

var nothing = value{}

// mismatch is the null that operands of the wrong kinds make. It is null in every respect, but conditions report it.
var mismatch = value{num: 1}

// double returns the number x, or null if it is not finite.
func double(x float64) value { return quantity(number, x) }

// quantity is double for any kind that is stored in num.
func quantity(k kind, x float64) value {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nothing
	}
	return value{kind: k, num: x}
}

// truth returns the boolean b.
func truth(b bool) value {
	if b {
		return value{kind: boolean, num: 1}
	}
	return value{kind: boolean}
}

// holds reports whether v is true as a condition: any value but null, false and the number 0.
func (v value) holds() bool {
	switch v.kind {
	case null:
		return false
	case number, boolean:
		return v.num != 0
	}
	return true
}

// fromJSON converts a decoded JSON value.
func fromJSON(v any) value {
	switch x := v.(type) {
	case nil:
		return nothing
	case bool:
		return truth(x)
	case string:
		return value{kind: text, str: x}
	case json.Number:
		f, err := x.Float64()
		if err != nil {
			return nothing
		}
		return double(f)
	case float64:
		return double(x)
	}
	return value{kind: compound}
}

// arithmetic applies + - * / % to two values. A boolean counts as 1 or 0. Kinds that cannot be combined are a mismatch.
func arithmetic(op string, a, b value) value {
	a, b = asNumber(a), asNumber(b)
	switch {
	case a.kind == null || b.kind == null:
		return nothing
	case a.kind == number && b.kind == number:
		return double(expr.Reals(op[0], a.num, b.num))
	case (op == "+" || op == "-") && sumKind(op, a.kind, b.kind) != null:
		return quantity(sumKind(op, a.kind, b.kind), expr.Reals(op[0], a.num, b.num))
	case op == "*" && a.kind == duration && b.kind == number, op == "*" && a.kind == number && b.kind == duration,
		op == "/" && a.kind == duration && b.kind == number:
		return quantity(duration, expr.Reals(op[0], a.num, b.num))
	case op == "/" && a.kind == duration && b.kind == duration:
		return double(a.num / b.num)
	}
	return mismatch
}

func asNumber(v value) value {
	if v.kind == boolean {
		v.kind = number
	}
	return v
}

// sumKind returns the kind of a + b or a - b, unless both are numbers, or null if they cannot be combined.
func sumKind(op string, a, b kind) kind {
	switch {
	case a == datetime && b == datetime && op == "-", a == duration && b == duration:
		return duration
	case a == datetime && b == duration, a == duration && b == datetime && op == "+":
		return datetime
	case a == datetime && b == number && op == "-": // the number is taken as seconds since the epoch
		return number
	}
	return null
}

// equal implements ==. Null equals only null, and values of different kinds differ. An array or object is a
// mismatch, unless it is compared with null.
func equal(a, b value) value {
	switch {
	case a.kind == null || b.kind == null:
		return truth(a.kind == b.kind)
	case a.kind == compound || b.kind == compound:
		return mismatch
	}
	return truth(a == b)
}

// less implements the order comparisons <, <=, > and >=. They are false if one side is null, and a mismatch for
// values of different kinds.
func less(op string, a, b value) value {
	switch {
	case a.kind == null || b.kind == null:
		return truth(false)
	case a.kind != b.kind || a.kind == compound:
		return mismatch
	}
	if a.kind == text {
		return truth(expr.Ordered(op, strings.Compare(a.str, b.str)))
	}
	return truth(expr.Ordered(op, cmp.Compare(a.num, b.num)))
}
