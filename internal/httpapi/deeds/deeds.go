// Package deeds records what agents do through their tools in the audit, by the rules of the operations by which clients do it.
package deeds

import (
	"context"
	"net/http"
	"slices"

	"quarry/internal/agent/tool"
	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/refusal"
	"quarry/internal/identity/audit"
	"quarry/internal/identity/authz"
)

// Recorder is a tool.Recorder over the audit.
type Recorder struct {
	events  httpapi.Auditor
	content bool // operations on documents and conversations are recorded, too
}

var _ tool.Recorder = (*Recorder)(nil)

// New returns a recorder. content is the setting audit_content.
func New(events httpapi.Auditor, content bool) *Recorder { return &Recorder{events, content} }

// Records implements tool.Recorder.
func (r *Recorder) Records(operation string) bool {
	op := api.OperationByID(operation)
	return op != nil && (op.Audit == api.RecordAlways || op.Audit == api.RecordContent && r.content)
}

// Intend implements tool.Recorder. The call stands for the request.
func (r *Recorder) Intend(ctx context.Context, by tool.Doer, d tool.Deed) (func(error), error) {
	e := audit.Event{
		Actor:  audit.Actor{Kind: authz.Agent, ID: by.ClientID, Name: by.Agent, Credential: by.ClientID},
		Action: d.Operation, Target: map[string]string{}, RequestID: string(by.Call),
	}
	op := api.OperationByID(d.Operation)
	for name, v := range d.Target {
		if slices.ContainsFunc(op.Params, func(p api.Param) bool { return p.Name == name && p.In == "query" }) {
			name = "query." + name
		}
		e.Target[name] = audit.MaskText(v, audit.MaxName)
	}
	event, err := r.events.Intend(ctx, e)
	if err != nil {
		return nil, err
	}
	return func(err error) {
		if ctx.Err() == nil { // else nobody knows what came of it
			r.events.SetOutcome(ctx, event, status(err), nil)
		}
	}, nil
}

// status returns the status that a client would have got.
func status(err error) int {
	if err == nil {
		return http.StatusOK
	}
	f, ok := fault.As(err)
	if !ok {
		return http.StatusInternalServerError
	}
	code, _ := refusal.Status(f)
	return code
}
