package fuzzy

import (
	"bytes"
	"strings"
)

// walker finds the values of fields in the text of a JSON object. A field's name is a key, or a path of keys separated by
// dots; if both readings have values, both count. The elements of lists are visited, both along the path and at its end.
// The text must be valid JSON, as stored metadata is; the rest of an invalid text is skipped.
type walker struct {
	visit func(field int, raw []byte, quoted bool)
}

// maxNesting is the depth to which lists and objects are entered.
const maxNesting = 64

// object visits the values of the given fields in an object.
func (w *walker) object(text []byte, fields []field) {
	for key, value := range members(text) {
		for i := range fields {
			w.member(i, fields[i].Name, key, value, 0)
		}
	}
}

// member visits the values under a member whose key is the name, or the beginning of the path in it.
func (w *walker) member(field int, name string, key, value []byte, depth int) {
	if string(key) == name {
		w.values(field, value, depth)
		return
	}
	if len(key) < len(name) && name[len(key)] == '.' && strings.HasPrefix(name, string(key)) {
		w.inside(field, name[len(key)+1:], value, depth+1)
	}
}

// inside visits the values of the rest of a path in an object, or in each object of a list.
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

// values visits a scalar value, or each element of a list; it skips null and objects.
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

// members iterates over the members of the object at the start of text: decoded keys and raw values.
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

// elements iterates over the raw elements of the list at the start of text.
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

// space returns the offset of the first byte from i on that is not white space.
func space(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// skip returns the offset after the value at i.
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

// skipString returns the offset after the closing quote of the string at i.
func skipString(text []byte, i int) int {
	start := i + 1
	for i = start; i < len(text); {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			return len(text)
		}
		i += n + 1
		// A quote after an odd number of backslashes is escaped.
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

// skipNested returns the offset after the bracket that closes the one at i.
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
