package snowball

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a piece of a program: a name or key word, a number, a string, or a sign such as "<-".
type token struct {
	kind kind
	text string // of a string, its value
	line int
}

type kind int

const (
	end kind = iota
	word
	number
	literal
	sign
)

// signs are the tokens of other characters, longer ones first.
var signs = []string{
	"<-", "->", "<+", "=>", "+=", "-=", "*=", "/=", "<=", ">=", "==", "!=", "(", ")", "[", "]", "$", "=", "<", ">", "+", "-", "*", "/",
}

// lexer cuts a program into tokens.
type lexer struct {
	rest        string
	line        int
	open, close string            // what surrounds an escape in a string; "" before stringescapes
	defined     map[string]string // by stringdef
}

func newLexer(source string) *lexer {
	return &lexer{rest: source, line: 1, defined: map[string]string{}}
}

// next returns the next token.
func (l *lexer) next() (token, error) {
	if err := l.skip(); err != nil {
		return token{}, err
	}
	if l.rest == "" {
		return token{kind: end, line: l.line}, nil
	}
	if l.rest[0] == '\'' {
		return l.literal()
	}
	if n := strings.IndexFunc(l.rest, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }); n != 0 {
		if n < 0 {
			n = len(l.rest)
		}
		k := word
		if l.rest[0] >= '0' && l.rest[0] <= '9' {
			k = number
		}
		return l.take(k, n), nil
	}
	for _, s := range signs {
		if strings.HasPrefix(l.rest, s) {
			return l.take(sign, len(s)), nil
		}
	}
	r, _ := utf8.DecodeRuneInString(l.rest)
	return token{}, fmt.Errorf("line %d: unexpected %q", l.line, r)
}

func (l *lexer) take(k kind, n int) token {
	t := token{k, l.rest[:n], l.line}
	l.rest = l.rest[n:]
	return t
}

// skip drops white space and comments.
func (l *lexer) skip() error {
	for {
		trimmed := strings.TrimLeft(l.rest, " \t\r\n")
		l.line += strings.Count(l.rest[:len(l.rest)-len(trimmed)], "\n")
		l.rest = trimmed
		stop := ""
		switch {
		case strings.HasPrefix(l.rest, "//"):
			stop = "\n"
		case strings.HasPrefix(l.rest, "/*"):
			stop = "*/"
		default:
			return nil
		}
		comment, rest, ok := strings.Cut(l.rest, stop)
		if !ok && stop == "*/" {
			return fmt.Errorf("line %d: the comment has no end", l.line)
		}
		l.line += strings.Count(comment+stop, "\n")
		l.rest = rest
	}
}

// literal reads a string. An escape in it is the name of a stringdef, U+ and a number, or a sign that stands for itself.
func (l *lexer) literal() (token, error) {
	t := token{kind: literal, line: l.line}
	var b strings.Builder
	for s := l.rest[1:]; s != ""; {
		switch {
		case s[0] == '\'':
			l.rest, t.text = s[1:], b.String()
			return t, nil
		case l.open != "" && strings.HasPrefix(s, l.open):
			name, rest, ok := strings.Cut(s[len(l.open):], l.close)
			if !ok {
				return t, fmt.Errorf("line %d: an escape has no end", l.line)
			}
			value, err := l.escape(name)
			if err != nil {
				return t, err
			}
			b.WriteString(value)
			s = rest
		default:
			b.WriteByte(s[0])
			s = s[1:]
		}
	}
	return t, fmt.Errorf("line %d: a string has no end", t.line)
}

func (l *lexer) escape(name string) (string, error) {
	if value, ok := l.defined[name]; ok {
		return value, nil
	}
	if code, ok := strings.CutPrefix(name, "U+"); ok {
		n, err := strconv.ParseUint(code, 16, 21)
		if err != nil {
			return "", fmt.Errorf("line %d: %q is no character", l.line, name)
		}
		return string(rune(n)), nil
	}
	if name == "'" || name == l.open {
		return name, nil
	}
	return "", fmt.Errorf("line %d: the escape %q is not defined", l.line, name)
}

// escapes reads the two characters behind stringescapes.
func (l *lexer) escapes() error {
	for _, to := range []*string{&l.open, &l.close} {
		if err := l.skip(); err != nil {
			return err
		}
		if l.rest == "" {
			return fmt.Errorf("line %d: stringescapes needs two characters", l.line)
		}
		*to, l.rest = l.rest[:1], l.rest[1:]
	}
	return nil
}

// define reads the name, up to white space, and the value behind stringdef.
func (l *lexer) define() error {
	if err := l.skip(); err != nil {
		return err
	}
	name, rest, _ := strings.Cut(l.rest, " ")
	l.rest = rest
	value, err := l.next()
	if err != nil {
		return err
	}
	if value.kind != literal {
		return fmt.Errorf("line %d: stringdef %s needs a string", l.line, name)
	}
	l.defined[name] = value.text
	return nil
}
