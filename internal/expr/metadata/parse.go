package metadata

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"quarry/internal/expr"
)

// parser is a recursive-descent parser. As in text/template/parse, it fails by a panic, of an *Error, which Parse recovers.
type parser struct {
	text  string
	lex   *expr.Lexer
	tok   expr.Token
	depth int
}

func (p *parser) next() { p.tok = p.lex.Next() }

// keyword reports whether the current token is the word w, in any case.
func (p *parser) keyword(w string) bool {
	return p.tok.Kind == expr.Name && strings.EqualFold(p.tok.Value, w)
}

// accept skips the word w and reports whether it was there.
func (p *parser) accept(w string) bool {
	if !p.keyword(w) {
		return false
	}
	p.next()
	return true
}

func (p *parser) symbol(s string) bool { return p.tok.Kind == expr.Symbol && p.tok.Value == s }

// enter begins a level of nesting; leave ends it.
func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		panic(p.fail(p.tok.Start, "the filter is nested deeper than %d levels", maxDepth))
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) fail(at int, format string, args ...any) *Error {
	line, column := expr.Position(p.text, at)
	return &Error{line, column, fmt.Sprintf(format, args...)}
}

// instead maps the words and symbols of other languages to advice about this one.
var instead = map[string]string{
	"&&": "write AND", "||": "write OR", "!": "write NOT", "‘": "write '", "’": "write '", "“": `write "`, "”": `write "`, "`": `names are quoted with "`,
	"-": `a name with a hyphen is written in double quotes, such as "user-id"`, "ILIKE": "write LIKE, which distinguishes case",
	"BETWEEN": "write >= and <=", "==": "write =", "===": "write =",
}

// unexpected returns the error of the current token where want is expected.
func (p *parser) unexpected(want string) *Error {
	t := p.tok
	if t.Kind == expr.End {
		return p.fail(t.Start, "expected %s, found the end of the filter", want)
	}
	if t.Kind == expr.Bad && t.Quote != 0 {
		return p.fail(t.Start, "the text that begins with %c has no closing quote", t.Quote)
	}
	found, key := p.text[t.Start:t.End], strings.ToUpper(t.Value)
	if r := []rune(found); len(r) > 40 {
		found = string(r[:40]) + "…"
	}
	if t.Kind == expr.BackText {
		key = "`"
	}
	if advice := instead[key]; advice != "" {
		return p.fail(t.Start, "expected %s, found %q; %s", want, found, advice)
	}
	return p.fail(t.Start, "expected %s, found %q", want, found)
}

func (p *parser) or() node { return p.join("OR", yes, p.and) }

func (p *parser) and() node { return p.join("AND", no, p.not) }

// join parses operands joined by word, of which one that is decides makes the whole so.
func (p *parser) join(word string, decides truth, operand func() node) node {
	all := []node{operand()}
	for p.accept(word) {
		all = append(all, operand())
	}
	if len(all) == 1 {
		return all[0]
	}
	return junction{decides, all}
}

func (p *parser) not() node {
	p.enter()
	defer p.leave()
	if p.accept("NOT") {
		return not{p.not()}
	}
	if !p.symbol("(") {
		return p.predicate()
	}
	p.next()
	n := p.or()
	p.close()
	return n
}

func (p *parser) close() {
	if !p.symbol(")") {
		panic(p.unexpected(`")"`))
	}
	p.next()
}

// predicate parses a comparison, LIKE, IN or IS, or an operand that is a boolean.
func (p *parser) predicate() node {
	left := p.operand()
	if p.tok.Kind == expr.Symbol && slices.Contains(comparisons, p.tok.Value) {
		op := p.tok.Value
		p.next()
		return comparison{op, left, p.operand()}
	}
	if p.accept("IS") {
		negated := p.accept("NOT")
		if !p.accept("NULL") {
			panic(p.unexpected("NULL or NOT NULL after IS"))
		}
		return negate(negated, absent{left})
	}
	negated := p.accept("NOT")
	switch {
	case p.accept("LIKE"):
		return negate(negated, p.like(left))
	case p.accept("IN"):
		return negate(negated, member{left, p.list()})
	case negated:
		panic(p.unexpected("LIKE or IN after NOT"))
	}
	return boolean{left}
}

func negate(negated bool, n node) node {
	if negated {
		return not{n}
	}
	return n
}

// like parses the pattern of LIKE.
func (p *parser) like(left operand) node {
	t := p.tok
	if t.Kind != expr.Text || t.Quote != '\'' {
		panic(p.unexpected("a pattern in single quotes after LIKE"))
	}
	pattern, ok := parsePattern(t.Value)
	if !ok {
		panic(p.fail(t.Start, `the pattern ends with a backslash; write \\ for one`))
	}
	p.next()
	return like{left, pattern}
}

// list parses what stands behind IN: operands in parentheses, or one name.
func (p *parser) list() []operand {
	if !p.symbol("(") {
		if !p.named() {
			panic(p.unexpected("a list in parentheses or a name after IN"))
		}
		return []operand{p.operand()}
	}
	p.next()
	all := []operand{p.operand()}
	for p.symbol(",") {
		p.next()
		all = append(all, p.operand())
	}
	p.close()
	return all
}

// reserved words can't be names without quotes.
var reserved = []string{"AND", "OR", "NOT", "IN", "IS", "LIKE", "ILIKE", "BETWEEN", "NULL", "TRUE", "FALSE"}

// named reports whether a name begins at the current token.
func (p *parser) named() bool {
	t := p.tok
	return t.Kind == expr.Text && t.Quote == '"' || t.Kind == expr.Name && !slices.Contains(reserved, strings.ToUpper(t.Value))
}

// operand parses a name or a literal.
func (p *parser) operand() operand {
	t := p.tok
	literal := func(v any) operand {
		p.next()
		return constant{v}
	}
	switch {
	case p.named():
		return p.reference()
	case t.Kind == expr.Text:
		return literal(t.Value)
	case p.keyword("TRUE"), p.keyword("FALSE"):
		return literal(p.keyword("TRUE"))
	case p.keyword("NULL"):
		return literal(nil)
	case t.Kind == expr.Integer, t.Kind == expr.Real, p.symbol("-"), p.symbol("+"):
		return p.number()
	}
	panic(p.unexpected("a name or a value"))
}

// number parses a number with its sign.
func (p *parser) number() operand {
	t := p.tok
	sign := ""
	if t.Kind == expr.Symbol {
		sign = t.Value
		p.next()
	}
	digits := p.tok
	if digits.Kind != expr.Integer && digits.Kind != expr.Real {
		panic(p.unexpected("a number after " + sign))
	}
	p.next()
	if n, err := strconv.ParseInt(sign+digits.Value, 10, 64); err == nil && digits.Kind == expr.Integer {
		return constant{n}
	}
	f, err := strconv.ParseFloat(sign+digits.Value, 64)
	if err != nil || math.IsInf(f, 0) {
		panic(p.fail(t.Start, "the number %.30s is too large", digits.Value))
	}
	return constant{f}
}

// reference parses a name, and the names that follow it after periods.
func (p *parser) reference() operand {
	name, end := p.tok.Value, p.tok.End
	if name == "" {
		panic(p.fail(p.tok.Start, `a name is empty; text is written in single quotes`))
	}
	for strings.HasPrefix(p.lex.Rest(), ".") {
		p.lex.Skip(1)
		m, ok := p.lex.Member()
		if !ok {
			panic(p.fail(end+1, "expected a name after the period"))
		}
		name, end = name+"."+m.Value, m.End
	}
	p.next()
	return reference(name)
}
