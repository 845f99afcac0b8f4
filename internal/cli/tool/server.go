package tool

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"quarry/internal/cli/command"
	"quarry/internal/cli/credential"
)

// serverCmd holds the commands about tool servers.
type serverCmd struct {
	Add    serverAddCmd    `cmd:"" help:"Register a server that speaks MCP and fetch its tools."`
	List   serverListCmd   `cmd:"" help:"List the tool servers, newest first."`
	Sync   serverSyncCmd   `cmd:"" help:"Fetch the tools of a tool server again."`
	Delete serverDeleteCmd `cmd:"" help:"Delete a tool server and its tools."`
}

// servers is the path of all tool servers.
const servers = "/v2/tool_servers"

// serverView is the part of a tool server that people look for.
type serverView struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	URI       string `json:"uri"`
	Transport string `json:"transport"`
	Enabled   bool   `json:"enabled"`
	Status    string `json:"sync_status"`
	Message   string `json:"sync_message"`
	Synced    string `json:"last_synced_at"`
}

func serverPath(id string) string { return servers + "/" + command.Segment(id) }

type serverAddCmd struct {
	command.Remote
	Name        string            `arg:"" help:"What people call it, at most 50 characters." wire:"name"`
	URI         string            `help:"Address at which it speaks MCP." name:"uri" required:"" placeholder:"URL" wire:"uri"`
	Transport   string            `help:"How it is reached: ${enum}." enum:"streamable-http,sse" default:"streamable-http" wire:"transport"`
	Description string            `help:"What it is for." wire:"description"`
	Header      map[string]string `help:"Header sent with every request, as NAME=VALUE; not for secrets; repeatable." placeholder:"NAME=VALUE" wire:"headers"`
	credential.Flags
	NoWait bool `help:"Don't wait until its tools are there."`
}

func (serverAddCmd) Help() string {
	return "The server is registered although it can't be reached; quarry tool server sync tries again. A key is never an argument: give it with\n" +
		"--key-env or --key-stdin. It is sent as Authorization: Bearer, or in the header that --key-header names.\n\n" +
		"Example: quarry tool server add weather --uri https://tools.example.com/mcp --key-env WEATHER_KEY"
}

// Run registers a server and waits for its first sync.
func (c *serverAddCmd) Run(e *command.Env) error {
	if err := c.Check(); err != nil {
		return err
	}
	auth, err := c.Auth(e, func(key string) map[string]any { return map[string]any{"type": "bearer", "token": key} })
	if err != nil {
		return err
	}
	body := command.Given(map[string]any{"type": "mcp", "name": c.Name, "uri": c.URI, "transport": c.Transport, "description": c.Description})
	if auth != nil {
		body["auth"] = auth
	}
	if len(c.Header) > 0 {
		body["headers"] = c.Header
	}
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	var v serverView
	raw, err := cl.Call(e.Ctx, http.MethodPost, servers, body, &v)
	if err != nil {
		return err
	}
	if !c.NoWait {
		if raw, err = c.wait(e, cl, raw, &v); err != nil {
			return err
		}
	}
	if c.JSON {
		command.PrintJSON(e.Out, raw)
	} else {
		fmt.Fprintf(e.Out, "added tool server %s\n", v.ID)
	}
	switch v.Status {
	case "ok":
		fmt.Fprintf(e.Err, "%s; list them with: quarry tool list --server %s\n", v.Message, v.ID)
	case "failed":
		return command.Failed(command.ExitSomeFailed, "its tools are not here yet: %s; try again with: quarry tool server sync %s", v.Message, v.ID)
	}
	return nil
}

// wait reads the server until its first sync has ended, or for a minute.
func (c *serverAddCmd) wait(e *command.Env, cl *command.Client, raw json.RawMessage, v *serverView) (json.RawMessage, error) {
	status := command.StatusLine{W: e.Err}
	defer status.Clear()
	status.Set("fetching its tools")
	end := time.Now().Add(time.Minute)
	for pause := 50 * time.Millisecond; (v.Status == "never" || v.Status == "running") && time.Now().Before(end); pause = min(2*pause, time.Second) {
		select {
		case <-time.After(pause):
		case <-e.Ctx.Done():
			return nil, e.Ctx.Err()
		}
		var err error
		if raw, err = cl.Call(e.Ctx, http.MethodGet, serverPath(v.ID), nil, v); err != nil {
			return nil, err
		}
	}
	return raw, nil
}

