package command

import (
	"fmt"
	"io"
	"time"
)

// StatusLine shows the state of something of unknown length: redrawn in place on a terminal, elsewhere as a line at most
// every ten seconds.
type StatusLine struct {
	W     io.Writer
	last  string
	at    time.Time
	dirty bool // text stands on the current line
}

// Wait holds back the first line for ten seconds where W is no terminal.
func (s *StatusLine) Wait() { s.at = time.Now() }

// Set shows a state unless it is the one shown.
func (s *StatusLine) Set(line string) {
	switch {
	case line == s.last:
	case IsTerminal(s.W):
		fmt.Fprintf(s.W, "\r\x1b[K%s", cut(line, Width(s.W)-1))
		s.last, s.dirty = line, true
	case time.Since(s.at) >= 10*time.Second:
		fmt.Fprintln(s.W, line)
		s.last, s.at = line, time.Now()
	}
}

// Clear takes the line off the terminal.
func (s *StatusLine) Clear() {
	if s.dirty {
		fmt.Fprint(s.W, "\r\x1b[K")
		s.dirty = false
	}
}
