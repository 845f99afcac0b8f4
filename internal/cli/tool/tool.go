// Package tool holds the commands about tools: those that come with the program, those of clients, which people create, and those of
// tool servers.
package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"quarry/internal/cli/command"
)

// Cmd holds the commands about tools.
type Cmd struct {
	Create createCmd `cmd:"" help:"Create a tool that the client runs."`
	List   listCmd   `cmd:"" help:"List the tools, newest first."`
	Get    getCmd    `cmd:"" help:"Read a tool."`
	Update updateCmd `cmd:"" help:"Change a tool that somebody created."`
	Delete deleteCmd `cmd:"" help:"Delete a tool that no agent has."`
	Config configCmd `cmd:"" help:"Keep configurations of tools that several agents refer to."`

	Enable  enableCmd  `cmd:"" help:"Let agents offer a tool to the model."`
	Disable disableCmd `cmd:"" help:"Let no agent offer a tool to the model."`
	Server  serverCmd  `cmd:"" help:"Servers of other people whose tools agents have."`
}

// tools is the path of all tools.
const tools = "/v2/tools"

// view is the part of a tool that people look for.
type view struct {
	ID          string `json:"id"`
	Type        string `json:"type"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`

	Documentation string       `json:"documentation"`
	ServerID      string       `json:"server_id"`
	Annotations   *annotations `json:"annotations"`

	Category string          `json:"category"`
	Version  string          `json:"version"`
	Enabled  bool            `json:"enabled"`
	Input    json.RawMessage `json:"input_schema"`
	Output   json.RawMessage `json:"output_schema"`
	Created  string          `json:"created_at"`
	Updated  string          `json:"updated_at"`
}

type listCmd struct {
	command.Remote
	command.Paging
	Filter   string   `help:"Regular expression on name and description." wire:"filter"`
	Type     string   `help:"Tools of this type, such as client; vectara for all that come with the program." wire:"type"`
	Category []string `help:"Tools of this category, such as retrieval; repeatable." wire:"category"`
	Server   string   `help:"Tools of this tool server." placeholder:"ID" wire:"tool_server_id"`
}

func (listCmd) Help() string { return "Example: quarry tool list --type client" }

func (c *listCmd) Run(e *command.Env) error {
	return command.Listing[view]{
		Path: tools, Member: "tools", Query: url.Values{"filter": {c.Filter}, "type": {c.Type}, "category": c.Category, "tool_server_id": {c.Server}}, Paging: c.Paging,
		Empty:  "no such tools; make one with: quarry tool create NAME --description TEXT",
		Header: []string{"ID", "TYPE", "STATE", "NAME", "DESCRIPTION"},
		Row: func(v *view) []string {
			return []string{v.ID, v.Type, command.State(v.Enabled), v.Name, v.Description}
		},
	}.Print(e, c.Remote)
}

// one is embedded by the commands on one tool.
type one struct {
	command.Remote
	Tool string `arg:"" help:"Id of the tool." wire:"tool_id"`
}

func (c *one) path() string { return tools + "/" + command.Segment(c.Tool) }

type getCmd struct{ one }

func (getCmd) Help() string {
	return "Prints what is known about it and then, each behind an empty line, the JSON Schemas of its arguments and its outputs.\n\n" +
		"Example: quarry tool get tol_vectara_corpora_search"
}

func (c *getCmd) Run(e *command.Env) error {
	return command.Show(e, c.Remote, c.path(), func(v *view) {
		var hints string
		if v.Annotations != nil {
			hints = v.Annotations.hints()
		}
		command.FieldsGiven(e, [][]string{
			{"id", v.ID}, {"type", v.Type}, {"name", v.Name}, {"title", v.Title}, {"description", v.Description}, {"category", v.Category},
			{"tool server", v.ServerID}, {"hints", hints}, {"version", v.Version}, {"enabled", strconv.FormatBool(v.Enabled)}, {"created", command.Second(v.Created)}, {"updated", command.Second(v.Updated)},
		})
		schema(e, "input schema", v.Input)
		schema(e, "output schema", v.Output)
	})
}

// schema prints a schema under its name, and nothing for one that was not given.
func schema(e *command.Env, name string, raw json.RawMessage) {
	var b bytes.Buffer
	if raw == nil || json.Indent(&b, raw, "", "  ") != nil {
		return
	}
	fmt.Fprintf(e.Out, "\n%s\n%s\n", name, command.Prose(b.String()))
}

type deleteCmd struct {
	one
	command.Sure
}

func (deleteCmd) Help() string {
	return "Asks first, on a terminal. Elsewhere it needs --yes.\n\nExample: quarry tool delete tol_4b1e --yes"
}

func (c *deleteCmd) Run(e *command.Env) error {
	what := "tool " + c.Tool
	if err := c.Confirm(e, "delete "+what, func() (string, error) { return "its description and its schemas are lost", nil }); err != nil {
		return err
	}
	return c.Do(e, http.MethodDelete, c.path(), nil, "deleted "+what)
}
