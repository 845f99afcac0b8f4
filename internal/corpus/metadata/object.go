package metadata

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
)

// Object is a JSON object whose members keep their order and their exact text. Part metadata is made by merging
// such objects, so that a client's number or escape comes back as it was sent.
type Object []Member

// Member is one name of an object with its value, which is compact JSON.
type Member struct {
	Key   string
	Value json.RawMessage
}

var errNotObject = errors.New("must be a JSON object")

// Parse reads raw: nothing and null are the empty object. The caller may modify raw afterwards.
func Parse(raw json.RawMessage) (Object, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if raw[0] != '{' {
		return nil, errNotObject
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, errNotObject
	}
	var o Object
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, errNotObject
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, errNotObject
		}
		var b bytes.Buffer
		if err := json.Compact(&b, value); err != nil {
			return nil, errNotObject
		}
		o = append(o, Member{key.(string), b.Bytes()}) // Token gives only strings where a key stands
	}
	return o, nil
}

// Get returns the value of a member.
func (o Object) Get(key string) (json.RawMessage, bool) {
	for _, m := range o {
		if m.Key == key {
			return m.Value, true
		}
	}
	return nil, false
}

// With returns o followed by one more member; o is not changed.
func (o Object) With(key string, value json.RawMessage) Object {
	return append(slices.Clip(o), Member{key, value})
}

// Over returns the members of o followed by those of under that o lacks; neither is changed.
func (o Object) Over(under Object) Object {
	have := make(map[string]bool, len(o))
	for _, m := range o {
		have[m.Key] = true
	}
	out := slices.Clone(o)
	for _, m := range under {
		if !have[m.Key] {
			out = append(out, m)
		}
	}
	return out
}

// Without returns o less the members with these keys; o is not changed.
func (o Object) Without(keys ...string) Object {
	out := make(Object, 0, len(o))
	for _, m := range o {
		if !slices.Contains(keys, m.Key) {
			out = append(out, m)
		}
	}
	return out
}

// Encode returns the object as compact JSON, {} for one without members.
func (o Object) Encode() json.RawMessage {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, String(m.Key)...)
		b = append(b, ':')
		b = append(b, m.Value...)
	}
	return append(b, '}')
}

// String returns s as a JSON string without HTML escapes.
func String(s string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // strings always encode
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Int returns n as a JSON number.
func Int(n int) json.RawMessage { return strconv.AppendInt(nil, int64(n), 10) }

// Text returns the value of a JSON string; ok is false for other JSON.
func Text(raw json.RawMessage) (text string, ok bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	err := json.Unmarshal(raw, &text)
	return text, err == nil
}
