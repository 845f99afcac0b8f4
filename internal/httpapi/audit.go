package httpapi

import (
	"context"
	"maps"
	"net/http"
	"strings"

	"quarry/internal/api"
	"quarry/internal/id"
	"quarry/internal/identity/audit"
	"quarry/internal/room"
)

// Auditor records changes: before they are made, so that a change which can't be recorded is refused, and afterwards.
type Auditor interface {
	// Intend records a change before it is made. After an error it must not be made.
	Intend(ctx context.Context, e audit.Event) (id.Audit, error)
	// SetOutcome records the status of a change that was intended, and the names of what it made.
	SetOutcome(ctx context.Context, event id.Audit, status int, made map[string]string)
	// Note records what has no intent: refusals before the handler ran, and sign-ins.
	Note(ctx context.Context, e audit.Event)
}

// recordingOf returns how an operation is recorded by this server: its x-audit, with content decided by the setting.
func (s *Server) recordingOf(op *api.Operation) api.Recording {
	switch {
	case op == nil || s.cfg.Audit == nil || op.Audit == "":
		return api.RecordNever
	case op.Audit != api.RecordContent:
		return op.Audit
	case s.cfg.AuditContent:
		return api.RecordAlways
	}
	return api.RecordNever
}

// recordIntent records that an operation is about to run.
func (s *Server) recordIntent(x *exchange, r *http.Request) (err error) {
	if s.recordingOf(x.call.Op) != api.RecordAlways {
		return nil
	}
	ctx := r.Context()
	if x.call.Op.NamesJob == api.Yes { // it begins its job even if the deadline has passed
		ctx = context.WithoutCancel(ctx)
	}
	x.event, err = s.cfg.Audit.Intend(ctx, s.eventOf(x))
	return err
}

// recordOutcome records the outcome of a recorded intent, or a refusal before it. It runs before net/http sends the end of an
// answer. Where the client left without one, the outcome stays unknown: the change may have been made.
func (s *Server) recordOutcome(x *exchange, r *http.Request) {
	status := x.status
	if status == 0 && r.Context().Err() == nil {
		status = http.StatusOK // an empty answer
	}
	how := s.recordingOf(x.call.Op)
	switch {
	case status == 0, status == http.StatusNotImplemented, how == api.RecordNever:
	case x.event != "":
		ctx := r.Context()
		if x.call.Op.Frees {
			ctx = room.Freeing(ctx)
		}
		s.cfg.Audit.SetOutcome(ctx, x.event, status, masked(x.call.Named))
	case how == api.RecordAlways && (status == http.StatusUnauthorized || status == http.StatusForbidden),
		how == api.RecordAttempts,
		how == api.RecordFailures && status >= 400:
		e := s.eventOf(x)
		e.Status = status
		s.cfg.Audit.Note(r.Context(), e)
	}
}

// maxQueryValue is how many bytes of a query parameter an event keeps.
const maxQueryValue = 512

// eventOf returns the description of a request, without any secret.
func (s *Server) eventOf(x *exchange) audit.Event {
	c := &x.call
	e := audit.Event{
		Action: c.Op.ID, RequestID: c.RequestID, Address: c.Address, Target: map[string]string{},
		Actor: audit.Actor{Kind: audit.Anonymous},
	}
	if p := c.Principal; p.ID != "" {
		e.Actor = audit.Actor{Kind: p.Kind, ID: p.ID, Name: audit.MaskText(p.Name, audit.MaxName), Credential: p.Credential}
	}
	for name, v := range c.Path {
		e.Target[name] = audit.MaskText(v, audit.MaxName)
	}
	maps.Copy(e.Target, masked(c.Named))
	for i := range c.Op.Params { // parameters that the contract doesn't know are left out: they may hold a secret under any name
		p := &c.Op.Params[i]
		values, given := c.Query[p.Name]
		if p.In != "query" || !given {
			continue
		}
		e.Target["query."+p.Name] = audit.MaskText(strings.Join(values, ","), maxQueryValue)
	}
	if len(c.Body) > 0 {
		if at, err := s.schemas.Known(c.Op.Body.JSON); err == nil { // it was checked against it
			e.Changes = audit.Mask(c.Body, at)
		}
	}
	return e
}

// masked returns what a handler named, without any secret.
func masked(named map[string]string) map[string]string {
	out := make(map[string]string, len(named))
	for name, v := range named {
		out[name] = audit.MaskText(v, audit.MaxName)
	}
	return out
}
