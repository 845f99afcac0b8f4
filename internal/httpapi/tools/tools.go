// Package tools is the HTTP handlers of the tools of the catalogue; wire.go is the only place where their wire types meet
// package catalog, which has the rules. Package app makes the area.
package tools

import (
	"context"
	"net/http"
	"strings"

	"quarry/internal/agent/tool/catalog"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/page"
)

// Area answers the operations of tools.
type Area struct {
	tools   *catalog.Service
	cursors *page.Cursors
}

// New returns the area; cursors sign its page keys.
func New(s *catalog.Service, cursors *page.Cursors) *Area { return &Area{s, cursors} }

// Handlers implements httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"createTool": a.create, "listTools": a.list, "getTool": a.get, "updateTool": a.update, "deleteTool": a.delete,
	}
}

// Resolver returns a resolver that reads the tool in the path.
func Resolver(s *catalog.Service) httpapi.Resolver {
	return func(ctx context.Context, c *httpapi.Call) error {
		found, err := s.Get(ctx, id.Tool(c.Path["tool_id"]))
		c.Found = found
		return err
	}
}

// found returns what the resolver has read.
func found(c *httpapi.Call) catalog.Tool {
	t, _ := c.Found.(catalog.Tool)
	return t
}

func (a *Area) create(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	change, err := parse(c.Body)
	if err != nil {
		return err
	}
	made, err := a.tools.Create(r.Context(), change)
	if err != nil {
		return fault.Under(err, "body")
	}
	c.Named = map[string]string{"tool_id": string(made.ID)}
	return httpapi.WriteJSON(w, http.StatusCreated, wireTool(&made))
}

// defaultLimit is the contract's size of a page of tools.
const defaultLimit = 50

func (a *Area) list(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope := c.Scope("filter", "type", "enabled", "tool_server_id")
	if given := c.Query["category"]; len(given) > 0 {
		scope.Filters["category"] = strings.Join(given, "\n")
	}
	after, err := c.After(a.cursors, &scope)
	if err != nil {
		return err
	}
	l := catalog.List{
		Type: scope.Filters["type"], Server: scope.Filters["tool_server_id"], After: after,
		Limit: c.LimitOr(defaultLimit), Enabled: httpapi.Bool(scope.Filters, "enabled"),
	}
	l.Match, err = httpapi.Match(scope.Filters, func(t *catalog.Tool) []string { return []string{t.Name, t.Description} })
	if err != nil {
		return err
	}
	if v, given := scope.Filters["category"]; given {
		l.Categories = strings.Split(v, "\n")
	}
	found, next, err := a.tools.List(r.Context(), l)
	if err != nil {
		return fault.Under(err, "query")
	}
	out := listBody{Tools: make([]toolBody, len(found))}
	for i := range found {
		out.Tools[i] = wireTool(&found[i])
	}
	out.Metadata.PageKey = a.cursors.Next(scope, next)
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

// get answers with what the resolver has read.
func (a *Area) get(w http.ResponseWriter, _ *http.Request, c *httpapi.Call) error {
	t := found(c)
	return httpapi.WriteJSON(w, http.StatusOK, wireTool(&t))
}

func (a *Area) update(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	change, err := parse(c.Body)
	if err != nil {
		return err
	}
	changed, err := a.tools.Update(r.Context(), found(c), change)
	if err != nil {
		return fault.Under(err, "body")
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireTool(&changed))
}

func (a *Area) delete(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return httpapi.NoContent(w, a.tools.Delete(r.Context(), found(c)))
}
