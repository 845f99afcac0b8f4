// Package job holds the commands about background jobs, and the waiting for one that other commands begin.
package job

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"quarry/internal/cli/command"
)

// Cmd holds the commands about jobs.
type Cmd struct {
	List listCmd `cmd:"" help:"List background jobs, newest first."`
	Get  getCmd  `cmd:"" help:"Read one job."`
	Wait waitCmd `cmd:"" help:"Wait until a job has ended; fails if the job failed."`
}

// view is the part of a job that tables show.
type view struct {
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

type listCmd struct {
	command.Remote
	Corpus []string `help:"Only jobs of this corpus; repeatable." placeholder:"KEY" sep:"none" wire:"corpus_key"`
	State  []string `help:"Only jobs in this state (queued, started, completed, failed, failed_will_retry, aborted); repeatable." placeholder:"STATE" sep:"none" wire:"state"`
	After  string   `help:"Only jobs created after this instant." placeholder:"RFC3339" wire:"after"`
	command.Paging
}

func (listCmd) Help() string { return "Example: quarry job list --corpus manuals --state started" }

func (c *listCmd) Run(e *command.Env) error {
	return command.Listing[view]{
		Path: "/v2/jobs", Member: "jobs", Paging: c.Paging, Empty: "no jobs",
		Query:  url.Values{"corpus_key": c.Corpus, "state": c.State, "after": {c.After}},
		Header: []string{"ID", "TYPE", "STATE", "CORPORA", "CREATED", "COMMENT"},
		Row: func(v *view) []string {
			return []string{v.ID, v.Type, v.State, strings.Join(v.Corpora, " "), command.Second(v.Created), v.Comment}
		},
	}.Print(e, c.Remote)
}

type getCmd struct {
	command.Remote
	ID string `arg:"" name:"id" help:"Id of the job." wire:"job_id"`
}

func (getCmd) Help() string { return "Example: quarry job get job_7Qm2" }

func (c *getCmd) Run(e *command.Env) error {
	return command.Show(e, c.Remote, path(c.ID), func(v *view) { v.print(e) })
}

func path(id string) string { return "/v2/jobs/" + command.Segment(id) }

func (v *view) print(e *command.Env) {
	command.FieldsGiven(e, [][]string{
		{"id", v.ID}, {"type", v.Type}, {"state", v.State}, {"corpora", strings.Join(v.Corpora, " ")}, {"created", command.Second(v.Created)},
		{"started", command.Second(v.Started)}, {"completed", command.Second(v.Completed)}, {"created by", v.By}, {"comment", v.Comment},
	})
}

type waitCmd struct {
	command.Remote
	ID string `arg:"" name:"id" help:"Id of the job." wire:"job_id"`
}

func (waitCmd) Help() string {
	return "Shows the progress of the job on standard error. Exit code 1 if the job failed or was aborted.\n\nExample: quarry job wait job_7Qm2"
}

func (c *waitCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	return Wait(e, cl, c.ID, c.JSON)
}

// Wait waits until a job has ended and prints it; it is an error if the job did not complete. It asks less and less often: the
// end of a short job is seen at once, and a long one costs one request a second.
func Wait(e *command.Env, cl *command.Client, id string, asJSON bool) error {
	status := command.StatusLine{W: e.Err}
	defer status.Clear()
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		var v view
		raw, err := cl.Call(e.Ctx, http.MethodGet, path(id), nil, &v)
		if err != nil {
			return err
		}
		switch v.State {
		case "completed", "failed", "aborted":
			status.Clear()
			if asJSON {
				command.PrintJSON(e.Out, raw)
			} else {
				v.print(e)
			}
			if v.State != "completed" {
				return command.Failed(command.ExitSomeFailed, "job %s %s: %s", v.ID, v.State, v.Comment)
			}
			return nil
		}
		line := v.State
		if v.Comment != "" {
			line += ": " + v.Comment
		}
		status.Set(line)
		select {
		case <-time.After(pause):
		case <-e.Ctx.Done():
			return e.Ctx.Err()
		}
	}
}
