// Package audit keeps who changed what: an event is written before a change is made and its outcome after, so that a
// crash between the two shows as an outcome not known. It decides nothing about access, and what a request is it does
// not know: package httpapi makes the events and refuses a change that can't be recorded.
package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/authz"
)

// Event is one change that was tried.
type Event struct {
	ID        id.Audit // its order is that of time
	At        time.Time
	Actor     Actor
	Action    string            // operation id
	Target    map[string]string // what the path names, and what was made, by the parameter that names it
	Changes   json.RawMessage   // the body of the request as Mask gives it; nil without one
	Address   string            // where the request came from
	RequestID string
	Status    int // HTTP status answered; 0 while the outcome is not known
}

// Actor is who tried a change, as known at that moment.
type Actor struct {
	Kind       authz.PrincipalKind // Anonymous when the caller proved nothing
	ID         string
	Name       string
	Credential string // id of the key or client used
}

// Anonymous is the kind of an actor whose credential was not accepted, or who needed none.
const Anonymous authz.PrincipalKind = "anonymous"

// List says which events to list, newest first. Conditions that are empty hold for every event; the others must all
// hold.
type List struct {
	Limit  int
	Behind id.Audit  // the last one shown, "" for the first page
	Actor  string    // id or name of the actor, or credential
	Action string    // operation id
	After  time.Time // at or after
	Before time.Time // before
}

// Store keeps events. Nothing that was added is ever changed but for its outcome, once.
type Store interface {
	// Add writes e durably.
	Add(ctx context.Context, e Event) error
	// Settle sets the outcome of an event; an event that has one, or that doesn't exist, is an error. What was made is
	// part of the event's target from then on.
	Settle(ctx context.Context, event id.Audit, status int, made map[string]string) error
	// List gives up to l.Limit events and whether more follow.
	List(ctx context.Context, l List) (page []Event, more bool, err error)
}

// Service records and lists events. It is safe for concurrent use.
type Service struct {
	store Store
	log   *slog.Logger
	rate  rate
}

// New gives a service over a store.
func New(s Store, log *slog.Logger) *Service { return &Service{store: s, log: log, rate: newRate()} }

// Intend records a change that is about to be made and gives the id to settle it by. On an error nothing was recorded
// and the change must not be made: fault.KindUnavailable, whatever the reason.
func (s *Service) Intend(ctx context.Context, e Event) (id.Audit, error) {
	e.At = time.Now().UTC()
	e.ID = id.NewAudit(e.At)
	err := s.store.Add(ctx, e)
	if err == nil {
		return e.ID, nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	f := fault.Unavailable("audit_unavailable", "nothing was changed, since the change could not be recorded in the audit: %s", reason(err))
	if known, ok := fault.As(err); ok {
		f = f.After(known.RetryAfter)
	}
	return "", f.Because(err)
}

// reason is what a client may know of an error.
func reason(err error) string {
	if f, ok := fault.As(err); ok && f.Kind == fault.KindUnavailable {
		return f.Text
	}
	return "the log has the cause under the request id"
}

// settleTime bounds the write of an outcome, which goes on when the client has left.
const settleTime = 10 * time.Second

// Settle records the outcome of a change and what it made. What can't be written stays unknown, and the log says so.
func (s *Service) Settle(ctx context.Context, event id.Audit, status int, made map[string]string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	if err := s.store.Settle(ctx, event, status, made); err != nil {
		s.log.Warn("the outcome of an audit event was not recorded", "event", event, "status", status, "error", err)
	}
}

// Note records a change that was refused before it began, or a sign-in. Failures are kept at a bounded rate for each
// credential, or for each address of strangers and all of these in total, so that they can't fill the disk; the next event kept says in "left_out" how many were not.
func (s *Service) Note(ctx context.Context, e Event) {
	e.At = time.Now().UTC()
	if e.Status >= 400 {
		kept, leftOut := s.rate.take(e.Actor.Credential, e.Address, e.At)
		if !kept {
			return
		}
		if leftOut > 0 {
			e.Target = with(e.Target, "left_out", fmt.Sprint(leftOut))
		}
	}
	e.ID = id.NewAudit(e.At)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	if err := s.store.Add(ctx, e); err != nil {
		s.log.Warn("an audit event was not recorded", "action", e.Action, "status", e.Status, "request_id", e.RequestID, "error", err)
	}
}

func with(m map[string]string, name, value string) map[string]string {
	out := map[string]string{name: value}
	for k, v := range m {
		out[k] = v
	}
	return out
}

// List gives a page of events, newest first, and whether more follow.
func (s *Service) List(ctx context.Context, l List) ([]Event, bool, error) {
	page, more, err := s.store.List(ctx, l)
	if err != nil {
		return nil, false, fmt.Errorf("list audit events: %w", err)
	}
	return page, more, nil
}
