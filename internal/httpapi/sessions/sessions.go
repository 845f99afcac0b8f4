// Package sessions is the HTTP handlers of the sessions of agents and of their events; wire.go is the only place where their
// wire types meet package agent/session, which has the rules. Package app makes the areas.
package sessions

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"quarry/internal/agent"
	"quarry/internal/agent/artifact"
	"quarry/internal/agent/fork"
	"quarry/internal/agent/session"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/page"
)

// Area answers the operations that manage sessions and read their events.
type Area struct {
	sessions *session.Service
	forks    *fork.Service
	turns    *Turns
	cursors  *page.Cursors
}

// New returns the area. Events are followed by turns; cursors sign the page keys.
func New(s *session.Service, forks *fork.Service, turns *Turns, cursors *page.Cursors) *Area {
	return &Area{s, forks, turns, cursors}
}

// Handlers implements httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"createAgentSession": a.create, "listAgentSessions": a.list, "getAgentSession": a.get, "updateAgentSession": a.update, "deleteAgentSession": a.delete,
		"listAgentEvents": a.events, "getAgentEvent": a.event, "deleteAgentEvent": a.deleteEvent, "hideAgentEvent": a.hide, "unhideAgentEvent": a.unhide,
	}
}

// place is what the path of a request names, as far as it goes.
type place struct {
	agent   agent.Agent
	session session.Session
	event   session.Event
	file    artifact.Artifact
}

// Resolvers check that the session and the event in a path exist. The resolver of agent_key has put the agent into the call.
func Resolvers(s *session.Service) map[string]httpapi.Resolver {
	return map[string]httpapi.Resolver{
		"session_key": func(ctx context.Context, c *httpapi.Call) (err error) {
			p := placed(c)
			p.session, err = s.Get(ctx, p.agent.No, c.Path["session_key"])
			c.Found = p
			return err
		},
		"event_id": func(ctx context.Context, c *httpapi.Call) (err error) {
			p := placed(c)
			p.event, err = s.Event(ctx, p.session.No, id.Event(c.Path["event_id"]))
			c.Found = p
			return err
		},
	}
}

// placed returns what the resolvers have found.
func placed(c *httpapi.Call) place {
	switch found := c.Found.(type) {
	case agent.Agent:
		return place{agent: found}
	case place:
		return found
	}
	return place{}
}

func (a *Area) create(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var body createBody
	if err := httpapi.Decode(c.Body, &body); err != nil {
		return err
	}
	of, draft := placed(c).agent, body.draft()
	draft.Caller = caller(c)
	var made session.Session
	var err error
	if of.Enriches() || body.From.compacts() { // what calls tools or a model takes the place of a turn
		leave, err := c.Turn(r.Context())
		if err != nil {
			return err
		}
		defer leave()
	}
	if body.From != nil {
		made, err = a.fork(r.Context(), c, &of, draft, body.From)
	} else {
		made, err = a.sessions.Create(r.Context(), &of, draft)
	}
	if err != nil {
		return fault.Under(err, "body")
	}
	c.Named = map[string]string{"session_key": made.Key}
	return httpapi.WriteJSON(w, http.StatusCreated, wireSession(&made))
}

// caller returns who has sent a request. Nothing of it is taken from what was sent.
func caller(c *httpapi.Call) session.Caller {
	p := &c.Principal
	return session.Caller{Rights: c.Rights(), Caller: reference.Caller{Type: string(p.Kind), ID: p.ID, Email: p.Email}}
}

// fork opens a session that goes on from another one.
func (a *Area) fork(ctx context.Context, c *httpapi.Call, of *agent.Agent, d session.Draft, body *fromBody) (session.Session, error) {
	from, err := body.from()
	if err != nil {
		return session.Session{}, err
	}
	all, keys := c.Agents("listAgentEvents")
	lists := func(key string) bool { return all || slices.Contains(keys, key) }
	return a.forks.Create(ctx, of, d, from, fork.Caller{Name: d.Caller.Name(), Lists: lists})
}

