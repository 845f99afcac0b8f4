package grep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of a search, in bytes.
const (
	pieceSize = 256 << 10 // of a text that is searched at once; longer lines are searched in pieces of it, each as a line of its own
	maxLine   = 2 << 10   // of a line that is shown
	maxShown  = 128 << 10 // of all lines that are shown
)

// Result is what a search has found.
type Result struct {
	Text  string // as grep prints it
	Lines int    // how many lines were selected
	Cut   bool   // not all that was found is in Text
}

// ErrBinary is the error of a text that holds a byte of value 0.
var ErrBinary = errors.New("it is no text")

// Search searches what r holds, to its end or as far as the options ask for. Errors of r are returned as they are.
func (p *Pattern) Search(ctx context.Context, r io.Reader) (Result, error) {
	s := &search{Pattern: p, automaton: newAutomaton(p.program), number: 1, shown: -1}
	err := s.read(ctx, r)
	if p.options.Count {
		s.out.Reset()
		fmt.Fprintf(&s.out, "%d\n", s.lines)
		s.cut = false
	}
	return Result{strings.ToValidUTF8(s.out.String(), "\uFFFD"), s.lines, s.cut}, err
}

// search is a search in progress.
type search struct {
	*Pattern
	automaton *automaton
	out       strings.Builder
	lines     int // selected so far
	cut       bool
	number    int // of the line, from 1

	left   int   // lines of -A still to show
	shown  int   // number of the last line shown, -1 for none
	before []row // the last lines that were not shown, for -B
}

// row is a line with its number.
type row struct {
	number int
	text   []byte
}

// errEnough ends a search before its text.
var errEnough = errors.New("nothing more is asked for")

// read searches piece after piece.
func (s *search) read(ctx context.Context, r io.Reader) error {
	buffer, have := make([]byte, pieceSize), 0
	for {
		n, err := io.ReadFull(r, buffer[have:])
		have += n
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if bytes.IndexByte(buffer[have-n:have], 0) >= 0 {
			return ErrBinary
		}
		whole := buffer[:have]
		if !last {
			whole = whole[:end(whole)]
		}
		if err := s.piece(whole); err != nil {
			return nil
		}
		if last {
			return nil
		}
		have = copy(buffer, buffer[len(whole):have])
	}
}

// end returns where the last whole line of a piece ends. In a piece without a whole line it is behind the last whole character.
func end(piece []byte) int {
	if i := bytes.LastIndexByte(piece, '\n'); i >= 0 {
		return i + 1
	}
	for n := 1; n < utf8.UTFMax && n < len(piece); n++ {
		if i := len(piece) - n; utf8.RuneStart(piece[i]) {
			if !utf8.FullRune(piece[i:]) {
				return i
			}
			break
		}
	}
	return len(piece)
}

// piece searches lines.
func (s *search) piece(text []byte) error {
	for at := 0; at < len(text); {
		if s.options.Limited && s.lines >= s.options.Most && s.left <= 0 {
			return errEnough
		}
		to, ends := len(text), false
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			to, ends = at+i, true
		}
		s.line(bytes.TrimSuffix(text[at:to], []byte("\r")))
		if at = to; ends {
			at++
			s.number++
		}
	}
	return nil
}

// line searches a line.
func (s *search) line(text []byte) {
	done := s.options.Limited && s.lines >= s.options.Most
	selected := !done && s.automaton.match(text) != s.options.Invert
	switch {
	case selected:
		s.lines++
		s.selected(text)
	case s.options.Count || s.options.Only:
	case s.left > 0:
		s.left--
		s.show(s.number, '-', text)
	case s.options.Before > 0 && !s.full():
		s.keep(text)
	}
}

// selected shows a line that was selected, with those before it.
func (s *search) selected(text []byte) {
	if s.options.Count || s.full() {
		s.cut = true
		return
	}
	if s.options.Only {
		if !s.options.Invert {
			for _, m := range s.matches(text, -1) {
				s.show(s.number, ':', text[m[0]:m[1]])
			}
		}
		return
	}
	for _, r := range s.before {
		s.show(r.number, '-', r.text)
	}
	s.before = s.before[:0]
	s.left = s.options.After
	at := 0
	if len(text) > maxLine && !s.options.Invert {
		if found := s.matches(text, 1); len(found) > 0 {
			at = found[0][0]
		}
	}
	s.show(s.number, ':', around(text, at))
}

// keep keeps a line for those that may be selected behind it.
func (s *search) keep(text []byte) {
	r := row{s.number, nil}
	if len(s.before) >= s.options.Before {
		r.text = s.before[0].text[:0]
		s.before = append(s.before[:0], s.before[1:]...)
	}
	r.text = append(r.text, around(text, 0)...)
	s.before = append(s.before, r)
}

// full reports whether nothing more can be shown.
func (s *search) full() bool { return s.out.Len() >= maxShown }

// show shows a line, unless too much was shown.
func (s *search) show(number int, mark byte, text []byte) {
	if s.full() {
		s.cut = true
		return
	}
	if s.options.After+s.options.Before > 0 && s.shown >= 0 && number > s.shown+1 {
		s.out.WriteString("--\n")
	}
	s.shown = number
	if s.options.Numbers {
		s.out.WriteString(strconv.Itoa(number))
		s.out.WriteByte(mark)
	}
	s.out.Write(around(text, 0))
	s.out.WriteByte('\n')
}

// around returns a line as it is shown: of a long one, what stands around a place in it.
func around(text []byte, at int) []byte {
	if len(text) <= maxLine {
		return text
	}
	from := max(0, min(at-maxLine/4, len(text)-maxLine))
	to := from + maxLine
	var out []byte
	if from > 0 {
		out = append(out, "…"...)
	}
	out = append(out, bytes.ToValidUTF8(text[from:to], nil)...)
	if to < len(text) {
		out = append(out, "…"...)
	}
	return out
}
