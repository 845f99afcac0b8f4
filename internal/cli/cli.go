// Package cli is the command line: one struct per command, next to what it does. All commands but serve, eval, model,
// key show, key recover, url and version call a running service over its REST interface, like any other client.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/alecthomas/kong"

	"quarry/internal/cli/access"
	"quarry/internal/cli/agent"
	"quarry/internal/cli/answer"
	"quarry/internal/cli/command"
	"quarry/internal/cli/console"
	"quarry/internal/cli/corpus"
	"quarry/internal/cli/document"
	"quarry/internal/cli/glossary"
	"quarry/internal/cli/index"
	"quarry/internal/cli/instruction"
	"quarry/internal/cli/job"
	"quarry/internal/cli/llm"
	"quarry/internal/cli/mcp"
	"quarry/internal/cli/query"
	"quarry/internal/cli/tool"
	"quarry/internal/cli/trace"
	"quarry/internal/secret/redact"
)

// Streams are where a command reads and writes.
type Streams = command.Streams

// root is the grammar of the command line.
type root struct {
	Serve   serveCmd       `cmd:"" group:"start" help:"Start the service."`
	Index   index.Cmd      `cmd:"" group:"start" help:"Index folders and files into a corpus and keep it in step with them."`
	Query   query.Cmd      `cmd:"" group:"start" help:"Search a corpus; prints ranked passages."`
	Ask     answer.AskCmd  `cmd:"" group:"start" help:"Answer a question from a corpus, with sources."`
	Chat    answer.ChatCmd `cmd:"" group:"start" help:"Ask corpora question after question; list, show and delete chats."`
	Console console.Cmd    `cmd:"" group:"start" help:"Print the address of the console in the browser, with a code that signs you in."`

	Corpus    corpus.Cmd          `cmd:"" group:"documents" help:"Create, list, read, empty and delete corpora."`
	Document  document.Cmd        `cmd:"" group:"documents" help:"Read, list, change and delete documents."`
	Summarize answer.SummarizeCmd `cmd:"" group:"documents" help:"Summarise a document."`

	Agent   agent.Cmd        `cmd:"" group:"agents" help:"Create, list, read, change and delete agents; talk to one."`
	Session agent.SessionCmd `cmd:"" group:"agents" help:"List, read and delete the sessions of agents; read and follow what happens in one."`

	Instruction instruction.Cmd `cmd:"" group:"agents" help:"Create, list, read, change, try and delete texts that several agents are told."`
	Glossary    glossary.Cmd    `cmd:"" group:"agents" help:"Create, list, read, change, fill and delete glossaries, whose terms agents are told the meaning of."`
	Tool        tool.Cmd        `cmd:"" group:"agents" help:"Create, list, read, change and delete tools of agents."`
	Trace       trace.Cmd       `cmd:"" group:"agents" help:"Show what agents have done, step by step, with times, tokens and errors."`
	MCP         mcp.Cmd         `cmd:"" group:"agents" name:"mcp" help:"Offer corpora and agents to clients of the Model Context Protocol."`

	LLM    llm.Cmd         `cmd:"" group:"models" name:"llm" help:"Register, list, test and remove language models."`
	Prompt query.PromptCmd `cmd:"" group:"models" help:"Preview prompt templates."`
	Model  modelCmd        `cmd:"" group:"models" help:"Convert sentence encoders."`
	Eval   evalCmd         `cmd:"" group:"models" help:"Measure ranking on a test collection in the BEIR layout."`

	User   access.UserCmd   `cmd:"" group:"access" help:"Create, list, read, disable and delete users."`
	Key    access.KeyCmd    `cmd:"" group:"access" help:"Create and manage API keys; show the local owner key."`
	Client access.ClientCmd `cmd:"" group:"access" help:"Create, list, read and delete application clients."`
	WhoAmI access.WhoAmICmd `cmd:"" group:"access" name:"whoami" help:"Show who you are to the service, and your roles."`

	URL        urlCmd           `cmd:"" group:"operate" name:"url" help:"Print the address of the service."`
	Job        job.Cmd          `cmd:"" group:"operate" help:"List background jobs, read one, wait for one."`
	Metric     trace.MetricCmd  `cmd:"" group:"operate" help:"List metrics; show one over time."`
	Audit      access.AuditCmd  `cmd:"" group:"operate" help:"Read who changed what."`
	Secret     access.SecretCmd `cmd:"" group:"operate" help:"Rotate the keys that stored secrets are sealed under, and those that sign tokens."`
	Version    versionCmd       `cmd:"" group:"operate" help:"Print the version."`
	Completion completionCmd    `cmd:"" group:"operate" help:"Print a shell completion script."`
	Complete   completeCmd      `cmd:"" name:"__complete" hidden:""`
	Worker     workerCmd        `cmd:"" hidden:""`
}

