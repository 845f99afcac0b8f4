// Package fork opens sessions that go on from others: with copies of their events, or with a summary of what was said first.
package fork

import (
	"context"
	"errors"
	"slices"

	"quarry/internal/agent"
	"quarry/internal/agent/compact"
	"quarry/internal/agent/session"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/usage"
)

// The fields of a From, under Field.
const (
	Field        = "from_session"
	agentField   = Field + ".agent_key"
	sessionField = Field + ".session_key"
	IncludeField = Field + ".include_up_to_event_id"
	CompactField = Field + "." + compact.AnchorField
)

// From is what a fork goes on from. It has one of the anchors at most.
type From struct {
	Agent   string // key; "": the agent of the fork
	Session string
	UpTo    id.Event // the last event that is copied; "": all are
	Compact id.Event // the last event that is summed up; "": none is
}

// Caller is who asks.
type Caller struct {
	Name  string                  // as session.Caller.Name has it
	Lists func(agent string) bool // whether the caller may list the events of the sessions of an agent
}

// Agents finds agents by their keys; agent.Store is one.
type Agents interface {
	Get(ctx context.Context, key string) (agent.Agent, error)
}

// Service opens forks. Safe for concurrent use.
type Service struct {
	sessions *session.Service
	store    session.Store
	agents   Agents
	models   llm.Models
}

// New returns a service.
func New(sessions *session.Service, store session.Store, agents Agents, models llm.Models) *Service {
	return &Service{sessions, store, agents, models}
}

// Create opens a session with an agent that goes on from another one. Whoever may neither list the events of that one nor has made it
// gets fault.KindForbidden, whether it exists or not. A summary that fails makes no session. It is charged to a.
func (s *Service) Create(ctx context.Context, a *agent.Agent, d session.Draft, f From, who Caller) (session.Session, error) {
	if f.UpTo != "" && f.Compact != "" {
		bad := fault.Invalid().Field(IncludeField, "can't be given beside compact_up_to_event_id")
		return session.Session{}, bad.Field(CompactField, "can't be given beside include_up_to_event_id")
	}
	if err := d.Check(); err != nil {
		return session.Session{}, err
	}
	from, err := s.source(ctx, a, &f, who)
	if err != nil {
		return session.Session{}, err
	}
	d.Copy = &session.Copy{Source: from.No, Step: from.AgentNo == a.No}
	switch {
	case f.UpTo != "":
		err = s.include(ctx, &f, d.Copy)
	case f.Compact != "":
		err = s.compact(ctx, a, &f, d.Copy)
	}
	if err != nil {
		return session.Session{}, err
	}
	made, err := s.sessions.Create(ctx, a, d)
	if g, ok := fault.As(err); ok && g.Code == "session_not_found" {
		return made, missing(&f, from.AgentKey)
	}
	return made, err
}

// source finds the session that a fork goes on from, if who may read it.
func (s *Service) source(ctx context.Context, a *agent.Agent, f *From, who Caller) (session.Session, error) {
	of := *a
	if f.Agent != "" && f.Agent != a.Key {
		var err error
		of, err = s.agents.Get(ctx, f.Agent)
		switch {
		case fault.Is(err, fault.KindNotFound) && who.Lists(f.Agent):
			return session.Session{}, fault.InvalidField(agentField, "is %s, and there is no such agent", f.Agent)
		case fault.Is(err, fault.KindNotFound):
			return session.Session{}, forbidden(f, f.Agent)
		case err != nil:
			return session.Session{}, err
		}
	}
	found, err := s.store.Get(ctx, of.No, f.Session)
	switch lists := who.Lists(of.Key); {
	case err != nil && !fault.Is(err, fault.KindNotFound):
		return session.Session{}, err
	case !lists && (err != nil || found.MadeBy == "" || found.MadeBy != who.Name):
		return session.Session{}, forbidden(f, of.Key)
	case err != nil:
		return session.Session{}, missing(f, of.Key)
	}
	return found, nil
}

func forbidden(f *From, agentKey string) error {
	return fault.Forbidden("going on from session %s of agent %s needs a role that lists its events, such as agent_viewer, unless you have made it yourself",
		f.Session, agentKey)
}

func missing(f *From, agentKey string) error {
	return fault.InvalidField(sessionField, "is %s, and agent %s has no such session", f.Session, agentKey)
}

func noAnchor(field string, anchor id.Event, f *From) error {
	return fault.InvalidField(field, "is %s, which is not among the visible events of session %s", anchor, f.Session)
}

// include sets up to which event is copied.
func (s *Service) include(ctx context.Context, f *From, c *session.Copy) error {
	e, err := s.store.Event(ctx, c.Source, f.UpTo)
	if fault.Is(err, fault.KindNotFound) || err == nil && e.Hidden != "" {
		return noAnchor(IncludeField, f.UpTo, f)
	}
	c.To = e.Ord
	return err
}

// pageSize is how many events are read at once.
const pageSize = 500

// compact sums up what was said up to an event, which the copies then follow.
func (s *Service) compact(ctx context.Context, a *agent.Agent, f *From, c *session.Copy) error {
	var events []session.Event
	for after, more := int64(0), true; more; {
		var page []session.Event
		var err error
		page, more, err = s.store.Events(ctx, session.Page{Session: c.Source, After: after, Limit: pageSize})
		if err != nil {
			return err
		}
		if events = append(events, page...); len(page) > 0 {
			after = page[len(page)-1].Ord
		}
	}
	at := slices.IndexFunc(events, func(e session.Event) bool { return e.ID == f.Compact })
	if at < 0 {
		return noAnchor(CompactField, f.Compact, f)
	}
	how := a.Compaction
	gone, err := compact.Wanted(events, &session.Wish{UpTo: f.Compact}, &how)
	text := ""
	switch {
	case err == nil:
		text, err = s.write(ctx, a, &how, gone)
	case events[at].Type == session.Compaction: // nothing but a summary, which then is what there is to say
		gone, text, err = events[at:at+1], events[at].Text, nil
	}
	if err != nil {
		return fault.Under(err, Field)
	}
	opens := compact.Event(id.NewEvent(), text, gone)
	opens.Ord, opens.Turn, opens.Created = events[at].Ord, events[at].Turn, events[at].Created
	c.From, c.Opens = opens.Ord+1, &opens
	for i := range gone {
		if gone[i].Ord > opens.Ord {
			c.But = append(c.But, gone[i].Ord)
		}
	}
	return nil
}

// write returns the summary of events by the model of an agent.
func (s *Service) write(ctx context.Context, a *agent.Agent, how *agent.Compaction, gone []session.Event) (string, error) {
	model, err := s.models.Model(ctx, a.Model.Name)
	if f, ok := fault.As(err); ok && f.Kind == fault.KindInvalid {
		return "", fault.Unprocessable("model_unavailable", "%s; change the agent's model.name", f.Text).Because(err)
	}
	if err != nil {
		return "", err
	}
	text, err := compact.Write(usage.AtOnce(usage.Charged(ctx, a.Account())), model, a.Model.Retry, how, gone)
	var failure *llm.Error
	if errors.As(err, &failure) {
		return "", failure.Fault()
	}
	return text, err
}
