// Package expr is what the contract's small languages have in common: arithmetic, and the lexer of filters, conditions and
// user functions. Package vtl has a lexer of its own.
package expr

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is the class of a token.
type Kind uint8

// The classes of tokens.
const (
	End      Kind = iota
	Name          // letters, digits and _, not beginning with a digit
	Integer       // digits
	Real          // digits with a period or an exponent
	Text          // a literal in single or double quotes
	Symbol        // an operator or punctuation
	Bad           // a character that neither language uses, or an unterminated literal
	BackText      // a name in backquotes
)

// Token is one token. Start and End are byte offsets into the text.
type Token struct {
	Kind       Kind
	Value      string // as written; for Text and BackText without quotes and with doubled quotes replaced by one
	Quote      byte   // ' or " or ` of a quoted token, terminated or not; else 0
	Start, End int
}

// Lexer reads tokens from a text, one at a time.
type Lexer struct {
	text string
	at   int
}

// NewLexer returns a lexer of text, which should be valid UTF-8.
func NewLexer(text string) *Lexer { return &Lexer{text: text} }

// symbols are tried in this order, so that the longest match comes first.
var symbols = []string{
	"===", "!==", "==", "!=", "<>", "<=", ">=", "&&", "||",
	"=", "<", ">", "+", "-", "*", "/", "%", "(", ")", ",", ".", "!", "?", ":",
}

// Next reads the next token. At the end of the text it returns End, every time.
func (l *Lexer) Next() Token {
	for l.at < len(l.text) {
		r, n := utf8.DecodeRuneInString(l.text[l.at:])
		if !unicode.IsSpace(r) {
			break
		}
		l.at += n
	}
	start := l.at
	if start == len(l.text) {
		return Token{Kind: End, Start: start, End: start}
	}
	r, size := utf8.DecodeRuneInString(l.text[start:])
	switch {
	case r == '\'' || r == '"' || r == '`':
		return l.quoted(byte(r))
	case digit(r), r == '.' && l.span(start+1, digit) > start+1:
		return l.number()
	case InName(r):
		return l.take(Name, start, l.span(start, InName))
	}
	for _, s := range symbols {
		if strings.HasPrefix(l.text[start:], s) {
			return l.take(Symbol, start, start+len(s))
		}
	}
	return l.take(Bad, start, start+size)
}

// Member reads a name after a period. Unlike other names it may begin with a digit or be quoted; white space is not
// skipped. ok is false if there is no name.
func (l *Lexer) Member() (Token, bool) {
	start := l.at
	if start < len(l.text) && (l.text[start] == '"' || l.text[start] == '`') {
		t := l.quoted(l.text[start])
		return t, t.Kind != Bad && t.Value != ""
	}
	end := l.span(start, InName)
	if end == start {
		return Token{}, false
	}
	return l.take(Name, start, end), true
}

// Rest returns the text that has not been read yet.
func (l *Lexer) Rest() string { return l.text[l.at:] }

// Skip skips n bytes, which must not exceed the length of Rest.
func (l *Lexer) Skip(n int) { l.at += n }

func (l *Lexer) take(k Kind, start, end int) Token {
	l.at = end
	return Token{Kind: k, Value: l.text[start:end], Start: start, End: end}
}

// span returns the end of the longest sequence of characters at offset at that satisfy in.
func (l *Lexer) span(at int, in func(rune) bool) int {
	for at < len(l.text) {
		r, n := utf8.DecodeRuneInString(l.text[at:])
		if !in(r) {
			break
		}
		at += n
	}
	return at
}

// InName reports whether r can be part of a name.
func InName(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

func digit(r rune) bool { return r >= '0' && r <= '9' }

// number reads digits, an optional fraction and an optional exponent.
func (l *Lexer) number() Token {
	start, kind := l.at, Integer
	end := l.span(start, digit)
	if after := l.span(min(end+1, len(l.text)), digit); end < len(l.text) && l.text[end] == '.' {
		end, kind = after, Real
	}
	if end < len(l.text) && (l.text[end] == 'e' || l.text[end] == 'E') {
		at := end + 1
		if at < len(l.text) && (l.text[at] == '+' || l.text[at] == '-') {
			at++
		}
		if after := l.span(at, digit); after > at {
			end, kind = after, Real
		}
	}
	return l.take(kind, start, end)
}

// quoted reads a literal between quotes q; inside it a quote is written twice. A literal without an end is Bad and
// extends to the end of the text.
func (l *Lexer) quoted(q byte) Token {
	start := l.at
	var b strings.Builder
	for i := start + 1; i < len(l.text); i++ {
		if l.text[i] != q {
			b.WriteByte(l.text[i])
			continue
		}
		if i+1 < len(l.text) && l.text[i+1] == q {
			b.WriteByte(q)
			i++
			continue
		}
		kind := Text
		if q == '`' {
			kind = BackText
		}
		t := l.take(kind, start, i+1)
		t.Value, t.Quote = b.String(), q
		return t
	}
	t := l.take(Bad, start, len(l.text))
	t.Quote = q
	return t
}

// Position returns the line (from 1) and column (from 0, in code points) of a byte offset, as error messages of the
// contract count them.
func Position(text string, offset int) (line, col int) {
	before := text[:min(offset, len(text))]
	line = 1 + strings.Count(before, "\n")
	return line, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}
