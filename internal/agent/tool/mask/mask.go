// Package mask replaces secrets in what is stored, logged and shown.
package mask

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/internal/jsonvalue"
)

// Masked stands for a secret in what is stored.
const Masked = "****"

// Shortest is how many characters a secret needs to be searched for in texts. A shorter one would be found in half of all words: it
// is masked where it is the whole of a text.
const Shortest = 8

// Mask replaces secrets, in all the forms in which others repeat them. The zero Mask, like nil, replaces nothing. It is safe for
// concurrent use.
type Mask struct {
	values map[string]bool
	whole  map[string]string // a text that is nothing but a value in one of its forms → the value
	finder *finder           // nil: no value is long enough
}

// New returns a mask of these values, nil if there are none.
func New(values ...string) *Mask {
	m := &Mask{values: map[string]bool{}, whole: map[string]string{}}
	var long []pattern
	for _, v := range values {
		if v == "" || m.values[v] {
			continue
		}
		m.values[v] = true
		if utf8.RuneCountInString(v) < Shortest {
			continue
		}
		long = append(long, forms(v)...)
		for _, form := range encoded(v) {
			m.whole[form] = v
		}
	}
	if len(m.values) == 0 {
		return nil
	}
	for v := range m.values {
		m.whole[v] = v
	}
	if len(long) > 0 {
		m.finder = newFinder(long)
	}
	return m
}

// With returns a mask of more values; it is m if m has them all.
func (m *Mask) With(values ...string) *Mask {
	if m == nil {
		return New(values...)
	}
	for _, v := range values {
		if v != "" && !m.values[v] {
			return New(slices.AppendSeq(slices.Clone(values), maps.Keys(m.values))...)
		}
	}
	return m
}

// Text returns s with secrets replaced.
func (m *Mask) Text(s string) string {
	if m == nil {
		return s
	}
	if _, is := m.whole[s]; is {
		return Masked
	}
	return m.search(s)
}

// search is Text without the values that are too short to be searched for.
func (m *Mask) search(s string) string {
	if m.finder == nil || len(s) < block {
		return s
	}
	return replaced(s, m.finder.spans(s, false, nil))
}

// Message is Text for the message of a library, which may show the beginning of a value.
func (m *Mask) Message(s string) string {
	if s = m.Text(s); m == nil || m.finder == nil {
		return s
	}
	return replaced(s, m.finder.spans(s, true, nil))
}

// Value returns a JSON value with secrets replaced, in the names of members, too, and in numbers of many digits.
func (m *Mask) Value(v any) any {
	if m == nil {
		return v
	}
	switch v := v.(type) {
	case string:
		return m.Text(v)
	case json.Number:
		if m.search(v.String()) != v.String() {
			return Masked
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[m.search(name)] = m.Value(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = m.Value(v[i])
		}
		return out
	}
	return v
}

// JSON returns a JSON text with secrets replaced.
func (m *Mask) JSON(raw json.RawMessage) json.RawMessage {
	if m == nil {
		return raw
	}
	v := jsonvalue.Decode(raw)
	if v == nil {
		return raw
	}
	return jsonvalue.Encode(m.Value(v))
}

// Found returns the secrets that Value would replace in a JSON value, in order.
func (m *Mask) Found(v any) []string {
	found := map[string]bool{}
	if m != nil {
		m.find(v, found)
	}
	return slices.Sorted(maps.Keys(found))
}

func (m *Mask) find(v any, found map[string]bool) {
	text := func(s string) {
		if m.finder != nil && len(s) >= block {
			m.finder.spans(s, false, found)
		}
	}
	switch v := v.(type) {
	case string:
		if value, is := m.whole[v]; is {
			found[value] = true
		}
		text(v)
	case json.Number:
		text(v.String())
	case map[string]any:
		for name, member := range v {
			text(name)
			m.find(member, found)
		}
	case []any:
		for _, one := range v {
			m.find(one, found)
		}
	}
}

// Trim returns a text that was cut off without the beginning of a secret at its end.
func (m *Mask) Trim(s string) string {
	if m == nil || m.finder == nil {
		return s
	}
	return s[:m.finder.tail(s)]
}

// Escaped returns s as it stands inside JSON.
func Escaped(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // texts always encode
	out := strings.TrimSuffix(b.String(), "\n")
	return out[1 : len(out)-1]
}
