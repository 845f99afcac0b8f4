// Package index is the command that indexes folders and files into a corpus and keeps it in step with them. What is sent and
// removed is decided in package folder; here are flags, the corpus behind the REST interface, and what is shown.
package index

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"quarry/internal/cli/command"
	"quarry/internal/folder"
	"quarry/internal/folder/source"
	"quarry/internal/folder/state"
)

// Cmd is quarry index.
type Cmd struct {
	command.Remote
	Places  []string `arg:"" name:"place" help:"Folders, files, globs in quotes, archives (.zip, .tar, .tar.gz) and files of JSON lines."`
	Corpus  string   `help:"Key of the corpus; default: the name of the folder, which is then created if need be." placeholder:"KEY"`
	Create  bool     `help:"Create the corpus that --corpus names if there is none."`
	Sync    bool     `help:"Remove the documents that this command made and that have no file any more."`
	DryRun  bool     `help:"Show what would be done; send nothing."`
	Watch   bool     `help:"Go on: index files as they change, until Ctrl-C."`
	Include []string `help:"Only files that match, as in a .gitignore; repeatable. Also reads files that are left out otherwise." placeholder:"PATTERN" sep:"none"`
	Exclude []string `help:"Leave out files that match, as in a .gitignore; repeatable." placeholder:"PATTERN" sep:"none"`
	Chars   int      `help:"Characters per passage; 0 makes one passage per sentence." default:"900"`
	tableFlags
	Parallel int    `help:"Files sent at the same time." default:"4"`
	Report   string `help:"Write a line of JSON for every file to this file." placeholder:"FILE.jsonl"`
}

// Help is shown by quarry index --help.
func (Cmd) Help() string {
	return "The id of a document is the path of its file inside the folder. What was sent is remembered in your cache folder: a second\n" +
		"run sends only what is new or has changed, failed before or is missing from the corpus.\n\n" +
		"Example: quarry index docs --sync"
}

// Run implements the command.
func (c *Cmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	roots, err := source.Resolve(c.Places)
	if err != nil {
		return command.Failed(command.ExitUsage, "%v", err)
	}
	if c.Chars < 0 {
		return command.Failed(command.ExitUsage, "--chars must not be negative")
	}
	if c.Parallel < 1 {
		return command.Failed(command.ExitUsage, "--parallel must be at least 1")
	}
	tables, err := c.extraction()
	if err != nil {
		return err
	}
	corpus, err := c.choose(e, cl, roots)
	if err != nil {
		return err
	}
	out, err := c.open(e, corpus.Key)
	if err != nil {
		return err
	}
	all, closing, err := c.journals(e, cl, corpus, roots)
	defer func() { closing() }()
	if err != nil {
		return err
	}
	var to folder.Corpus = &service{client: cl, corpus: corpus.Key, chars: c.Chars, tables: tables}
	if corpus.missing {
		to = nothing{to}
	}
	find := c.find()
	find.MaxFile, find.MaxBody = limits(e.Ctx, cl)
	sync := folder.NewSync(folder.Config{
		Corpus: to, Roots: all, Parallel: c.Parallel, Remove: c.Sync, DryRun: c.DryRun, Settings: c.settings(tables),
		Find: find, Each: out.each, Progress: out.progress,
	})
	out.start()
	result, err := sync.Pass(e.Ctx)
	err = c.conclude(e, out, &result, err)
	if err != nil || !c.Watch {
		return err
	}
	return c.watch(e, out, sync)
}

// settings returns what a file is sent again for once it is different. Without descriptions of tables it is what earlier versions remember.
func (c *Cmd) settings(tables *extraction) string {
	return fmt.Sprintf("chars=%d%s", c.Chars, tables.settings())
}

// find returns what the user chose of the files.
func (c *Cmd) find() source.Options { return source.Options{Include: c.Include, Exclude: c.Exclude} }

