package userfn

import (
	"fmt"
	"slices"
	"strconv"

	"quarry/internal/expr"
)

// parser is a recursive-descent parser. The first error moves it to the end of the text, so that every loop and recursion
// ends.
type parser struct {
	text    string
	tokens  []expr.Token // the last is End
	pairs   map[int]pair // by index of the opening parenthesis
	at      int          // index of the current token
	depth   int
	nodes   int
	judging bool     // the text is a condition
	passage bool     // the program reads more than scores
	bad     *failure // the first error
}

// noun returns what the text is, for messages.
func (p *parser) noun() string {
	if p.judging {
		return "condition"
	}
	return "function"
}

// pair is a pair of parentheses.
type pair struct {
	end   int  // index of the closing one
	comma bool // there is a comma directly inside
}

type failure struct {
	offset int
	reason string
}

// scan splits the text into tokens and finds the pairs of parentheses.
func (p *parser) scan() {
	p.pairs = map[int]pair{}
	var open []int
	comma := map[int]bool{}
	l := expr.NewLexer(p.text)
	for {
		t := l.Next()
		p.tokens = append(p.tokens, t)
		i := len(p.tokens) - 1
		switch {
		case t.Kind == expr.End:
			return
		case t.Kind != expr.Symbol:
		case t.Value == "(":
			open = append(open, i)
		case len(open) == 0:
		case t.Value == ",":
			comma[open[len(open)-1]] = true
		case t.Value == ")":
			start := open[len(open)-1]
			open = open[:len(open)-1]
			p.pairs[start] = pair{i, comma[start]}
		}
	}
}

// fail records an error at t, unless there is one already, and ends parsing.
func (p *parser) fail(t expr.Token, format string, args ...any) node {
	if p.bad == nil {
		p.bad = &failure{t.Start, fmt.Sprintf(format, args...)}
	}
	p.at = len(p.tokens) - 1
	return constant{}
}

func (p *parser) token() expr.Token { return p.tokens[p.at] }

func (p *parser) next() expr.Token {
	t := p.tokens[p.at]
	if t.Kind != expr.End {
		p.at++
	}
	return t
}

// symbol reports whether the token at i is one of these operators.
func (p *parser) symbol(i int, any ...string) bool {
	return p.tokens[i].Kind == expr.Symbol && slices.Contains(any, p.tokens[i].Value)
}

// words are the operators that are written as words.
var words = map[string]string{"and": "&&", "or": "||", "not": "!"}

// operator returns the operator that the current token stands for; ok is false if it is none of these.
func (p *parser) operator(any ...string) (op string, ok bool) {
	switch t := p.token(); t.Kind {
	case expr.Symbol:
		op = t.Value
	case expr.Name:
		op = words[t.Value]
	}
	return op, op != "" && slices.Contains(any, op)
}

func (p *parser) word(i int, name string) bool {
	return p.tokens[i].Kind == expr.Name && p.tokens[i].Value == name
}

func (p *parser) expect(symbol string) {
	if !p.symbol(p.at, symbol) {
		p.fail(p.token(), "%s is missing before %s", symbol, describe(p.token()))
		return
	}
	p.next()
}

func (p *parser) expectWord(name string) {
	if !p.word(p.at, name) {
		p.fail(p.token(), "%s is missing before %s", name, describe(p.token()))
		return
	}
	p.next()
}

func describe(t expr.Token) string {
	switch t.Kind {
	case expr.End:
		return "the end"
	case expr.Text, expr.BackText:
		return "a string"
	}
	r := []rune(t.Value)
	if len(r) > 30 {
		r = append(r[:30], '…')
	}
	return "'" + string(r) + "'"
}

// add counts a node against maxNodes and returns it.
func (p *parser) add(n node) node {
	if p.nodes++; p.nodes > maxNodes {
		return p.fail(p.token(), "the %s has more than %d parts", p.noun(), maxNodes)
	}
	return n
}

// enter begins a level of recursion and reports whether it is allowed. leave must follow in any case.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > maxDepth {
		p.fail(p.token(), "expressions are nested more than %d deep", maxDepth)
		return false
	}
	return true
}

func (p *parser) leave() { p.depth-- }

