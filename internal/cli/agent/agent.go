// Package agent holds the commands about agents and their sessions: making, listing, reading, changing and deleting them,
// talking to an agent, and reading what happened in a session.
package agent

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"quarry/internal/cli/command"
)

// Cmd holds the commands about agents.
type Cmd struct {
	Create  createCmd  `cmd:"" help:"Create an agent, from flags or from a file."`
	List    listCmd    `cmd:"" help:"List the agents."`
	Get     getCmd     `cmd:"" help:"Read one agent."`
	Update  updateCmd  `cmd:"" help:"Change an agent."`
	Delete  deleteCmd  `cmd:"" help:"Delete an agent with its sessions."`
	Chat    chatCmd    `cmd:"" help:"Talk to an agent, or ask it one question."`
	Secrets secretsCmd `cmd:"" help:"List, set and remove the secrets that the tools of an agent use."`

	Identity identityCmd `cmd:"" help:"Read or change what an agent may do: the account that it acts as."`
}

// agents is the path of all agents.
const agents = "/v2/agents"

func agentPath(key string) string { return agents + "/" + command.Segment(key) }

// view is the part of an agent that people look for.
type view struct {
	Key         string `json:"key"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Model       struct {
		Name string `json:"name"`
	} `json:"model"`
	Tools map[string]struct {
		Type string `json:"type"`
	} `json:"tool_configurations"`
	Entry   string           `json:"first_step_name"`
	Steps   map[string]step  `json:"steps"`
	Limits  map[string]int64 `json:"llm_quota"`
	Enabled bool             `json:"enabled"`
	Created string           `json:"created_at"`
	Updated string           `json:"updated_at"`
}

type step struct {
	Next []struct {
		Step      string `json:"step_name"`
		Condition string `json:"condition"`
	} `json:"next_steps"`
	Reentry string `json:"reentry_step"`
}

// tools returns the names of the tools.
func (v *view) tools() string { return strings.Join(slices.Sorted(maps.Keys(v.Tools)), ", ") }

type listCmd struct {
	command.Remote
	command.Paging
	Filter string `help:"Regular expression on name and description." wire:"filter"`
}

func (listCmd) Help() string { return "Example: quarry agent list --filter '^support'" }

func (c *listCmd) Run(e *command.Env) error {
	return command.Listing[view]{
		Path: agents, Member: "agents", Query: url.Values{"filter": {c.Filter}}, Paging: c.Paging,
		Empty:  "no agents; make one with: quarry agent create KEY --corpus CORPUS",
		Header: []string{"KEY", "STATE", "MODEL", "TOOLS", "STEPS", "AGE", "NAME", "DESCRIPTION"},
		Row: func(v *view) []string {
			return []string{v.Key, command.State(v.Enabled), v.Model.Name, v.tools(), strconv.Itoa(len(v.Steps)), command.Age(v.Created), v.Name, v.Description}
		},
	}.Print(e, c.Remote)
}

// one is embedded by the commands on one agent.
type one struct {
	command.Remote
	Agent string `arg:"" help:"Key of the agent." wire:"agent_key"`
}

type getCmd struct{ one }

func (getCmd) Help() string {
	return "--json prints all of it, in the form that quarry agent create reads with --file.\n\nExample: quarry agent get support --json > support.json"
}

func (c *getCmd) Run(e *command.Env) error {
	return command.Show(e, c.Remote, agentPath(c.Agent), func(v *view) {
		rows := [][]string{
			{"key", v.Key}, {"name", v.Name}, {"description", v.Description}, {"enabled", strconv.FormatBool(v.Enabled)}, {"model", v.Model.Name},
		}
		for _, name := range slices.Sorted(maps.Keys(v.Tools)) {
			rows = append(rows, []string{"tool", name + ": " + v.Tools[name].Type})
		}
		for _, name := range slices.SortedFunc(maps.Keys(v.Steps), v.entryFirst) {
			rows = append(rows, []string{"step", name + v.Steps[name].leads()})
		}
		for _, name := range slices.Sorted(maps.Keys(v.Limits)) {
			rows = append(rows, []string{"limit", fmt.Sprintf("%s: %d", name, v.Limits[name])})
		}
		command.FieldsGiven(e, append(rows, []string{"created", command.Second(v.Created)}, []string{"updated", command.Second(v.Updated)}))
	})
}

// entryFirst orders the names of steps: that of the entry step first, the others by name.
func (v *view) entryFirst(a, b string) int {
	switch v.Entry {
	case a:
		return -1
	case b:
		return 1
	}
	return strings.Compare(a, b)
}

// leads returns where a step leads, "" if every turn ends in it and the next one begins there.
func (s step) leads() string {
	var ways []string
	for _, n := range s.Next {
		way := "then " + n.Step
		if n.Condition != "" {
			way += " if " + n.Condition
		}
		ways = append(ways, way)
	}
	if s.Reentry != "" {
		ways = append(ways, "the next turn begins at "+s.Reentry)
	}
	if ways == nil {
		return ""
	}
	return ": " + strings.Join(ways, "; ")
}

type deleteCmd struct {
	one
	command.Sure
}

func (deleteCmd) Help() string {
	return "Asks first, on a terminal. Elsewhere it needs --yes.\n\nExample: quarry agent delete support --yes"
}

func (c *deleteCmd) Run(e *command.Env) error {
	if err := c.Confirm(e, "delete agent "+c.Agent, func() (string, error) { return c.holds(e) }); err != nil {
		return err
	}
	return c.Do(e, http.MethodDelete, agentPath(c.Agent), nil, "deleted agent "+c.Agent)
}

// holds describes what is lost with the agent.
func (c *deleteCmd) holds(e *command.Env) (string, error) {
	cl, err := c.Connect()
	if err != nil {
		return "", err
	}
	const counted = 100
	sessions, more, err := cl.List(e.Ctx, sessionsPath(c.Agent), "sessions", url.Values{}, counted)
	if err != nil {
		return "", err
	}
	atLeast := ""
	if more {
		atLeast = "more than "
	}
	return fmt.Sprintf("%s%s with what was said in them", atLeast, command.Count(int64(len(sessions)), "session")), nil
}
