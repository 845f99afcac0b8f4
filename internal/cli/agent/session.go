package agent

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"quarry/internal/cli/command"
)

// SessionCmd holds the commands about the sessions of an agent.
type SessionCmd struct {
	List      listSessionsCmd  `cmd:"" help:"List the sessions of an agent, newest first."`
	Get       getSessionCmd    `cmd:"" help:"Read one session."`
	Delete    deleteSessionCmd `cmd:"" help:"Delete a session with its events."`
	Events    eventsCmd        `cmd:"" help:"List what happened in a session, or follow it."`
	Fork      forkCmd          `cmd:"" help:"Open a session that goes on from another one."`
	Compact   compactCmd       `cmd:"" help:"Sum up what was said in a session."`
	Artifacts artifactsCmd     `cmd:"" help:"List the files of a session, or save them."`
}

func sessionsPath(agent string) string { return agentPath(agent) + "/sessions" }

func sessionPath(agent, key string) string { return sessionsPath(agent) + "/" + command.Segment(key) }

// sessionView is the part of a session that people look for.
type sessionView struct {
	Key         string          `json:"key"`
	Agent       string          `json:"agent_key"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Metadata    json.RawMessage `json:"metadata"`
	Enabled     bool            `json:"enabled"`
	Status      string          `json:"status"`
	Step        string          `json:"current_step_name"`
	Idle        int             `json:"tti_minutes"`
	Created     string          `json:"created_at"`
	Updated     string          `json:"updated_at"`
}

type listSessionsCmd struct {
	one
	command.Paging
	Filter   string `help:"Regular expression on name and description." wire:"filter"`
	Metadata string `help:"Condition on the metadata, such as \"customer = 'acme' AND seats > 5\"." placeholder:"CONDITION" wire:"metadata_filter"`
}

func (listSessionsCmd) Help() string { return "Example: quarry session list support --limit 10" }

func (c *listSessionsCmd) Run(e *command.Env) error {
	return command.Listing[sessionView]{
		Path: sessionsPath(c.Agent), Member: "sessions", Query: url.Values{"filter": {c.Filter}, "metadata_filter": {c.Metadata}}, Paging: c.Paging,
		Empty:  "no sessions",
		Header: []string{"KEY", "STATE", "STATUS", "CREATED", "NAME", "DESCRIPTION"},
		Row: func(v *sessionView) []string {
			return []string{v.Key, command.State(v.Enabled), v.Status, command.Second(v.Created), v.Name, v.Description}
		},
	}.Print(e, c.Remote)
}

// oneSession is embedded by the commands on one session.
type oneSession struct {
	one
	Session string `arg:"" help:"Key of the session." wire:"session_key"`
}

func (c *oneSession) path() string { return sessionPath(c.Agent, c.Session) }

type getSessionCmd struct{ oneSession }

func (getSessionCmd) Help() string { return "Example: quarry session get support ase_4b1e" }

func (c *getSessionCmd) Run(e *command.Env) error {
	return command.Show(e, c.Remote, c.path(), func(v *sessionView) {
		metadata, idle := compact(v.Metadata), ""
		if metadata == "{}" {
			metadata = ""
		}
		if v.Idle > 0 {
			idle = command.Count(int64(v.Idle), "minute") + " after its last event"
		}
		command.FieldsGiven(e, [][]string{
			{"key", v.Key}, {"agent", v.Agent}, {"name", v.Name}, {"description", v.Description}, {"enabled", strconv.FormatBool(v.Enabled)}, {"status", v.Status},
			{"step", v.Step}, {"metadata", metadata}, {"deleted", idle}, {"created", command.Second(v.Created)}, {"updated", command.Second(v.Updated)},
		})
	})
}

type deleteSessionCmd struct {
	oneSession
	command.Sure
}

func (deleteSessionCmd) Help() string {
	return "A turn that runs is interrupted. Asks first, on a terminal. Elsewhere it needs --yes.\n\nExample: quarry session delete support ase_4b1e --yes"
}

func (c *deleteSessionCmd) Run(e *command.Env) error {
	lost := func() (string, error) { return "what was said in it is lost", nil }
	if err := c.Confirm(e, "delete session "+c.Session, lost); err != nil {
		return err
	}
	return c.Do(e, http.MethodDelete, c.path(), nil, "deleted session "+c.Session)
}

type eventsCmd struct {
	oneSession
	command.Paging
	Hidden bool   `help:"Hidden events, too." wire:"include_hidden"`
	Follow bool   `help:"Go on with what comes until Ctrl-C, or until the session is deleted."`
	Since  string `help:"With --follow: begin behind this event; default: at the beginning." placeholder:"EVENT" wire:"since"`
}

func (eventsCmd) Help() string {
	return "With --follow --json each event is a line of JSON, in the pieces in which it comes.\n\n" +
		"Example: quarry session events support ase_4b1e --follow"
}

func (c *eventsCmd) Run(e *command.Env) error {
	switch {
	case c.Follow && c.Hidden:
		return command.Failed(command.ExitUsage, "--follow shows what the model is told; --hidden goes with the list alone")
	case c.Follow:
		return c.follow(e)
	case c.Since != "":
		return command.Failed(command.ExitUsage, "--since goes with --follow")
	}
	hidden := ""
	if c.Hidden {
		hidden = "true"
	}
	return command.Listing[frame]{
		Path: c.path() + "/events", Member: "events", Query: url.Values{"include_hidden": {hidden}}, Paging: c.Paging, Empty: "no events",
		Header: []string{"ID", "CREATED", "TYPE", "TEXT"},
		Row: func(f *frame) []string {
			kind := f.Type
			if f.Hidden != "" {
				kind += " (hidden)"
			}
			return []string{f.ID, command.Second(f.Created), kind, f.line()}
		},
	}.Print(e, c.Remote)
}

// follow prints events as they are stored.
func (c *eventsCmd) follow(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	query := url.Values{"follow": {"true"}}
	if c.Since != "" {
		query.Set("since", c.Since)
	}
	var text strings.Builder // of the event that is coming
	return cl.Stream(e.Ctx, c.path()+"/events?"+query.Encode(), nil, func(kind string, data []byte) error {
		f := parse(kind, data)
		switch {
		case c.JSON:
			fmt.Fprintln(e.Out, compact(data))
		case kind == "streaming_agent_output", kind == "streaming_thinking":
			text.WriteString(f.text())
		case kind == "streaming_agent_output_end":
			row(e.Out, f.EventID, f.Created, "agent_output", text.String())
			text.Reset()
		case kind == "streaming_thinking_end":
			row(e.Out, f.EventID, f.Created, "thinking", text.String())
			text.Reset()
		case kind != "context_consumed" && kind != "end":
			row(e.Out, f.ID, f.Created, kind, f.line())
		}
		_, err := e.Out.Write(nil) // nobody reads any more: the stream ends
		return err
	})
}

// row prints an event with the columns of a list.
func row(w io.Writer, id, created, kind, text string) {
	fmt.Fprintln(w, command.Line(w, fmt.Sprintf("%-40s  %-20s  %-17s  ", id, command.Second(created), kind), text))
}