func (a *Area) list(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope := c.Scope("filter", "metadata_filter", "sort_by", "order_by")
	of := placed(c).agent.No
	scope.Filters["agent"] = strconv.FormatInt(of, 10)
	after, err := c.After(a.cursors, &scope)
	if err != nil {
		return err
	}
	q := session.Query{
		AgentNo: of, ByEvent: scope.Filters["sort_by"] == "updated_at", Oldest: scope.Filters["order_by"] == "asc",
		After: after, Limit: c.Limit(), Metadata: scope.Filters["metadata_filter"],
	}
	if q.Pattern, err = httpapi.Pattern(scope.Filters["filter"]); err != nil {
		return err
	}
	found, next, err := a.sessions.List(r.Context(), q)
	if err != nil {
		return fault.Under(err, "query")
	}
	out := listBody{Sessions: make([]sessionBody, len(found))}
	for i := range found {
		out.Sessions[i] = wireSession(&found[i])
	}
	out.Metadata.PageKey = a.cursors.Next(scope, next)
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

// get answers with what the resolver has read, as event does.
func (a *Area) get(w http.ResponseWriter, _ *http.Request, c *httpapi.Call) error {
	p := placed(c)
	return httpapi.WriteJSON(w, http.StatusOK, wireSession(&p.session))
}

func (a *Area) update(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var body updateBody
	if err := httpapi.Decode(c.Body, &body); err != nil {
		return err
	}
	p := placed(c)
	changed, err := a.sessions.Update(r.Context(), &p.session, session.Change(body))
	if err != nil {
		return fault.Under(err, "body")
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireSession(&changed))
}

func (a *Area) delete(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return httpapi.NoContent(w, a.sessions.Delete(r.Context(), placed(c).session.No))
}

// defaultEvents is the contract's size of a page of events.
const defaultEvents = 20

func (a *Area) events(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	if c.Query.Get("follow") == "true" {
		return a.turns.follow(w, r, c)
	}
	if c.Query.Get("since") != "" {
		return fault.InvalidField("query.since", "is for follow=true; page_key leads to further pages of a list")
	}
	scope, p := c.Scope("include_hidden"), placed(c)
	scope.Filters["session"] = strconv.FormatInt(p.session.No, 10)
	position, err := c.Position(a.cursors, &scope)
	if err != nil {
		return err
	}
	ask := session.Page{Session: p.session.No, Limit: c.LimitOr(defaultEvents), Hidden: scope.Filters["include_hidden"] == "true"}
	if position != nil {
		if ask.After, err = ordOf(position); err != nil {
			return err
		}
	}
	found, next, total, err := a.sessions.Events(r.Context(), ask)
	if err != nil {
		return err
	}
	out := eventsBody{Events: make([]eventBody, len(found))}
	for i := range found {
		out.Events[i] = wireEvent(p.session.Key, &found[i])
	}
	out.Metadata.Total = total
	if next != 0 {
		out.Metadata.PageKey = opt.NonZero(a.cursors.Encode(scope, strconv.FormatInt(next, 10)))
	}
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

// ordOf returns the place in a page key.
func ordOf(position []string) (int64, error) {
	if len(position) == 1 {
		if ord, err := strconv.ParseInt(position[0], 10, 64); err == nil {
			return ord, nil
		}
	}
	return 0, fault.Under(page.Foreign(), "query")
}

func (a *Area) event(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	p := placed(c)
	out := wireEvent(p.session.Key, &p.event)
	if searched(&p.event) {
		call, ok, err := a.sessions.Call(r.Context(), p.session.No, &p.event)
		if err != nil {
			return err
		}
		out.ToolOutput = withDerived(&p.event, &call, ok)
	}
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

func (a *Area) deleteEvent(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	p := placed(c)
	return httpapi.NoContent(w, a.sessions.DeleteEvent(r.Context(), p.session.No, p.event.ID))
}

func (a *Area) hide(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return show(w, r, c, a.sessions.Hide)
}

func (a *Area) unhide(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return show(w, r, c, a.sessions.Unhide)
}

func show(w http.ResponseWriter, r *http.Request, c *httpapi.Call, change func(context.Context, int64, *session.Event) (session.Event, error)) error {
	p := placed(c)
	changed, err := change(r.Context(), p.session.No, &p.event)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireEvent(p.session.Key, &changed))
}
