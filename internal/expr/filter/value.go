package filter

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// Type is the type of an attribute.
type Type uint8

// The types of the contract; the list types hold elements of the scalar ones.
const (
	Integer Type = iota + 1
	RealNumber
	TextType
	Boolean
	IntegerList
	RealList
	TextList
)

// ParseType returns the type with this name, in any of the contract's spellings, old and new.
func ParseType(s string) (Type, bool) {
	t, ok := map[string]Type{
		"integer": Integer, "real": RealNumber, "real_number": RealNumber, "text": TextType, "boolean": Boolean,
		"list[integer]": IntegerList, "list[real]": RealList, "list[real_number]": RealList, "list[text]": TextList,
	}[s]
	return t, ok
}

// String returns the name of the type in messages.
func (t Type) String() string {
	return [...]string{"null", "integer", "real", "text", "boolean", "list[integer]", "list[real_number]", "list[text]"}[t]
}

// IsList reports whether t is a list type.
func (t Type) IsList() bool { return t >= IntegerList && t <= TextList }

// Element returns the type of the elements of a list type; for a scalar type it returns t.
func (t Type) Element() Type {
	switch t {
	case IntegerList:
		return Integer
	case RealList:
		return RealNumber
	case TextList:
		return TextType
	}
	return t
}

func (t Type) numeric() bool { return t == Integer || t == RealNumber }

// Value is the value of an attribute for one document or part. The zero Value is absent. Values are small (40 bytes)
// and can be compared with ==, which compares lists by identity; Equal compares them as the language does.
type Value struct {
	kind Type  // 0 if absent
	n    int64 // the integer, the bits of the real number, or 1 for true
	s    string
	list *[]Value // nil unless kind is a list
}

// Int returns an integer value.
func Int(n int64) Value { return Value{kind: Integer, n: n} }

// Real returns a real value, which is absent if f is NaN.
func Real(f float64) Value {
	if math.IsNaN(f) {
		return Value{}
	}
	return Value{kind: RealNumber, n: int64(math.Float64bits(f))}
}

// Text returns a text value.
func Text(s string) Value { return Value{kind: TextType, s: s} }

// Bool returns a boolean value.
func Bool(b bool) Value {
	v := Value{kind: Boolean}
	if b {
		v.n = 1
	}
	return v
}

// List returns a value of the list type t. An empty list is not absent.
func List(t Type, elements ...Value) Value { return Value{kind: t, list: &elements} }

// Kind returns the type of the value, or 0 if it is absent.
func (v Value) Kind() Type { return v.kind }

// IsAbsent reports whether there is no value.
func (v Value) IsAbsent() bool { return v.kind == 0 }

// Integer returns the number of an Integer value.
func (v Value) Integer() int64 { return v.n }

// Float returns the number of an Integer or RealNumber value.
func (v Value) Float() float64 {
	if v.kind == Integer {
		return float64(v.n)
	}
	return math.Float64frombits(uint64(v.n))
}

// Text returns the text of a TextType value.
func (v Value) Text() string { return v.s }

// Bool reports whether v is the boolean true.
func (v Value) Bool() bool { return v.kind == Boolean && v.n != 0 }

// Elements returns the elements of a list. The caller must not modify them.
func (v Value) Elements() []Value {
	if v.list == nil {
		return nil
	}
	return *v.list
}

// Equal reports whether two values are equal in the language. Numbers are compared by value, even if their types differ.
// An absent value equals nothing, not even another absent value.
func Equal(a, b Value) bool {
	c, ok := Order(a, b)
	return ok && c == 0
}

// Order compares two numbers, two texts (by code points) or two booleans; the result is negative, 0 or positive. ok is
// false for any other pair, which has no order.
func Order(a, b Value) (order int, ok bool) {
	switch {
	case a.kind == Integer && b.kind == Integer, a.kind == Boolean && b.kind == Boolean:
		return cmp.Compare(a.n, b.n), true
	case a.kind.numeric() && b.kind.numeric():
		return cmp.Compare(a.Float(), b.Float()), true
	case a.kind == TextType && b.kind == TextType:
		return strings.Compare(a.s, b.s), true // UTF-8 sorts by code points
	}
	return 0, false
}

// String returns the value as it is written in a filter.
func (v Value) String() string {
	switch {
	case v.kind == Integer:
		return strconv.FormatInt(v.n, 10)
	case v.kind == RealNumber:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case v.kind == TextType:
		return "'" + strings.ReplaceAll(v.s, "'", "''") + "'"
	case v.kind == Boolean:
		return strconv.FormatBool(v.n != 0)
	case v.kind.IsList():
		parts := make([]string, len(v.Elements()))
		for i, e := range v.Elements() {
			parts[i] = e.String()
		}
		return "(" + strings.Join(parts, ", ") + ")"
	}
	return "null"
}
