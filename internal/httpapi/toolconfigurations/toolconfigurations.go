// Package toolconfigurations is the HTTP handlers of configurations of tools that several agents refer to; wire.go is the only place
// where their wire types meet package configuration, which has the rules. Package app makes the area.
package toolconfigurations

import (
	"context"
	"net/http"

	"quarry/internal/agent/tool/configuration"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/page"
)

// Area answers the operations of configurations.
type Area struct {
	configurations *configuration.Service
	cursors        *page.Cursors
}

// New returns the area; cursors sign its page keys.
func New(s *configuration.Service, cursors *page.Cursors) *Area { return &Area{s, cursors} }

// Handlers implements httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"createToolConfiguration": a.create, "listToolConfigurations": a.list, "getToolConfiguration": a.get,
		"updateToolConfiguration": a.update, "deleteToolConfiguration": a.delete,
	}
}

// inPath is the parameter of a path that names a configuration.
const inPath = "tool_configuration_key"

// Resolvers returns the resolver that reads the configuration in the path, by the name of the parameter.
func Resolvers(s *configuration.Service) map[string]httpapi.Resolver {
	return map[string]httpapi.Resolver{inPath: func(ctx context.Context, c *httpapi.Call) error {
		found, err := s.Get(ctx, c.Path[inPath])
		c.Found = found
		return err
	}}
}

// found returns what the resolver has read.
func found(c *httpapi.Call) configuration.Configuration {
	is, _ := c.Found.(configuration.Configuration)
	return is
}

func (a *Area) create(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	key, change, err := parse(c.Body)
	if err != nil {
		return err
	}
	made, err := a.configurations.Create(r.Context(), c.Rights(), key, change)
	if err != nil {
		return fault.Under(err, "body")
	}
	c.Named = map[string]string{inPath: made.Key}
	return write(w, http.StatusCreated, &made)
}

func (a *Area) list(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope := c.Scope("filter", "type", "enabled")
	after, err := c.After(a.cursors, &scope)
	if err != nil {
		return err
	}
	l := configuration.List{Type: scope.Filters["type"], After: after, Limit: c.Limit(), Enabled: httpapi.Bool(scope.Filters, "enabled")}
	l.Match, err = httpapi.Match(scope.Filters, func(c *configuration.Configuration) []string { return []string{c.Name, c.Description} })
	if err != nil {
		return err
	}
	found, next, err := a.configurations.List(r.Context(), l)
	if err != nil {
		return fault.Under(err, "query")
	}
	out := listBody{Configurations: make([]body, len(found))}
	for i := range found {
		if out.Configurations[i], err = wire(&found[i]); err != nil {
			return err
		}
	}
	out.Metadata.PageKey = a.cursors.Next(scope, next)
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

// get answers with what the resolver has read.
func (a *Area) get(w http.ResponseWriter, _ *http.Request, c *httpapi.Call) error {
	is := found(c)
	return write(w, http.StatusOK, &is)
}

func (a *Area) update(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	key, change, err := parse(c.Body)
	if err != nil {
		return err
	}
	is := found(c)
	if key != "" && key != is.Key {
		return fault.InvalidField("body.key", "must be %s, the key in the path, or be left out: the key of a configuration never changes", is.Key)
	}
	changed, err := a.configurations.Update(r.Context(), c.Rights(), is, change)
	if err != nil {
		return fault.Under(err, "body")
	}
	return write(w, http.StatusOK, &changed)
}

func (a *Area) delete(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return httpapi.NoContent(w, a.configurations.Delete(r.Context(), found(c)))
}

// write answers with a configuration.
func write(w http.ResponseWriter, status int, c *configuration.Configuration) error {
	out, err := wire(c)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, status, out)
}
