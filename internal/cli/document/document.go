// Package document holds the commands about stored documents: reading, listing, changing and deleting them.
package document

import (
	"encoding/json"
	"fmt"
	"net/url"

	"quarry/internal/cli/command"
)

// Cmd holds the commands about documents.
type Cmd struct {
	Get    getCmd    `cmd:"" help:"Read one document with its parts."`
	List   listCmd   `cmd:"" help:"List the documents of a corpus, by id."`
	Update updateCmd `cmd:"" help:"Change the metadata of a document."`
	File   fileCmd   `cmd:"" help:"Download the file that a document was read from."`
	Delete deleteCmd `cmd:"" help:"Delete documents."`
}

// view is the part of a document that tables show.
type view struct {
	ID       string         `json:"id"`
	Metadata map[string]any `json:"metadata"`
	Parts    []struct {
		Text string `json:"text"`
	} `json:"parts"`
}

type getCmd struct {
	command.Remote
	CorpusKey string `arg:"" name:"corpus" help:"Key of the corpus." wire:"corpus_key"`
	ID        string `arg:"" name:"id" help:"Id of the document." wire:"document_id"`
}

func (getCmd) Help() string { return "Example: quarry document get docs architecture.md" }

func (c *getCmd) Run(e *command.Env) error {
	return command.Show(e, c.Remote, command.DocumentPath(c.CorpusKey, c.ID), func(v *view) {
		metadata, _ := json.Marshal(v.Metadata) // came from JSON
		command.Wrap(e.Out, "", command.Bold(e.Out, command.Prose(v.ID))+"  "+command.Prose(string(metadata)))
		fmt.Fprintln(e.Out, command.Count(int64(len(v.Parts)), "part"))
		for i, p := range v.Parts {
			fmt.Fprintln(e.Out, command.Line(e.Out, fmt.Sprintf("%4d  ", i), p.Text))
		}
	})
}

type listCmd struct {
	command.Remote
	CorpusKey string `arg:"" name:"corpus" help:"Key of the corpus." wire:"corpus_key"`
	Filter    string `help:"Metadata filter over doc.*" placeholder:"FILTER" wire:"metadata_filter"`
	command.Paging
}

func (listCmd) Help() string {
	return "Example: quarry document list manuals --filter \"doc.year >= 2024\""
}

func (c *listCmd) Run(e *command.Env) error {
	return command.Listing[view]{
		Path: command.CorpusPath(c.CorpusKey) + "/documents", Member: "documents",
		Query: url.Values{"metadata_filter": {c.Filter}}, Paging: c.Paging, Header: []string{"ID", "METADATA"},
		Row: func(v *view) []string {
			metadata, _ := json.Marshal(v.Metadata) // came from JSON
			return []string{v.ID, string(metadata)}
		},
	}.Print(e, c.Remote)
}

type deleteCmd struct {
	command.Remote
	CorpusKey string   `arg:"" name:"corpus" help:"Key of the corpus." wire:"corpus_key"`
	IDs       []string `arg:"" name:"id" help:"Ids of the documents." wire:"document_id"`
}

func (deleteCmd) Help() string { return "Example: quarry document delete docs old.md older.md" }

func (c *deleteCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	bad := [][]string{} // not null in JSON
	for _, id := range c.IDs {
		if _, err := cl.Call(e.Ctx, "DELETE", command.DocumentPath(c.CorpusKey, id), nil, nil); command.Status(err) != 0 {
			bad = append(bad, []string{id, err.Error()})
		} else if err != nil {
			return err
		}
	}
	if c.JSON {
		raw, _ := json.Marshal(map[string]any{"deleted": len(c.IDs) - len(bad), "failed": bad}) // plain strings
		command.PrintJSON(e.Out, raw)
	} else {
		fmt.Fprintf(e.Out, "deleted %d of %d documents\n", len(c.IDs)-len(bad), len(c.IDs))
	}
	if len(bad) == 0 {
		return nil
	}
	if !c.JSON {
		command.Table(e.Err, []string{"DOCUMENT", "REASON"}, bad)
	}
	return command.Failed(command.ExitSomeFailed, "")
}
