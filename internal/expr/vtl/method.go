package vtl

import (
	"strings"
	"unicode/utf8"
)

// call returns the result of a method, or nil if the value has no such method.
func (r *run) call(v Value, name string, arguments []Value) Value {
	if o, ok := v.(Object); ok {
		return r.ask(o, name, arguments)
	}
	switch {
	case name == "toString" && len(arguments) == 0:
		return r.string(v)
	case name == "equals" && len(arguments) == 1:
		return r.equal(v, arguments[0])
	}
	switch v := v.(type) {
	case string:
		return r.text(v, name, arguments)
	case List:
		return r.listed(v, name, arguments)
	case *Map:
		return r.mapped(v, name, arguments)
	}
	return nil
}

// ask calls an object. The result is charged by its size, since the object may have created it for this call.
func (r *run) ask(o Object, name string, arguments []Value) Value {
	found, _ := o.Call(name, arguments)
	switch v := found.(type) {
	case string:
		r.step(len(v) / textStep)
	case List:
		if r.step(len(v)) {
			r.alloc(slot * len(v))
		}
	}
	return found
}

// text calls a method of a text. Positions and lengths are in characters, and those beyond the end mean the end. Arguments
// that are not texts are rendered to text where a method expects one.
func (r *run) text(s, name string, arguments []Value) Value {
	if !r.step(1 + len(s)/textStep) { // long texts take longer
		return nil
	}
	switch len(arguments) {
	case 0:
		return r.transformed(s, name)
	case 1:
		if arguments[0] == nil {
			return nil
		}
		if name == "substring" {
			return substring(s, arguments[0], int64(utf8.RuneCountInString(s)))
		}
		if name == "charAt" {
			return charAt(s, arguments[0])
		}
		return r.compared(s, name, r.string(arguments[0]))
	case 2:
		if name == "substring" {
			return substring(s, arguments[0], arguments[1])
		}
		if name == "replace" && arguments[0] != nil && arguments[1] != nil {
			return r.replace(s, r.string(arguments[0]), r.string(arguments[1]))
		}
	}
	return nil
}

func (r *run) transformed(s, name string) Value {
	switch name {
	case "length":
		return int64(utf8.RuneCountInString(s))
	case "isEmpty":
		return s == ""
	case "trim":
		return strings.TrimSpace(s)
	case "toLowerCase":
		return r.join(strings.ToLower(s))
	case "toUpperCase":
		return r.join(strings.ToUpper(s))
	}
	return nil
}

func (r *run) compared(s, name, with string) Value {
	switch name {
	case "contains":
		return strings.Contains(s, with)
	case "startsWith":
		return strings.HasPrefix(s, with)
	case "endsWith":
		return strings.HasSuffix(s, with)
	case "equalsIgnoreCase":
		return strings.EqualFold(s, with)
	case "concat":
		return r.join(s, with)
	case "indexOf":
		if i := strings.Index(s, with); i >= 0 {
			return int64(utf8.RuneCountInString(s[:i]))
		}
		return int64(-1)
	case "split":
		return r.split(s, with)
	}
	return nil
}

// replace replaces every a by b. The size of the result is charged before it is built.
func (r *run) replace(s, a, b string) Value {
	if a == "" {
		return s
	}
	size := len(s) + strings.Count(s, a)*(len(b)-len(a))
	if !r.alloc(size) {
		return nil
	}
	return strings.ReplaceAll(s, a, b)
}

// split returns the parts of s between separators. Unlike in Java, the separator is not a regular expression.
func (r *run) split(s, separator string) Value {
	if separator == "" {
		return List{s}
	}
	n := strings.Count(s, separator) + 1
	if !r.step(n) || !r.alloc(slot*n) {
		return nil
	}
	out := make(List, 0, n)
	for _, piece := range strings.Split(s, separator) {
		out = append(out, piece)
	}
	return out
}

// substring returns the characters from (inclusive) to (exclusive), as far as they exist.
func substring(s string, from, to Value) Value {
	i, ok := from.(int64)
	j, also := to.(int64)
	if !ok || !also {
		return nil
	}
	start, end, n := len(s), len(s), int64(0)
	if i < 0 {
		i = 0
	}
	if j < i {
		j = i
	}
	for at := range s {
		if n == i {
			start = at
		}
		if n == j {
			end = at
			break
		}
		n++
	}
	return s[start:end]
}

func charAt(s string, at Value) Value {
	i, ok := at.(int64)
	if one, _ := substring(s, at, i+1).(string); ok && i >= 0 && one != "" {
		return one
	}
	return nil
}

func (r *run) listed(l List, name string, arguments []Value) Value {
	switch {
	case len(arguments) == 0 && name == "size":
		return int64(len(l))
	case len(arguments) == 0 && name == "isEmpty":
		return len(l) == 0
	case len(arguments) == 1 && name == "get":
		i, ok := arguments[0].(int64)
		if !ok {
			return nil
		}
		return item(l, i)
	case len(arguments) == 1 && name == "contains":
		for _, x := range l {
			if r.equal(x, arguments[0]) {
				return true
			}
		}
		return false
	}
	return nil
}

func (r *run) mapped(m *Map, name string, arguments []Value) Value {
	switch len(arguments) {
	case 0:
		if !r.step(m.Len()) || !r.alloc(slot*m.Len()) {
			return nil
		}
		v, _ := m.part(name)
		return v
	case 1:
		if arguments[0] == nil {
			return nil
		}
		found, ok := m.Get(r.string(arguments[0]))
		switch name {
		case "get":
			return found
		case "containsKey":
			return ok
		}
	}
	return nil
}

// Members returns the value of a property, or the result of a method without arguments, of a map: the value of the key name,
// or else its size, keySet, values or entrySet. It is for implementations of Object that wrap a map.
func Members(m *Map, name string) (v Value, ok bool) {
	if v, ok = m.Get(name); ok {
		return v, true
	}
	return m.part(name)
}

// part returns the result of a method without arguments.
func (m *Map) part(name string) (Value, bool) {
	switch name {
	case "size":
		return int64(m.Len()), true
	case "isEmpty":
		return m.Len() == 0, true
	case "values":
		return values(m), true
	case "keySet":
		out := make(List, m.Len())
		for i, key := range m.keys {
			out[i] = key
		}
		return out, true
	case "entrySet":
		return entries(m), true
	}
	return nil, false
}

func values(m *Map) List {
	out := make(List, m.Len())
	for i, key := range m.keys {
		out[i] = m.values[key]
	}
	return out
}

// entries returns the entries of a map, each as a map with key and value.
func entries(m *Map) Value {
	out := make(List, m.Len())
	for i, key := range m.keys {
		e := &Map{}
		e.Put("key", key)
		e.Put("value", m.values[key])
		out[i] = e
	}
	return out
}
