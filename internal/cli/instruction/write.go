package instruction

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"quarry/internal/cli/command"
)

// text is embedded by the commands that write instructions.
type text struct {
	Description *string `help:"What it is for." wire:"description"`
	Template    *string `help:"The text, a template, or @FILE to read it from a file." placeholder:"TEXT|@FILE" wire:"template"`
	Type        string  `help:"velocity for a template, text for one that is taken as it is." placeholder:"velocity|text" wire:"template_type"`
	Metadata    *string `help:"Values of your own, as a JSON object or @FILE; replaces all." placeholder:"JSON|@FILE" wire:"metadata"`
}

// body returns the request that the flags make.
func (t *text) body() (map[string]any, error) {
	body := map[string]any{}
	if t.Description != nil {
		body["description"] = *t.Description
	}
	if t.Template != nil {
		template, err := command.Text("the template", *t.Template)
		if err != nil {
			return nil, err
		}
		body["template"] = template
	}
	if t.Type != "" {
		body["template_type"] = t.Type
	}
	if t.Metadata != nil {
		metadata, err := command.Object("--metadata", *t.Metadata)
		if err != nil {
			return nil, err
		}
		body["metadata"] = metadata
	}
	return body, nil
}

type createCmd struct {
	command.Remote
	Name string `arg:"" help:"Name, at most 50 characters." wire:"name"`
	text
}

func (createCmd) Help() string {
	return "Steps of agents refer to it by the id that is printed, or by its name if no other instruction has it: " +
		"{\"type\": \"reference\", \"name\": \"tone\"}.\n\n" +
		"Example: quarry instruction create tone --template 'Speak to $session.metadata.name like a friend.'"
}

func (c *createCmd) Run(e *command.Env) error {
	if c.Template == nil {
		return command.Failed(command.ExitUsage, "say what it tells the model: --template TEXT, or --template @FILE")
	}
	body, err := c.body()
	if err != nil {
		return err
	}
	body["name"] = c.Name
	_, err = command.Send(e, c.Remote, http.MethodPost, instructions, body, func(v *view) {
		fmt.Fprintf(e.Out, "created instruction %s\n", v.ID)
	})
	return err
}

type updateCmd struct {
	one
	Name *string `help:"New name." wire:"name"`
	text
	Enable  bool `help:"Let it be attached to steps again." xor:"enabled" wire:"enabled"`
	Disable bool `help:"Let no further steps attach it; where it is attached it stays." xor:"enabled" wire:"enabled"`
}

func (updateCmd) Help() string {
	return "What is not given stays. Every change is a version, which agents that name no version have from their next turn on.\n\n" +
		"Example: quarry instruction update ins_4b1e --template @tone.txt"
}

func (c *updateCmd) Run(e *command.Env) error {
	body, err := c.body()
	if err != nil {
		return err
	}
	if c.Name != nil {
		body["name"] = *c.Name
	}
	if c.Enable || c.Disable {
		body["enabled"] = c.Enable
	}
	if len(body) == 0 {
		return command.Failed(command.ExitUsage, "say what to change: --name, --description, --template, --type, --metadata, --enable, --disable")
	}
	_, err = command.Send(e, c.Remote, http.MethodPatch, c.path(), body, func(v *view) {
		fmt.Fprintf(e.Out, "updated instruction %s, now version %d\n", v.ID, v.Version)
	})
	return err
}

// tools returns tools as a request has them, from names and descriptions.
func tools(of map[string]string) []any {
	out := []any{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		out = append(out, map[string]any{"name": name, "description": of[name]})
	}
	return out
}
