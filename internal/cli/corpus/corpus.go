// Package corpus holds the commands about corpora: making, listing, reading, counting, emptying and deleting them, and their
// search indexes.
package corpus

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"quarry/internal/cli/command"
)

// Cmd holds the commands about corpora.
type Cmd struct {
	Create createCmd `cmd:"" help:"Create a corpus."`
	List   listCmd   `cmd:"" help:"List corpora, newest first."`
	Get    getCmd    `cmd:"" help:"Read one corpus."`
	Delete deleteCmd `cmd:"" help:"Delete a corpus and everything in it."`
	Reset  resetCmd  `cmd:"" help:"Remove every document of a corpus."`
	Stats  statsCmd  `cmd:"" help:"Count what a corpus holds and the values of its filter attributes, or show its index."`

	RebuildIndex rebuildIndexCmd `cmd:"" help:"Make the search index of a corpus anew, beside the one in use."`
}

// view is the part of a corpus that tables show.
type view struct {
	Key         string `json:"key"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Enabled     bool   `json:"enabled"`
	Created     string `json:"created_at"`
	Limits      struct {
		Docs  int64 `json:"used_docs"`
		Parts int64 `json:"used_parts"`

		Characters int64 `json:"used_characters"`
	} `json:"limits"`
	Attributes []struct {
		Name  string `json:"name"`
		Level string `json:"level"`
		Type  string `json:"type"`
	} `json:"filter_attributes"`
}

type createCmd struct {
	command.Remote
	CorpusKey   string   `arg:"" name:"corpus" help:"Key: letters, digits, _ and -, at most 50." wire:"key"`
	Name        string   `help:"Readable name; default: the key." wire:"name"`
	Description string   `help:"What it is for." wire:"description"`
	Attribute   []string `help:"Filter attribute as level.name:type, for example doc.year:integer or part.kind:text; repeatable." placeholder:"LEVEL.NAME:TYPE" sep:"none" wire:"filter_attributes[]"`
}

func (createCmd) Help() string {
	return "Example: quarry corpus create manuals --attribute doc.year:integer --attribute doc.tags:list[text]"
}

func (c *createCmd) Run(e *command.Env) error {
	body := command.Given(map[string]any{"key": c.CorpusKey, "name": c.Name, "description": c.Description})
	attributes, err := parseAttributes(c.Attribute)
	if err != nil {
		return err
	}
	if len(attributes) > 0 {
		body["filter_attributes"] = attributes
	}
	_, err = command.Send(e, c.Remote, "POST", "/v2/corpora", body, func(v *view) { fmt.Fprintf(e.Out, "created corpus %s\n", v.Key) })
	return err
}

func parseAttributes(all []string) ([]map[string]any, error) {
	var out []map[string]any
	for _, a := range all {
		reference, kind, ok := strings.Cut(a, ":")
		level, name, ok2 := strings.Cut(reference, ".")
		if !ok || !ok2 || level != "doc" && level != "part" {
			return nil, command.Failed(command.ExitUsage, "attribute %q must look like doc.year:integer or part.kind:text", a)
		}
		if level == "doc" {
			level = "document"
		}
		out = append(out, map[string]any{"name": name, "level": level, "type": kind})
	}
	return out, nil
}

type listCmd struct {
	command.Remote
	command.Paging
	Filter string `help:"Regular expression on name and description." wire:"filter"`
}

func (listCmd) Help() string {
	return "SIZE counts the characters of texts and metadata. --json has exact numbers and times.\n\nExample: quarry corpus list --filter '^man'"
}

func (c *listCmd) Run(e *command.Env) error {
	return command.Listing[view]{
		Path: "/v2/corpora", Member: "corpora", Query: url.Values{"filter": {c.Filter}}, Paging: c.Paging,
		Empty:  "no corpora yet; make one with: quarry corpus create NAME",
		Header: []string{"KEY", "STATE", "DOCUMENTS", "SIZE", "AGE", "NAME", "DESCRIPTION"},
		Row: func(v *view) []string {
			return []string{
				v.Key, command.State(v.Enabled), strconv.FormatInt(v.Limits.Docs, 10), command.Short(v.Limits.Characters) + " chars",
				command.Age(v.Created), v.Name, v.Description,
			}
		},
	}.Print(e, c.Remote)
}

// one is embedded by the commands on one corpus.
type one struct {
	command.Remote
	CorpusKey string `arg:"" name:"corpus" help:"Key of the corpus." wire:"corpus_key"`
}

func (c *one) path() string { return command.CorpusPath(c.CorpusKey) }

type getCmd struct{ one }

func (getCmd) Help() string { return "Example: quarry corpus get manuals --json" }

func (c *getCmd) Run(e *command.Env) error {
	return command.Show(e, c.Remote, c.path(), func(v *view) {
		rows := [][]string{
			{"key", v.Key}, {"name", v.Name}, {"description", v.Description}, {"enabled", strconv.FormatBool(v.Enabled)},
			{"created", command.Second(v.Created)}, {"documents", strconv.FormatInt(v.Limits.Docs, 10)},
			{"parts", strconv.FormatInt(v.Limits.Parts, 10)}, {"characters", strconv.FormatInt(v.Limits.Characters, 10)},
		}
		for _, a := range v.Attributes {
			level := "doc"
			if a.Level == "part" {
				level = "part"
			}
			rows = append(rows, []string{"attribute", level + "." + a.Name + ":" + a.Type})
		}
		command.Fields(e, rows)
	})
}

type deleteCmd struct {
	one
	command.Sure
}

func (deleteCmd) Help() string {
	return "Asks first, on a terminal. Elsewhere it needs --yes.\n\nExample: quarry corpus delete manuals --yes"
}

func (c *deleteCmd) Run(e *command.Env) error {
	if err := c.Confirm(e, "delete corpus "+c.CorpusKey, func() (string, error) { return c.holds(e) }); err != nil {
		return err
	}
	return c.Do(e, "DELETE", c.path(), nil, "deleted corpus "+c.CorpusKey)
}

type resetCmd struct {
	one
	command.Sure
}

func (resetCmd) Help() string {
	return "The corpus stays, with its settings. Asks first, on a terminal. Elsewhere it needs --yes.\n\nExample: quarry corpus reset manuals --yes"
}

func (c *resetCmd) Run(e *command.Env) error {
	if err := c.Confirm(e, "remove every document of corpus "+c.CorpusKey, func() (string, error) { return c.holds(e) }); err != nil {
		return err
	}
	return c.Do(e, "POST", c.path()+"/reset", nil, "removed every document of corpus "+c.CorpusKey)
}

// holds describes what is lost with the corpus.
func (c *one) holds(e *command.Env) (string, error) {
	cl, err := c.Connect()
	if err != nil {
		return "", err
	}
	var v view
	if _, err := cl.Call(e.Ctx, "GET", c.path(), nil, &v); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s with %s characters", command.Count(v.Limits.Docs, "document"), command.Short(v.Limits.Characters)), nil
}
