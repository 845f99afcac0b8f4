// Package audit holds the handler that lists audit events. What is recorded is decided in package httpapi, and kept by
// package audit. Package app plugs the area in.
package audit

import (
	"net/http"

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/identity/audit"
	"quarry/internal/opt"
	"quarry/internal/page"
)

// Area answers the operations of the audit.
type Area struct {
	events  *audit.Service
	cursors *page.Cursors
}

// New returns the area; cursors sign the page keys.
func New(e *audit.Service, cursors *page.Cursors) *Area { return &Area{e, cursors} }

// Handlers implements httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{"listAuditEvents": a.list}
}

// list answers a page. With a page key, filters that the request leaves out are those of the page before.
func (a *Area) list(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope := c.Scope("actor", "action", "after", "before")
	position, err := c.Position(a.cursors, &scope)
	if err != nil {
		return err
	}
	l, err := list(scope.Filters, position)
	if err != nil {
		return err
	}
	l.Limit = c.Limit()
	found, more, err := a.events.List(r.Context(), l)
	if err != nil {
		return err
	}
	events := make([]api.AuditEvent, len(found))
	for i := range found {
		events[i] = wireEvent(&found[i])
	}
	out := api.ListAuditEventsResponse{AuditEvents: &events, Metadata: &api.ListMetadata{}}
	if more {
		key := a.cursors.Encode(scope, string(found[len(found)-1].ID))
		out.Metadata.PageKey = &key
	}
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

// list reads filters and position.
func list(filters map[string]string, position []string) (l audit.List, err error) {
	l = audit.List{Actor: filters["actor"], Action: filters["action"]}
	if l.After, err = httpapi.Time(filters, "after"); err != nil {
		return l, err
	}
	if l.Before, err = httpapi.Time(filters, "before"); err != nil {
		return l, err
	}
	if l.Action != "" && api.OperationByID(l.Action) == nil {
		return l, fault.InvalidField("query.action", "%q is no operation of this service; an operation id such as createUser is wanted", l.Action)
	}
	if len(position) > 0 {
		l.Behind = id.Audit(position[0])
	}
	return l, nil
}

// wireEvent maps an event to what clients see.
func wireEvent(e *audit.Event) api.AuditEvent {
	out := api.AuditEvent{
		Id: string(e.ID), CreatedAt: e.At, Action: e.Action, RequestId: e.RequestID, Address: opt.NonZero(e.Address),
		Actor: api.AuditActor{
			Type: api.AuditActorType(e.Actor.Kind), Id: opt.NonZero(e.Actor.ID), Name: opt.NonZero(e.Actor.Name), Credential: opt.NonZero(e.Actor.Credential),
		},
		Outcome: outcome(e.Status), Changes: e.Changes,
	}
	if e.Status != 0 {
		out.Status = &e.Status
	}
	if len(e.Target) > 0 {
		out.Target = &e.Target
	}
	return out
}

func outcome(status int) api.AuditEventOutcome {
	switch {
	case status == 0:
		return "unknown"
	case status < 400:
		return "succeeded"
	case status < 500:
		return "refused"
	}
	return "failed"
}
