// Package command is what every command of the command line works with: its streams, exit codes and errors, the
// connection to a service, tables and progress. It knows no command; package cli and its other sub-packages do.
package command

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
)

// Streams are where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Exit codes, the same for every command.
const (
	ExitDone        = 0
	ExitSomeFailed  = 1 // some items failed; a table says which and why
	ExitUsage       = 2
	ExitHeld        = 3 // another server holds the data folder
	ExitPort        = 4 // the port is taken
	ExitFolder      = 5 // the data folder can't be written, its database is damaged, or the secret keys are not its own
	ExitUnreachable = 6
)

// Failure is an error with the exit code it means. An empty text was already shown.
type Failure struct {
	Code int
	Text string
}

func (f *Failure) Error() string { return f.Text }

// Failed gives an error that ends the command with an exit code.
func Failed(code int, format string, args ...any) error {
	return &Failure{code, fmt.Sprintf(format, args...)}
}

// Remote is embedded by every command that speaks to a service.
type Remote struct {
	URL  string `help:"Address of the service; default: the one that the data folder names." env:"QUARRY_URL" placeholder:"URL"`
	Key  string `help:"API key; default: owner.key of the data folder." env:"QUARRY_API_KEY" placeholder:"KEY"`
	Data string `help:"Data folder to take address and key from." env:"QUARRY_DATA" default:"./quarry-data" placeholder:"DIR"`
	JSON bool   `help:"Print JSON." name:"json"`
}

// Env is what every command's Run gets.
type Env struct {
	Streams
	Ctx    context.Context
	Parser *kong.Kong
}

// Do sends a request without a body and says what was done.
func (r Remote) Do(e *Env, method, path, done string) error {
	return r.send(e, method, path, nil, done)
}

// Patch changes what stands at path and prints done, or with --json the answer.
func (r Remote) Patch(e *Env, path string, body any, done string) error {
	return r.send(e, "PATCH", path, body, done)
}

func (r Remote) send(e *Env, method, path string, body any, done string) error {
	cl, err := r.Connect()
	if err != nil {
		return err
	}
	raw, err := cl.Call(e.Ctx, method, path, body, nil)
	if err != nil {
		return err
	}
	if r.JSON {
		if len(raw) == 0 {
			raw = []byte("{}")
		}
		PrintJSON(e.Out, raw)
		return nil
	}
	fmt.Fprintln(e.Out, done)
	return nil
}

// IsTerminal reports whether w is a terminal: progress is redrawn in place only there.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
