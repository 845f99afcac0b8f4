// Package trace is the commands about what agents have done, and about metrics.
package trace

import (
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"quarry/internal/cli/command"
)

// Cmd holds the commands about traces.
type Cmd struct {
	List listCmd `cmd:"" help:"List what agents have done, turn by turn, newest first."`
	Show showCmd `cmd:"" help:"Show what an agent did in a turn, step by step."`
}

// path is the path of all traces.
const path = "/v2/agent_analytics/traces"

// view is the part of a trace that people look for.
type view struct {
	ID       string `json:"trace_id"`
	Agent    string `json:"agent_key"`
	Session  string `json:"session_key"`
	Started  string `json:"started_at"`
	Duration int64  `json:"duration_ms"`
	Status   string `json:"status"`
	Input    int64  `json:"input_tokens"`
	Output   int64  `json:"output_tokens"`
}

type listCmd struct {
	command.Remote
	command.Paging
	Agent         string        `help:"Turns that this agent was asked for, by its key." wire:"agent_key"`
	Session       string        `help:"Turns of the session with this key." wire:"session_key"`
	Status        string        `help:"How the turn ended: ok or error." placeholder:"STATUS" wire:"status"`
	Error         string        `help:"Turns in which something but a tool failed so, such as llm_generation_error." placeholder:"TYPE" wire:"error_type"`
	Operation     string        `help:"Turns with such a step, such as execute_tool." wire:"operation"`
	Tool          string        `help:"Turns that called the tool of this name." wire:"tool_name"`
	ToolError     string        `help:"Turns in which a tool failed so, such as timeout." placeholder:"TYPE" wire:"tool_error_type"`
	StartedAfter  string        `help:"Turns that began after this instant." placeholder:"RFC3339" wire:"started_after"`
	StartedBefore string        `help:"Turns that began before this instant." placeholder:"RFC3339" wire:"started_before"`
	Shortest      time.Duration `help:"Turns that took this long or longer, such as 1m30s." placeholder:"TIME" wire:"min_duration_ms"`
	Longest       time.Duration `help:"Turns that took this long or shorter." placeholder:"TIME" wire:"max_duration_ms"`
}

func (listCmd) Help() string {
	return "All that is asked for must hold. A turn is listed once it has ended.\n\n" +
		"Example: quarry trace list --agent desk --tool-error timeout --shortest 10s"
}

func (c *listCmd) Run(e *command.Env) error {
	return command.Listing[view]{
		Path: path, Member: "traces", Paging: c.Paging, Empty: "no traces",
		Query: url.Values{
			"agent_key": {c.Agent}, "session_key": {c.Session}, "status": {c.Status}, "error_type": {c.Error}, "operation": {c.Operation}, "tool_name": {c.Tool},
			"tool_error_type": {c.ToolError}, "started_after": {c.StartedAfter}, "started_before": {c.StartedBefore},
			"min_duration_ms": {milliseconds(c.Shortest)}, "max_duration_ms": {milliseconds(c.Longest)},
		},
		Header: []string{"TRACE", "STARTED", "TOOK", "STATUS", "TOKENS", "AGENT", "SESSION"},
		Row: func(v *view) []string {
			return []string{v.ID, command.Second(v.Started), took(v.Duration), v.Status, command.Short(v.Input + v.Output), v.Agent, v.Session}
		},
	}.Print(e, c.Remote)
}

// milliseconds returns a duration as a parameter, "" for none.
func milliseconds(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return strconv.FormatInt(d.Milliseconds(), 10)
}

// took returns a duration of so many milliseconds for reading.
func took(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d < time.Second:
		return strconv.FormatInt(ms, 10) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	}
	return d.Round(time.Second).String()
}

type showCmd struct {
	command.Remote
	Trace     string `arg:"" help:"Id of the trace, as quarry trace list shows it." wire:"trace_id"`
	Span      string `arg:"" optional:"" help:"Id of a step: that one alone, with all that is known of it." wire:"span_id"`
	Content   bool   `help:"Also what was read and written: messages, thoughts, arguments and results of tools." wire:"include_content"`
	Subagents bool   `help:"Also what other agents did that were asked for help." default:"true" negatable:"" wire:"exclude_subagents"`
}

func (showCmd) Help() string {
	return "A line for each step, in the order in which they began: when it began, how long it took, the tokens that a model read and wrote, what it was, " +
		"and why it failed. Texts are shown while the session is there.\n\n" +
		"Example: quarry trace show 019b76da3c004f6a8d2c1e5b7a9f0e31 --content"
}

func (c *showCmd) Run(e *command.Env) error {
	if c.Span != "" {
		return c.one(e)
	}
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	at := path + "/" + command.Segment(c.Trace)
	var head view
	raw, err := cl.Call(e.Ctx, "GET", at, nil, &head)
	if err != nil {
		return err
	}
	const most = 500 // the largest page
	query := url.Values{"limit": {strconv.Itoa(most)}, "include_content": {strconv.FormatBool(c.Content)}, "exclude_subagents": {strconv.FormatBool(!c.Subagents)}}
	spans := []json.RawMessage{}
	err = cl.Pages(e.Ctx, at+"/spans", "spans", query, func(page []json.RawMessage) error {
		spans = append(spans, page...)
		return nil
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return printWhole(e, raw, spans)
	}
	all := make([]span, len(spans))
	for i := range spans {
		if err := json.Unmarshal(spans[i], &all[i]); err != nil {
			return err
		}
	}
	command.Fields(e, [][]string{
		{"trace", head.ID}, {"agent", head.Agent}, {"session", head.Session}, {"started", head.Started}, {"took", took(head.Duration)}, {"status", head.Status},
		{"tokens", strconv.FormatInt(head.Input, 10) + " read, " + strconv.FormatInt(head.Output, 10) + " written"},
	})
	printTree(e, all)
	return nil
}

// printWhole prints a trace as it was read, with its spans.
func printWhole(e *command.Env, head []byte, spans []json.RawMessage) error {
	whole := map[string]any{}
	if err := json.Unmarshal(head, &whole); err != nil {
		return err
	}
	whole["spans"] = spans
	raw, err := json.Marshal(whole)
	if err == nil {
		command.PrintJSON(e.Out, raw)
	}
	return err
}

// one shows a span.
func (c *showCmd) one(e *command.Env) error {
	at := path + "/" + command.Segment(c.Trace) + "/spans/" + command.Segment(c.Span) + "?include_content=" + strconv.FormatBool(c.Content)
	return command.Show(e, c.Remote, at, func(s *span) {
		rows := [][]string{
			{"span", s.ID}, {"part of", s.Parent}, {"operation", s.Operation}, {"started", s.Started}, {"took", took(s.Duration)}, {"status", s.Status},
			{"error", s.failure()}, {"step", s.Step}, {"event", s.Event},
		}
		for _, name := range sorted(s.Attributes) {
			rows = append(rows, []string{name, plain(s.Attributes[name])})
		}
		command.FieldsGiven(e, rows)
		for _, name := range sorted(s.Content) {
			if s.Content[name] != "" {
				command.Wrap(e.Out, "", "\n"+name+"\n"+command.Prose(s.Content[name]))
			}
		}
	})
}
