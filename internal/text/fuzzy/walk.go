package fuzzy

import (
	"bytes"
	"strings"
)

// walker finds the values of fields in the text of a JSON object. A field's name is a key, or a path of keys with dots
// between them; where both readings lead somewhere, both count. Lists are gone into on the way and at its end. What is
// not JSON is passed over: the texts come from storage, where they are whole.
type walker struct {
	visit func(field int, raw []byte, quoted bool)
}

// maxNesting bounds how deep lists and objects are gone into.
const maxNesting = 64

// object visits the values of fields in an object.
func (w *walker) object(text []byte, fields []field) {
	for key, value := range members(text) {
		for i := range fields {
			w.member(i, fields[i].Name, key, value, 0)
		}
	}
}

// member goes on to a member's value when its key begins the name, or is it.
func (w *walker) member(field int, name string, key, value []byte, depth int) {
	if string(key) == name {
		w.values(field, value, depth)
		return
	}
	if len(key) < len(name) && name[len(key)] == '.' && strings.HasPrefix(name, string(key)) {
		w.inside(field, name[len(key)+1:], value, depth+1)
	}
}

// inside looks for the rest of a name in an object, or in each object of a list.
func (w *walker) inside(field int, name string, value []byte, depth int) {
	if len(value) == 0 || depth > maxNesting {
		return
	}
	switch value[0] {
	case '{':
		for key, inner := range members(value) {
			w.member(field, name, key, inner, depth)
		}
	case '[':
		for inner := range elements(value) {
			w.inside(field, name, inner, depth+1)
		}
	}
}

// values visits a value, or the elements of a list; null and objects are none.
func (w *walker) values(field int, value []byte, depth int) {
	if len(value) == 0 || depth > maxNesting {
		return
	}
	switch c := value[0]; {
	case c == '"':
		if len(value) >= 2 {
			w.visit(field, value[1:len(value)-1], true)
		}
	case c == '[':
		for inner := range elements(value) {
			w.values(field, inner, depth+1)
		}
	case c != '{' && c != 'n':
		w.visit(field, value, false)
	}
}

// members gives the members of the object at the start of text: keys without quotes and escapes, values as they stand.
func members(text []byte) func(yield func(key, value []byte) bool) {
	return func(yield func(key, value []byte) bool) {
		i := space(text, 0)
		if i >= len(text) || text[i] != '{' {
			return
		}
		for i = space(text, i+1); i < len(text) && text[i] == '"'; {
			end := skipString(text, i)
			if end-i < 2 {
				return
			}
			key := text[i+1 : end-1]
			if bytes.IndexByte(key, '\\') >= 0 {
				key = []byte(unquote(key))
			}
			if i = space(text, end); i >= len(text) || text[i] != ':' {
				return
			}
			i = space(text, i+1)
			end = skip(text, i)
			if end <= i || !yield(key, text[i:end]) {
				return
			}
			if i = space(text, end); i >= len(text) || text[i] != ',' {
				return
			}
			i = space(text, i+1)
		}
	}
}

// elements gives the elements of the list at the start of text, as they stand.
func elements(text []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for i := space(text, 1); i < len(text); i = space(text, i+1) {
			end := skip(text, i)
			if end <= i || !yield(text[i:end]) {
				return
			}
			if i = space(text, end); i >= len(text) || text[i] != ',' {
				return
			}
		}
	}
}

// space gives the place of the first byte from i on that is no white space.
func space(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// skip gives where the value at i ends.
func skip(text []byte, i int) int {
	if i >= len(text) {
		return i
	}
	switch text[i] {
	case '"':
		return skipString(text, i)
	case '{', '[':
		return skipNested(text, i)
	}
	for ; i < len(text); i++ {
		switch text[i] {
		case ',', ']', '}', ' ', '\n', '\t', '\r':
			return i
		}
	}
	return i
}

// skipString gives the place behind the closing quote of the string at i.
func skipString(text []byte, i int) int {
	start := i + 1
	for i = start; i < len(text); {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			return len(text)
		}
		i += n + 1
		escapes := 0
		for k := i - 2; k >= start && text[k] == '\\'; k-- {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
	return len(text)
}

// skipNested gives the place behind the bracket that closes the one at i.
func skipNested(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			i = skipString(text, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(text)
}
