package mask

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escapes is how often escapes of each kind stand within each other: in a text of an event a value may be inside a JSON text that is
// inside another one.
type escapes struct{ quoted, percent, markup int }

var most = escapes{quoted: 2, percent: 1, markup: 1}

// view is a text with escapes undone.
type view struct {
	text  string
	of    *view // what it was made of; nil for the text itself
	marks []mark
}

// mark is a place from which on a view goes side by side again with what it was made of.
type mark struct{ at, of int }

// source returns where a place of the view is in the text itself.
func (v *view) source(at int) int {
	if v.of == nil {
		return at
	}
	i := sort.Search(len(v.marks), func(i int) bool { return v.marks[i].at > at })
	if i > 0 {
		at = v.marks[i-1].of + at - v.marks[i-1].at
	}
	return v.of.source(min(at, len(v.of.text)))
}

// views calls see with a view and with what it is when escapes are undone, of JSON, HTML and addresses.
func (f *finder) views(v view, left escapes, see func(*view)) {
	see(&v)
	if left.quoted > 0 && strings.Contains(v.text, `\`) {
		f.views(undone(&v, '\\', unquote), escapes{left.quoted - 1, left.percent, left.markup}, see)
	}
	if left.markup > 0 && strings.Contains(v.text, "&") {
		if plain := undone(&v, '&', reference); len(plain.marks) > 0 { // parameters of addresses begin so, too
			f.views(plain, escapes{left.quoted, left.percent, left.markup - 1}, see)
		}
	}
	if left.percent == 0 {
		return
	}
	left.percent--
	if strings.Contains(v.text, "%") {
		f.views(undone(&v, '%', unescape), left, see)
	}
	if f.blank && strings.Contains(v.text, "+") {
		blanks := view{text: strings.ReplaceAll(v.text, "+", " "), of: &v}
		see(&blanks)
		if strings.Contains(blanks.text, "%") {
			f.views(undone(&blanks, '%', unescape), left, see)
		}
	}
}

// undone returns v with escapes undone, which begin with a character. undo returns what the one that a text begins with stands for
// and how long it is, 0 if it is none.
func undone(v *view, begin byte, undo func(s string) (is string, n int)) view {
	out := view{of: v}
	var b strings.Builder
	b.Grow(len(v.text))
	s := v.text
	for at := 0; at < len(s); {
		next := strings.IndexByte(s[at:], begin)
		if next < 0 {
			b.WriteString(s[at:])
			break
		}
		b.WriteString(s[at : at+next])
		at += next
		is, n := undo(s[at:])
		if n == 0 {
			is, n = s[at:at+1], 1
		}
		b.WriteString(is)
		if at += n; n != len(is) {
			out.marks = append(out.marks, mark{b.Len(), at})
		}
	}
	out.text = b.String()
	return out
}

// unescape undoes the escape of an address.
func unescape(s string) (string, int) {
	if c, ok := number(s, 1, 2); ok {
		return string([]byte{byte(c)}), 3
	}
	return "", 0
}

// unquote undoes an escape of JSON.
func unquote(s string) (string, int) {
	if len(s) < 2 {
		return "", 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
		return "\"\\/\b\f\n\r\t"[i : i+1], 2
	}
	if s[1] != 'u' {
		return "", 0
	}
	one, ok := number(s, 2, 4)
	if !ok {
		return "", 0
	}
	r := rune(one)
	if !utf16.IsSurrogate(r) {
		return string(r), 6
	}
	if low, ok := number(s, 8, 4); ok && strings.HasPrefix(s[6:], `\u`) {
		if r = utf16.DecodeRune(r, rune(low)); r != utf8.RuneError {
			return string(r), 12
		}
	}
	return "", 0
}

// longest is how long a character reference of HTML is at most, of those that stand for what is escaped.
const longest = len("&#x0010ffff;")

var references = map[string]string{"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'"}

// reference undoes a character reference of HTML.
func reference(s string) (string, int) {
	end := strings.IndexByte(s[:min(len(s), longest)], ';')
	if end < 0 {
		return "", 0
	}
	name, numeric := strings.CutPrefix(s[1:end], "#")
	if !numeric {
		if is, ok := references[name]; ok {
			return is, end + 1
		}
		return "", 0
	}
	base := 10
	if strings.HasPrefix(name, "x") || strings.HasPrefix(name, "X") {
		name, base = name[1:], 16
	}
	if n, err := strconv.ParseUint(name, base, 32); err == nil && n <= utf8.MaxRune {
		return string(rune(n)), end + 1
	}
	return "", 0
}

// begun returns where a character reference begins that s is cut off in, len(s) if there is none.
func begun(s string) int {
	at := strings.LastIndexByte(s, '&')
	if at < 0 || len(s)-at >= longest || strings.Trim(strings.TrimPrefix(s[at+1:], "#"), "0123456789abcdefghijklmnopqrstuvwxyzABCDEFX") != "" {
		return len(s)
	}
	return at
}

// number reads digits in hex at a place.
func number(s string, at, digits int) (uint64, bool) {
	if len(s) < at+digits {
		return 0, false
	}
	n, err := strconv.ParseUint(s[at:at+digits], 16, 32)
	return n, err == nil
}

// unfinished returns where an escape begins that s is cut off in, len(s) if there is none.
func unfinished(s string) int {
	for i := max(0, len(s)-6*4); i < len(s); i++ { // the longest is \\\\u12, of JSON within JSON, and that twice
		rest := strings.TrimLeft(s[i:], `\`)
		quoted := len(rest) < len(s)-i
		switch {
		case s[i] == '%' && len(s)-i < 3 && digits(s[i+1:]), quoted && rest == "",
			quoted && rest[0] == 'u' && len(rest) < 5 && digits(rest[1:]):
			return i
		}
	}
	return len(s)
}

func digits(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }
