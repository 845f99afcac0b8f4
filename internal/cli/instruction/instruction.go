// Package instruction holds the commands about instructions: texts for the system prompts of agents, in versions.
package instruction

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"quarry/internal/cli/command"
)

// Cmd holds the commands about instructions.
type Cmd struct {
	Create createCmd `cmd:"" help:"Create an instruction."`
	List   listCmd   `cmd:"" help:"List the instructions, newest first."`
	Get    getCmd    `cmd:"" help:"Read an instruction."`
	Update updateCmd `cmd:"" help:"Change an instruction, which makes a version of it."`
	Delete deleteCmd `cmd:"" help:"Delete an instruction, or a version of one."`
	Test   testCmd   `cmd:"" help:"Show the text that an instruction renders."`
}

// instructions is the path of all instructions.
const instructions = "/v2/instructions"

// view is the part of an instruction that people look for.
type view struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Kind        string          `json:"template_type"`
	Template    string          `json:"template"`
	Version     int64           `json:"version"`
	Metadata    json.RawMessage `json:"metadata"`
	Enabled     bool            `json:"enabled"`
	Created     string          `json:"created_at"`
	Updated     string          `json:"updated_at"`
}

type listCmd struct {
	command.Remote
	command.Paging
	Filter string `help:"Regular expression on name and description." wire:"filter"`
}

func (listCmd) Help() string { return "Example: quarry instruction list --filter '^tone'" }

func (c *listCmd) Run(e *command.Env) error {
	return command.Listing[view]{
		Path: instructions, Member: "instructions", Query: url.Values{"filter": {c.Filter}}, Paging: c.Paging,
		Empty:  "no instructions; make one with: quarry instruction create NAME --template TEXT",
		Header: []string{"ID", "STATE", "VERSION", "AGE", "NAME", "DESCRIPTION"},
		Row: func(v *view) []string {
			return []string{v.ID, command.State(v.Enabled), strconv.FormatInt(v.Version, 10), command.Age(v.Created), v.Name, v.Description}
		},
	}.Print(e, c.Remote)
}

// one is embedded by the commands on one instruction.
type one struct {
	command.Remote
	Instruction string `arg:"" help:"Id of the instruction." wire:"instruction_id"`
}

func (c *one) path() string { return instructions + "/" + command.Segment(c.Instruction) }

// versioned is embedded by the commands that read a version.
type versioned struct {
	one
	Version int64 `help:"This version; default: the latest." placeholder:"N" wire:"version"`
}

// at returns what selects the version in an address.
func (c *versioned) at() string {
	if c.Version == 0 {
		return ""
	}
	return "?version=" + strconv.FormatInt(c.Version, 10)
}

type getCmd struct{ versioned }

func (getCmd) Help() string {
	return "Prints what is known about it and then, behind an empty line, its template.\n\nExample: quarry instruction get ins_4b1e --version 2"
}

func (c *getCmd) Run(e *command.Env) error {
	return command.Show(e, c.Remote, c.path()+c.at(), func(v *view) {
		metadata := string(v.Metadata)
		if metadata == "{}" {
			metadata = ""
		}
		command.FieldsGiven(e, [][]string{
			{"id", v.ID}, {"name", v.Name}, {"description", v.Description}, {"version", strconv.FormatInt(v.Version, 10)}, {"type", v.Kind},
			{"metadata", metadata}, {"enabled", strconv.FormatBool(v.Enabled)}, {"created", command.Second(v.Created)}, {"updated", command.Second(v.Updated)},
		})
		fmt.Fprintf(e.Out, "\n%s\n", strings.TrimSuffix(command.Prose(v.Template), "\n"))
	})
}

type deleteCmd struct {
	one
	Version int64 `help:"This version alone; one that an agent names can't be deleted, and neither can the only one." placeholder:"N" wire:"version"`
	command.Sure
}

func (deleteCmd) Help() string {
	return "Asks first, on a terminal. Elsewhere it needs --yes.\n\nExample: quarry instruction delete ins_4b1e --version 2 --yes"
}

func (c *deleteCmd) Run(e *command.Env) error {
	path, what, lost := c.path(), "instruction "+c.Instruction, "all of its versions, and agents that refer to it answer no more"
	if c.Version != 0 {
		path += "/versions/" + strconv.FormatInt(c.Version, 10)
		what, lost = fmt.Sprintf("version %d of %s", c.Version, what), "its text is lost"
	}
	if err := c.Confirm(e, "delete "+what, func() (string, error) { return lost, nil }); err != nil {
		return err
	}
	return c.Do(e, http.MethodDelete, path, nil, "deleted "+what)
}

type testCmd struct {
	versioned
	Context string            `help:"The metadata of the session, as a JSON object or @FILE." placeholder:"JSON|@FILE" wire:"context"`
	Tool    map[string]string `help:"A tool that the template sees; repeatable." placeholder:"NAME=DESCRIPTION" mapsep:"none" wire:"tools"`
}

func (testCmd) Help() string {
	return "Agent and key of the session are empty.\n\n" +
		"Example: quarry instruction test ins_4b1e --context '{\"plan\":\"gold\"}' --tool 'search=Searches the manuals.'"
}

func (c *testCmd) Run(e *command.Env) error {
	values, err := command.Object("--context", c.Context)
	if err != nil {
		return err
	}
	body := map[string]any{"context": values, "tools": tools(c.Tool)}
	type rendered struct {
		Text string `json:"rendered_instruction"`
	}
	_, err = command.Send(e, c.Remote, http.MethodPost, c.path()+"/test"+c.at(), body, func(v *rendered) {
		fmt.Fprintln(e.Out, strings.TrimSuffix(command.Prose(v.Text), "\n"))
	})
	return err
}
