// Package cli is the command line: one struct per command, next to what it does. All commands but serve, eval, model,
// key show, key recover, url and version call a running service over its REST interface, like any other client.
package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/alecthomas/kong"

	"quarry/internal/cli/access"
	"quarry/internal/cli/command"
	"quarry/internal/cli/llm"
	"quarry/internal/secret/redact"
)

// Streams are where a command reads and writes.
type Streams = command.Streams

// root is the grammar of the command line.
type root struct {
	Serve      serveCmd         `cmd:"" help:"Start the service."`
	Corpus     corpusCmd        `cmd:"" help:"Create, list, read, empty and delete corpora."`
	Document   documentCmd      `cmd:"" help:"Read, list and delete documents."`
	Index      indexCmd         `cmd:"" help:"Index a folder of files into a corpus."`
	Query      queryCmd         `cmd:"" help:"Search a corpus; prints ranked passages."`
	Ask        askCmd           `cmd:"" help:"Answer a question from a corpus, with sources."`
	Prompt     promptCmd        `cmd:"" help:"Preview prompt templates."`
	Job        jobCmd           `cmd:"" help:"List background jobs, read one, wait for one."`
	Eval       evalCmd          `cmd:"" help:"Measure ranking on a test collection in the BEIR layout."`
	Model      modelCmd         `cmd:"" help:"Convert sentence encoders."`
	LLM        llm.Cmd          `cmd:"" name:"llm" help:"Register, list, test and remove language models."`
	User       access.UserCmd   `cmd:"" help:"Create, list, read, disable and delete users."`
	Key        access.KeyCmd    `cmd:"" help:"Create and manage API keys; show the local owner key."`
	Client     access.ClientCmd `cmd:"" help:"Create, list, read and delete application clients."`
	Secret     access.SecretCmd `cmd:"" help:"Rotate the keys that stored secrets are sealed under, and those that sign tokens."`
	Audit      access.AuditCmd  `cmd:"" help:"Read who changed what."`
	URL        urlCmd           `cmd:"" name:"url" help:"Print the address of the service."`
	Version    versionCmd       `cmd:"" help:"Print the version."`
	Completion completionCmd    `cmd:"" help:"Print a shell completion script."`
}

// Run parses args, runs the command and returns its exit code.
func Run(ctx context.Context, args []string, s Streams) int {
	e := &command.Env{Streams: s, Ctx: ctx}
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
		return command.ExitUsage
	}
	e.Parser = parser
	code := command.ExitDone
	func() {
		defer func() { // help and version end the parse through kong.Exit
			if p := recover(); p != nil {
				if _, ok := p.(exitPanic); !ok {
					panic(p)
				}
				code = exited
			}
		}()
		code = parse(e, parser, args)
	}()
	return code
}

type exitPanic struct{}

func parse(e *command.Env, parser *kong.Kong, args []string) int {
	if len(args) == 0 {
		args = []string{"--help"}
	}
	c, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(e.Err, "quarry: %v\nTry: quarry --help\n", err)
		return command.ExitUsage
	}
	return report(e, c.Run(e))
}

// report prints an error once and returns its exit code.
func report(e *command.Env, err error) int {
	var f *command.Failure
	switch {
	case err == nil:
		return command.ExitDone
	case errors.As(err, &f):
		if f.Text != "" {
			fmt.Fprintln(e.Err, "quarry:", redact.Text(f.Text))
		}
		return f.Code
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(e.Err, "quarry: stopped")
		return command.ExitSomeFailed
	}
	fmt.Fprintln(e.Err, "quarry:", redact.Text(err.Error()))
	return command.ExitSomeFailed
}
