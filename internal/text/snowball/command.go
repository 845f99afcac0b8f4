package snowball

import "fmt"

// prefixes are the commands that have one command behind them.
var prefixes = map[string]func(mode, command) command{
	"not": func(d mode, c command) command {
		return func(m *machine) bool {
			saved := m.save(d)
			if c(m) {
				return false
			}
			m.restore(d, saved)
			return true
		}
	},
	"test": func(d mode, c command) command {
		return func(m *machine) bool {
			saved := m.save(d)
			if !c(m) {
				return false
			}
			m.restore(d, saved)
			return true
		}
	},
	"try": func(d mode, c command) command {
		return func(m *machine) bool {
			if saved := m.save(d); !c(m) {
				m.restore(d, saved)
			}
			return true
		}
	},
	"do": func(d mode, c command) command {
		return func(m *machine) bool {
			saved := m.save(d)
			c(m)
			m.restore(d, saved)
			return true
		}
	},
	"fail":   func(_ mode, c command) command { return func(m *machine) bool { c(m); return false } },
	"goto":   func(d mode, c command) command { return func(m *machine) bool { return m.seek(d, c, true) } },
	"gopast": func(d mode, c command) command { return func(m *machine) bool { return m.seek(d, c, false) } },
	"repeat": repeat,
	"backwards": func(_ mode, c command) command {
		return func(m *machine) bool {
			behind := m.behind
			m.behind, m.cursor = m.cursor, m.limit
			ok := c(m)
			m.cursor, m.behind = m.behind, behind
			return ok
		}
	},
}

// seek moves forward character by character until c succeeds, and stays in front of it if asked to.
func (m *machine) seek(d mode, c command, front bool) bool {
	for {
		saved := m.save(d)
		if c(m) {
			if front {
				m.restore(d, saved)
			}
			return true
		}
		m.restore(d, saved)
		if !m.hop(d, 1) {
			return false
		}
	}
}

// mostRepeats bounds a repetition that a program does not end by itself.
const mostRepeats = 1000

func repeat(d mode, c command) command {
	return func(m *machine) bool {
		for range mostRepeats {
			if saved := m.save(d); !c(m) {
				m.restore(d, saved)
				return true
			}
		}
		return true
	}
}

func either(d mode, a, b command) command {
	return func(m *machine) bool {
		saved := m.save(d)
		if a(m) {
			return true
		}
		m.restore(d, saved)
		return b(m)
	}
}

func both(d mode, a, b command) command {
	return func(m *machine) bool {
		saved := m.save(d)
		if !a(m) {
			return false
		}
		m.restore(d, saved)
		return b(m)
	}
}

func sequence(all []command) command {
	if len(all) == 1 {
		return all[0]
	}
	return func(m *machine) bool {
		for _, c := range all {
			if !c(m) {
				return false
			}
		}
		return true
	}
}

// command reads one command.
func (p *parser) command(d mode) (command, error) {
	t := p.now
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch t.kind {
	case literal:
		s := []rune(t.text)
		return func(m *machine) bool { return m.match(d, s) }, nil
	case sign:
		return p.signed(d, t)
	case word:
		if prefix, ok := prefixes[t.text]; ok {
			inside := d
			if t.text == "backwards" {
				inside = backward
			}
			c, err := p.command(inside)
			if err != nil {
				return nil, err
			}
			return prefix(d, c), nil
		}
		if c, known, err := p.named(d, t); known || err != nil {
			return c, err
		}
		return p.variable(d, t)
	}
	return nil, fmt.Errorf("line %d: %q is no command", t.line, t.text)
}

// signed reads a command that begins with a sign, which has been read.
func (p *parser) signed(d mode, t token) (command, error) {
	switch t.text {
	case "(":
		return p.list(d)
	case "[", "]":
		if (t.text == "[") == (d == forward) {
			return func(m *machine) bool { m.bra = m.cursor; return true }, nil
		}
		return func(m *machine) bool { m.ket = m.cursor; return true }, nil
	case "<-":
		s, err := p.text()
		return func(m *machine) bool { return m.sliceFrom(s(m)) }, err
	case "<+":
		s, err := p.text()
		return func(m *machine) bool { return m.insert(s(m), d == backward) }, err
	case "->":
		n, err := p.number("strings")
		return func(m *machine) bool {
			m.strings[n] = append([]rune(nil), m.text[m.bra:m.ket]...)
			return true
		}, err
	case "$":
		return p.arithmetic(d)
	}
	return nil, fmt.Errorf("line %d: %q is no command", t.line, t.text)
}

