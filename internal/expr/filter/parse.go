// Package filter implements the metadata filter language of the contract: a boolean condition over attributes, evaluated
// for each part. It parses a filter, checks its types against the attributes of a corpus, evaluates it row by row, and
// returns a normalised tree that the index evaluates column by column. It reads no data itself. Queries, document lists
// and bulk operations use it.
package filter

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"quarry/internal/expr"
	"quarry/internal/fault"
)

// Scope is the set of references that a filter may use.
type Scope uint8

// The scopes.
const (
	Both         Scope = iota // doc. and part.
	DocumentOnly              // doc. only, for filters that select documents
)

// MaxLength is the maximum length of a filter in characters.
const MaxLength = 8000

// maxDepth bounds nesting, so that no text can exhaust the stack.
const maxDepth = 200

// Parse compiles text against the attributes of s. For blank text it returns a nil filter. Any error is
// fault.KindInvalid of the field metadata_filter.
func Parse(text string, s *Schema, scope Scope) (*Filter, error) { return parse(text, s, scope, false) }

// CheckSyntax returns what is wrong with text whatever attributes there are; the error is that of Parse.
func CheckSyntax(text string) error {
	none, err := NewSchema(nil)
	if err == nil {
		_, err = parse(text, none, Both, true)
	}
	return err
}

// parse is Parse. With alone set it ends where attributes begin to matter.
func parse(text string, s *Schema, scope Scope, alone bool) (f *Filter, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	if !utf8.ValidString(text) {
		return nil, refuse("The filter is not valid UTF-8")
	}
	if n := utf8.RuneCountInString(text); n > MaxLength {
		return nil, refuse("The filter has %d characters; at most %d are allowed", n, MaxLength)
	}
	p := &parser{text: text, lex: expr.NewLexer(text), schema: s, scope: scope}
	defer func() {
		switch bad := recover().(type) {
		case nil:
		case *fault.Fault:
			f, err = nil, bad
		default:
			panic(bad)
		}
	}()
	p.next()
	e := p.or()
	if p.tok.Kind != expr.End {
		panic(p.unexpected("an operator or the end"))
	}
	if alone {
		return nil, nil
	}
	if len(p.unknown) > 0 {
		return nil, refuse("Unrecognized references: %s", strings.Join(p.unknown, ", "))
	}
	if p.outside != nil {
		return nil, p.outside
	}
	p.check(e)
	p.condition(e)
	return &Filter{text: text, expr: e, root: normalise(e), attrs: e.attrs()}, nil
}

// parser is a recursive-descent parser. As in text/template/parse, it fails by a panic of a *fault.Fault, which Parse recovers.
// It reports unknown references only after the syntax has been checked, and all of them together.
type parser struct {
	text    string
	lex     *expr.Lexer
	tok     expr.Token
	schema  *Schema
	scope   Scope
	depth   int
	unknown []string     // references that name no attribute
	outside *fault.Fault // a part reference where only doc is allowed
}

func (p *parser) next() { p.tok = p.lex.Next() }

// keyword reports whether the current token is the word w, in any case.
func (p *parser) keyword(w string) bool {
	return p.tok.Kind == expr.Name && strings.EqualFold(p.tok.Value, w)
}

// symbol reports whether the current token is one of these symbols.
func (p *parser) symbol(all ...string) bool {
	return p.tok.Kind == expr.Symbol && slices.Contains(all, p.tok.Value)
}

// enter begins a level of nesting; leave ends it.
func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		panic(p.syntax(p.tok.Start, "the expression is nested deeper than %d levels", maxDepth))
	}
}

func (p *parser) leave() { p.depth-- }

// unexpected returns the syntax error of the current token where want is expected.
func (p *parser) unexpected(want string) *fault.Fault {
	t := p.tok
	switch {
	case t.Kind == expr.End:
		return p.syntax(t.Start, "expected %s, found the end of the expression", want)
	case t.Kind == expr.Bad && t.Quote != 0:
		return p.syntax(t.Start, "the text that begins with %c has no closing quote", t.Quote)
	case t.Kind == expr.Name:
		if sqlWord(t) {
			return p.syntax(t.Start, "%s is not part of the filter language; use =, <>, <, <=, >, >=, IN, IS NULL, AND, OR, NOT", strings.ToUpper(t.Value))
		}
	}
	found := p.text[t.Start:t.End]
	if r := []rune(found); len(r) > 40 {
		found = string(r[:40]) + "…"
	}
	return p.syntax(t.Start, "expected %s, found %s%s", want, strconv.Quote(found), instead[found])
}

// instead maps the symbols of other languages to advice about this one.
var instead = map[string]string{
	"&&": "; write AND", "||": "; write OR", "!": "; write NOT",
	"‘": "; write '", "’": "; write '", "“": "; write '", "”": "; write '",
}

// sqlWord reports whether a name is a keyword or operator of SQL that people may expect here.
func sqlWord(t expr.Token) bool {
	switch strings.ToUpper(t.Value) {
	case "LIKE", "ILIKE", "BETWEEN", "CASE", "SIMILAR", "REGEXP", "RLIKE", "EXISTS", "SELECT", "CONTAINS":
		return true
	}
	return false
}

// or parses OR, the operator of lowest precedence.
func (p *parser) or() *node { return p.join("OR", opOr, p.and) }

func (p *parser) and() *node { return p.join("AND", opAnd, p.not) }

