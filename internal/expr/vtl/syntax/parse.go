package syntax

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// parser is a recursive-descent parser. It has no separate lexer, since the meaning of a character depends on its context.
// As in text/template/parse, it fails by a panic, of a *parseError.
type parser struct {
	text   string
	pos    int
	depth  int   // of nesting
	loops  int   // number of enclosing #foreach
	lines  []int // offsets of line beginnings; computed when first needed
	reread int   // bytes parsed more than once: see maxReread
}

// line returns the line of an offset, from 1.
func (p *parser) line(at int) int {
	if p.lines == nil {
		p.lines = []int{0}
		for i := range len(p.text) {
			if p.text[i] == '\n' {
				p.lines = append(p.lines, i+1)
			}
		}
	}
	return sort.SearchInts(p.lines, at+1)
}

// parseError is an error at an offset. Its line and column are computed only when it is reported, since the parser discards
// errors when it backtracks.
type parseError struct {
	at   int
	text string
}

func (p *parser) fail(at int, format string, args ...any) *parseError {
	return &parseError{at, fmt.Sprintf(format, args...)}
}

// attempt runs parse and returns the error that it fails with, or nil.
func attempt(parse func()) (failed *parseError) {
	defer func() {
		switch bad := recover().(type) {
		case nil:
		case *parseError:
			failed = bad
		default:
			panic(bad)
		}
	}()
	parse()
	return nil
}

// located returns the Error for a parseError.
func (p *parser) located(m *parseError) *Error {
	line := p.line(m.at)
	column := utf8.RuneCountInString(p.text[p.lines[line-1]:m.at]) + 1
	return &Error{Line: line, Column: column, Text: m.text}
}

// enter begins a level of nesting; p.depth-- ends it.
func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		panic(p.fail(p.pos, "nested deeper than %d levels", maxNesting))
	}
}

// ending is the directive that ended a block.
type ending struct {
	name string // "end", "else", "elseif" or "" for the end of the template
	at   int
}

func (p *parser) template() []Node {
	root, end := p.block()
	if end.name != "" {
		panic(p.fail(end.at, "#%s stands outside of #if and #foreach", end.name))
	}
	return root
}

