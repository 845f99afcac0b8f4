package tool

import (
	"fmt"
	"net/http"

	"quarry/internal/cli/command"
)

// definition is embedded by the commands that write tools.
type definition struct {
	Title       *string `help:"A name for people." wire:"title"`
	Description *string `help:"What it is for, or @FILE to read that from a file; the model chooses tools by it." placeholder:"TEXT|@FILE" wire:"description"`
	Input       *string `name:"input-schema" help:"JSON Schema of the arguments, or @FILE." placeholder:"JSON|@FILE" wire:"input_schema"`
	Output      *string `name:"output-schema" help:"JSON Schema that outputs have to fit, or @FILE; {} for any." placeholder:"JSON|@FILE" wire:"output_schema"`
}

// body returns the request that the flags make. Only tools of clients can be written.
func (d *definition) body() (map[string]any, error) {
	body := map[string]any{"type": "client"}
	if d.Title != nil {
		body["title"] = *d.Title
	}
	if d.Description != nil {
		description, err := command.Text("the description", *d.Description)
		if err != nil {
			return nil, err
		}
		body["description"] = description
	}
	for _, s := range []struct {
		member, flag string
		value        *string
	}{{"input_schema", "--input-schema", d.Input}, {"output_schema", "--output-schema", d.Output}} {
		if s.value == nil {
			continue
		}
		schema, err := command.Object(s.flag, *s.value)
		if err != nil {
			return nil, err
		}
		body[s.member] = schema
	}
	return body, nil
}

type createCmd struct {
	command.Remote
	Name string `arg:"" help:"Name: letters, digits, _ and -, at most 50." wire:"name"`
	definition
}

func (createCmd) Help() string {
	return "Agents have it by the id that is printed: {\"type\": \"client\", \"tool_id\": \"tol_4b1e\"}. When the model calls it, the session waits " +
		"for a client to send the output.\n\n" +
		"Example: quarry tool create approve --description 'Asks the user for approval.' --input-schema @approve.json"
}

func (c *createCmd) Run(e *command.Env) error {
	if c.Description == nil {
		return command.Failed(command.ExitUsage, "say what the tool is for: --description TEXT, or --description @FILE; the model chooses tools by it")
	}
	body, err := c.body()
	if err != nil {
		return err
	}
	body["name"] = c.Name
	_, err = command.Send(e, c.Remote, http.MethodPost, tools, body, func(v *view) {
		fmt.Fprintf(e.Out, "created tool %s\n", v.ID)
	})
	return err
}

type updateCmd struct {
	one
	definition
	Enable  bool `help:"Let agents offer it to the model again." xor:"enabled" wire:"enabled"`
	Disable bool `help:"Let no agent offer it to the model." xor:"enabled" wire:"enabled"`
}

func (updateCmd) Help() string {
	return "What is not given stays. Agents that have the tool work with the change from their next turn on.\n\n" +
		"Example: quarry tool update tol_4b1e --disable"
}

func (c *updateCmd) Run(e *command.Env) error {
	body, err := c.body()
	if err != nil {
		return err
	}
	if c.Enable || c.Disable {
		body["enabled"] = c.Enable
	}
	if len(body) == 1 { // the type
		return command.Failed(command.ExitUsage, "say what to change: --title, --description, --input-schema, --output-schema, --enable, --disable")
	}
	_, err = command.Send(e, c.Remote, http.MethodPatch, c.path(), body, func(v *view) {
		fmt.Fprintf(e.Out, "updated tool %s\n", v.ID)
	})
	return err
}
