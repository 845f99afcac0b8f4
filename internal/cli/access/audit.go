package access

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"quarry/internal/cli/command"
)

// AuditCmd is the commands that read the audit.
type AuditCmd struct {
	List   auditListCmd   `cmd:"" help:"List who changed what, newest first."`
	Export auditExportCmd `cmd:"" help:"Print all audit events, one JSON object per line, newest first."`
}

// auditFilter is the flags that choose events.
type auditFilter struct {
	Actor  string `help:"Only events of this user, key or client: its name, its id, or the id of the credential used." placeholder:"WHO" wire:"actor"`
	Action string `help:"Only events of this operation." placeholder:"OPERATION" wire:"action"`
	After  string `help:"Only events at or after this instant." placeholder:"RFC3339" wire:"after"`
	Before string `help:"Only events before this instant." placeholder:"RFC3339" wire:"before"`
}

func (f auditFilter) query() url.Values {
	out := url.Values{}
	for name, v := range map[string]string{"actor": f.Actor, "action": f.Action, "after": f.After, "before": f.Before} {
		if v != "" {
			out.Set(name, v)
		}
	}
	return out
}

// auditView is the part of an event that tables show.
type auditView struct {
	Created string `json:"created_at"`
	Actor   struct {
		Type string `json:"type"`
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"actor"`
	Action  string            `json:"action"`
	Target  map[string]string `json:"target"`
	Outcome string            `json:"outcome"`
	Status  int               `json:"status"`
	Address string            `json:"address"`
	Request string            `json:"request_id"`
}

func (v *auditView) who() string {
	for _, name := range []string{v.Actor.Name, v.Actor.ID} {
		if name != "" {
			return name
		}
	}
	return v.Actor.Type
}

// onWhat returns the target in a line.
func (v *auditView) onWhat() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(v.Target)) {
		all = append(all, name+"="+v.Target[name])
	}
	return strings.Join(all, " ")
}

func (v *auditView) result() string {
	if v.Status == 0 {
		return v.Outcome
	}
	return fmt.Sprintf("%s %d", v.Outcome, v.Status)
}

type auditListCmd struct {
	command.Remote
	command.Paging
	auditFilter
}

func (auditListCmd) Help() string {
	return "Example: quarry audit list --actor ann --action deleteCorpus"
}

func (c *auditListCmd) Run(e *command.Env) error {
	return command.Listing[auditView]{
		Path: auditPath, Member: auditMember, Query: c.query(), Paging: c.Paging, Empty: "no audit events",
		Header: []string{"TIME", "WHO", "ACTION", "ON", "OUTCOME", "FROM", "REQUEST"},
		Row: func(v *auditView) []string {
			return []string{command.Second(v.Created), v.who(), v.Action, v.onWhat(), v.result(), v.Address, v.Request}
		},
	}.Print(e, c.Remote)
}

const (
	auditPath   = "/v2/audit_events"
	auditMember = "audit_events"
)

type auditExportCmd struct {
	command.Connection
	JSONL bool `help:"One JSON object per line; the only format." name:"jsonl"`
	auditFilter
}

func (auditExportCmd) Help() string {
	return "Goes from the newest event at its start back to the oldest; events that are added meanwhile are not exported.\n" +
		"Shows its progress on standard error.\n\nExample: quarry audit export --jsonl --after 2030-01-01T00:00:00Z > audit.jsonl"
}

// Run walks the pages and writes each as it comes, so that an export of any size takes the memory of one page.
func (c *auditExportCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(e.Out)
	status, n := command.StatusLine{W: e.Err}, 0
	status.Wait()
	err = cl.Pages(e.Ctx, auditPath, auditMember, c.query(), func(items []json.RawMessage) error {
		for _, item := range items {
			var line bytes.Buffer
			if err := json.Compact(&line, item); err != nil {
				return fmt.Errorf("read an event: %w", err)
			}
			line.WriteByte('\n')
			if _, err := out.Write(line.Bytes()); err != nil {
				return fmt.Errorf("write the export: %w", err)
			}
		}
		n += len(items)
		status.Set(fmt.Sprintf("%d events so far", n))
		return out.Flush()
	})
	status.Clear()
	if err != nil {
		fmt.Fprintf(e.Err, "the export is incomplete: it ends after %d events\n", n)
		return err
	}
	fmt.Fprintf(e.Err, "%d events\n", n)
	return nil
}