// block parses nodes up to the directive that ends the block, and the directive itself without the condition of #elseif.
func (p *parser) block() (out []Node, end ending) {
	p.enter()
	defer func() { p.depth-- }()
	for {
		n := strings.IndexAny(p.text[p.pos:], `$#\`)
		if n < 0 {
			out = write(out, p.text[p.pos:])
			p.pos = len(p.text)
			return out, ending{"", p.pos}
		}
		out = write(out, p.text[p.pos:p.pos+n])
		p.pos += n
		switch p.text[p.pos] {
		case '\\':
			out = p.escape(out)
		case '$':
			if r := p.reference(inText); r != nil {
				out = append(out, r)
			} else {
				out = write(out, "$")
				p.pos++
			}
		default:
			var ended bool
			if out, end, ended = p.hash(out); ended {
				return out, end
			}
		}
	}
}

// write appends text to out, merging it with a text before it.
func write(out []Node, s string) []Node {
	if s == "" {
		return out
	}
	if len(out) > 0 {
		if before, ok := out[len(out)-1].(Text); ok && len(before) < 64 { // copying longer ones repeatedly would take quadratic time
			out[len(out)-1] = before + Text(s)
			return out
		}
	}
	return append(out, Text(s))
}

// escape parses a run of backslashes. An odd one before "$" or "#" escapes it.
func (p *parser) escape(out []Node) []Node {
	start := p.pos
	for p.pos < len(p.text) && p.text[p.pos] == '\\' {
		p.pos++
	}
	n := p.pos - start
	switch next := p.peek(0); {
	case next != '$' && next != '#', n%2 == 0 && !p.meaningful():
		return write(out, p.text[start:p.pos])
	case n%2 == 0:
		return append(out, Backslashes(n))
	default:
		p.pos++
		if n > 1 {
			out = append(out, Backslashes(n-1))
		}
		return write(out, string(next))
	}
}

// meaningful reports whether a reference, directive or comment begins at the current position.
func (p *parser) meaningful() bool {
	if p.text[p.pos] == '#' {
		name, _ := p.directiveName()
		return name != "" || p.peek(1) == '#' || p.peek(1) == '*'
	}
	i := 1
	if p.peek(i) == '!' {
		i++
	}
	if p.peek(i) == '{' {
		i++
	}
	return begins(p.peek(i))
}

// peek returns the byte n bytes ahead, or 0 beyond the end.
func (p *parser) peek(n int) byte {
	if p.pos+n < len(p.text) {
		return p.text[p.pos+n]
	}
	return 0
}

func (p *parser) rest() string { return p.text[p.pos:] }

// begins reports whether a name can begin with b.
func begins(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' }

func digit(b byte) bool { return b >= '0' && b <= '9' }

// name parses a name and returns it, or "" if there is none.
func (p *parser) name() string {
	start := p.pos
	if !begins(p.peek(0)) {
		return ""
	}
	for begins(p.peek(0)) || digit(p.peek(0)) {
		p.pos++
	}
	return p.text[start:p.pos]
}

// directiveName returns the name of the directive at "#" and its length with "#" and braces, or "" if there is none.
func (p *parser) directiveName() (name string, length int) {
	i, braces := p.pos+1, 0
	if i < len(p.text) && p.text[i] == '{' {
		i, braces = i+1, 1
	}
	start := i
	for i < len(p.text) && (begins(p.text[i]) || i > start && digit(p.text[i])) {
		i++
	}
	if i == start || braces == 1 && (i >= len(p.text) || p.text[i] != '}') {
		return "", 0
	}
	return p.text[start:i], i + braces - p.pos
}

// hash parses a comment, a directive or a literal "#". ended is whether the directive ends the block.
func (p *parser) hash(out []Node) (_ []Node, end ending, ended bool) {
	at := p.pos
	switch p.peek(1) {
	case '#':
		if n := strings.IndexByte(p.rest(), '\n'); n >= 0 {
			p.pos += n + 1
		} else {
			p.pos = len(p.text)
		}
		return out, end, false
	case '*':
		n := strings.Index(p.text[p.pos+2:], "*#")
		if n < 0 {
			panic(p.fail(at, "the comment #* is not closed by *#"))
		}
		p.pos += n + 4
		return out, end, false
	}
	name, length := p.directiveName()
	if name == "" {
		p.pos++
		return write(out, "#"), end, false
	}
	p.pos += length
	switch name {
	case "end", "else":
		p.gobble()
		return out, ending{name, at}, true
	case "elseif":
		return out, ending{name, at}, true
	}
	return p.directive(out, name, at), end, false
}

// unsupported are the directives of Velocity that are not part of this language.
var unsupported = map[string]bool{"macro": true, "include": true, "parse": true, "evaluate": true, "define": true, "stop": true, "macros": true, "literal": true}

func (p *parser) directive(out []Node, name string, at int) []Node {
	switch name {
	case "set":
		n := p.set(at)
		p.gobble()
		return append(unindent(out), n)
	case "if":
		return append(out, p.choice(at))
	case "foreach":
		return append(out, p.loop(at))
	case "break":
		if p.loops == 0 {
			panic(p.fail(at, "#break stands outside of #foreach"))
		}
		p.gobble()
		return append(out, Break{})
	}
	if unsupported[name] {
		panic(p.fail(at, "#%s is not part of this template language", name))
	}
	if near := nearest(name); near != "" {
		panic(p.fail(at, `unknown directive #%s; write #{%s} where text follows it, or \#%s for the text itself`, name, near, name))
	}
	panic(p.fail(at, `unknown directive #%s; the directives are #set, #if, #elseif, #else, #end, #foreach and #break; write \#%s for the text itself`, name, name))
}

// nearest returns the directive without arguments that a name begins with, as in "#endand", or "".
func nearest(name string) string {
	for _, known := range []string{"else", "end", "break"} {
		if strings.HasPrefix(name, known) {
			return known
		}
	}
	return ""
}

// unindent removes the white space between the start of a line and a #set on it.
func unindent(out []Node) []Node {
	if len(out) == 0 {
		return out
	}
	before, ok := out[len(out)-1].(Text)
	if !ok {
		return out
	}
	cut := strings.TrimRight(string(before), " \t")
	if cut == "" && len(out) == 1 || strings.HasSuffix(cut, "\n") {
		out[len(out)-1] = Text(cut)
	}
	return out
}

// gobble skips the rest of a line, with its end, if it is blank, so that a directive does not leave an empty line.
func (p *parser) gobble() {
	rest := strings.TrimLeft(p.rest(), " \t")
	switch {
	case strings.HasPrefix(rest, "\n"):
		rest = rest[1:]
	case strings.HasPrefix(rest, "\r\n"):
		rest = rest[2:]
	default:
		return
	}
	p.pos = len(p.text) - len(rest)
}

func (p *parser) set(at int) Node {
	p.open("#set")
	r := p.target("#set")
	p.blanks()
	if p.peek(0) != '=' || p.peek(1) == '=' {
		panic(p.fail(p.pos, "#set needs = after $%s", r))
	}
	p.pos++
	value := p.expression()
	p.close(at, "#set")
	return Set{r, value}
}

func (p *parser) choice(at int) Node {
	var out If
	for name := "if"; ; {
		var b Branch
		if name != "else" {
			p.open("#" + name)
			b.Condition = p.expression()
			p.close(at, "#"+name)
			p.gobble()
		}
		block, end := p.block()
		b.Block = block
		out.Branches = append(out.Branches, b)
		switch {
		case end.name == "":
			panic(p.fail(at, "#if is not closed by #end"))
		case end.name == "end":
			return out
		case name == "else":
			panic(p.fail(end.at, "#%s comes after #else", end.name))
		}
		name = end.name
	}
}

func (p *parser) loop(at int) Node {
	out := Foreach{Line: p.line(at)}
	p.open("#foreach")
	out.Name = p.target("#foreach")
	p.blanks()
	if before := p.pos; p.name() != "in" {
		panic(p.fail(before, "#foreach needs the word in after $%s", out.Name))
	}
	out.List = p.expression()
	p.close(at, "#foreach")
	p.gobble()
	p.loops++
	block, end := p.block()
	p.loops--
	switch {
	case end.name == "":
		panic(p.fail(at, "#foreach is not closed by #end"))
	case end.name != "end":
		panic(p.fail(end.at, "#%s stands in #foreach without an #if", end.name))
	}
	out.Block = block
	return out
}

// open skips the parenthesis after a directive.
func (p *parser) open(directive string) {
	p.blanks()
	p.expect('(', p.pos, "%s needs ( after it", directive)
}

// expect skips b, after white space, or fails at an offset.
func (p *parser) expect(b byte, at int, format string, args ...any) {
	if p.blanks(); p.peek(0) != b {
		panic(p.fail(at, format, args...))
	}
	p.pos++
}

func (p *parser) close(at int, directive string) {
	p.blanks()
	if p.pos == len(p.text) {
		panic(p.fail(at, "%s is not closed by )", directive))
	}
	if p.peek(0) != ')' {
		panic(p.fail(p.pos, "%s needs ) or an operator here, not %s", directive, p.found()))
	}
	p.pos++
}

// target parses the variable that a directive sets.
func (p *parser) target(directive string) string {
	p.blanks()
	at := p.pos
	r := p.reference(inExpression)
	if r == nil || len(r.Path) > 0 {
		panic(p.fail(at, "%s needs a name such as $x here", directive))
	}
	return r.Name
}

func (p *parser) blanks() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// found describes the text at the current position, for messages.
func (p *parser) found() string {
	if p.pos >= len(p.text) {
		return "the end of the template"
	}
	at := p.pos
	if word := p.name(); word != "" {
		p.pos = at
		return fmt.Sprintf("%q", shorten(word))
	}
	r, _ := utf8.DecodeRuneInString(p.rest())
	return fmt.Sprintf("%q", string(r))
}
