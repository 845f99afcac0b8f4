package main

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// style is how a character looks.
type style struct {
	bold, faint bool
	colour      string // "" is the usual one
}

// cell is one character on the screen.
type cell struct {
	letter rune
	style  style
}

// screen interprets what programs write to a terminal, as far as ours do: text, line ends, going back to the beginning of
// the line, clearing it, and the styles of characters.
type screen struct {
	columns int
	lines   [][]cell
	column  int
	style   style
	rest    string // the beginning of a character or sequence whose end has not come yet
}

func (s *screen) write(text string) {
	text = s.rest + text
	for s.rest = ""; text != ""; {
		n := s.one(text)
		if n == 0 {
			s.rest = text
			return
		}
		text = text[n:]
	}
}

// one takes in the first character or sequence of text and returns its length in bytes, 0 if its end is missing.
func (s *screen) one(text string) int {
	if len(s.lines) == 0 {
		s.lines = [][]cell{nil}
	}
	switch text[0] {
	case '\n':
		s.lines = append(s.lines, nil)
		s.column = 0
		return 1
	case '\r':
		s.column = 0
		return 1
	case 0x1b:
		return s.sequence(text)
	}
	if !utf8.FullRuneInString(text) {
		return 0
	}
	r, n := utf8.DecodeRuneInString(text)
	if r >= ' ' {
		s.put(r)
	}
	return n
}

// put writes a character at the place of the cursor, on a new line when this one is full.
func (s *screen) put(r rune) {
	if s.column == s.columns {
		s.lines = append(s.lines, nil)
		s.column = 0
	}
	line := &s.lines[len(s.lines)-1]
	for len(*line) <= s.column {
		*line = append(*line, cell{letter: ' '})
	}
	(*line)[s.column] = cell{r, s.style}
	s.column++
}

// sequence takes in a control sequence. Those that it doesn't know are passed over.
func (s *screen) sequence(text string) int {
	if len(text) < 2 {
		return 0
	}
	if text[1] != '[' {
		return 2
	}
	end := strings.IndexFunc(text[2:], func(r rune) bool { return r >= '@' && r <= '~' })
	if end < 0 {
		return 0
	}
	switch parameters := text[2 : 2+end]; text[2+end] {
	case 'K':
		s.clear(parameters)
	case 'm':
		for p := range strings.SplitSeq(parameters, ";") {
			s.look(p)
		}
	}
	return 3 + end
}

// clear empties the line from the cursor on, or all of it.
func (s *screen) clear(how string) {
	line := &s.lines[len(s.lines)-1]
	if how == "2" {
		*line = nil
		return
	}
	*line = (*line)[:min(s.column, len(*line))]
}

// colours are those of the sequences 31 to 36.
var colours = map[string]string{"31": "#f47067", "32": "#6bc46d", "33": "#daaa3f", "34": "#6cb6ff", "35": "#dcbdfb", "36": "#56d4dd"}

// look sets the style of what follows.
func (s *screen) look(parameter string) {
	switch parameter {
	case "", "0":
		s.style = style{}
	case "1":
		s.style.bold = true
	case "2":
		s.style.faint = true
	case "22":
		s.style.bold, s.style.faint = false, false
	case "39":
		s.style.colour = ""
	default:
		if c, ok := colours[parameter]; ok {
			s.style.colour = c
		}
	}
}

// last returns copies of the last n lines.
func (s *screen) last(n int) [][]cell {
	from := max(0, len(s.lines)-n)
	out := make([][]cell, 0, n)
	for _, l := range s.lines[from:] {
		out = append(out, slices.Clone(l))
	}
	return out
}