type serverListCmd struct {
	command.Remote
	command.Paging
	Filter string `help:"Regular expression on name and description." wire:"filter"`
}

func (serverListCmd) Help() string { return "Example: quarry tool server list" }

func (c *serverListCmd) Run(e *command.Env) error {
	return command.Listing[serverView]{
		Path: servers, Member: "tool_servers", Query: url.Values{"filter": {c.Filter}}, Paging: c.Paging,
		Empty:  "no such tool servers; register one with: quarry tool server add NAME --uri URL",
		Header: []string{"ID", "NAME", "STATE", "SYNC", "URI", "MESSAGE"},
		Row: func(v *serverView) []string {
			return []string{v.ID, v.Name, command.State(v.Enabled), v.Status, v.URI, v.Message}
		},
	}.Print(e, c.Remote)
}

// oneServer is embedded by the commands on one tool server.
type oneServer struct {
	command.Remote
	Server string `arg:"" help:"Id of the tool server." wire:"tool_server_id"`
}

func (c *oneServer) path() string { return serverPath(c.Server) }

type serverSyncCmd struct{ oneServer }

func (serverSyncCmd) Help() string {
	return "New tools are added, those that have changed are updated, and those that the server no longer lists are disabled until it lists them\n" +
		"again. When it fails the tools stay as they are.\n\nExample: quarry tool server sync tsr_4b1e"
}

func (c *serverSyncCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	if _, err := cl.Call(e.Ctx, http.MethodPost, c.path()+"/sync", nil, nil); err != nil {
		return err
	}
	return command.Show(e, c.Remote, c.path(), func(v *serverView) { fmt.Fprintf(e.Out, "synced %s: %s\n", v.ID, v.Message) })
}

type serverDeleteCmd struct {
	oneServer
	command.Sure
}

func (serverDeleteCmd) Help() string {
	return "Asks first, on a terminal. Elsewhere it needs --yes. A server stays as long as an agent has one of its tools.\n\n" +
		"Example: quarry tool server delete tsr_4b1e --yes"
}

func (c *serverDeleteCmd) Run(e *command.Env) error {
	what := "tool server " + c.Server
	if err := c.Confirm(e, "delete "+what, func() (string, error) { return "its tools go with it", nil }); err != nil {
		return err
	}
	return c.Do(e, http.MethodDelete, c.path(), nil, "deleted "+what)
}

type enableCmd struct{ one }

func (enableCmd) Help() string {
	return "Agents that have it offer it to the model from their next turn on.\n\nExample: quarry tool enable tol_4b1e"
}

func (c *enableCmd) Run(e *command.Env) error { return c.set(e, true) }

type disableCmd struct{ one }

func (disableCmd) Help() string {
	return "No agent offers it to the model from its next turn on. Tools that come with the program can't be disabled.\n\nExample: quarry tool disable tol_4b1e"
}

func (c *disableCmd) Run(e *command.Env) error { return c.set(e, false) }

// set enables or disables a tool, of whichever type it is.
func (c *one) set(e *command.Env, enabled bool) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	var was view
	if _, err := cl.Call(e.Ctx, http.MethodGet, c.path(), nil, &was); err != nil {
		return err
	}
	kind := was.Type
	if kind != "mcp" && kind != "lambda" {
		kind = "client" // for a tool that comes with the program, too: the service says that it can't be changed
	}
	_, err = command.Send(e, c.Remote, http.MethodPatch, c.path(), map[string]any{"type": kind, "enabled": enabled}, func(v *view) {
		done := command.State(enabled) + " tool " + v.ID
		if v.Enabled != enabled {
			done += ", but it can't be offered now: " + v.Documentation
		}
		fmt.Fprintln(e.Out, done)
	})
	return err
}

// hints returns what a server tells of a tool.
func (a *annotations) hints() string {
	out := ""
	for _, h := range []struct {
		name string
		is   *bool
	}{{"read only", a.ReadOnly}, {"destructive", a.Destructive}, {"idempotent", a.Idempotent}, {"open world", a.OpenWorld}} {
		if h.is == nil {
			continue
		}
		if out != "" {
			out += ", "
		}
		out += h.name + " " + strconv.FormatBool(*h.is)
	}
	return out
}

// annotations are the hints of a tool server about a tool.
type annotations struct {
	ReadOnly    *bool `json:"read_only_hint"`
	Destructive *bool `json:"destructive_hint"`
	Idempotent  *bool `json:"idempotent_hint"`
	OpenWorld   *bool `json:"open_world_hint"`
}