// conclude prints the sums of a pass and returns the error that the command ends with.
func (c *Cmd) conclude(e *command.Env, out *output, r *folder.Result, err error) error {
	if err := out.stop(r, err == nil); err != nil {
		return err
	}
	switch {
	case err == nil && r.Done()+r.Gone == 0 && !c.Watch:
		return c.empty()
	case err == nil && r.Failed > 0 && !c.Watch:
		return command.Failed(command.ExitSomeFailed, "")
	case err == nil:
		return nil
	}
	rest := fmt.Sprintf("%s done; the same command goes on from there", command.Count(int64(r.Done()), "file"))
	var busy *folder.Busy
	switch {
	case e.Ctx.Err() != nil:
		return command.Failed(command.ExitStopped, "stopped: %s", rest)
	case errors.Is(err, folder.ErrUnreachable), errors.As(err, &busy):
		return command.Failed(command.ExitUnreachable, "%v; %s", err, rest)
	}
	return err
}

// limits returns how many bytes a file and a body may have, 0 where the service does not say.
func limits(ctx context.Context, cl *command.Client) (file, body int64) {
	var found struct {
		Upload int64 `json:"max_upload_bytes"`
		JSON   int64 `json:"max_json_bytes"`
	}
	_, _ = cl.Call(ctx, http.MethodGet, "/v2/limits", nil, &found) // an older service has none; it refuses what is too large
	return found.Upload, found.JSON
}

// journals opens what is remembered of each root. Where nothing can be remembered the command goes on and says so.
func (c *Cmd) journals(e *command.Env, cl *command.Client, corpus target, roots []source.Root) (all []folder.Root, closing func(), err error) {
	closing = func() {
		for _, r := range all {
			if err := r.Journal.Close(); err != nil {
				fmt.Fprintf(e.Err, "quarry: what was done in %s is not remembered whole: %v\n", r.Name, err)
			}
		}
	}
	dir, failed := state.Dir()
	for _, r := range roots {
		k := state.Key{Service: cl.Base, Corpus: corpus.Key, Root: r.Path, CorpusID: corpus.ID}
		if r.Pattern != "" {
			k.Root += string(os.PathSeparator) + r.Pattern
		}
		j := state.Memory()
		if failed == nil && !corpus.missing {
			opened, err := state.Open(dir, k)
			var held *state.HeldError
			switch {
			case errors.As(err, &held):
				return all, closing, command.Failed(command.ExitHeld, "%v", err)
			case err != nil:
				failed = err
			default:
				j = opened
			}
		}
		if note := j.Note(); note != "" {
			fmt.Fprintln(e.Err, note)
		}
		all = append(all, folder.Root{Root: r, Journal: j})
	}
	if failed != nil {
		fmt.Fprintf(e.Err, "nothing can be remembered for the next run, which will compare every file with the corpus: %v\n", failed)
	}
	return all, closing, nil
}

// nothing is a corpus that does not exist yet, for a dry run.
type nothing struct{ folder.Corpus }

func (nothing) Documents(context.Context, func(string)) error { return nil }

// watch keeps the corpus in step until the user stops it.
func (c *Cmd) watch(e *command.Env, out *output, s *folder.Sync) error {
	fmt.Fprintf(e.Err, "watching %s; Ctrl-C ends it\n", strings.Join(c.Places, ", "))
	err := s.Watch(e.Ctx, folder.Hooks{
		Before: out.start,
		After:  func(r *folder.Result, err error) error { return c.after(e, out, r, err) },
		Note:   func(text string) { fmt.Fprintln(e.Err, text) },
	})
	if e.Ctx.Err() != nil {
		return command.Failed(command.ExitStopped, "stopped watching; the same command goes on from there")
	}
	return err
}

// after shows a pass of a watch and returns the error that ends it: a service that is away comes back.
func (c *Cmd) after(e *command.Env, out *output, r *folder.Result, err error) error {
	if err := out.stop(r, err == nil && r.New+r.Changed+r.Removed+r.Failed > 0); err != nil {
		return err
	}
	var busy *folder.Busy
	if errors.Is(err, folder.ErrUnreachable) || errors.As(err, &busy) {
		fmt.Fprintf(e.Err, "%s: %v; trying again\n", time.Now().Format(time.TimeOnly), err)
		return nil
	}
	return err
}
