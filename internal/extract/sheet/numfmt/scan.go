package numfmt

import (
	"strconv"
	"strings"
)

// token is a piece of a section.
type token struct {
	kind tokenKind
	text string // a literal, a placeholder (0, # or ?), or a run of one letter of dates
}

type tokenKind int

const (
	literal  tokenKind = iota
	digit              // placeholder
	point              // decimal
	comma              // of thousands, or for scaling
	percent            // also a literal
	exponent           // E+ or E-
	slash              // of fractions
	unit               // of dates: y m d h s a, or [h] [m] [s] in brackets
	half               // AM/PM
	value              // General or @
)

// split cuts a code at its semicolons.
func split(code string) []string {
	var out []string
	start, quoted, bracket := 0, false, false
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case quoted:
			quoted = c != '"'
		case c == '\\' || c == '_' || c == '*':
			i++
		case c == '"':
			quoted = true
		case c == '[':
			bracket = true
		case c == ']':
			bracket = false
		case c == ';' && !bracket:
			out = append(out, code[start:i])
			start = i + 1
		}
	}
	return append(out, code[start:])
}

// scan reads one section.
func scan(code string) section {
	s := section{}
	add := func(k tokenKind, t string) { s.tokens = append(s.tokens, token{k, t}) }
	rest := []rune(code)
	for len(rest) > 0 {
		n := 1
		switch c := rest[0]; {
		case c == '"':
			n = quoted(rest)
			add(literal, strings.Trim(string(rest[:n]), `"`))
		case c == '\\' && len(rest) > 1:
			n = 2
			add(literal, string(rest[1]))
		case c == '_' && len(rest) > 1: // as wide as the next character
			n = 2
			add(literal, " ")
		case c == '*' && len(rest) > 1: // filled with the next character
			n = 2
		case c == '[':
			n = s.bracket(rest, add)
		case hasFold(rest, "General"):
			n, s.kind = 7, general
			add(value, "")
		case c == '@':
			s.kind = text
			add(value, "")
		case hasFold(rest, "AM/PM"):
			n, s.kind = 5, date
			add(half, "AM/PM")
		case hasFold(rest, "A/P"):
			n, s.kind = 3, date
			add(half, "A/P")
		case c == 'E' && len(rest) > 1 && (rest[1] == '+' || rest[1] == '-'):
			n = 2
			add(exponent, string(rest[1]))
		case strings.ContainsRune("ymdhsaegYMDHSAEG", c):
			n, s.kind = run(rest), date
			add(unit, strings.ToLower(string(rest[:n])))
		case strings.ContainsRune("0#?", c):
			add(digit, string(c))
		case c == '.':
			add(point, ".")
		case c == ',':
			add(comma, ",")
		case c == '%':
			add(percent, "%")
		case c == '/':
			add(slash, "/")
		default:
			add(literal, string(c))
		}
		rest = rest[n:]
	}
	if s.kind == number && s.has(slash) && s.has(digit) {
		s.kind = fraction
	}
	return s
}

func (s *section) has(k tokenKind) bool {
	for _, t := range s.tokens {
		if t.kind == k {
			return true
		}
	}
	return false
}

// bracket reads what stands in brackets: a condition, a currency, an elapsed unit, or a colour and the like, which are left out.
func (s *section) bracket(rest []rune, add func(tokenKind, string)) int {
	n := 1
	for n < len(rest) && rest[n] != ']' {
		n++
	}
	in := string(rest[1:n])
	n = min(n+1, len(rest))
	low := strings.ToLower(in)
	switch {
	case in == "":
	case strings.HasPrefix(in, "$"):
		symbol, _, _ := strings.Cut(in[1:], "-")
		add(literal, symbol)
	case strings.ContainsRune("<>=", rune(in[0])):
		s.test = condition(in)
	case low == strings.Repeat(low[:1], len(low)) && strings.ContainsRune("hms", rune(low[0])):
		s.kind = date
		add(unit, "["+low[:1]+"]")
	}
	return n
}

// condition returns the test that "[>=100]" and its like mean, nil if it is none.
func condition(in string) func(float64) bool {
	op := in[:len(in)-len(strings.TrimLeft(in, "<>="))]
	limit, err := strconv.ParseFloat(strings.TrimSpace(in[len(op):]), 64)
	if err != nil {
		return nil
	}
	switch op {
	case "<":
		return func(v float64) bool { return v < limit }
	case "<=":
		return func(v float64) bool { return v <= limit }
	case ">":
		return func(v float64) bool { return v > limit }
	case ">=":
		return func(v float64) bool { return v >= limit }
	case "=":
		return func(v float64) bool { return v == limit }
	case "<>":
		return func(v float64) bool { return v != limit }
	}
	return nil
}

// quoted returns the length of the quotation at the beginning, its marks included.
func quoted(rest []rune) int {
	for i := 1; i < len(rest); i++ {
		if rest[i] == '"' {
			return i + 1
		}
	}
	return len(rest)
}

// run returns how often the first letter is repeated at the beginning.
func run(rest []rune) int {
	n := 1
	for n < len(rest) && rest[n]|0x20 == rest[0]|0x20 {
		n++
	}
	return n
}

func hasFold(rest []rune, word string) bool {
	return len(rest) >= len(word) && strings.EqualFold(string(rest[:len(word)]), word)
}
