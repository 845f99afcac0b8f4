// Package cli is the command line: one struct per command, next to what it does. Commands other than serve, eval,
// model, key and version speak to a running service over its REST interface, like any other client.
package cli

import (
	"context"
	"errors"
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
	exitDone        = 0
	exitSomeFailed  = 1 // some items failed; a table says which and why
	exitUsage       = 2
	exitHeld        = 3 // another server holds the data folder
	exitPort        = 4 // the port is taken
	exitFolder      = 5 // the data folder can't be written, its database is damaged, or the secret keys are not its own
	exitUnreachable = 6
)

// failure is an error with the exit code it means. An empty text was already shown.
type failure struct {
	code int
	text string
}

func (f *failure) Error() string { return f.text }

func failed(code int, format string, args ...any) error {
	return &failure{code, fmt.Sprintf(format, args...)}
}

// root is the grammar of the command line.
type root struct {
	Serve      serveCmd      `cmd:"" help:"Start the service."`
	Corpus     corpusCmd     `cmd:"" help:"Create, list, read, empty and delete corpora."`
	Document   documentCmd   `cmd:"" help:"Read, list and delete documents."`
	Index      indexCmd      `cmd:"" help:"Index a folder of files into a corpus."`
	Query      queryCmd      `cmd:"" help:"Ask a corpus; prints ranked passages."`
	Job        jobCmd        `cmd:"" help:"List background jobs, read one, wait for one."`
	Eval       evalCmd       `cmd:"" help:"Measure ranking on a test collection in the BEIR layout."`
	Model      modelCmd      `cmd:"" help:"Convert sentence encoders."`
	User       userCmd       `cmd:"" help:"Create, list, read, disable and delete users."`
	Key        keyCmd        `cmd:"" help:"Make and manage API keys; show the local owner key."`
	Client     appClientCmd  `cmd:"" help:"Create, list, read and delete application clients."`
	Secret     secretCmd     `cmd:"" help:"Rotate the keys that stored secrets are sealed under, and those that sign tokens."`
	Audit      auditCmd      `cmd:"" help:"Read who changed what."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
	Completion completionCmd `cmd:"" help:"Print a shell completion script."`
}

// remote is embedded by every command that speaks to a service.
type remote struct {
	URL  string `help:"Address of the service; default: the one that the data folder names." env:"QUARRY_URL" placeholder:"URL"`
	Key  string `help:"API key; default: owner.key of the data folder." env:"QUARRY_API_KEY" placeholder:"KEY"`
	Data string `help:"Data folder to take address and key from." env:"QUARRY_DATA" default:"./quarry-data" placeholder:"DIR"`
	JSON bool   `help:"Print JSON." name:"json"`
}

// env is what every command's Run gets.
type env struct {
	Streams
	ctx    context.Context
	parser *kong.Kong
}

// Run parses args, runs the command and gives its exit code.
func Run(ctx context.Context, args []string, s Streams) int {
	e := &env{Streams: s, ctx: ctx}
	exited := -1
	var r root
	parser, err := kong.New(
		&r, kong.Name("quarry"),
		kong.Description("Retrieval over your documents: one program, nothing else to run."),
		kong.Writers(s.Out, s.Err), kong.Exit(func(code int) { exited = code; panic(exitPanic{}) }),
		kong.UsageOnError(), kong.Bind(e), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		fmt.Fprintln(s.Err, "quarry:", err)
		return exitUsage
	}
	e.parser = parser
	code := exitDone
	func() {
		defer func() { // help and version end the parse through kong.Exit
			if p := recover(); p != nil {
				if _, ok := p.(exitPanic); !ok {
					panic(p)
				}
				code = exited
			}
		}()
		code = e.run(parser, args)
	}()
	return code
}

type exitPanic struct{}

func (e *env) run(parser *kong.Kong, args []string) int {
	if len(args) == 0 {
		args = []string{"--help"}
	}
	c, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(e.Err, "quarry: %v\nTry: quarry --help\n", err)
		return exitUsage
	}
	return e.report(c.Run(e))
}

// report prints an error once and gives its exit code.
func (e *env) report(err error) int {
	var f *failure
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &f):
		if f.text != "" {
			fmt.Fprintln(e.Err, "quarry:", f.text)
		}
		return f.code
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(e.Err, "quarry: stopped")
		return exitSomeFailed
	}
	fmt.Fprintln(e.Err, "quarry:", err)
	return exitSomeFailed
}

// isTerminal reports whether w is a terminal: progress is redrawn in place only there.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
