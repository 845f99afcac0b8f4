package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrEnd ends a Talk.
var ErrEnd = errors.New("the talk is over")

// Talk has a person's lines answered, one after the other, until the end: those that are typed on a terminal, or those of a file
// or another program.
type Talk struct {
	Env     *Env
	Prompt  string
	Quiet   bool                    // lines of a file are not repeated before their answers
	Line    func(line string) error // answers a line; ErrEnd ends the talk, other errors are told
	Stop    func()                  // what Ctrl-C does while a line is answered on a terminal; nil: Line takes it
	Stopped string                  // is told of a line that Stop has ended
}

// Run returns at the end. What fails is told, and the next line is answered.
func (t *Talk) Run() error {
	if editor := NewEditor(t.Env, t.Prompt); editor != nil {
		return t.typed(editor)
	}
	return t.read()
}

// typed answers what is typed.
func (t *Talk) typed(editor *Editor) error {
	fmt.Fprintln(t.Env.Err, "/help lists what can be typed; Ctrl-D ends the chat")
	if t.Stop != nil {
		t.Env.Interrupt.Take(t.Stop)
	}
	for {
		line, err := editor.Line()
		switch {
		case errors.Is(err, ErrCleared):
			fmt.Fprintln(t.Env.Err, "Ctrl-D ends the chat")
			continue
		case errors.Is(err, io.EOF):
			fmt.Fprintln(t.Env.Err)
			return nil
		case err != nil:
			return err
		}
		switch err := t.Line(line); {
		case errors.Is(err, ErrEnd):
			return nil
		case t.Env.Ctx.Err() != nil:
			return t.Env.Ctx.Err()
		case errors.Is(err, context.Canceled):
			fmt.Fprintln(t.Env.Err, t.Stopped)
		case err != nil:
			t.complain(err)
		}
		fmt.Fprintln(t.Env.Err)
	}
}

// longestInput bounds a line of input, in bytes: many times what a question may have.
const longestInput = 1 << 20

// read answers what stands on the lines of the input.
func (t *Talk) read() error {
	lines := bufio.NewScanner(t.Env.In)
	lines.Buffer(nil, longestInput)
	failed, over, echo := false, false, !t.Quiet && !IsTerminal(t.Env.In)
	for !over && lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		if echo {
			fmt.Fprintf(t.Env.Out, "> %s\n", Prose(line))
		}
		if !t.heard() {
			return nil
		}
		switch err := t.Line(line); {
		case errors.Is(err, ErrEnd):
			over = true
		case t.Env.Ctx.Err() != nil:
			return t.Env.Ctx.Err()
		case Unreachable(err):
			return err
		case !t.heard():
			return nil
		case err != nil:
			t.complain(err)
			failed = true
		}
		if !t.Quiet && !over {
			fmt.Fprintln(t.Env.Out)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return Failed(ExitUsage, "a line of the input is longer than a question can be")
	} else if err != nil {
		return Failed(ExitUsage, "can't read the questions: %v", err)
	}
	if failed {
		return Failed(ExitSomeFailed, "")
	}
	return nil
}

// heard reports whether the output still takes what is written; its failure is told at the end.
func (t *Talk) heard() bool {
	_, err := t.Env.Out.Write(nil)
	return err == nil
}

// complain prints an error with the names of flags in the place of fields.
func (t *Talk) complain(err error) {
	t.Env.NameFields(err)
	Suggest(t.Env.Ctx, err)
	if text := err.Error(); text != "" {
		fmt.Fprintln(t.Env.Err, "quarry:", Prose(text))
	}
}
