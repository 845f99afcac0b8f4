package grep

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// automaton finds out whether lines match: it goes from state to state, character by character, and makes each state when it
// comes to it first. So a line takes time by its length alone, whatever the pattern is. Not safe for concurrent use.
type automaton struct {
	program *syntax.Prog
	states  map[string]*state
	start   *state
	step    stepper
}

// state is what is known of a line before its next character: where in the program a match may stand, and what the assertions
// of the pattern need to know of the character before.
type state struct {
	at   []uint32
	last rune // -1 at the beginning of the line, else one character of its kind
	// next are the states behind each character of ASCII, and at edge the one behind the end of the line. nil is not known yet.
	next  [edge + 1]*state
	other map[rune]*state
}

// edge is the end of a line, in place of a character.
const edge = utf8.RuneSelf

// matched is the state behind a match, however the line goes on.
var matched = &state{}

// maxStates bounds the states that are kept, and maxOther the characters outside of ASCII of each.
const (
	maxStates = 1_000
	maxOther  = 1_000
)

func newAutomaton(p *syntax.Prog) *automaton {
	a := &automaton{program: p, step: stepper{program: p, seen: make([]bool, len(p.Inst))}}
	a.reset()
	return a
}

// reset forgets all states.
func (a *automaton) reset() {
	a.states = map[string]*state{}
	a.start = a.state(nil, -1)
}

// match reports whether a line matches.
func (a *automaton) match(line []byte) bool {
	s := a.start
	for i := 0; i < len(line); {
		c, size := rune(line[i]), 1
		var next *state
		if c < utf8.RuneSelf {
			next = s.next[c]
		} else {
			c, size = utf8.DecodeRune(line[i:])
			next = s.other[c]
		}
		if next == nil {
			next = a.follow(s, c)
		}
		if s = next; s == matched {
			return true
		}
		i += size
	}
	if s.next[edge] == nil {
		s.next[edge] = a.behind(s, -1)
	}
	return s.next[edge] == matched
}

// follow returns the state behind a character, and keeps it.
func (a *automaton) follow(s *state, c rune) *state {
	next := a.behind(s, c)
	switch {
	case c < utf8.RuneSelf:
		s.next[c] = next
	case len(s.other) < maxOther:
		if s.other == nil {
			s.other = map[rune]*state{}
		}
		s.other[c] = next
	}
	return next
}

// behind returns the state behind a character, -1 for the end of the line.
func (a *automaton) behind(s *state, c rune) *state {
	at, found := a.step.over(s, c)
	if found {
		return matched
	}
	return a.state(at, c)
}

// state returns the state of places in the program, which it may keep no longer than the call, behind a character.
func (a *automaton) state(at []uint32, last rune) *state {
	switch {
	case last < 0:
	case syntax.IsWordChar(last):
		last = 'a'
	case last != '\n':
		last = ' '
	}
	key := binary.AppendVarint(nil, int64(last))
	for _, pc := range at {
		key = binary.AppendUvarint(key, uint64(pc))
	}
	if s := a.states[string(key)]; s != nil {
		return s
	}
	if len(a.states) >= maxStates {
		a.reset()
	}
	s := &state{at: slices.Clone(at), last: last}
	a.states[string(key)] = s
	return s
}

// stepper takes all places of a state over one character.
type stepper struct {
	program *syntax.Prog
	seen    []bool
	stack   []uint32
	found   []uint32
}

// over returns the places behind c, in order, or that a match has ended before it.
func (t *stepper) over(s *state, c rune) (at []uint32, match bool) {
	holds := syntax.EmptyOpContext(s.last, c)
	clear(t.seen)
	t.found = t.found[:0]
	t.stack = append(append(t.stack[:0], s.at...), uint32(t.program.Start)) // a match may begin at every character
	for len(t.stack) > 0 {
		pc := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		if t.seen[pc] {
			continue
		}
		t.seen[pc] = true
		switch i := &t.program.Inst[pc]; i.Op {
		case syntax.InstMatch:
			return nil, true
		case syntax.InstAlt, syntax.InstAltMatch:
			t.stack = append(t.stack, i.Out, i.Arg)
		case syntax.InstCapture, syntax.InstNop:
			t.stack = append(t.stack, i.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(i.Arg)&^holds == 0 {
				t.stack = append(t.stack, i.Out)
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if c >= 0 && i.MatchRune(c) {
				t.found = append(t.found, i.Out)
			}
		}
	}
	slices.Sort(t.found)
	t.found = slices.Compact(t.found)
	return t.found, false
}
