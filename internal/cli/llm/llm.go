// Package llm holds the commands about language models: registering one behind an address or on this machine, listing,
// testing and removing them, and what is used of their quotas.
package llm

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"quarry/internal/cli/command"
)

// Cmd holds the commands about language models.
type Cmd struct {
	Add    addCmd    `cmd:"" help:"Register a language model behind an address, or with --local one that runs on the service's machine."`
	List   listCmd   `cmd:"" help:"List the language models."`
	Test   testCmd   `cmd:"" help:"Call a registered language model once."`
	Usage  usageCmd  `cmd:"" help:"Show what is used of a language model's quotas."`
	Remove removeCmd `cmd:"" help:"Remove the registration of a language model."`
}

// models is the path of the registrations.
const models = "/v2/llms"

// view is the part of a registration that people look for.
type view struct {
	ID           string       `json:"id"`
	Name         string       `json:"name"`
	Description  string       `json:"description"`
	Type         string       `json:"type"`
	Model        string       `json:"model"`
	URI          string       `json:"uri"`
	Enabled      bool         `json:"enabled"`
	Default      bool         `json:"default"`
	Ownership    string       `json:"ownership"`
	Capabilities capabilities `json:"capabilities"`
}

// alias reports whether calls by this name are answered by another model of the platform.
func (v *view) alias() bool { return v.Ownership == "platform" && v.Name != v.Model }

type capabilities struct {
	Context int   `json:"context_limit"`
	Tools   *bool `json:"tool_calling"`
	Form    *bool `json:"structured_outputs"`
	Images  *bool `json:"image_support"`
}

func (c capabilities) String() string {
	var can []string
	for _, one := range []struct {
		name string
		can  *bool
	}{{"tools", c.Tools}, {"structured output", c.Form}, {"images", c.Images}} {
		if one.can != nil && *one.can {
			can = append(can, one.name)
		}
	}
	return strings.Join(can, ", ")
}

func (c capabilities) tokens() string {
	if c.Context == 0 {
		return ""
	}
	return strconv.Itoa(c.Context)
}

// print shows one registration.
func (v *view) print(e *command.Env) {
	command.FieldsGiven(e, [][]string{
		{"id", v.ID}, {"name", v.Name}, {"description", v.Description}, {"type", v.Type}, {"model", v.Model}, {"uri", v.URI},
		{"default", strconv.FormatBool(v.Default)}, {"context", v.Capabilities.tokens()}, {"can", v.Capabilities.String()},
	})
}

type listCmd struct {
	command.Remote
	command.Paging
	Filter string `help:"Regular expression on name and description." wire:"filter"`
}

func (listCmd) Help() string { return "Example: quarry llm list --filter '^local'" }

func (c *listCmd) Run(e *command.Env) error {
	return command.Listing[view]{
		Path: models, Member: "llms", Query: url.Values{"filter": {c.Filter}}, Paging: c.Paging, Empty: "no such language models",
		Header: []string{"NAME", "TYPE", "MODEL", "STATE", "OF", "CONTEXT", "DESCRIPTION"},
		Row: func(v *view) []string {
			state := command.State(v.Enabled)
			switch {
			case v.Default:
				state = "default"
			case v.Enabled && v.alias():
				state = "alias of " + v.Model
			}
			return []string{v.Name, v.Type, v.Model, state, v.Ownership, v.Capabilities.tokens(), v.Description}
		},
	}.Print(e, c.Remote)
}

// one is embedded by the commands on one language model.
type one struct {
	command.Remote
	Name string `arg:"" help:"Name or id of the language model." wire:"llm_id"`
}

func (c *one) path() string { return models + "/" + command.Segment(c.Name) }

type removeCmd struct{ one }

func (removeCmd) Help() string {
	return "Presets that name it are kept, but can't be used.\n\nExample: quarry llm remove local-chat"
}

func (c *removeCmd) Run(e *command.Env) error {
	return c.Do(e, http.MethodDelete, c.path(), nil, "removed "+c.Name)
}

type testCmd struct{ one }

func (testCmd) Help() string {
	return "Calls the model once, as every change of its registration does, which costs a few tokens. Models of the platform are\n" +
		"built into the service and need no test.\n\nExample: quarry llm test local-chat"
}

func (c *testCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	var v view
	if _, err := cl.Call(e.Ctx, http.MethodGet, c.path(), nil, &v); err != nil {
		return err
	}
	if v.Ownership == "platform" {
		return command.Failed(command.ExitUsage, "%s is of the platform: it is inside the service and needs no test", v.Name)
	}
	start := time.Now()
	_, err = command.Send(e, c.Remote, http.MethodPatch, models+"/"+command.Segment(v.ID), map[string]any{}, func(v *view) {
		fmt.Fprintf(e.Out, "%s answers: %s at %s, after %s\n", v.Name, v.Model, v.URI, time.Since(start).Round(time.Millisecond))
	})
	return err
}
