// Package agents is the HTTP handlers of agents; wire.go and change.go are the only places where their wire types meet package
// agent, which has the rules. Package app makes the area.
package agents

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"quarry/internal/agent"
	"quarry/internal/agent/identity"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/page"
)

// Area answers the operations of agents.
type Area struct {
	agents     *agent.Service
	identities *identity.Service
	cursors    *page.Cursors
}

// New returns the area; cursors sign its page keys.
func New(s *agent.Service, identities *identity.Service, cursors *page.Cursors) *Area {
	return &Area{s, identities, cursors}
}

// Handlers implements httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"createAgent": a.create, "listAgents": a.list, "getAgent": a.get,
		"updateAgent": a.update, "replaceAgent": a.replace, "deleteAgent": a.delete,
		"getAgentIdentity": a.identity, "updateAgentIdentity": a.changeIdentity,
	}
}

// Resolver returns a resolver that reads the agent in the path.
func Resolver(s *agent.Service) httpapi.Resolver {
	return func(ctx context.Context, c *httpapi.Call) error {
		found, err := s.Get(ctx, c.Path["agent_key"])
		c.Found = found
		return err
	}
}

// found returns what the resolver has read.
func found(c *httpapi.Call) agent.Agent {
	a, _ := c.Found.(agent.Agent)
	return a
}

// gone returns an error with the key of the agent in the path if the agent was deleted since it was found.
func gone(err error, c *httpapi.Call) error {
	if fault.Is(err, fault.KindNotFound) {
		return agent.Missing(c.Path["agent_key"])
	}
	return err
}

// writer returns what the caller may put into an agent.
func writer(c *httpapi.Call) agent.Writer { return agent.Writer{Rights: c.Rights()} }

func (a *Area) create(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	key, change, err := parse(c.Body)
	if err != nil {
		return err
	}
	made, err := a.agents.Create(r.Context(), writer(c), key, change)
	if err != nil {
		return fault.Under(err, "body")
	}
	c.Named = map[string]string{"agent_key": made.Key}
	return httpapi.WriteJSON(w, http.StatusCreated, wireAgent(&made))
}

func (a *Area) list(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope := c.Scope("filter", "enabled")
	after, err := c.After(a.cursors, &scope)
	if err != nil {
		return err
	}
	l := agent.List{After: after, Limit: c.Limit(), Enabled: httpapi.Bool(scope.Filters, "enabled")}
	l.All, l.Keys = c.Agents("listAgents")
	l.Match, err = httpapi.Match(scope.Filters, func(a *agent.Agent) []string { return []string{a.Name, a.Description} })
	if err != nil {
		return err
	}
	found, next, err := a.agents.List(r.Context(), l)
	if err != nil {
		return err
	}
	out := listBody{Agents: make([]agentBody, len(found))}
	readsAll, reads := c.Agents("getAgent")
	for i := range found {
		if !readsAll && !slices.Contains(reads, found[i].Key) {
			found[i].Definition = hidden(&found[i].Definition)
		}
		out.Agents[i] = wireAgent(&found[i])
	}
	out.Metadata.PageKey = a.cursors.Next(scope, next)
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

// hidden returns what is seen of a definition by those who may use the agent and not read its configuration.
func hidden(d *agent.Definition) agent.Definition {
	return agent.Definition{
		Name: d.Name, Description: d.Description, Enabled: d.Enabled, Model: agent.Model{Name: d.Model.Name},
		Entry: agent.FirstStep, Steps: map[string]agent.Step{agent.FirstStep: {}}, Metadata: json.RawMessage(`{}`), Compaction: agent.DefaultCompaction,
	}
}

func (a *Area) get(w http.ResponseWriter, _ *http.Request, c *httpapi.Call) error {
	is := found(c)
	return httpapi.WriteJSON(w, http.StatusOK, wireAgent(&is))
}

func (a *Area) update(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	_, change, err := parse(c.Body)
	if err != nil {
		return err
	}
	changed, err := a.agents.Update(r.Context(), writer(c), found(c), change)
	if err != nil {
		return fault.Under(err, "body")
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireAgent(&changed))
}

func (a *Area) replace(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	key, change, err := parse(c.Body)
	if err != nil {
		return err
	}
	is := found(c)
	if key != "" && key != is.Key {
		return fault.InvalidField("body.key", "must be %s, the key in the path, or be left out: the key of an agent never changes", is.Key)
	}
	changed, err := a.agents.Replace(r.Context(), writer(c), is, change)
	if err != nil {
		return fault.Under(err, "body")
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireAgent(&changed))
}

func (a *Area) delete(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return httpapi.NoContent(w, a.agents.Delete(r.Context(), found(c)))
}
