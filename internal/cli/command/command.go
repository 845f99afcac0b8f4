// Package command holds what the commands of the command line share: streams, exit codes and errors, the connection to a
// service, tables and progress. The commands themselves are in package cli and its other sub-packages.
package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
)

// Streams are where a command reads and writes.
type Streams struct {
	In         io.Reader
	Out, Err   io.Writer
	Interrupts <-chan os.Signal // Ctrl-C; nil: it is not looked at
}

// Exit codes, the same for every command.
const (
	ExitDone        = 0
	ExitSomeFailed  = 1 // some items failed; a table lists them with the reasons
	ExitUsage       = 2
	ExitHeld        = 3 // another server holds the data folder, or another quarry index the folder
	ExitPort        = 4 // the port is taken
	ExitFolder      = 5 // the data folder can't be written, its database is damaged, or the secret keys are not its own
	ExitUnreachable = 6
	ExitStopped     = 130 // by Ctrl-C, as shells have it
)

// Failure is an error with the exit code it means. An empty text was already shown.
type Failure struct {
	Code  int
	Text  string
	Cause error // nil where the text is all there is
}

func (f *Failure) Error() string { return f.Text }
func (f *Failure) Unwrap() error { return f.Cause }

// Failed returns an error that ends the command with an exit code.
func Failed(code int, format string, args ...any) error {
	return &Failure{Code: code, Text: fmt.Sprintf(format, args...)}
}

// Connection is embedded by commands that call a service and have no flag --json.
type Connection struct {
	URL  string `help:"Address of the service; default: the one that the data folder names." env:"QUARRY_URL" placeholder:"URL"`
	Key  string `help:"API key; default: owner.key of the data folder." env:"QUARRY_API_KEY" placeholder:"KEY"`
	Data string `help:"Data folder to take address and key from." env:"QUARRY_DATA" default:"./quarry-data" placeholder:"DIR"`
	CA   string `help:"File with the CA of the service's certificate, PEM; default: the CAs of the system." env:"QUARRY_CA" placeholder:"FILE" name:"ca"`

	// Token is also set for a person who signs in.
	Token string `help:"Access token, used instead of an API key." env:"QUARRY_TOKEN" placeholder:"TOKEN"`

	Verbose bool `help:"Print each call of the service on standard error, and what the service did not know in it."`

	log io.Writer // where Verbose prints
}

// AfterApply is called by the parser.
func (r *Connection) AfterApply(e *Env) error {
	if r.Verbose {
		r.log = e.Err
	}
	return nil
}

// Remote is embedded by the other commands that call a service.
type Remote struct {
	Connection
	JSON bool `help:"Print JSON." name:"json"`
}

// Env is what every command's Run gets.
type Env struct {
	Streams
	Ctx       context.Context
	Parser    *kong.Kong
	Interrupt Interrupt
	FlagOf    func(field string) string // the flag or argument that sets a field of the request, "" for none
}

// Do sends a request, with a body unless it is nil, and prints done, or the answer with --json.
func (r Remote) Do(e *Env, method, path string, body any, done string) error {
	_, err := Send(e, r, method, path, body, func(*json.RawMessage) { fmt.Fprintln(e.Out, done) })
	return err
}
