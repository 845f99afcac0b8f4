package cli

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"quarry/internal/cli/command"
)

type corpusCmd struct {
	Create corpusCreateCmd `cmd:"" help:"Create a corpus."`
	List   corpusListCmd   `cmd:"" help:"List corpora, newest first."`
	Get    corpusGetCmd    `cmd:"" help:"Read one corpus."`
	Delete corpusDeleteCmd `cmd:"" help:"Delete a corpus and everything in it."`
	Reset  corpusResetCmd  `cmd:"" help:"Remove every document of a corpus."`
	Stats  corpusStatsCmd  `cmd:"" help:"Count what a corpus holds and the values of its filter attributes."`
}

// corpusView is the part of a corpus that tables show.
type corpusView struct {
	Key         string `json:"key"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Enabled     bool   `json:"enabled"`
	Created     string `json:"created_at"`
	Limits      struct {
		Docs  int64 `json:"used_docs"`
		Parts int64 `json:"used_parts"`
	} `json:"limits"`
	Attributes []struct {
		Name  string `json:"name"`
		Level string `json:"level"`
		Type  string `json:"type"`
	} `json:"filter_attributes"`
}

type corpusCreateCmd struct {
	command.Remote
	CorpusKey   string   `arg:"" name:"corpus" help:"Key: letters, digits, _ and -, at most 50."`
	Name        string   `help:"Readable name; default: the key."`
	Description string   `help:"What it is for."`
	Attribute   []string `help:"Filter attribute as level.name:type, for example doc.year:integer or part.kind:text; repeatable." placeholder:"LEVEL.NAME:TYPE" sep:"none"`
}

func (corpusCreateCmd) Help() string {
	return "Example: quarry corpus create manuals --attribute doc.year:integer --attribute doc.tags:list[text]"
}

func (c *corpusCreateCmd) Run(e *command.Env) error {
	body := command.Given(map[string]any{"key": c.CorpusKey, "name": c.Name, "description": c.Description})
	attributes, err := parseAttributes(c.Attribute)
	if err != nil {
		return err
	}
	if len(attributes) > 0 {
		body["filter_attributes"] = attributes
	}
	_, err = command.Send(e, c.Remote, "POST", "/v2/corpora", body, func(v *corpusView) { fmt.Fprintf(e.Out, "created corpus %s\n", v.Key) })
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

type corpusListCmd struct {
	command.Remote
	Filter string `help:"Regular expression on name and description."`
}

func (corpusListCmd) Help() string { return "Example: quarry corpus list --filter '^man'" }

func (c *corpusListCmd) Run(e *command.Env) error {
	return command.Listing[corpusView]{
		Path: "/v2/corpora", Member: "corpora", Query: url.Values{"filter": {c.Filter}},
		Empty:  "no corpora yet; make one with: quarry corpus create NAME",
		Header: []string{"KEY", "STATE", "NAME", "CREATED", "DESCRIPTION"},
		Row: func(v *corpusView) []string {
			return []string{v.Key, command.State(v.Enabled), command.Clip(v.Name, 30), v.Created, command.Clip(v.Description, 50)}
		},
	}.Print(e, c.Remote)
}

// oneCorpus is embedded by the commands on one corpus.
type oneCorpus struct {
	command.Remote
	CorpusKey string `arg:"" name:"corpus" help:"Key of the corpus."`
}

func (c *oneCorpus) path() string { return "/v2/corpora/" + command.Segment(c.CorpusKey) }

type corpusGetCmd struct{ oneCorpus }

func (corpusGetCmd) Help() string { return "Example: quarry corpus get manuals --json" }

func (c *corpusGetCmd) Run(e *command.Env) error {
	return command.Show(e, c.Remote, c.path(), func(v *corpusView) {
		rows := [][]string{
			{"key", v.Key}, {"name", v.Name}, {"description", v.Description}, {"enabled", strconv.FormatBool(v.Enabled)},
			{"created", v.Created}, {"documents", strconv.FormatInt(v.Limits.Docs, 10)}, {"parts", strconv.FormatInt(v.Limits.Parts, 10)},
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

type corpusDeleteCmd struct{ oneCorpus }

func (corpusDeleteCmd) Help() string { return "Example: quarry corpus delete manuals" }

func (c *corpusDeleteCmd) Run(e *command.Env) error {
	return c.Do(e, "DELETE", c.path(), nil, "deleted corpus "+c.CorpusKey)
}

type corpusResetCmd struct{ oneCorpus }

func (corpusResetCmd) Help() string { return "Example: quarry corpus reset manuals" }

func (c *corpusResetCmd) Run(e *command.Env) error {
	return c.Do(e, "POST", c.path()+"/reset", nil, "removed every document of corpus "+c.CorpusKey)
}
