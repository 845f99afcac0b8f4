package syntax

import (
	"strconv"
	"strings"
)

// where is the context of a reference, which determines whether what follows it can be text.
type where int

const (
	inExpression where = iota
	inText
	inQuotes
)

// reference parses a reference at "$". It returns nil if there is none. In text, a "[" after a reference
// is text unless it begins an index.
func (p *parser) reference(w where) *Reference {
	start := p.pos
	if p.peek(0) != '$' {
		return nil
	}
	p.pos++
	r := &Reference{}
	if r.Quiet = p.peek(0) == '!'; r.Quiet {
		p.pos++
	}
	formal := p.peek(0) == '{'
	if formal {
		p.pos++
	}
	if r.Name = p.name(); r.Name == "" {
		p.pos = start
		return nil
	}
	r.Line = p.line(start)
	for {
		a, ok := p.access(w)
		if !ok {
			break
		}
		r.Path = append(r.Path, a)
	}
	if formal {
		if p.peek(0) != '}' {
			panic(p.fail(start, "the reference %s is not closed by }", shorten(p.text[start:p.pos])))
		}
		p.pos++
	}
	r.Source = p.text[start:p.pos]
	return r
}

func shorten(s string) string {
	const most = 40
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return s
}

// maxReread bounds how many bytes of a template are parsed twice because a "[" in its text turned out not to begin an
// index; without it, nested brackets take quadratic time. Beyond it such a "[" is an error, as it is in expressions.
const maxReread = 256 << 10

// access parses one step of a reference's path.
func (p *parser) access(w where) (a Access, ok bool) {
	switch {
	case p.peek(0) == '.' && begins(p.peek(1)):
		p.pos++
		a.Name = p.name()
		if p.peek(0) != '(' {
			return a, true
		}
		at := p.pos
		p.pos++
		a.Call = true
		failed := attempt(func() { a.Arguments = p.sequence(')') })
		switch {
		case failed != nil && p.pos >= len(p.text):
			panic(p.fail(at, "the arguments of %s are not closed by )", shorten(a.Name)))
		case failed != nil:
			panic(failed)
		}
		return a, true
	case p.peek(0) == '[' && (w == inExpression || p.indexed(w)):
		at, depth := p.pos, p.depth
		p.pos++
		failed := attempt(func() {
			a.Index = p.expression()
			p.expect(']', at, "the index is not closed by ]")
		})
		if failed == nil {
			return a, true
		}
		if p.reread += p.pos - at; w != inText || p.reread > maxReread {
			panic(failed)
		}
		p.pos, p.depth = at, depth
		return a, false
	}
	return a, false
}

// indexed reports whether what follows "[" in text can be an index.
func (p *parser) indexed(w where) bool {
	b := p.peek(1)
	return digit(b) || b == '$' || b == '-' || w == inText && (b == '"' || b == '\'')
}

// levels are the operators by precedence, lowest first, with the words that are synonyms of the signs.
var levels = [][]struct{ sign, word string }{
	{{"||", "or"}},
	{{"&&", "and"}},
	{{"==", "eq"}, {"!=", "ne"}},
	{{"<=", "le"}, {">=", "ge"}, {"<", "lt"}, {">", "gt"}},
	{{"+", ""}, {"-", ""}},
	{{"*", ""}, {"/", ""}, {"%", ""}},
}

func (p *parser) expression() Expression {
	p.enter()
	defer func() { p.depth-- }()
	return p.level(0)
}

func (p *parser) level(n int) Expression {
	if n == len(levels) {
		return p.unary()
	}
	first := p.level(n + 1)
	var rest []Operation
	for {
		operator := p.operator(n)
		if operator == "" {
			break
		}
		operand := p.level(n + 1)
		rest = append(rest, Operation{operator, operand})
	}
	if rest == nil {
		return first
	}
	return Binary{first, rest}
}

// operator skips an operator of a level and returns its sign, or "" if there is none.
func (p *parser) operator(level int) string {
	p.blanks()
	start := p.pos
	word := p.name()
	for _, o := range levels[level] {
		switch {
		case word == "" && strings.HasPrefix(p.rest(), o.sign):
			p.pos += len(o.sign)
			return o.sign
		case word != "" && word == o.word:
			return o.sign
		}
	}
	p.pos = start
	return ""
}

func (p *parser) unary() Expression {
	p.enter()
	defer func() { p.depth-- }()
	p.blanks()
	operator := ""
	switch at := p.pos; {
	case p.peek(0) == '!' || p.peek(0) == '-':
		operator = p.text[at : at+1]
		p.pos++
	case p.name() == "not":
		operator = "!"
	default:
		p.pos = at
		return p.primary()
	}
	return Unary{operator, p.unary()}
}

func (p *parser) primary() Expression {
	at := p.pos
	switch b := p.peek(0); {
	case b == '$':
		r := p.reference(inExpression)
		if r == nil {
			panic(p.fail(at, "$ needs a name after it"))
		}
		return r
	case digit(b):
		return p.number()
	case b == '\'':
		return p.single()
	case b == '"':
		return p.double()
	case b == '[':
		return p.list()
	case b == '{':
		return p.mapping()
	case b == '(':
		p.pos++
		e := p.expression()
		p.expect(')', at, "( is not closed by )")
		return e
	}
	switch word := p.name(); word {
	case "true":
		return Literal{true}
	case "false":
		return Literal{false}
	case "null":
		return Literal{nil}
	}
	p.pos = at
	if begins(p.peek(0)) {
		panic(p.fail(at, "a value is missing here: %s is none; a reference begins with $, a string with a quote", p.found()))
	}
	panic(p.fail(at, "a value is missing here, there is %s", p.found()))
}