// named reads a command that begins with a key word, which has been read. known is false for other words.
func (p *parser) named(d mode, t token) (c command, known bool, err error) {
	known = true
	switch t.text {
	case "next":
		c = func(m *machine) bool { return m.hop(d, 1) }
	case "atlimit":
		c = func(m *machine) bool { return m.atLimit(d) }
	case "tolimit":
		c = func(m *machine) bool {
			m.cursor = m.limit
			if d == backward {
				m.cursor = m.behind
			}
			return true
		}
	case "true":
		c = func(*machine) bool { return true }
	case "false":
		c = func(*machine) bool { return false }
	case "delete":
		c = func(m *machine) bool { return m.sliceFrom(nil) }
	case "insert", "attach":
		var s func(*machine) []rune
		s, err = p.text()
		stay := (t.text == "attach") != (d == backward)
		c = func(m *machine) bool { return m.insert(s(m), stay) }
	case "set", "unset":
		var n int
		n, err = p.number("booleans")
		c = func(m *machine) bool { m.booleans[n] = t.text == "set"; return true }
	case "setmark":
		var n int
		n, err = p.number("integers")
		c = func(m *machine) bool { m.integers[n] = m.cursor; return true }
	case "tomark", "atmark", "hop", "loop", "atleast":
		c, err = p.measured(d, t.text)
	case "non":
		c, err = p.non(d)
	case "setlimit":
		c, err = p.setlimit(d)
	case "substring":
		c = p.substring(d)
	case "among":
		c, err = p.among(d)
	default:
		known = false
	}
	return c, known, err
}

// measured reads a command with a number behind it.
func (p *parser) measured(d mode, what string) (command, error) {
	n, err := p.sum(d)
	if err != nil {
		return nil, err
	}
	switch what {
	case "hop":
		return func(m *machine) bool { return m.hop(d, n(m)) }, nil
	case "atmark":
		return func(m *machine) bool { return m.cursor == n(m) }, nil
	case "tomark":
		return func(m *machine) bool {
			to := n(m)
			if d == forward && m.cursor > to || d == backward && m.cursor < to {
				return false
			}
			m.cursor = to
			return true
		}, nil
	}
	c, err := p.command(d)
	if err != nil {
		return nil, err
	}
	then := func(*machine) bool { return true }
	if what == "atleast" {
		then = repeat(d, c)
	}
	return func(m *machine) bool {
		for range n(m) {
			if !c(m) {
				return false
			}
		}
		return then(m)
	}, nil
}

// non reads the grouping behind non, which a hyphen may stand before.
func (p *parser) non(d mode) (command, error) {
	if _, err := p.accept("-"); err != nil {
		return nil, err
	}
	n, err := p.name()
	if err != nil {
		return nil, err
	}
	set, ok := p.groupings[n]
	if !ok {
		return nil, fmt.Errorf("line %d: %s is no grouping", p.now.line, n)
	}
	return func(m *machine) bool { return m.in(d, set, false) }, nil
}

// setlimit reads "setlimit C for D": D sees the text up to where C has moved.
func (p *parser) setlimit(d mode) (command, error) {
	to, err := p.command(d)
	if err != nil {
		return nil, err
	}
	if err := p.expect("for"); err != nil {
		return nil, err
	}
	c, err := p.command(d)
	if err != nil {
		return nil, err
	}
	return func(m *machine) bool {
		saved := m.save(d)
		if !to(m) {
			return false
		}
		if d == backward {
			behind := m.behind
			m.behind = m.cursor
			m.restore(d, saved)
			ok := c(m)
			m.behind = behind
			return ok
		}
		beyond := m.limit - m.cursor
		m.limit = m.cursor
		m.restore(d, saved)
		ok := c(m)
		m.limit += beyond
		return ok
	}, nil
}

// variable reads a command that is a name, which has been read: a call, a test of a boolean, a character of a grouping, or the text
// of a string variable.
func (p *parser) variable(d mode, t token) (command, error) {
	if r, ok := p.routines[t.text]; ok {
		return func(m *machine) bool { return r.run(m) }, nil
	}
	if set, ok := p.groupings[t.text]; ok {
		return func(m *machine) bool { return m.in(d, set, true) }, nil
	}
	if n, ok := p.numbers["booleans"][t.text]; ok {
		return func(m *machine) bool { return m.booleans[n] }, nil
	}
	if n, ok := p.numbers["strings"][t.text]; ok {
		return func(m *machine) bool { return m.match(d, m.strings[n]) }, nil
	}
	return nil, fmt.Errorf("line %d: %s is no command and not declared", t.line, t.text)
}

// number reads the name of a variable and returns its number.
func (p *parser) number(what string) (int, error) {
	n, err := p.name()
	if err != nil {
		return 0, err
	}
	i, ok := p.numbers[what][n]
	if !ok {
		return 0, fmt.Errorf("line %d: %s is not declared among %s", p.now.line, n, what)
	}
	return i, nil
}

// text reads a string or the name of a string variable.
func (p *parser) text() (func(*machine) []rune, error) {
	if p.now.kind == literal {
		s := []rune(p.now.text)
		return func(*machine) []rune { return s }, p.advance()
	}
	n, err := p.number("strings")
	return func(m *machine) []rune { return m.strings[n] }, err
}
