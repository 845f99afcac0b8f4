package snowball

import (
	"cmp"
	"fmt"
	"slices"
)

// search is what an among looks for.
type search struct {
	number int // of machine.found
	words  []among
	line   int
}

// among is one string of an among.
type among struct {
	text  []rune
	when  *routine // it counts only if this succeeds behind it; nil for always
	group int      // which command follows
}

// run moves over the longest string that matches and notes which it is.
func (s *search) run(m *machine, d mode) bool {
	m.found[s.number] = 0
	start := m.save(d)
	for _, w := range s.words { // longest first
		if !m.match(d, w.text) {
			continue
		}
		behind := m.save(d)
		if w.when == nil || w.when.run(m) {
			if w.when != nil {
				m.restore(d, behind)
			}
			m.found[s.number] = w.group + 1
			return true
		}
		m.restore(d, start)
	}
	return false
}

func (p *parser) newSearch() *search {
	p.searches++
	return &search{number: p.searches - 1, line: p.now.line}
}

// substring compiles the search for the among that follows.
func (p *parser) substring(d mode) command {
	s := p.newSearch()
	p.pending = append(p.pending, s)
	return func(m *machine) bool { return s.run(m, d) }
}

// among reads the strings of an among and the commands behind them. With a substring before it, that one has searched.
func (p *parser) among(d mode) (command, error) {
	var s *search
	var look command
	if n := len(p.pending); n > 0 {
		s, p.pending = p.pending[n-1], p.pending[:n-1]
	} else {
		s = p.newSearch()
		look = func(m *machine) bool { return s.run(m, d) }
	}
	groups, err := p.amongList(d, s)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(s.words, func(a, b among) int { return cmp.Compare(len(b.text), len(a.text)) })
	return func(m *machine) bool {
		if look != nil && !look(m) {
			return false
		}
		found := m.found[s.number]
		return found > 0 && groups[found-1](m)
	}, nil
}

// amongList reads what stands between the brackets of an among. Strings share the command behind them.
func (p *parser) amongList(d mode, s *search) ([]command, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	var groups []command
	shared := false // strings wait for a command
	for {
		switch {
		case p.now.kind == literal:
			w := among{text: []rune(p.now.text), group: len(groups)}
			if err := p.advance(); err != nil {
				return nil, err
			}
			if r, ok := p.routines[p.now.text]; ok && p.now.kind == word {
				w.when = r
				if err := p.advance(); err != nil {
					return nil, err
				}
			}
			s.words, shared = append(s.words, w), true
		case p.is("(") && shared:
			if err := p.advance(); err != nil {
				return nil, err
			}
			c, err := p.list(d)
			if err != nil {
				return nil, err
			}
			groups, shared = append(groups, c), false
		case p.is(")"):
			if shared {
				groups = append(groups, sequence(nil))
			}
			return groups, p.advance()
		default:
			return nil, fmt.Errorf("line %d: %q does not belong into an among", p.now.line, p.now.text)
		}
	}
}