// Help is printed above the list of commands.
func (root) Help() string {
	return "To begin, in two terminals: quarry serve, and then quarry index FOLDER and quarry ask FOLDER \"your question\".\n\n" +
		"Flags may stand before the command, too: quarry --url http://host:8080 corpus list"
}

// groups are the headings of the list of commands.
var groups = []kong.Group{
	{Key: "start", Title: "Start"}, {Key: "documents", Title: "Documents"}, {Key: "agents", Title: "Agents"}, {Key: "models", Title: "Models"},
	{Key: "access", Title: "Access"}, {Key: "operate", Title: "Operate"},
}

// widest is how many columns help takes at most.
const widest = 120

// Run parses args, runs the command and returns its exit code.
func Run(ctx context.Context, args []string, s Streams) int {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	out := command.NewOutput(s.Out)
	e := &command.Env{Streams: Streams{In: s.In, Out: out, Err: s.Err}, Ctx: ctx}
	if s.Interrupts != nil {
		go e.Interrupt.Watch(s.Interrupts, ctx.Done(), stop)
	}
	code, err := run(e, out, args)
	if failed := out.Err(); failed != nil {
		if !errors.Is(failed, syscall.EPIPE) { // a reader that has seen enough, such as head, is no news
			fmt.Fprintln(e.Err, "quarry: can't write the output:", reason(failed))
		}
		return max(code, command.ExitSomeFailed)
	}
	report(e, err)
	return code
}

// reason returns an error without the operation and the file that it names.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// run parses args and runs the command.
func run(e *command.Env, out *command.Output, args []string) (code int, err error) {
	if len(args) == 0 {
		args = []string{"--help"}
	}
	args = asCommand(args)
	var r root
	parser, err := kong.New(
		&r, kong.Name("quarry"),
		kong.Description("Retrieval over your documents: one program, nothing else to run."),
		kong.Writers(out.Stream(), e.Err), kong.Exit(func(code int) { panic(exited(code)) }),
		kong.Bind(e), kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: widest}),
		kong.Help(func(o kong.HelpOptions, c *kong.Context) error {
			out.Fail(kong.DefaultHelpPrinter(o, c))
			return nil
		}),
		kong.ExplicitGroups(groups), kong.IgnoreFields(unasked(args)...),
	)
	if err != nil {
		return command.ExitUsage, err
	}
	parser.Model.HelpFlag.Help = "Show this help."
	e.Parser = parser
	defer func() { // help and version end the parse through kong.Exit
		p := recover()
		if at, ok := p.(exited); ok {
			code, err = int(at), nil
		} else if p != nil {
			panic(p)
		}
	}()
	c, err := parser.Parse(hoist(parser.Model.Node, args))
	if err != nil {
		return misuse(e, err), nil
	}
	e.FlagOf = func(field string) string { return flagOf(c.Selected(), field) }
	err = c.Run(e)
	e.NameFields(err)
	command.Suggest(e.Ctx, err)
	return exitCode(err), err
}

// exited is an exit code that the parser asked for.
type exited int

func exitCode(err error) int {
	var f *command.Failure
	switch {
	case err == nil:
		return command.ExitDone
	case errors.As(err, &f):
		return f.Code
	case errors.Is(err, context.Canceled):
		return command.ExitStopped
	}
	return command.ExitSomeFailed
}

// report prints an error. One without a text was already shown.
func report(e *command.Env, err error) {
	switch {
	case err == nil:
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(e.Err, "quarry: stopped")
	case err.Error() != "":
		fmt.Fprintln(e.Err, "quarry:", redact.Text(err.Error()))
	}
}
