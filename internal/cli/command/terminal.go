package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Output is a writer that keeps its first failure, so that commands need not look at every line they print. After it
// nothing more is written.
type Output struct {
	to  io.Writer
	err error
}

// NewOutput returns an Output that writes to w.
func NewOutput(w io.Writer) *Output { return &Output{to: w} }

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(p)
	o.err = err
	return n, err
}

// Stream returns what is written to, for those who look at a terminal by themselves; they call Fail.
func (o *Output) Stream() io.Writer { return o.to }

// Fail keeps a failure of a write past the Output, unless there was one before or err is nil.
func (o *Output) Fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

// Err returns the first failure.
func (o *Output) Err() error { return o.err }

// file returns the file behind a stream, nil if there is none.
func file(stream any) *os.File {
	if o, ok := stream.(*Output); ok {
		stream = o.to
	}
	f, _ := stream.(*os.File)
	return f
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f := file(stream)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// Ask prints a question and returns the line that is typed, without its end. ok is false if nobody can be asked: standard
// input or standard error is no terminal. An end of the input is io.EOF.
func (e *Env) Ask(question string) (line string, ok bool, err error) {
	if !IsTerminal(e.In) || !IsTerminal(e.Err) {
		return "", false, nil
	}
	fmt.Fprint(e.Err, question)
	type answer struct {
		line string
		err  error
	}
	typed := make(chan answer, 1)
	go func() { // a read of a terminal can't be cancelled; the command ends before it does
		line, err := bufio.NewReader(e.In).ReadString('\n')
		typed <- answer{line, err}
	}()
	select {
	case a := <-typed:
		if a.err != nil {
			fmt.Fprintln(e.Err)
		}
		return strings.TrimSpace(a.line), true, a.err
	case <-e.Ctx.Done():
		fmt.Fprintln(e.Err)
		return "", true, e.Ctx.Err()
	}
}

// Sure is embedded by commands that destroy more than the one thing that they name.
type Sure struct {
	Yes bool `help:"Do not ask; needed where standard input is no terminal."`
}

// Confirm returns nil if the user agrees to deed, such as "delete corpus docs". lost describes what is lost with it and is
// called only if there is somebody to ask.
func (s Sure) Confirm(e *Env, deed string, lost func() (string, error)) error {
	if s.Yes {
		return nil
	}
	if !IsTerminal(e.In) || !IsTerminal(e.Err) {
		return Failed(ExitUsage, "this would %s, and nobody can be asked here: standard input is no terminal; add --yes if you are sure", deed)
	}
	what, err := lost()
	if err != nil {
		return err
	}
	line, _, err := e.Ask(fmt.Sprintf("This will %s: %s. It can't be undone. Go on? [y/N] ", deed, harmless(what)))
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case strings.EqualFold(line, "y"), strings.EqualFold(line, "yes"):
		return nil
	}
	return Failed(ExitSomeFailed, "nothing was changed")
}
