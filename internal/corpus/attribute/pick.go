package attribute

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"quarry/internal/expr/filter"
)

// picker reads from a JSON object the members that can hold attributes of one level, and decodes nothing else: most
// metadata belongs to no attribute, and a pass over a corpus reads all of it.
type picker struct{ want map[string]bool }

func newPicker(schema *filter.Schema, l filter.Level) picker {
	p := picker{map[string]bool{}}
	for _, a := range schema.Attributes() {
		if a.Level != l {
			continue
		}
		p.want[a.Name] = true
		for i := range len(a.Name) { // without such a member, a dotted name is a path
			if a.Name[i] == '.' {
				p.want[a.Name[:i]] = true
			}
		}
	}
	return p
}

var errNoObject = errors.New("is no JSON object")

// pick returns the members with numbers as text; of a repeated name, the last.
func (p picker) pick(raw []byte) (map[string]any, error) {
	at := skipSpace(raw, 0)
	if at >= len(raw) || raw[at] != '{' {
		return nil, errNoObject
	}
	var out map[string]any
	for at = skipSpace(raw, at+1); at < len(raw) && raw[at] != '}'; {
		end := skipText(raw, at)
		if end < 0 {
			return nil, errNoObject
		}
		key := raw[at:end]
		at = skipSpace(raw, end)
		if at >= len(raw) || raw[at] != ':' {
			return nil, errNoObject
		}
		at = skipSpace(raw, at+1)
		if end = skipValue(raw, at); end < 0 {
			return nil, errNoObject
		}
		if name, ok := p.wantedName(key); ok {
			v, err := decode(bytes.TrimRight(raw[at:end], " \n\t\r"))
			if err != nil {
				return nil, err
			}
			if out == nil {
				out = make(map[string]any, len(p.want))
			}
			out[name] = v
		}
		if at = skipSpace(raw, end); at < len(raw) && raw[at] == ',' {
			at = skipSpace(raw, at+1)
		}
	}
	if at >= len(raw) {
		return nil, errNoObject
	}
	return out, nil
}

// decode decodes a value with numbers as text. Most values are plain numbers and texts, which need no decoder.
func decode(raw []byte) (any, error) {
	if len(raw) == 0 {
		return nil, errNoObject
	}
	switch c := raw[0]; {
	case c == '-' || c >= '0' && c <= '9':
		return json.Number(raw), nil
	case c == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw):
		return string(raw[1 : len(raw)-1]), nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// wantedName returns the name in a quoted key; ok is false unless its member is to be picked.
func (p picker) wantedName(key []byte) (name string, ok bool) {
	if bytes.IndexByte(key, '\\') < 0 {
		if !p.want[string(key[1:len(key)-1])] {
			return "", false
		}
		return string(key[1 : len(key)-1]), true
	}
	if json.Unmarshal(key, &name) != nil {
		return "", false
	}
	return name, p.want[name]
}

func skipSpace(raw []byte, at int) int {
	for at < len(raw) && (raw[at] == ' ' || raw[at] == '\n' || raw[at] == '\t' || raw[at] == '\r') {
		at++
	}
	return at
}

// skipText returns the end of the text that begins at a quote, -1 when there is none.
func skipText(raw []byte, at int) int {
	if at >= len(raw) || raw[at] != '"' {
		return -1
	}
	for at++; at < len(raw); at++ {
		switch raw[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return -1
}

// skipValue returns the end of the value that begins here, -1 when it has none.
func skipValue(raw []byte, at int) int {
	depth := 0
	for at < len(raw) {
		switch raw[at] {
		case '"':
			if at = skipText(raw, at); at < 0 {
				return -1
			}
			if depth == 0 {
				return at
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return at // the end of the object around a number or word
			}
			if depth == 0 {
				return at + 1
			}
		case ',':
			if depth == 0 {
				return at
			}
		}
		at++
	}
	return -1
}