func (p *parser) program() node {
	if p.token().Kind == expr.End {
		return p.fail(p.token(), "the %s is empty", p.noun())
	}
	n := p.expression()
	if t := p.token(); t.Kind != expr.End {
		return p.fail(t, "%s does not belong here", describe(t))
	}
	return n
}

func (p *parser) expression() node {
	defer p.leave()
	if !p.enter() {
		return constant{}
	}
	n := p.level(0)
	if !p.symbol(p.at, "?") {
		return n
	}
	p.next()
	then := p.expression()
	p.expect(":")
	return p.add(conditional{n, then, p.expression()})
}

// levels are the binary operators by precedence, lowest first.
var levels = [][]string{{"||"}, {"&&"}, {"==", "!=", "===", "!=="}, {"<", "<=", ">", ">="}, {"+", "-"}, {"*", "/", "%"}}

func (p *parser) level(i int) node {
	if i == len(levels) {
		return p.unary()
	}
	left := p.level(i + 1)
	for {
		op, ok := p.operator(levels[i]...)
		if !ok {
			return left
		}
		p.next()
		left = p.add(p.combined(op, left, p.level(i+1)))
	}
}

// combined returns the node of a binary operator.
func (p *parser) combined(op string, left, right node) node {
	if p.judging && comparison(op) && !isNull(left) && !isNull(right) {
		return present{binary{op, left, right}}
	}
	return binary{op, left, right}
}

func (p *parser) unary() node {
	op, ok := p.operator("!", "-", "+")
	if !ok {
		return p.primary()
	}
	defer p.leave()
	if !p.enter() {
		return constant{}
	}
	p.next()
	return p.add(unary{op, p.unary()})
}

func (p *parser) primary() node {
	t := p.next()
	switch t.Kind {
	case expr.Integer, expr.Real:
		f, err := strconv.ParseFloat(t.Value, 64)
		if err != nil {
			return p.fail(t, "the number %s is too large", describe(t))
		}
		return p.add(constant{double(f)})
	case expr.Text:
		if t.Quote != '\'' {
			return p.fail(t, "strings are written in single quotes")
		}
		return p.add(constant{value{kind: text, str: t.Value}})
	case expr.Name:
		return p.name(t)
	case expr.Symbol:
		if t.Value == "(" {
			n := p.expression()
			p.expect(")")
			return n
		}
	case expr.Bad, expr.BackText:
		return p.fail(t, "%s", badToken(t))
	}
	return p.fail(t, "a value is missing before %s", describe(t))
}

func badToken(t expr.Token) string {
	if t.Kind == expr.Bad && t.Quote == '\'' {
		return "the string has no end"
	}
	if t.Quote != 0 {
		return "strings are written in single quotes"
	}
	return describe(t) + " is not a character of this language"
}

func (p *parser) name(t expr.Token) node {
	switch t.Value {
	case "true", "false":
		return p.add(constant{truth(t.Value == "true")})
	case "null":
		return p.add(constant{})
	case "if":
		return p.conditional()
	case "then", "else", "and", "or":
		return p.fail(t, "a value is missing before '%s'", t.Value)
	}
	if !p.symbol(p.at, "(") {
		return p.fail(t, "%s is neither a value nor a function: functions have parentheses, strings are written in single quotes", describe(t))
	}
	p.next()
	switch t.Value {
	case "knee":
		if p.judging {
			return p.fail(t, "knee belongs to rerankers: a condition has no scores")
		}
		return p.knee()
	case "get":
		return p.get(t)
	}
	f, ok := functions[t.Value]
	if !ok {
		return p.fail(t, "no function is named %s", describe(t))
	}
	return p.call(t, f)
}

// conditional parses any of the three forms: if (c) a else b, if c then a else b, if(c, a, b). Which one it is depends on
// what follows the condition, which scan has made possible to look up.
func (p *parser) conditional() node {
	brackets, parenthesised := p.pairs[p.at]
	if parenthesised && brackets.comma {
		p.next()
		when := p.expression()
		p.expect(",")
		then := p.expression()
		p.expect(",")
		otherwise := p.expression()
		p.expect(")")
		return p.add(conditional{when, then, otherwise})
	}
	var when node
	if parenthesised && !p.thenFollows(brackets.end+1) {
		p.next()
		when = p.expression()
		p.expect(")")
	} else {
		when = p.expression()
		p.expectWord("then")
	}
	then := p.expression()
	p.expectWord("else")
	return p.add(conditional{when, then, p.expression()})
}

