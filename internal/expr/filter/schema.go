package filter

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Level is what an attribute belongs to.
type Level uint8

// The two levels.
const (
	Document Level = iota
	Part
)

// String returns the prefix of references to the level.
func (l Level) String() string {
	if l == Part {
		return "part"
	}
	return "doc"
}

// Attribute is one attribute that filters may refer to.
type Attribute struct {
	Level Level
	Name  string
	Type  Type
}

// Schema holds the attributes of a corpus: the declared ones in order, followed by the built-ins that are not declared
// as well. It is immutable. The ordinal of an attribute is its position in Attributes.
type Schema struct {
	all      []Attribute
	declared int
	find     map[string]int
	longest  int // length of the longest name, in bytes
}

// builtins are the attributes that need no declaration (contract: metadata-filters.md section 6).
var builtins = []Attribute{
	{Document, "id", TextType}, {Part, "lang", TextType}, {Part, "is_title", Boolean},
}

// NewSchema returns a schema with the declared attributes. It is an error if a level has two of the same name. A declared
// attribute that is a built-in has the type of the built-in, whatever its declaration.
func NewSchema(declared []Attribute) (*Schema, error) {
	s := &Schema{declared: len(declared), find: map[string]int{}}
	for _, a := range declared {
		if _, ok := s.find[a.key()]; ok {
			return nil, fmt.Errorf("attribute %s is declared twice", a.key())
		}
		for _, b := range builtins {
			if a.key() == b.key() {
				a.Type = b.Type
			}
		}
		s.add(a)
	}
	for _, a := range builtins {
		if _, ok := s.find[a.key()]; !ok {
			s.add(a)
		}
	}
	return s, nil
}

func (a Attribute) key() string { return a.Level.String() + "." + a.Name }

func (s *Schema) add(a Attribute) {
	s.find[a.key()] = len(s.all)
	s.longest = max(s.longest, len(a.Name))
	s.all = append(s.all, a)
}

// Attributes returns all attributes by ordinal. The caller must not modify them.
func (s *Schema) Attributes() []Attribute { return s.all }

// Find returns the ordinal of an attribute.
func (s *Schema) Find(l Level, name string) (ordinal int, ok bool) {
	ordinal, ok = s.find[l.String()+"."+name]
	return ordinal, ok
}

// Mismatch is a metadata value that does not have the type of its attribute.
type Mismatch struct {
	Name string // of the attribute
	Text string // what it must be and what it is
}

// Values returns the attribute values of one level, by ordinal, from metadata decoded with json.Decoder.UseNumber. The
// values of the other level are absent, and so is doc.id, which is not metadata. A name is a key, or, if there is no such
// key, a path of keys separated by periods. Null is absent. A value of the wrong type is absent and reported, unless the
// attribute is an undeclared built-in, for which metadata may hold anything under its name.
func (s *Schema) Values(l Level, metadata map[string]any) ([]Value, []Mismatch) {
	out := make([]Value, len(s.all))
	var bad []Mismatch
	for i, a := range s.all {
		if a.Level != l || l == Document && a.Name == "id" {
			continue
		}
		raw, ok := lookup(metadata, a.Name)
		if !ok || raw == nil {
			continue
		}
		v, ok := convert(raw, a.Type)
		if ok {
			out[i] = v
		} else if i < s.declared {
			bad = append(bad, Mismatch{a.Name, fmt.Sprintf("must be %s, as the corpus declares it, but %s", a.Type, describe(raw, a.Type))})
		}
	}
	return out, bad
}

func lookup(m map[string]any, name string) (any, bool) {
	if v, ok := m[name]; ok {
		return v, true
	}
	for i := range len(name) {
		if name[i] != '.' {
			continue
		}
		if inner, ok := m[name[:i]].(map[string]any); ok {
			if v, ok := lookup(inner, name[i+1:]); ok {
				return v, true
			}
		}
	}
	return nil, false
}

func convert(raw any, t Type) (Value, bool) {
	if t.IsList() {
		return convertList(raw, t)
	}
	switch x := raw.(type) {
	case json.Number:
		if t == Integer {
			return integer(string(x))
		}
		f, err := x.Float64()
		return Real(f), t == RealNumber && err == nil
	case string:
		return Text(x), t == TextType
	case bool:
		return Bool(x), t == Boolean
	}
	return Value{}, false
}

func convertList(raw any, t Type) (Value, bool) {
	list, ok := raw.([]any)
	if !ok {
		return Value{}, false
	}
	out := make([]Value, len(list))
	for i, e := range list {
		if out[i], ok = convert(e, t.Element()); !ok {
			return Value{}, false
		}
	}
	return List(t, out...), true
}

// integer converts a JSON number that is an integer of 64 bits, even if written as 3.0 or 1e3. It works on the digits,
// since a float64 would round large numbers.
func integer(s string) (Value, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return Int(n), true
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	sign := ""
	if rest, ok := strings.CutPrefix(mantissa, "-"); ok {
		sign, mantissa = "-", rest
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	kept := strings.TrimRight(digits, "0")
	if kept == "" {
		return Int(0), true
	}
	shift, err := strconv.Atoi(cmp.Or(exponent, "0"))
	if err != nil {
		return Value{}, false // an exponent that long is a fraction or out of range
	}
	zeros := shift - len(fraction) + len(digits) - len(kept)
	if zeros < 0 || zeros > 18 {
		return Value{}, false
	}
	n, err := strconv.ParseInt(sign+kept+strings.Repeat("0", zeros), 10, 64)
	return Int(n), err == nil
}

// describe returns what raw is instead of a value of type t; for a list, which element is wrong.
func describe(raw any, t Type) string {
	list, ok := raw.([]any)
	if !ok || !t.IsList() {
		return "is " + article(raw)
	}
	for i, e := range list {
		if _, ok := convert(e, t.Element()); !ok {
			return fmt.Sprintf("element %d is %s", i, article(e))
		}
	}
	return "is a list"
}

func article(raw any) string {
	switch x := raw.(type) {
	case json.Number:
		if len(x) > 40 {
			return "a number of many digits"
		}
		return "the number " + string(x)
	case string:
		if len(x) > 40 {
			return "a text"
		}
		return fmt.Sprintf("the text %q", x)
	case bool:
		return fmt.Sprintf("the boolean %t", x)
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "null"
}
