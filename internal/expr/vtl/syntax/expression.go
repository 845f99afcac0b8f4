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

// reference parses a reference at "$". It returns nil without an error if there is none. In text, a "[" after a reference
// is text unless it begins an index.
func (p *parser) reference(w where) (*Reference, error) {
	start := p.pos
	if p.peek(0) != '$' {
		return nil, nil
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
		return nil, nil
	}
	r.Line = p.line(start)
	for {
		a, ok, err := p.access(w)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		r.Path = append(r.Path, a)
	}
	if formal {
		if p.peek(0) != '}' {
			return nil, p.fail(start, "the reference %s is not closed by }", shorten(p.text[start:p.pos]))
		}
		p.pos++
	}
	r.Source = p.text[start:p.pos]
	return r, nil
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
func (p *parser) access(w where) (a Access, ok bool, err error) {
	switch {
	case p.peek(0) == '.' && begins(p.peek(1)):
		p.pos++
		a.Name = p.name()
		if p.peek(0) != '(' {
			return a, true, nil
		}
		at := p.pos
		p.pos++
		a.Call = true
		a.Arguments, err = p.sequence(')')
		if err != nil && p.pos >= len(p.text) {
			err = p.fail(at, "the arguments of %s are not closed by )", shorten(a.Name))
		}
		return a, true, err
	case p.peek(0) == '[' && (w == inExpression || p.indexed(w)):
		at, depth := p.pos, p.depth
		p.pos++
		if a.Index, err = p.expression(); err == nil {
			p.blanks()
			if p.peek(0) != ']' {
				err = p.fail(at, "the index is not closed by ]")
			}
		}
		if err != nil {
			if p.reread += p.pos - at; w == inText && p.reread <= maxReread {
				p.pos, p.depth = at, depth
				return a, false, nil
			}
			return a, false, err
		}
		p.pos++
		return a, true, nil
	}
	return a, false, nil
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

func (p *parser) expression() (Expression, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	return p.level(0)
}

func (p *parser) level(n int) (Expression, error) {
	if n == len(levels) {
		return p.unary()
	}
	first, err := p.level(n + 1)
	if err != nil {
		return nil, err
	}
	var rest []Operation
	for {
		operator := p.operator(n)
		if operator == "" {
			break
		}
		operand, err := p.level(n + 1)
		if err != nil {
			return nil, err
		}
		rest = append(rest, Operation{operator, operand})
	}
	if rest == nil {
		return first, nil
	}
	return Binary{first, rest}, nil
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

func (p *parser) unary() (Expression, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
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
	operand, err := p.unary()
	return Unary{operator, operand}, err
}

func (p *parser) primary() (Expression, error) {
	at := p.pos
	switch b := p.peek(0); {
	case b == '$':
		r, err := p.reference(inExpression)
		if err == nil && r == nil {
			err = p.fail(at, "$ needs a name after it")
		}
		return r, err
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
		e, err := p.expression()
		if err != nil {
			return nil, err
		}
		p.blanks()
		if p.peek(0) != ')' {
			return nil, p.fail(at, "( is not closed by )")
		}
		p.pos++
		return e, nil
	}
	switch word := p.name(); word {
	case "true":
		return Literal{true}, nil
	case "false":
		return Literal{false}, nil
	case "null":
		return Literal{nil}, nil
	}
	p.pos = at
	if begins(p.peek(0)) {
		return nil, p.fail(at, "a value is missing here: %s is none; a reference begins with $, a string with a quote", p.found())
	}
	return nil, p.fail(at, "a value is missing here, there is %s", p.found())
}

func (p *parser) number() (Expression, error) {
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
			return nil, p.fail(at, "the number is too large")
		}
		return Literal{n}, nil
	}
	p.pos++
	digits()
	f, err := strconv.ParseFloat(p.text[at:p.pos], 64)
	if err != nil {
		return nil, p.fail(at, "the number is too large")
	}
	return Literal{f}, nil
}

// single parses a single-quoted string, whose only escape is a doubled quote.
func (p *parser) single() (Expression, error) {
	at := p.pos
	p.pos++
	var b strings.Builder
	for {
		n := strings.IndexByte(p.rest(), '\'')
		if n < 0 {
			p.pos = len(p.text)
			return nil, p.fail(at, "the string is not closed by '")
		}
		b.WriteString(p.text[p.pos : p.pos+n])
		p.pos += n + 1
		if p.peek(0) != '\'' {
			return Literal{b.String()}, nil
		}
		b.WriteByte('\'')
		p.pos++
	}
}

// double parses a double-quoted string, in which references and escapes are replaced.
func (p *parser) double() (Expression, error) {
	at := p.pos
	p.pos++
	var parts []Node
	for {
		n := strings.IndexAny(p.rest(), `"$\`)
		if n < 0 {
			p.pos = len(p.text)
			return nil, p.fail(at, `the string is not closed by "`)
		}
		parts = write(parts, p.text[p.pos:p.pos+n])
		p.pos += n
		switch p.text[p.pos] {
		case '"':
			if p.pos++; p.peek(0) != '"' {
				return constant(parts), nil
			}
			parts = write(parts, `"`)
			p.pos++
		case '\\':
			parts = write(parts, p.unescape())
		default:
			r, err := p.reference(inQuotes)
			switch {
			case err != nil:
				return nil, err
			case r == nil:
				parts = write(parts, "$")
				p.pos++
			default:
				parts = append(parts, r)
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
func (p *parser) sequence(closing byte) (out []Expression, err error) {
	p.blanks()
	if p.peek(0) == closing {
		p.pos++
		return nil, nil
	}
	first, err := p.expression()
	if err != nil {
		return nil, err
	}
	return p.following(first, closing)
}

// following parses the rest of a sequence after its first expression.
func (p *parser) following(first Expression, closing byte) ([]Expression, error) {
	out := []Expression{first}
	for {
		p.blanks()
		switch p.peek(0) {
		case closing:
			p.pos++
			return out, nil
		case ',':
			p.pos++
		default:
			return nil, p.fail(p.pos, "a comma or %q is missing here, there is %s", string(closing), p.found())
		}
		e, err := p.expression()
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
}

// list parses [a, b] or [from..to].
func (p *parser) list() (Expression, error) {
	at := p.pos
	p.pos++
	if p.blanks(); p.peek(0) == ']' {
		p.pos++
		return List{}, nil
	}
	first, err := p.expression()
	if err != nil {
		return nil, err
	}
	if p.blanks(); !strings.HasPrefix(p.rest(), "..") {
		items, err := p.following(first, ']')
		return List{items}, err
	}
	p.pos += 2
	last, err := p.expression()
	if err != nil {
		return nil, err
	}
	if p.blanks(); p.peek(0) != ']' {
		return nil, p.fail(at, "the range is not closed by ]")
	}
	p.pos++
	return Range{first, last}, nil
}

func (p *parser) mapping() (Expression, error) {
	p.pos++
	var out Map
	if p.blanks(); p.peek(0) == '}' {
		p.pos++
		return out, nil
	}
	for {
		key, err := p.expression()
		if err != nil {
			return nil, err
		}
		if p.blanks(); p.peek(0) != ':' {
			return nil, p.fail(p.pos, "a map needs : between key and value, there is %s", p.found())
		}
		p.pos++
		value, err := p.expression()
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, key, value)
		p.blanks()
		switch p.peek(0) {
		case '}':
			p.pos++
			return out, nil
		case ',':
			p.pos++
		default:
			return nil, p.fail(p.pos, "a comma or } is missing in the map, there is %s", p.found())
		}
	}
}