// thenFollows reports whether a "then" at or after token i belongs to the if whose condition begins before it.
func (p *parser) thenFollows(i int) bool {
	for inner := 0; p.tokens[i].Kind != expr.End; i++ { // inner counts the ifs that have no else yet
		switch {
		case p.symbol(i, "("):
			if _, closed := p.pairs[i]; !closed {
				return false
			}
			i = p.pairs[i].end
		case p.symbol(i, ")", ","):
			return false
		case p.word(i, "if") && !p.pairs[i+1].comma:
			inner++
		case p.word(i, "then") && inner == 0:
			return true
		case p.word(i, "else") && inner == 0:
			return false
		case p.word(i, "else"):
			inner--
		}
	}
	return false
}

// arguments parses the arguments of a function and the closing parenthesis.
func (p *parser) arguments() []node {
	var out []node
	for !p.symbol(p.at, ")") {
		if len(out) > 0 {
			p.expect(",")
		}
		out = append(out, p.expression())
		if p.bad != nil {
			return nil
		}
	}
	p.next()
	return out
}

func (p *parser) call(t expr.Token, f *function) node {
	first := p.at
	args := p.arguments()
	if p.bad != nil {
		return constant{}
	}
	if len(args) < f.least || len(args) > f.most {
		return p.fail(t, "%s takes %s, not %d", t.Value, f.takes(), len(args))
	}
	if f.check != nil {
		if err := f.check(args); err != nil {
			return p.fail(p.tokens[first], "%v", err)
		}
	}
	return p.add(call{t.Value, f, args})
}

// get parses the arguments of get. The path must be a literal, so that it is checked before anything runs.
func (p *parser) get(name expr.Token) node {
	t := p.token()
	args := p.arguments()
	if p.bad != nil {
		return constant{}
	}
	if len(args) < 1 || len(args) > 2 {
		return p.fail(name, "get takes 1 or 2 arguments, not %d", len(args))
	}
	literal, ok := args[0].(constant)
	if !ok || literal.value.kind != text {
		return p.fail(t, "the path of get is a string, such as '$.score'")
	}
	where, at, err := parsePath(literal.value.str)
	if err != nil {
		t.Start += 1 + at
		return p.fail(t, "%v", err)
	}
	p.passage = p.passage || where.readsPassage()
	n := get{path: where}
	if len(args) == 2 {
		n.fallback = args[1]
	}
	return p.add(n)
}

// knee parses the arguments of knee, by position or by name: numbers in [0, 1].
func (p *parser) knee() node {
	k := defaultKnee
	type setting struct {
		name string
		to   *float64
		set  bool
	}
	settings := []setting{{"sensitivity", &k.sensitivity, false}, {"early_bias", &k.earlyBias, false}}
	for i := 0; !p.symbol(p.at, ")"); i++ {
		if i > 0 {
			p.expect(",")
		}
		t, which := p.token(), i
		if t.Kind == expr.Name {
			which = slices.IndexFunc(settings, func(s setting) bool { return s.name == t.Value })
		}
		if which < 0 || which >= len(settings) || settings[which].set {
			return p.fail(t, "knee takes sensitivity and early_bias, numbers, each at most once")
		}
		if t.Kind == expr.Name {
			p.next()
			p.expect("=")
		}
		settings[which].set = true
		if *settings[which].to = p.fraction(settings[which].name); p.bad != nil {
			return constant{}
		}
	}
	p.next()
	return p.add(k)
}

// fraction parses a number in [0, 1].
func (p *parser) fraction(name string) float64 {
	t, sign := p.token(), 1.0
	if p.symbol(p.at, "-", "+") {
		if p.next().Value == "-" {
			sign = -1
		}
	}
	digits := p.next()
	f, err := strconv.ParseFloat(digits.Value, 64)
	if digits.Kind != expr.Integer && digits.Kind != expr.Real || err != nil || sign*f < 0 || f > 1 {
		p.fail(t, "%s of knee is a number between 0 and 1", name)
	}
	return sign * f
}
