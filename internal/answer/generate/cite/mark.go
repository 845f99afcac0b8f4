package cite

import "strings"

const (
	// maxMark is how many bytes a mark may have: room for a hundred numbers.
	maxMark = 512
	// beyond is larger than any list of results: the further digits of a number above it do not matter.
	beyond = 1_000_000
)

// span is the numbers from first to last.
type span struct{ first, last int }

// mark reads a mark at the start of s: its numbers and its length, 0 if there is none. It is open if s ends before that is known.
func mark(s string) (numbers []span, n int, open bool) {
	short := len(s) < maxMark
	s = s[:min(len(s), maxMark)]
	i := skip(s, 1)
	for {
		first, next := number(s, i)
		if next == i {
			return nil, 0, i == len(s) && short
		}
		last := first
		i = skip(s, next)
		if d := dash(s[i:]); d > 0 {
			i = skip(s, i+d)
			if last, next = number(s, i); next == i {
				return nil, 0, i == len(s) && short
			}
			i = skip(s, next)
		}
		numbers = append(numbers, span{min(first, last), max(first, last)})
		switch {
		case i == len(s) || short && cutDash(s[i:]):
			return nil, 0, short
		case s[i] == ']':
			return numbers, i + 1, false
		case s[i] == ',' || s[i] == ';':
			i = skip(s, i+1)
		default:
			return nil, 0, false
		}
	}
}

// grouped is a mark within parentheses.
type grouped struct {
	before  string // what separates it from the one before
	text    string
	numbers []span
}

// group reads parentheses at the start of s that hold only marks, separated by blanks, commas and semicolons, and returns their
// length, 0 if these are none. It is open if s ends before that is known.
func group(s string) (marks []grouped, n int, open bool) {
	short := len(s) < maxMark
	s = s[:min(len(s), maxMark)]
	for end, i := 1, skip(s, 1); ; {
		if i == len(s) {
			return nil, 0, short
		}
		if s[i] != '[' {
			return nil, 0, false
		}
		numbers, n, open := mark(s[i:])
		if n == 0 {
			return nil, 0, open && short
		}
		marks = append(marks, grouped{s[end:i], s[i : i+n], numbers})
		end = i + n
		i = skip(s, end)
		switch {
		case i == len(s):
			return nil, 0, short
		case s[i] == ')':
			return marks, i + 1, false
		case s[i] == ',' || s[i] == ';':
			i = skip(s, i+1)
		}
	}
}

// skip returns the index of the first byte from i on that is not a space.
func skip(s string, i int) int {
	return len(s) - len(strings.TrimLeft(s[i:], " "))
}

// number reads digits at i.
func number(s string, i int) (v, next int) {
	for next = i; next < len(s) && s[next] >= '0' && s[next] <= '9'; next++ {
		if v < beyond {
			v = v*10 + int(s[next]-'0')
		}
	}
	return v, next
}

const enDash = "–"

// dash returns the length of a dash at the start of s, 0 if there is none.
func dash(s string) int {
	switch {
	case strings.HasPrefix(s, "-"):
		return 1
	case strings.HasPrefix(s, enDash):
		return len(enDash)
	}
	return 0
}

// cutDash reports whether s is the beginning of a dash of several bytes.
func cutDash(s string) bool { return s != "" && len(s) < len(enDash) && strings.HasPrefix(enDash, s) }
