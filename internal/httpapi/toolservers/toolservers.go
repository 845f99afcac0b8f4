// Package toolservers is the HTTP handlers of tool servers; wire.go is the only place where their wire types meet package server,
// which has the rules. Package app makes the area.
package toolservers

import (
	"context"
	"net/http"

	"quarry/internal/agent/tool/server"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/page"
)

// Area answers the operations of tool servers.
type Area struct {
	servers *server.Service
	cursors *page.Cursors
}

// New returns the area; cursors sign its page keys.
func New(s *server.Service, cursors *page.Cursors) *Area { return &Area{s, cursors} }

// Handlers implements httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"createToolServer": a.create, "listToolServers": a.list, "getToolServer": a.get, "updateToolServer": a.update,
		"deleteToolServer": a.delete, "syncToolServer": a.sync,
	}
}

// Resolver returns a resolver that reads the tool server in the path.
func Resolver(s *server.Service) httpapi.Resolver {
	return func(ctx context.Context, c *httpapi.Call) error {
		found, err := s.Get(ctx, id.ToolServer(c.Path["tool_server_id"]))
		c.Found = found
		return err
	}
}

// found returns what the resolver has read.
func found(c *httpapi.Call) server.Server {
	v, _ := c.Found.(server.Server)
	return v
}

func (a *Area) create(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	change, err := parse(c.Body)
	if err != nil {
		return err
	}
	made, err := a.servers.Create(r.Context(), change)
	if err != nil {
		return fault.Under(err, "body")
	}
	c.Named = map[string]string{"tool_server_id": string(made.ID)}
	return httpapi.WriteJSON(w, http.StatusCreated, wireServer(&made))
}

func (a *Area) list(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope := c.Scope("filter", "type", "enabled")
	after, err := c.After(a.cursors, &scope)
	if err != nil {
		return err
	}
	l := server.List{Type: scope.Filters["type"], After: after, Limit: c.Limit(), Enabled: httpapi.Bool(scope.Filters, "enabled")}
	l.Match, err = httpapi.Match(scope.Filters, func(v *server.Server) []string { return []string{v.Name, v.Description} })
	if err != nil {
		return err
	}
	found, next, err := a.servers.List(r.Context(), l)
	if err != nil {
		return fault.Under(err, "query")
	}
	out := listBody{Servers: make([]serverBody, len(found))}
	for i := range found {
		out.Servers[i] = wireServer(&found[i])
	}
	out.Metadata.PageKey = a.cursors.Next(scope, next)
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

// get answers with what the resolver has read.
func (a *Area) get(w http.ResponseWriter, _ *http.Request, c *httpapi.Call) error {
	v := found(c)
	return httpapi.WriteJSON(w, http.StatusOK, wireServer(&v))
}

func (a *Area) update(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	change, err := parse(c.Body)
	if err != nil {
		return err
	}
	changed, err := a.servers.Update(r.Context(), found(c), change)
	if err != nil {
		return fault.Under(err, "body")
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireServer(&changed))
}

func (a *Area) delete(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return httpapi.NoContent(w, a.servers.Delete(r.Context(), found(c)))
}

func (a *Area) sync(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return httpapi.NoContent(w, a.servers.Sync(r.Context(), found(c)))
}
