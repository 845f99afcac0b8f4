package cli

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"quarry/internal/cli/command"
)

type jobCmd struct {
	List jobListCmd `cmd:"" help:"List background jobs, newest first."`
	Get  jobGetCmd  `cmd:"" help:"Read one job."`
	Wait jobWaitCmd `cmd:"" help:"Wait until a job has ended; fails when the job did."`
}

// jobView is the part of a job that tables show.
type jobView struct {
	ID        string   `json:"id"`
	Type      string   `json:"type"`
	State     string   `json:"state"`
	Corpora   []string `json:"corpus_keys"`
	Created   string   `json:"created_at"`
	Started   string   `json:"started_at"`
	Completed string   `json:"completed_at"`
	By        string   `json:"created_by_username"`
	Comment   string   `json:"comment"`
}

type jobListCmd struct {
	command.Remote
	Corpus []string `help:"Only jobs of this corpus; repeatable." placeholder:"KEY" sep:"none"`
	State  []string `help:"Only jobs in this state (queued, started, completed, failed, failed_will_retry, aborted); repeatable." placeholder:"STATE" sep:"none"`
	After  string   `help:"Only jobs created after this instant." placeholder:"RFC3339"`
	Limit  int      `help:"At most this many; 0 lists all." default:"100"`
}

func (jobListCmd) Help() string { return "Example: quarry job list --corpus manuals --state started" }

func (c *jobListCmd) Run(e *command.Env) error {
	return command.Listing[jobView]{
		Path: "/v2/jobs", Member: "jobs", Limit: c.Limit, Empty: "no jobs",
		Query:  url.Values{"corpus_key": c.Corpus, "state": c.State, "after": {c.After}},
		Header: []string{"ID", "TYPE", "STATE", "CORPORA", "CREATED", "COMMENT"},
		Row: func(v *jobView) []string {
			return []string{v.ID, v.Type, v.State, command.Clip(strings.Join(v.Corpora, " "), 30), v.Created, command.Clip(v.Comment, 60)}
		},
	}.Print(e, c.Remote)
}

type jobGetCmd struct {
	command.Remote
	ID string `arg:"" name:"id" help:"Id of the job."`
}

func (jobGetCmd) Help() string { return "Example: quarry job get job_7Qm2" }

func (c *jobGetCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	var v jobView
	raw, err := cl.Call(e.Ctx, http.MethodGet, jobPath(c.ID), nil, &v)
	if err != nil {
		return err
	}
	showJob(c.Remote, e, v, raw)
	return nil
}

func jobPath(id string) string { return "/v2/jobs/" + command.Segment(id) }

// showJob prints a job.
func showJob(r command.Remote, e *command.Env, v jobView, raw []byte) {
	if r.JSON {
		command.PrintJSON(e.Out, raw)
		return
	}
	var rows [][]string
	for _, row := range [][]string{
		{"id", v.ID}, {"type", v.Type}, {"state", v.State}, {"corpora", strings.Join(v.Corpora, " ")}, {"created", v.Created},
		{"started", v.Started}, {"completed", v.Completed}, {"created by", v.By}, {"comment", v.Comment},
	} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	command.Fields(e, rows)
}

type jobWaitCmd struct {
	command.Remote
	ID string `arg:"" name:"id" help:"Id of the job."`
}

func (jobWaitCmd) Help() string {
	return "Shows on standard error how far the job is. Exit code 1 when the job failed or was aborted.\n\nExample: quarry job wait job_7Qm2"
}

// Run asks again more and more rarely: a short job is told at once, and a long one costs one request a second.
func (c *jobWaitCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	said := watch{Env: e}
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		var v jobView
		raw, err := cl.Call(e.Ctx, http.MethodGet, jobPath(c.ID), nil, &v)
		if err != nil {
			said.done()
			return err
		}
		switch v.State {
		case "completed", "failed", "aborted":
			said.done()
			showJob(c.Remote, e, v, raw)
			if v.State != "completed" {
				return command.Failed(command.ExitSomeFailed, "job %s %s: %s", v.ID, v.State, v.Comment)
			}
			return nil
		}
		said.say(v)
		select {
		case <-time.After(pause):
		case <-e.Ctx.Done():
			said.done()
			return e.Ctx.Err()
		}
	}
}

// watch shows what changes: in place on a terminal, else a line each time, at most every ten seconds.
type watch struct {
	*command.Env
	last  string
	at    time.Time
	dirty bool // text stands on the current line
}

func (w *watch) say(v jobView) {
	line := v.State
	if v.Comment != "" {
		line += ": " + v.Comment
	}
	if line == w.last {
		return
	}
	if command.IsTerminal(w.Err) {
		fmt.Fprintf(w.Err, "\r\x1b[K%s", command.Clip(line, 78))
		w.last, w.dirty = line, true
		return
	}
	if time.Since(w.at) >= 10*time.Second {
		fmt.Fprintln(w.Err, line)
		w.last, w.at = line, time.Now()
	}
}

func (w *watch) done() {
	if w.dirty {
		fmt.Fprint(w.Err, "\r\x1b[K")
		w.dirty = false
	}
}