// join parses operands joined by word. A bare text after an equality repeats its left side: a = 'x' OR 'y' means
// a = 'x' OR a = 'y' (contract: section 7, legacy leniency).
func (p *parser) join(word string, op opcode, operand func() *node) *node {
	first := operand()
	all := []*node{first}
	for p.keyword(word) {
		at := p.tok.Start
		p.next()
		x := operand()
		if last := all[len(all)-1].lastEquality(); last != nil && x.op == opConst && !x.grouped && x.value.kind == TextType {
			x = &node{op: last.op, at: at, args: []*node{last.args[0], x}}
		}
		all = append(all, x)
	}
	if len(all) == 1 {
		return first
	}
	return &node{op: op, at: first.at, args: all}
}

// lastEquality returns the equality at the end of the text of n, or nil if there is none or its left side is a literal.
func (n *node) lastEquality() *node {
	if n.op == opAnd && !n.grouped {
		return n.args[len(n.args)-1].lastEquality()
	}
	if (n.op == opEq || n.op == opNe) && !n.grouped && n.args[0].op != opConst {
		return n
	}
	return nil
}

func (p *parser) not() *node {
	if !p.keyword("NOT") {
		return p.in()
	}
	p.enter()
	defer p.leave()
	at := p.tok.Start
	p.next()
	x := p.not()
	return &node{op: opNot, at: at, args: []*node{x}}
}

// in parses IN and NOT IN, whose right side is a list in parentheses or a reference to a list attribute.
func (p *parser) in() *node {
	left := p.is()
	negated := p.keyword("NOT")
	at := p.tok.Start
	if negated {
		p.next()
		if !p.keyword("IN") {
			panic(p.unexpected("IN after NOT"))
		}
	}
	if !p.keyword("IN") {
		return left
	}
	p.next()
	n := &node{op: opIn, at: at, args: []*node{left}}
	if p.symbol("(") {
		n.args = p.list(n.args)
	} else {
		r := p.primary()
		if r.op != opRef {
			panic(p.syntax(r.at, "expected a list in parentheses or a reference after IN"))
		}
		n.op, n.args = opContains, []*node{r, left}
	}
	if negated {
		n = &node{op: opNot, at: at, args: []*node{n}}
	}
	return n
}

// list parses "(" expr { "," expr } ")" and appends the elements to args.
func (p *parser) list(args []*node) []*node {
	p.enter()
	defer p.leave()
	for {
		p.next() // "(" or ","
		x := p.or()
		args = append(args, x)
		if p.symbol(")") {
			p.next()
			return args
		}
		if !p.symbol(",") {
			panic(p.unexpected(`"," or ")"`))
		}
	}
}

// is parses IS NULL and IS NOT NULL.
func (p *parser) is() *node {
	x := p.level(0)
	if !p.keyword("IS") {
		return x
	}
	at := p.tok.Start
	p.next()
	negated := p.keyword("NOT")
	if negated {
		p.next()
	}
	if !p.keyword("NULL") {
		panic(p.unexpected("NULL or NOT NULL after IS"))
	}
	p.next()
	n := &node{op: opIsNull, at: at, args: []*node{x}}
	if negated {
		n = &node{op: opNot, at: at, args: []*node{n}}
	}
	return n
}

// binary holds the left-associative operators by precedence, lowest first.
var binary = []map[string]opcode{
	{"=": opEq, "==": opEq, "!=": opNe, "<>": opNe},
	{"<": opLt, "<=": opLe, ">": opGt, ">=": opGe},
	{"+": opAdd, "-": opSub},
	{"*": opMul, "/": opDiv, "%": opMod},
}

// level parses the binary operators of the precedence i and above.
func (p *parser) level(i int) *node {
	if i == len(binary) {
		return p.unary()
	}
	left := p.level(i + 1)
	for p.tok.Kind == expr.Symbol {
		op, ok := binary[i][p.tok.Value]
		if !ok {
			break
		}
		at := p.tok.Start
		p.next()
		left = &node{op: op, at: at, args: []*node{left, p.level(i + 1)}}
	}
	return left
}

func (p *parser) unary() *node {
	if !p.symbol("+", "-") {
		return p.primary()
	}
	p.enter()
	defer p.leave()
	at, minus := p.tok.Start, p.tok.Value == "-"
	p.next()
	if minus && p.tok.Kind == expr.Integer { // so that the smallest 64-bit integer can be written
		p.tok.Value = "-" + p.tok.Value
		return p.primary()
	}
	x := p.unary()
	if minus {
		return &node{op: opNeg, at: at, args: []*node{x}}
	}
	return &node{op: opPlus, at: at, args: []*node{x}}
}

func (p *parser) primary() *node {
	t := p.tok
	constant := func(v Value) *node {
		p.next()
		return &node{op: opConst, at: t.Start, value: v}
	}
	switch {
	case t.Kind == expr.Integer:
		n, err := strconv.ParseInt(t.Value, 10, 64)
		if err != nil {
			panic(p.syntax(t.Start, "the integer %s is outside the range of 64 bits", t.Value))
		}
		return constant(Int(n))
	case t.Kind == expr.Real:
		f, err := strconv.ParseFloat(t.Value, 64)
		if err != nil || math.IsInf(f, 0) {
			panic(p.syntax(t.Start, "the number %s is too large", t.Value))
		}
		return constant(Real(f))
	case t.Kind == expr.Text:
		return constant(Text(t.Value))
	case p.keyword("TRUE"), p.keyword("FALSE"):
		return constant(Bool(strings.EqualFold(t.Value, "true")))
	case p.keyword("NULL"):
		return constant(Value{})
	case p.symbol("("):
		return p.group()
	case t.Kind == expr.Name:
		return p.reference()
	}
	panic(p.unexpected("a value, a reference or ("))
}

func (p *parser) group() *node {
	p.enter()
	defer p.leave()
	p.next()
	x := p.or()
	if !p.symbol(")") {
		panic(p.unexpected(`")"`))
	}
	p.next()
	inner := *x
	inner.grouped = true
	return &inner
}
