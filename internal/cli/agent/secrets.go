package agent

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/internal/cli/command"
)

type secretsCmd struct {
	one
	Do    string   `arg:"" optional:"" enum:"list,set,remove,replace" default:"list" help:"What to do: list their names, set some, remove some, or replace all by those that follow."`
	Names []string `arg:"" optional:"" name:"name" help:"Names of secrets. NAME=VAR reads the value from the environment variable VAR, NAME from standard input."`
	File  string   `help:"JSON file with an object of names and values, to set or to replace; - for standard input." placeholder:"FILE"`
}

func (secretsCmd) Help() string {
	return "A tool of the agent uses a secret as {\"$ref\": \"agent.secrets.NAME\"} in its configuration. Values are never shown, and never read from arguments, which " +
		"other people on the machine can read. One name without a variable takes all of standard input, without the line break at its end; several take a line " +
		"each, in order. Changes count from the next turn of each session on.\n\n" +
		"Example: quarry agent secrets support set crm_key < crm.key\n\nExample: quarry agent secrets support set crm_key=CRM_KEY mail=MAIL_PASSWORD"
}

// secretsView is the answer of each operation.
type secretsView struct {
	Secrets map[string]string `json:"secrets"`
}

func (c *secretsCmd) Run(e *command.Env) error {
	method, body, err := c.request(e)
	if err != nil {
		return err
	}
	done := map[string]string{"set": "set " + strings.Join(named(c.Names), ", ") + " of agent " + c.Agent, "remove": "removed " + strings.Join(c.Names, ", ") + " from agent " + c.Agent}
	_, err = command.Send(e, c.Remote, method, agentPath(c.Agent)+"/secrets", body, func(v *secretsView) {
		names := slices.Sorted(maps.Keys(v.Secrets))
		switch {
		case done[c.Do] != "" && len(c.Names) > 0:
			fmt.Fprintln(e.Out, done[c.Do])
		case len(names) == 0:
			fmt.Fprintf(e.Out, "no secrets; set one with: quarry agent secrets %s set NAME\n", c.Agent)
		default:
			fmt.Fprintln(e.Out, strings.Join(names, "\n"))
		}
	})
	return err
}

// request returns what is sent.
func (c *secretsCmd) request(e *command.Env) (method string, body any, err error) {
	given := c.File != "" || len(c.Names) > 0
	switch {
	case c.Do == "list" && !given:
		return http.MethodGet, nil, nil
	case c.Do == "list":
		return "", nil, command.Failed(command.ExitUsage, "give set, remove or replace before the names")
	case c.File != "" && (c.Do == "remove" || len(c.Names) > 0):
		return "", nil, command.Failed(command.ExitUsage, "--file has names and values to set or to replace; leave out the names")
	case c.Do != "replace" && !given:
		return "", nil, command.Failed(command.ExitUsage, "give the names of the secrets to %s", c.Do)
	}
	values := map[string]any{}
	switch {
	case c.Do == "remove":
		for _, name := range c.Names {
			values[name] = nil
		}
	case c.File != "":
		values, err = c.read(e)
	default:
		err = c.values(e, values)
	}
	if method = http.MethodPatch; c.Do == "replace" {
		method = http.MethodPut
	}
	return method, map[string]any{"secrets": values}, err
}

// longestSecrets is how much is read of a file or of standard input, in bytes: more than all secrets of an agent have.
const longestSecrets = 4 << 20

// read reads an object of names and values. Its errors do not quote it.
func (c *secretsCmd) read(e *command.Env) (map[string]any, error) {
	in := e.In
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return nil, command.Failed(command.ExitUsage, "%v", err)
		}
		defer func() { _ = file.Close() }() // only read
		in = file
	}
	raw, err := io.ReadAll(io.LimitReader(in, longestSecrets))
	if err != nil {
		return nil, fmt.Errorf("read secrets: %w", err)
	}
	var values map[string]any
	if !utf8.Valid(raw) || json.Unmarshal(raw, &values) != nil || values == nil {
		return nil, command.Failed(command.ExitUsage, `%s holds no JSON object of names and values, such as {"crm_key": "…"}, in UTF-8`, c.File)
	}
	return values, nil
}

// values reads the values of the names from the environment and from standard input.
func (c *secretsCmd) values(e *command.Env, values map[string]any) error {
	if err := c.typed(e, values); err != nil {
		return err
	}
	for _, name := range named(c.Names) {
		if text, ok := values[name].(string); ok && !utf8.ValidString(text) { // JSON would replace what isn't
			return command.Failed(command.ExitUsage, "the value of %s is no text in UTF-8; send it in another form, such as base64", name)
		}
	}
	return nil
}

// typed fills in the values as they came.
func (c *secretsCmd) typed(e *command.Env, values map[string]any) error {
	var typed []string
	for i, name := range c.Names {
		name, variable, ok := strings.Cut(name, "=")
		if slices.Contains(named(c.Names[:i]), name) {
			return command.Failed(command.ExitUsage, "%s is given twice", name)
		}
		if !ok {
			typed = append(typed, name)
			continue
		}
		value := os.Getenv(variable)
		if value == "" {
			return command.Failed(command.ExitUsage, "the environment variable behind %s= is empty; the value itself can't be an argument", name)
		}
		values[name] = value
	}
	if len(typed) == 0 {
		return nil
	}
	if command.IsTerminal(e.In) {
		fmt.Fprintf(e.Err, "The value of %s, then Ctrl-D; it is shown while you type:\n", strings.Join(typed, ", then a line with that of "))
	}
	raw, err := io.ReadAll(io.LimitReader(e.In, longestSecrets))
	if err != nil {
		return fmt.Errorf("read secrets: %w", err)
	}
	lines := []string{strings.TrimSuffix(strings.TrimSuffix(string(raw), "\n"), "\r")}
	if len(typed) > 1 {
		lines = strings.Split(strings.ReplaceAll(lines[0], "\r\n", "\n"), "\n")
	}
	if len(lines) != len(typed) {
		return command.Failed(command.ExitUsage, "standard input has %s for %s; it has to have a line for each", command.Count(int64(len(lines)), "line"), command.Count(int64(len(typed)), "name"))
	}
	for i, name := range typed {
		if lines[i] == "" {
			return command.Failed(command.ExitUsage, "no value for %s came on standard input", name)
		}
		values[name] = lines[i]
	}
	return nil
}

// named returns names without the variables that their values come from.
func named(all []string) []string {
	out := make([]string, len(all))
	for i, name := range all {
		out[i], _, _ = strings.Cut(name, "=")
	}
	return out
}
