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

// ParseType reads the contract's spellings, old and new.
func ParseType(s string) (Type, bool) {
	t, ok := map[string]Type{
		"integer": Integer, "real": RealNumber, "real_number": RealNumber, "text": TextType, "boolean": Boolean,
		"list[integer]": IntegerList, "list[real]": RealList, "list[real_number]": RealList, "list[text]": TextList,
	}[s]
	return t, ok
}

// String is the type's name in messages.
func (t Type) String() string {
	switch t {
	case Integer:
		return "integer"
	case RealNumber:
		return "real"
	case TextType:
		return "text"
	case Boolean:
		return "boolean"
	case IntegerList:
		return "list[integer]"
	case RealList:
		return "list[real_number]"
	case TextList:
		return "list[text]"
	}
	return "null"
}

// IsList reports whether t is a list type.
func (t Type) IsList() bool { return t >= IntegerList && t <= TextList }

// Element gives the type of a list's elements; a scalar type gives itself.
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

// Value is what an attribute holds for one document or part. The zero value is absent. Its 40 bytes can be copied and
// compared with ==, which tells a list by identity; Equal has the meaning of the language.
type Value struct {
	kind Type  // 0 = absent
	n    int64 // the integer, the bits of the real number, or 1 for true
	s    string
	list *[]Value // nil unless kind is a list
}

// Int, Real, Text and Bool make scalar values.
func Int(n int64) Value { return Value{kind: Integer, n: n} }

// Real makes a real number; what is not a number is absent.
func Real(f float64) Value {
	if math.IsNaN(f) {
		return Value{}
	}
	return Value{kind: RealNumber, n: int64(math.Float64bits(f))}
}

// Text makes a text.
func Text(s string) Value { return Value{kind: TextType, s: s} }

// Bool makes a boolean.
func Bool(b bool) Value {
	v := Value{kind: Boolean}
	if b {
		v.n = 1
	}
	return v
}

// List makes a list of type t; an empty one is a value, not absence.
func List(t Type, elements ...Value) Value { return Value{kind: t, list: &elements} }

// Kind is the value's type, 0 when it is absent.
func (v Value) Kind() Type { return v.kind }

// IsAbsent reports whether there is no value.
func (v Value) IsAbsent() bool { return v.kind == 0 }

// Integer gives the number of an Integer value.
func (v Value) Integer() int64 { return v.n }

// Float gives the number of an Integer or RealNumber value.
func (v Value) Float() float64 {
	if v.kind == Integer {
		return float64(v.n)
	}
	return math.Float64frombits(uint64(v.n))
}

// Text gives the text of a TextType value.
func (v Value) Text() string { return v.s }

// Bool gives the truth of a Boolean value; false when absent.
func (v Value) Bool() bool { return v.kind == Boolean && v.n != 0 }

// Elements gives the elements of a list. The caller must not modify them.
func (v Value) Elements() []Value {
	if v.list == nil {
		return nil
	}
	return *v.list
}

// Equal reports whether two values are equal: numbers by value whatever their type, texts and booleans exactly. Absent
// equals nothing, not even absent.
func Equal(a, b Value) bool {
	c, ok := Order(a, b)
	return ok && c == 0
}

// Order orders two numbers, two texts (by code points) or two booleans; ok is false for anything else.
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

// String shows the value as a filter would write it.
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
