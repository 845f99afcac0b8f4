package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
)

// object is a JSON object whose members keep their order and their exact text. Part metadata is made by merging
// such objects, so that a client's number or escape comes back as it was sent.
type object []member

type member struct {
	key   string
	value json.RawMessage // compact
}

var errNotObject = errors.New("must be a JSON object")

// parseObject reads raw; nothing and null are the empty object. The caller may modify raw afterwards.
func parseObject(raw json.RawMessage) (object, error) {
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
	var o object
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
		o = append(o, member{key.(string), b.Bytes()}) // Token gives only strings where a key stands
	}
	return o, nil
}

func (o object) get(key string) (json.RawMessage, bool) {
	for _, m := range o {
		if m.key == key {
			return m.value, true
		}
	}
	return nil, false
}

// over gives the members of o followed by those of under that o lacks; neither is changed.
func (o object) over(under object) object {
	have := make(map[string]bool, len(o))
	for _, m := range o {
		have[m.key] = true
	}
	out := slices.Clone(o)
	for _, m := range under {
		if !have[m.key] {
			out = append(out, m)
		}
	}
	return out
}

// without gives o less the members with these keys; o is not changed.
func (o object) without(keys ...string) object {
	out := make(object, 0, len(o))
	for _, m := range o {
		if !slices.Contains(keys, m.key) {
			out = append(out, m)
		}
	}
	return out
}

func (o object) encode() json.RawMessage { return o.appendTo(nil) }

func (o object) appendTo(b []byte) []byte {
	b = append(b, '{')
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, jsonString(m.key)...)
		b = append(b, ':')
		b = append(b, m.value...)
	}
	return append(b, '}')
}

// jsonString gives s as a JSON string without HTML escapes.
func jsonString(s string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // strings always encode
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func jsonInt(n int) json.RawMessage { return strconv.AppendInt(nil, int64(n), 10) }

// textOf gives the value of a JSON string.
func textOf(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// MergeMetadata gives the members of over and those of under that over lacks, values as they were sent. Nothing and
// null are the empty object; anything else that is no object is an error fit for the client.
func MergeMetadata(over, under json.RawMessage) (json.RawMessage, error) {
	o, err := parseObject(over)
	if err != nil {
		return nil, err
	}
	u, err := parseObject(under)
	if err != nil {
		return nil, err
	}
	return o.over(u).encode(), nil
}
