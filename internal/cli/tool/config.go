package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"quarry/internal/cli/command"
	"quarry/internal/opt"
)

// configCmd holds the commands about configurations of tools that several agents refer to.
type configCmd struct {
	Create configCreateCmd `cmd:"" help:"Keep a configuration of a tool for several agents."`
	List   configListCmd   `cmd:"" help:"List the configurations that are kept, newest first."`
	Get    configGetCmd    `cmd:"" help:"Read a configuration."`
	Update configUpdateCmd `cmd:"" help:"Change a configuration."`
	Delete configDeleteCmd `cmd:"" help:"Delete a configuration that no agent refers to."`
}

// configurations is the path of all configurations.
const configurations = "/v2/tool_configurations"

// configView is the part of a configuration that people look for.
type configView struct {
	Key         string          `json:"key"`
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Enabled     bool            `json:"enabled"`
	Metadata    json.RawMessage `json:"metadata"`
	Created     string          `json:"created_at"`
	Updated     string          `json:"updated_at"`

	entry map[string]json.RawMessage // the other members
}

// UnmarshalJSON reads a configuration, with the members of its type as its entry.
func (v *configView) UnmarshalJSON(raw []byte) error {
	type plain configView
	if err := json.Unmarshal(raw, (*plain)(v)); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &v.entry); err != nil {
		return err
	}
	for _, name := range []string{"key", "type", "name", "description", "enabled", "metadata", "created_at", "updated_at"} {
		delete(v.entry, name)
	}
	return nil
}

type configListCmd struct {
	command.Remote
	command.Paging
	Filter string `help:"Regular expression on name and description." wire:"filter"`
	Type   string `help:"Configurations of this type, such as corpora_search." wire:"type"`
}

func (configListCmd) Help() string { return "Example: quarry tool config list --type corpora_search" }

func (c *configListCmd) Run(e *command.Env) error {
	return command.Listing[configView]{
		Path: configurations, Member: "tool_configurations", Query: url.Values{"filter": {c.Filter}, "type": {c.Type}}, Paging: c.Paging,
		Empty:  "no such configurations; make one with: quarry tool config create KEY --entry @FILE",
		Header: []string{"KEY", "TYPE", "STATE", "AGE", "NAME", "DESCRIPTION"},
		Row: func(v *configView) []string {
			return []string{v.Key, v.Type, command.State(v.Enabled), command.Age(v.Created), v.Name, v.Description}
		},
	}.Print(e, c.Remote)
}

// oneConfig is embedded by the commands on one configuration.
type oneConfig struct {
	command.Remote
	Config string `arg:"" help:"Key of the configuration." wire:"tool_configuration_key"`
}

func (c *oneConfig) path() string { return configurations + "/" + command.Segment(c.Config) }

type configGetCmd struct{ oneConfig }

func (configGetCmd) Help() string {
	return "Prints what is known about it and then, behind an empty line, what it configures.\n\n" +
		"Example: quarry tool config get manuals"
}

func (c *configGetCmd) Run(e *command.Env) error {
	return command.Show(e, c.Remote, c.path(), func(v *configView) {
		metadata := string(v.Metadata)
		if metadata == "{}" {
			metadata = ""
		}
		command.FieldsGiven(e, [][]string{
			{"key", v.Key}, {"type", v.Type}, {"name", v.Name}, {"description", v.Description}, {"metadata", metadata},
			{"enabled", strconv.FormatBool(v.Enabled)}, {"created", command.Second(v.Created)}, {"updated", command.Second(v.Updated)},
		})
		for _, name := range slices.Sorted(maps.Keys(v.entry)) {
			var b bytes.Buffer
			if json.Indent(&b, v.entry[name], "", "  ") == nil {
				fmt.Fprintf(e.Out, "\n%s\n%s\n", name, command.Prose(b.String()))
			}
		}
	})
}

