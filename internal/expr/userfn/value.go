package userfn

import (
	"encoding/json"
	"math"
)

type kind uint8

const (
	null kind = iota
	number
	text
	boolean  // num is 1 or 0
	datetime // num is seconds since the epoch
	duration // num is seconds
	compound // a JSON array or object: can be asked for null, and nothing else
)

type value struct {
	kind kind
	num  float64
	str  string
}

var nothing = value{}

// double gives a number, or null where mathematics has none.
func double(x float64) value { return quantity(number, x) }

func quantity(k kind, x float64) value {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nothing
	}
	return value{kind: k, num: x}
}

func truth(b bool) value {
	if b {
		return value{kind: boolean, num: 1}
	}
	return value{kind: boolean}
}

// holds is the value as a condition.
func (v value) holds() bool {
	switch v.kind {
	case null:
		return false
	case number, boolean:
		return v.num != 0
	}
	return true
}

// fromJSON gives the value of a decoded JSON value.
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

// arithmetic applies + - * / % to two values. A boolean counts as 1 or 0. What has no meaning is null.
func arithmetic(op string, a, b value) value {
	a, b = asNumber(a), asNumber(b)
	switch {
	case a.kind == number && b.kind == number:
		return double(calculate(op, a.num, b.num))
	case op == "+" || op == "-":
		return quantity(sumKind(op, a.kind, b.kind), calculate(op, a.num, b.num))
	case op == "*" && a.kind == duration && b.kind == number, op == "*" && a.kind == number && b.kind == duration,
		op == "/" && a.kind == duration && b.kind == number:
		return quantity(duration, calculate(op, a.num, b.num))
	case op == "/" && a.kind == duration && b.kind == duration:
		return double(a.num / b.num)
	}
	return nothing
}

func asNumber(v value) value {
	if v.kind == boolean {
		v.kind = number
	}
	return v
}

// sumKind is the kind of a sum or difference that is not of two numbers; null when there is none.
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

func calculate(op string, a, b float64) float64 {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	}
	return math.Mod(a, b)
}

// equal is ==; null equals null alone, values of different kinds are not equal. Arrays and objects can be compared
// with null alone.
func equal(a, b value) value {
	switch {
	case a.kind == null || b.kind == null:
		return truth(a.kind == b.kind)
	case a.kind == compound || b.kind == compound:
		return nothing
	}
	return truth(a == b)
}

// less is < (op "<") and its kin. Null is neither less nor more; values of different kinds have no order.
func less(op string, a, b value) value {
	switch {
	case a.kind == null || b.kind == null:
		return truth(false)
	case a.kind != b.kind || a.kind == compound:
		return nothing
	}
	below, above := a.num < b.num, a.num > b.num
	if a.kind == text {
		below, above = a.str < b.str, a.str > b.str
	}
	switch op {
	case "<":
		return truth(below)
	case "<=":
		return truth(!above)
	case ">":
		return truth(above)
	}
	return truth(!below)
}