func (p *parser) number() Expression {
	at := p.pos
	digits := func() {
		for digit(p.peek(0)) {
			p.pos++
		}
	}
	digits()
	if p.peek(0) != '.' || !digit(p.peek(1)) {
		n, err := strconv.ParseInt(p.text[at:p.pos], 10, 64)
		if err != nil {
			panic(p.fail(at, "the number is too large"))
		}
		return Literal{n}
	}
	p.pos++
	digits()
	f, err := strconv.ParseFloat(p.text[at:p.pos], 64)
	if err != nil {
		panic(p.fail(at, "the number is too large"))
	}
	return Literal{f}
}

// single parses a single-quoted string, whose only escape is a doubled quote.
func (p *parser) single() Expression {
	at := p.pos
	p.pos++
	var b strings.Builder
	for {
		n := strings.IndexByte(p.rest(), '\'')
		if n < 0 {
			p.pos = len(p.text)
			panic(p.fail(at, "the string is not closed by '"))
		}
		b.WriteString(p.text[p.pos : p.pos+n])
		p.pos += n + 1
		if p.peek(0) != '\'' {
			return Literal{b.String()}
		}
		b.WriteByte('\'')
		p.pos++
	}
}

// double parses a double-quoted string, in which references and escapes are replaced.
func (p *parser) double() Expression {
	at := p.pos
	p.pos++
	var parts []Node
	for {
		n := strings.IndexAny(p.rest(), `"$\`)
		if n < 0 {
			p.pos = len(p.text)
			panic(p.fail(at, `the string is not closed by "`))
		}
		parts = write(parts, p.text[p.pos:p.pos+n])
		p.pos += n
		switch p.text[p.pos] {
		case '"':
			if p.pos++; p.peek(0) != '"' {
				return constant(parts)
			}
			parts = write(parts, `"`)
			p.pos++
		case '\\':
			parts = write(parts, p.unescape())
		default:
			if r := p.reference(inQuotes); r != nil {
				parts = append(parts, r)
			} else {
				parts = write(parts, "$")
				p.pos++
			}
		}
	}
}

// constant returns a literal if the parts of a string have no references.
func constant(parts []Node) Expression {
	var out strings.Builder
	for _, part := range parts {
		t, ok := part.(Text)
		if !ok {
			return Quoted{parts}
		}
		out.WriteString(string(t))
	}
	return Literal{out.String()}
}

// unescape parses an escape sequence in a double-quoted string. A backslash that begins none is literal.
func (p *parser) unescape() string {
	p.pos++
	b := p.peek(0)
	if i := strings.IndexByte(`ntr"\$#`, b); i >= 0 && b != 0 {
		p.pos++
		return "\n\t\r\"\\$#"[i : i+1]
	}
	if b == 'u' && p.pos+5 <= len(p.text) {
		if r, err := strconv.ParseUint(p.text[p.pos+1:p.pos+5], 16, 16); err == nil {
			p.pos += 5
			return string(rune(r))
		}
	}
	return `\`
}

// sequence parses expressions separated by commas, and the closing bracket after them.
func (p *parser) sequence(closing byte) []Expression {
	p.blanks()
	if p.peek(0) == closing {
		p.pos++
		return nil
	}
	first := p.expression()
	return p.following(first, closing)
}

// following parses the rest of a sequence after its first expression.
func (p *parser) following(first Expression, closing byte) []Expression {
	out := []Expression{first}
	for {
		p.blanks()
		switch p.peek(0) {
		case closing:
			p.pos++
			return out
		case ',':
			p.pos++
		default:
			panic(p.fail(p.pos, "a comma or %q is missing here, there is %s", string(closing), p.found()))
		}
		e := p.expression()
		out = append(out, e)
	}
}

// list parses [a, b] or [from..to].
func (p *parser) list() Expression {
	at := p.pos
	p.pos++
	if p.blanks(); p.peek(0) == ']' {
		p.pos++
		return List{}
	}
	first := p.expression()
	if p.blanks(); !strings.HasPrefix(p.rest(), "..") {
		return List{p.following(first, ']')}
	}
	p.pos += 2
	last := p.expression()
	p.expect(']', at, "the range is not closed by ]")
	return Range{first, last}
}

func (p *parser) mapping() Expression {
	p.pos++
	var out Map
	if p.blanks(); p.peek(0) == '}' {
		p.pos++
		return out
	}
	for {
		key := p.expression()
		if p.blanks(); p.peek(0) != ':' {
			panic(p.fail(p.pos, "a map needs : between key and value, there is %s", p.found()))
		}
		p.pos++
		value := p.expression()
		out.Items = append(out.Items, key, value)
		p.blanks()
		switch p.peek(0) {
		case '}':
			p.pos++
			return out
		case ',':
			p.pos++
		default:
			panic(p.fail(p.pos, "a comma or } is missing in the map, there is %s", p.found()))
		}
	}
}
