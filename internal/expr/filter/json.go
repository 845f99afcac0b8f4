package filter

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// wireValue is a value as JSON: its type by name with what it holds, numbers as text, so that a real number keeps every bit
// and may be infinite. An absent value is null.
type wireValue struct {
	Type     string  `json:"type"`
	Value    string  `json:"value,omitempty"`
	Elements []Value `json:"elements,omitempty"`
}

// MarshalJSON returns a form that UnmarshalJSON reads, bit for bit.
func (v Value) MarshalJSON() ([]byte, error) {
	w := wireValue{Type: v.kind.String()}
	switch {
	case v.kind == 0:
		return []byte("null"), nil
	case v.kind.IsList():
		w.Elements = v.Elements()
	case v.kind == Integer:
		w.Value = strconv.FormatInt(v.n, 10)
	case v.kind == RealNumber:
		w.Value = strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case v.kind == Boolean:
		w.Value = strconv.FormatBool(v.Bool())
	default:
		w.Value = v.s
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *Value) UnmarshalJSON(b []byte) error {
	*v = Value{}
	if string(b) == "null" {
		return nil
	}
	var w wireValue
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	kind, ok := ParseType(w.Type)
	if !ok {
		return fmt.Errorf("value of type %q", w.Type)
	}
	switch kind {
	case Integer:
		n, err := strconv.ParseInt(w.Value, 10, 64)
		*v = Int(n)
		return err
	case RealNumber:
		f, err := strconv.ParseFloat(w.Value, 64)
		*v = Real(f)
		return err
	case Boolean:
		yes, err := strconv.ParseBool(w.Value)
		*v = Bool(yes)
		return err
	case TextType:
		*v = Text(w.Value)
	default:
		*v = List(kind, w.Elements...)
	}
	return nil
}

// MarshalJSON returns the declared attributes in order.
func (s *Schema) MarshalJSON() ([]byte, error) { return json.Marshal(s.all[:s.declared]) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Schema) UnmarshalJSON(b []byte) error {
	var all []Attribute
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	of, err := NewSchema(all)
	if err == nil {
		*s = *of
	}
	return err
}
