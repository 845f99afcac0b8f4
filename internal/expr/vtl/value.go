package vtl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Value is nil (undefined), bool, int64, float64, string, List, *Map or an Object. Other types render as null.
type Value any

// List is a list of values.
type List []Value

// Object is a value with methods of its own. Implementations must be deterministic.
type Object interface {
	// Call returns the result of a method or the value of a property, which is a call without arguments. ok is false if
	// there is none that takes such arguments.
	Call(name string, arguments []Value) (v Value, ok bool)
	// JSON returns the representation of the object in output.
	JSON() []byte
}

// Map maps texts to values and keeps the order of insertion. The zero Map is empty and ready to use.
type Map struct {
	keys   []string
	values map[string]Value
}

// Put sets the value of a key. An existing key keeps its position.
func (m *Map) Put(key string, v Value) {
	if m.values == nil {
		m.values = map[string]Value{}
	}
	if _, ok := m.values[key]; !ok {
		m.keys = append(m.keys, key)
	}
	m.values[key] = v
}

// Get returns the value of a key; ok is false if there is none.
func (m *Map) Get(key string) (v Value, ok bool) {
	v, ok = m.values[key]
	return v, ok
}

// Len returns the number of keys.
func (m *Map) Len() int { return len(m.keys) }

// Keys returns the keys in order. The caller must not modify them.
func (m *Map) Keys() []string { return m.keys }

// FromJSON parses a JSON text. An object becomes a *Map in the same order, an array a List, and a number an int64 if it is
// written as an integer of 64 bits, else a float64.
func FromJSON(raw []byte) (Value, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := decode(d)
	if err != nil {
		return nil, fmt.Errorf("read JSON value: %w", err)
	}
	return v, nil
}

func decode(d *json.Decoder) (Value, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(t.String(), 10, 64); err == nil {
			return n, nil
		}
		f, err := t.Float64()
		return f, err
	case json.Delim:
		if t == '[' {
			return decodeList(d)
		}
		return decodeMap(d)
	}
	return token, nil // string, bool, nil
}

func decodeList(d *json.Decoder) (Value, error) {
	out := List{}
	for d.More() {
		v, err := decode(d)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := d.Token()
	return out, err
}

func decodeMap(d *json.Decoder) (Value, error) {
	out := &Map{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := decode(d)
		if err != nil {
			return nil, err
		}
		out.Put(key.(string), v) // keys are always strings
	}
	_, err := d.Token()
	return out, err
}

// truth reports whether a value is true as a condition: any value but nil and false is.
func truth(v Value) bool { return v != nil && v != false }

// printer writes values as text or JSON, up to most bytes; full is set if there are more. A value that occurs several times
// within another is written each time, and the limit bounds the time for that, too. Exceeding maxDepth also sets full.
type printer struct {
	out   bytes.Buffer
	most  int
	full  bool
	depth int
}

// maxDepth bounds the nesting of lists and maps that are written: a template can nest as deeply as it has steps.
const maxDepth = 10_000

func (p *printer) write(s string) {
	if p.full || p.out.Len()+len(s) > p.most {
		p.full = true
		return
	}
	p.out.WriteString(s)
}

// plain writes a value as text: a string unquoted, nil as nothing, and any other value as JSON.
func (p *printer) plain(v Value) {
	switch v := v.(type) {
	case nil:
	case string:
		p.write(v)
	default:
		p.json(v)
	}
}

// json writes a value as JSON.
func (p *printer) json(v Value) {
	if p.depth++; p.depth > maxDepth {
		p.full = true
	}
	defer func() { p.depth-- }()
	if p.full {
		return
	}
	switch v := v.(type) {
	case bool:
		p.write(strconv.FormatBool(v))
	case int64:
		p.write(strconv.FormatInt(v, 10))
	case float64:
		p.write(number(v))
	case string:
		p.write(`"`)
		p.escaped(v)
		p.write(`"`)
	case List:
		p.write("[")
		for i, item := range v {
			if i > 0 {
				p.write(",")
			}
			p.json(item)
			if p.full {
				return
			}
		}
		p.write("]")
	case *Map:
		p.object(v)
	case Object:
		p.write(string(v.JSON()))
	default:
		p.write("null")
	}
}

func (p *printer) object(m *Map) {
	p.write("{")
	for i, key := range m.keys {
		if i > 0 {
			p.write(",")
		}
		p.json(key)
		p.write(":")
		p.json(m.values[key])
		if p.full {
			return
		}
	}
	p.write("}")
}

// number returns a float as JSON, which is null if it is not finite.
func number(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "null"
	}
	raw, _ := json.Marshal(f) // does not fail for a finite number
	return string(raw)
}

// escaped writes a text as the inside of a JSON string. Characters that need no escape are not escaped, for readability.
func (p *printer) escaped(s string) {
	const hex = "0123456789abcdef"
	from := 0
	for i := 0; i < len(s); {
		b := s[i]
		if b >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				p.write(s[from:i])
				p.write(string(utf8.RuneError))
				from = i + 1
			}
			i += n
			continue
		}
		if b < ' ' || b == '"' || b == '\\' || b == 0x7f {
			p.write(s[from:i])
			if j := strings.IndexByte("\"\\\n\r\t\b\f", b); j >= 0 {
				p.write(`\` + `"\nrtbf`[j:j+1])
			} else {
				p.write(`\u00` + string(hex[b>>4]) + string(hex[b&15]))
			}
			from = i + 1
		}
		i++
	}
	p.write(s[from:])
}
