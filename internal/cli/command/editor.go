package command

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/term"
)

// ErrCleared is returned for a line that was cleared with Ctrl-C.
var ErrCleared = errors.New("the line was cleared")

// Editor reads lines from a terminal. They can be edited while they are typed, and earlier ones recalled.
type Editor struct {
	env      *Env
	terminal *term.Terminal
	keys     *keys
}

// NewEditor returns an editor on standard input that shows lines on standard error, nil if one of them is no terminal, or one that
// knows no control sequences.
func NewEditor(e *Env, prompt string) *Editor {
	if !IsTerminal(e.In) || !IsTerminal(e.Err) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	k := &keys{from: e.In}
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{k, e.Err}, prompt)
	t.History = new(recalled)
	return &Editor{env: e, terminal: t, keys: k}
}

// Line returns the next line, lines that were pasted together as one; ErrCleared after Ctrl-C, and io.EOF after Ctrl-D. The
// terminal is as it was before when it returns.
func (ed *Editor) Line() (string, error) {
	fd := int(file(ed.env.In).Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(fd, before) }() // the terminal is gone if it fails
	ed.terminal.SetBracketedPasteMode(true)
	defer ed.terminal.SetBracketedPasteMode(false)
	const height = 24                                           // is not looked at
	_ = ed.terminal.SetSize(max(Width(ed.env.Err), 20), height) // as does what it draws
	type answer struct {
		line string
		err  error
	}
	typed := make(chan answer, 1)
	go func() { // a read of a terminal can't be cancelled; the command ends before it does
		line, err := ed.read()
		typed <- answer{line, err}
	}()
	select {
	case a := <-typed:
		return a.line, a.err
	case <-ed.env.Ctx.Done():
		return "", ed.env.Ctx.Err()
	}
}

// read returns the next line, without leaving the terminal's present state.
func (ed *Editor) read() (string, error) {
	var pasted []string
	for {
		line, err := ed.terminal.ReadLine()
		switch {
		case err == nil && line == "" && ed.keys.cleared.Load() > 0:
			ed.keys.cleared.Add(-1)
			return "", ErrCleared
		case errors.Is(err, term.ErrPasteIndicator):
			pasted = append(pasted, line)
			continue
		}
		return strings.Join(append(pasted, line), "\n"), err
	}
}

// keys are the bytes that are typed. Ctrl-C clears the line and ends it, where the editor would take it for the end of the
// input.
type keys struct {
	from    io.Reader
	rest    []byte
	cleared atomic.Int32 // lines that were cleared and not returned yet
}

// clearLine is what Ctrl-C stands for: to the end of the line, delete to its beginning, enter.
const clearLine = "\x05\x15\r"

// Read implements io.Reader.
func (k *keys) Read(p []byte) (int, error) {
	if len(k.rest) == 0 {
		buffer := make([]byte, 256)
		n, err := k.from.Read(buffer)
		for _, b := range buffer[:n] {
			if b != 3 {
				k.rest = append(k.rest, b)
				continue
			}
			k.cleared.Add(1)
			k.rest = append(k.rest, clearLine...)
		}
		if n == 0 {
			return 0, err
		}
	}
	n := copy(p, k.rest)
	k.rest = k.rest[n:]
	return n, nil
}

// recalled are the lines that the arrow keys bring back, the newest last.
type recalled struct{ lines []string }

// Add implements term.History.
func (r *recalled) Add(line string) {
	if line != "" && (len(r.lines) == 0 || r.lines[len(r.lines)-1] != line) {
		r.lines = append(r.lines, line)
	}
}

// Len implements term.History.
func (r *recalled) Len() int { return len(r.lines) }

// At implements term.History: 0 is the newest.
func (r *recalled) At(i int) string { return r.lines[len(r.lines)-1-i] }
