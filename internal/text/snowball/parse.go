package snowball

import (
	"errors"
	"fmt"
)

// command is a compiled command: it moves the cursor and changes the text, and returns whether it signals success.
type command func(*machine) bool

// routine is a named command. It may be called before it is defined.
type routine struct {
	name string
	run  command // nil until it is defined
}

// parser reads a program and compiles it as it goes.
type parser struct {
	lexer *lexer
	now   token

	routines  map[string]*routine
	externals []string
	groupings map[string]map[rune]bool
	numbers   map[string]map[string]int // by kind of variable (booleans, integers, strings): number by name
	pending   []*search                 // substrings without their among
	searches  int
}

// Compile returns the program. It starts with the routine that it declares as external.
func Compile(source string) (*Program, error) {
	p := &parser{
		lexer: newLexer(source), routines: map[string]*routine{}, groupings: map[string]map[rune]bool{},
		numbers: map[string]map[string]int{"booleans": {}, "integers": {}, "strings": {}},
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.program(forward); err != nil {
		return nil, err
	}
	if p.now.kind != end {
		return nil, p.unexpected()
	}
	for _, r := range p.routines {
		if r.run == nil {
			return nil, fmt.Errorf("the routine %s is not defined", r.name)
		}
	}
	if len(p.externals) == 0 {
		return nil, errors.New("no routine is external")
	}
	return &Program{
		start: p.routines[p.externals[0]], booleans: len(p.numbers["booleans"]), integers: len(p.numbers["integers"]),
		strings: len(p.numbers["strings"]), substrings: p.searches,
	}, nil
}

func (p *parser) advance() (err error) {
	p.now, err = p.lexer.next()
	return err
}

func (p *parser) unexpected() error {
	return fmt.Errorf("line %d: %q is not expected here", p.now.line, p.now.text)
}

// is reports whether the current token is this word or sign.
func (p *parser) is(text string) bool {
	return (p.now.kind == word || p.now.kind == sign) && p.now.text == text
}

// accept skips the current token if it is this word or sign.
func (p *parser) accept(text string) (bool, error) {
	if !p.is(text) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) expect(text string) error {
	ok, err := p.accept(text)
	if err == nil && !ok {
		err = fmt.Errorf("line %d: %q stands where %q is expected", p.now.line, p.now.text, text)
	}
	return err
}

// name returns the current token, which must be a word, and skips it.
func (p *parser) name() (string, error) {
	t := p.now
	if t.kind != word {
		return "", p.unexpected()
	}
	return t.text, p.advance()
}

// program reads declarations and definitions up to what is none.
func (p *parser) program(d mode) error {
	for p.now.kind == word {
		var err error
		switch p.now.text {
		case "strings", "integers", "booleans", "routines", "externals", "groupings":
			err = p.declare()
		case "stringescapes":
			if err = p.lexer.escapes(); err == nil {
				err = p.advance()
			}
		case "stringdef":
			if err = p.lexer.define(); err == nil {
				err = p.advance()
			}
		case "backwardmode":
			err = p.backwardmode()
		case "define":
			err = p.define(d)
		default:
			return p.unexpected()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) backwardmode() error {
	if err := p.advance(); err != nil {
		return err
	}
	if err := p.expect("("); err != nil {
		return err
	}
	if err := p.program(backward); err != nil {
		return err
	}
	return p.expect(")")
}

// declare reads a list of names.
func (p *parser) declare() error {
	what := p.now.text
	if err := p.advance(); err != nil {
		return err
	}
	if err := p.expect("("); err != nil {
		return err
	}
	for {
		if done, err := p.accept(")"); done || err != nil {
			return err
		}
		n, err := p.name()
		if err != nil {
			return err
		}
		switch what {
		case "externals":
			p.externals = append(p.externals, n)
			p.routines[n] = &routine{name: n}
		case "routines":
			p.routines[n] = &routine{name: n}
		case "groupings":
			p.groupings[n] = map[rune]bool{}
		default:
			p.numbers[what][n] = len(p.numbers[what])
		}
	}
}

// define reads the definition of a routine or a grouping.
func (p *parser) define(d mode) error {
	if err := p.advance(); err != nil {
		return err
	}
	n, err := p.name()
	if err != nil {
		return err
	}
	if set, ok := p.groupings[n]; ok {
		return p.grouping(set)
	}
	r, ok := p.routines[n]
	if !ok {
		return fmt.Errorf("line %d: %s is not declared", p.now.line, n)
	}
	if err := p.expect("as"); err != nil {
		return err
	}
	r.run, err = p.joined(d)
	return err
}

// grouping reads a set of characters: strings and other groupings, added and taken away.
func (p *parser) grouping(set map[rune]bool) error {
	for add := true; ; {
		switch {
		case p.now.kind == literal:
			for _, r := range p.now.text {
				set[r] = add
			}
		case p.now.kind == word && p.groupings[p.now.text] != nil:
			for r, in := range p.groupings[p.now.text] {
				if in {
					set[r] = add
				}
			}
		default:
			return p.unexpected()
		}
		if err := p.advance(); err != nil {
			return err
		}
		if !p.is("+") && !p.is("-") {
			return nil
		}
		add = p.is("+")
		if err := p.advance(); err != nil {
			return err
		}
	}
}

// joined reads a command and those that "and" and "or" join to it.
func (p *parser) joined(d mode) (command, error) {
	c, err := p.command(d)
	for err == nil && (p.is("and") || p.is("or")) {
		join := either
		if p.is("and") {
			join = both
		}
		if err = p.advance(); err != nil {
			break
		}
		var next command
		if next, err = p.command(d); err == nil {
			c = join(d, c, next)
		}
	}
	return c, err
}

// list reads commands up to the closing bracket, whose opening one has been read: they run one behind the other while they succeed.
func (p *parser) list(d mode) (command, error) {
	var all []command
	for {
		if done, err := p.accept(")"); done || err != nil {
			return sequence(all), err
		}
		c, err := p.joined(d)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
}
