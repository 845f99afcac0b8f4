// Package mask replaces secrets in what is stored, logged and shown.
package mask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"quarry/internal/jsonvalue"
)

// Masked stands for a secret in what is stored.
const Masked = "****"

// shortest is how many characters a secret needs to be masked inside longer texts, and the beginning of one inside messages.
// A shorter one would be found in half of all words.
const shortest = 4

// Mask replaces secrets. The zero Mask, like nil, replaces nothing. It is safe for concurrent use.
type Mask struct {
	whole   map[string]bool
	long    []string // the longest first
	replace *strings.Replacer
}

// New returns a mask of these values, nil if there are none.
func New(values ...string) *Mask {
	m := &Mask{whole: map[string]bool{}}
	for _, v := range values {
		if v == "" {
			continue
		}
		m.whole[v] = true
		if utf8.RuneCountInString(v) < shortest {
			continue
		}
		m.long = append(m.long, forms(v)...)
	}
	if len(m.whole) == 0 {
		return nil
	}
	slices.SortFunc(m.long, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	m.long = slices.Compact(m.long)
	var pairs []string
	for _, v := range m.long {
		pairs = append(pairs, v, Masked)
	}
	m.replace = strings.NewReplacer(pairs...)
	return m
}

// forms returns s in the forms in which others repeat it: as it is, within JSON however that is escaped, within an address.
func forms(s string) []string {
	html, _ := json.Marshal(s) // texts always encode
	escaped := Escaped(s)
	return []string{s, escaped, strings.Trim(string(html), `"`), plain(escaped), url.QueryEscape(s), url.PathEscape(s)}
}

// plain returns JSON with what is not ASCII escaped.
func plain(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, "\\u%04x", unit)
		}
	}
	return b.String()
}

// Escaped returns s as it stands inside JSON.
func Escaped(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // texts always encode
	return strings.Trim(strings.TrimSuffix(b.String(), "\n"), `"`)
}

// Text returns s with secrets replaced.
func (m *Mask) Text(s string) string {
	switch {
	case m == nil:
		return s
	case m.whole[s]:
		return Masked
	case m.replace == nil:
		return s
	}
	return m.replace.Replace(s)
}

// Message is Text for the message of a library, which may show the beginning of a value.
func (m *Mask) Message(s string) string {
	s = m.Text(s)
	if m == nil {
		return s
	}
	for _, v := range m.long {
		runes := []rune(v)
		for n := min(len(runes), len(s)); n >= shortest; n-- {
			s = strings.ReplaceAll(s, string(runes[:n]), Masked)
		}
	}
	return s
}

// Value returns a JSON value with secrets replaced, in the names of members, too.
func (m *Mask) Value(v any) any {
	switch v := v.(type) {
	case string:
		return m.Text(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[m.Text(name)] = m.Value(member)
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

// Trim returns a text that was cut off without the beginning of a secret at its end.
func (m *Mask) Trim(s string) string {
	if m == nil {
		return s
	}
	most := 0
	for _, v := range m.long {
		for n := min(len(v)-1, len(s)); n > most; n-- {
			if strings.HasSuffix(s, v[:n]) {
				most = n
			}
		}
	}
	return s[:len(s)-most]
}