// entry is embedded by the commands that write configurations.
type entry struct {
	Description *string `help:"What it is for." wire:"description"`
	Entry       *string `help:"What it configures, as an agent has it: a JSON object, or @FILE." placeholder:"JSON|@FILE" wire:"*"`
	Metadata    *string `help:"Values of your own, as a JSON object or @FILE; replaces all." placeholder:"JSON|@FILE" wire:"metadata"`
}

// body returns the request that the flags make.
func (c *entry) body() (map[string]any, error) {
	body := map[string]any{}
	if c.Entry != nil {
		members, err := command.Object("--entry", *c.Entry)
		if err != nil {
			return nil, err
		}
		for name, v := range members {
			body[name] = v
		}
	}
	if c.Description != nil {
		body["description"] = *c.Description
	}
	if c.Metadata != nil {
		metadata, err := command.Object("--metadata", *c.Metadata)
		if err != nil {
			return nil, err
		}
		body["metadata"] = metadata
	}
	return body, nil
}

type configCreateCmd struct {
	command.Remote
	Config string  `arg:"" optional:"" help:"Key by which agents refer to it: letters, digits, _ and -, at most 50; default: made from the name." wire:"key"`
	Name   *string `help:"Name, at most 50 characters; default: that of the entry, or the key." wire:"name"`
	entry
}

func (configCreateCmd) Help() string {
	return "Agents refer to it by the key that is printed: {\"type\": \"reference\", \"tool_configuration_key\": \"manuals\"}.\n\n" +
		"Example: quarry tool config create manuals --entry " +
		`'{"type": "corpora_search", "query_configuration": {"search": {"corpora": [{"corpus_key": "manuals"}]}}}'`
}

func (c *configCreateCmd) Run(e *command.Env) error {
	if c.Entry == nil {
		return command.Failed(command.ExitUsage, "say what it configures: --entry JSON, or --entry @FILE, with a type as in {\"type\": \"artifact_read\"}")
	}
	body, err := c.body()
	if err != nil {
		return err
	}
	if c.Config != "" {
		body["key"] = c.Config
	}
	if _, own := body["name"]; c.Name != nil || !own {
		body["name"] = opt.Deref(c.Name, c.Config)
	}
	if body["name"] == "" {
		return command.Failed(command.ExitUsage, "say what to call it: a key, or --name TEXT from which a key is made")
	}
	_, err = command.Send(e, c.Remote, http.MethodPost, configurations, body, func(v *configView) {
		fmt.Fprintf(e.Out, "created tool configuration %s\n", v.Key)
	})
	return err
}

type configUpdateCmd struct {
	oneConfig
	Name *string `help:"New name." wire:"name"`
	entry
	Enable  bool `help:"Let agents that refer to it offer the tool to the model again." xor:"enabled" wire:"enabled"`
	Disable bool `help:"Let no agent that refers to it offer the tool to the model." xor:"enabled" wire:"enabled"`
}

func (configUpdateCmd) Help() string {
	return "What is not given stays; of an entry each member counts for itself, and null clears it. Agents that refer to it work with the change " +
		"from their next turn on.\n\n" +
		"Example: quarry tool config update manuals --entry '{\"output_transform\": \".search_results[].text\"}'"
}

func (c *configUpdateCmd) Run(e *command.Env) error {
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
		return command.Failed(command.ExitUsage, "say what to change: --name, --description, --entry, --metadata, --enable, --disable")
	}
	_, err = command.Send(e, c.Remote, http.MethodPatch, c.path(), body, func(v *configView) {
		fmt.Fprintf(e.Out, "updated tool configuration %s\n", v.Key)
	})
	return err
}

type configDeleteCmd struct {
	oneConfig
	command.Sure
}

func (configDeleteCmd) Help() string {
	return "Asks first, on a terminal. Elsewhere it needs --yes.\n\nExample: quarry tool config delete manuals --yes"
}

func (c *configDeleteCmd) Run(e *command.Env) error {
	what := "tool configuration " + c.Config
	if err := c.Confirm(e, "delete "+what, func() (string, error) { return "what it configures is lost", nil }); err != nil {
		return err
	}
	return c.Do(e, http.MethodDelete, c.path(), nil, "deleted "+what)
}
