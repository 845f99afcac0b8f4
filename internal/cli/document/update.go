package document

import (
	"encoding/json"
	"fmt"
	"strings"

	"quarry/internal/cli/command"
)

type updateCmd struct {
	command.Remote
	CorpusKey string   `arg:"" name:"corpus" help:"Key of the corpus." wire:"corpus_key"`
	ID        string   `arg:"" name:"id" help:"Id of the document." wire:"document_id"`
	Set       []string `help:"Metadata NAME=VALUE; VALUE is JSON, otherwise a text; repeatable." placeholder:"NAME=VALUE" sep:"none"`
	Remove    []string `help:"Metadata name to remove; repeatable." placeholder:"NAME" sep:"none"`
	Metadata  string   `help:"Metadata as a JSON object, or @FILE." placeholder:"JSON"`
	Replace   bool     `help:"Replace the whole metadata instead of merging."`
}

func (updateCmd) Help() string {
	return "Texts and parts stay.\n\nExample: quarry document update manuals pump-42 --set year=2024 --set 'tags=[\"a\",\"b\"]' --remove draft"
}

func (c *updateCmd) Run(e *command.Env) error {
	metadata, err := c.metadata()
	if err != nil {
		return err
	}
	method, path := "PATCH", command.DocumentPath(c.CorpusKey, c.ID)
	if c.Replace {
		method, path = "PUT", path+"/metadata"
	}
	type document struct {
		ID       string          `json:"id"`
		Metadata json.RawMessage `json:"metadata"`
	}
	_, err = command.Send(e, c.Remote, method, path, map[string]any{"metadata": metadata}, func(v *document) {
		fmt.Fprintf(e.Out, "%s  %s\n", v.ID, v.Metadata)
	})
	return err
}

// metadata merges the flags; later ones win.
func (c *updateCmd) metadata() (map[string]json.RawMessage, error) {
	if c.Metadata == "" && len(c.Set)+len(c.Remove) == 0 && !c.Replace {
		return nil, command.Failed(command.ExitUsage, "nothing to change: give --set, --remove or --metadata")
	}
	if c.Replace && len(c.Remove) > 0 {
		return nil, command.Failed(command.ExitUsage, "--remove is for merging; with --replace name what shall stay")
	}
	out, err := command.Object("--metadata", c.Metadata)
	if err != nil {
		return nil, err
	}
	for _, s := range c.Set {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return nil, command.Failed(command.ExitUsage, "--set %q must look like year=2024", s)
		}
		raw := json.RawMessage(value)
		if !json.Valid(raw) {
			raw, _ = json.Marshal(value) // a string always encodes
		}
		out[name] = raw
	}
	for _, name := range c.Remove {
		out[name] = json.RawMessage("null")
	}
	return out, nil
}
