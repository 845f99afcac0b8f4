// Package audit records who changed what. An event is written before a change is made and its outcome afterwards, so
// that a crash between the two shows as an unknown outcome. Package httpapi builds the events from requests and refuses
// a change that can't be recorded.
package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/authz"
)

// Event is an attempted change.
type Event struct {
	ID        id.Audit // ordered by time
	At        time.Time
	Actor     Actor
	Action    string            // operation id
	Target    map[string]string // what the path names and what was created, by parameter name
	Changes   json.RawMessage   // the body of the request, masked by Mask; nil without a body
	Address   string            // where the request came from
	RequestID string
	Status    int // HTTP status of the answer; 0 while the outcome is unknown
}

// Actor is who attempted a change, as known at that moment.
type Actor struct {
	Kind       authz.PrincipalKind // Anonymous without an accepted credential
	ID         string
	Name       string
	Credential string // id of the key or client used
}

// Anonymous is the kind of an actor whose credential was not accepted or not needed.
const Anonymous authz.PrincipalKind = "anonymous"

// List selects the events to list, newest first. Empty fields select every event; all others must match.
type List struct {
	Limit  int
	Behind id.Audit  // the last one shown, "" for the first page
	Actor  string    // id or name of the actor, or credential
	Action string    // operation id
	After  time.Time // at or after
	Before time.Time // before
}

// Store keeps events. An event never changes, except that its outcome is set once.
type Store interface {
	// Add writes e durably.
	Add(ctx context.Context, e Event) error
	// SetOutcome sets the outcome of an event and adds made to its target. It is an error if the event has an outcome or
	// does not exist.
	SetOutcome(ctx context.Context, event id.Audit, status int, made map[string]string) error
	// List returns up to l.Limit events and whether more follow.
	List(ctx context.Context, l List) (page []Event, more bool, err error)
}

// Service records and lists events. It is safe for concurrent use.
type Service struct {
	store Store
	log   *slog.Logger
	rate  rate
}

// New returns a service over a store.
func New(s Store, log *slog.Logger) *Service { return &Service{store: s, log: log, rate: newRate()} }

// Intend records a change that is about to be made and returns its id for SetOutcome. On an error, which is always
// fault.KindUnavailable, nothing was recorded and the change must not be made.
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

// reason returns the part of an error that a client may see.
func reason(err error) string {
	if f, ok := fault.As(err); ok && f.Kind == fault.KindUnavailable {
		return f.Text
	}
	return "the log has the cause under the request id"
}

// outcomeTime bounds the write of an outcome, which continues when the client has disconnected.
const outcomeTime = 10 * time.Second

// SetOutcome records the outcome of a change and the names of what it created. If that fails, the outcome stays unknown
// and the failure is logged.
func (s *Service) SetOutcome(ctx context.Context, event id.Audit, status int, made map[string]string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), outcomeTime)
	defer cancel()
	if err := s.store.SetOutcome(ctx, event, status, made); err != nil {
		s.log.Warn("the outcome of an audit event was not recorded", "event", event, "status", status, "error", err)
	}
}

// Note records a sign-in, or a change that was refused before it began. Failures are recorded at a bounded rate so that
// they can't fill the disk: for each credential and, without one, for each address and for all of them together. The
// next recorded event counts the omitted ones in "left_out".
func (s *Service) Note(ctx context.Context, e Event) {
	e.At = time.Now().UTC()
	if e.Status >= 400 {
		kept, leftOut := s.rate.take(e.Actor.Credential, e.Address, e.At)
		if !kept {
			return
		}
		if leftOut > 0 {
			target := map[string]string{"left_out": fmt.Sprint(leftOut)}
			maps.Copy(target, e.Target)
			e.Target = target
		}
	}
	e.ID = id.NewAudit(e.At)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), outcomeTime)
	defer cancel()
	if err := s.store.Add(ctx, e); err != nil {
		s.log.Warn("an audit event was not recorded", "action", e.Action, "status", e.Status, "request_id", e.RequestID, "error", err)
	}
}

// List returns a page of events, newest first, and whether more follow.
func (s *Service) List(ctx context.Context, l List) ([]Event, bool, error) {
	page, more, err := s.store.List(ctx, l)
	if err != nil {
		return nil, false, fmt.Errorf("list audit events: %w", err)
	}
	return page, more, nil
}
