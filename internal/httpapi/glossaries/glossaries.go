// Package glossaries is the HTTP handlers of glossaries and their entries; wire.go is the only place where their wire types meet package
// glossary, which has the rules. Package app makes the area.
package glossaries

import (
	"context"
	"net/http"
	"strconv"

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/glossary"
	"quarry/internal/httpapi"
	"quarry/internal/opt"
	"quarry/internal/page"
)

// Area answers the operations of glossaries.
type Area struct {
	glossaries *glossary.Service
	cursors    *page.Cursors
}

// New returns the area; cursors sign its page keys.
func New(s *glossary.Service, cursors *page.Cursors) *Area { return &Area{s, cursors} }

// Handlers implements httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"createGlossary": a.create, "listGlossaries": a.list, "getGlossary": a.get, "updateGlossary": a.update, "deleteGlossary": a.delete,
		"upsertGlossaryEntries": a.put, "listGlossaryEntries": a.entries, "deleteGlossaryEntries": a.remove,
	}
}

// inPath is the parameter of a path that names a glossary.
const inPath = "glossary_key"

// Resolvers returns the resolver that reads the glossary in the path, by the name of the parameter.
func Resolvers(s *glossary.Service) map[string]httpapi.Resolver {
	return map[string]httpapi.Resolver{inPath: func(ctx context.Context, c *httpapi.Call) error {
		found, err := s.Get(ctx, c.Path[inPath])
		c.Found = found
		return err
	}}
}

// found returns what the resolver has read.
func found(c *httpapi.Call) glossary.Glossary {
	is, _ := c.Found.(glossary.Glossary)
	return is
}

func (a *Area) create(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	key, change, err := parse(c.Body)
	if err != nil {
		return err
	}
	made, err := a.glossaries.Create(r.Context(), key, change)
	if err != nil {
		return fault.Under(err, "body")
	}
	c.Named = map[string]string{inPath: made.Key}
	return httpapi.WriteJSON(w, http.StatusCreated, wire(&made))
}

func (a *Area) list(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope := c.Scope("filter")
	after, err := c.After(a.cursors, &scope)
	if err != nil {
		return err
	}
	found, next, err := a.glossaries.List(r.Context(), scope.Filters["filter"], after, c.Limit())
	if err != nil {
		return err
	}
	out := api.ListGlossariesResponse{Glossaries: make([]api.Glossary, len(found))}
	for i := range found {
		out.Glossaries[i] = wire(&found[i])
	}
	out.Metadata.PageKey = a.cursors.Next(scope, next)
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

// get answers with what the resolver has read.
func (a *Area) get(w http.ResponseWriter, _ *http.Request, c *httpapi.Call) error {
	is := found(c)
	return httpapi.WriteJSON(w, http.StatusOK, wire(&is))
}

func (a *Area) update(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	_, change, err := parse(c.Body)
	if err != nil {
		return err
	}
	changed, err := a.glossaries.Update(r.Context(), found(c), change)
	if err != nil {
		return fault.Under(err, "body")
	}
	return httpapi.WriteJSON(w, http.StatusOK, wire(&changed))
}

func (a *Area) delete(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return httpapi.NoContent(w, a.glossaries.Delete(r.Context(), found(c)))
}

func (a *Area) put(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var b api.UpsertGlossaryEntriesRequest
	if err := httpapi.Decode(c.Body, &b); err != nil {
		return err
	}
	return httpapi.NoContent(w, fault.Under(a.glossaries.Put(r.Context(), found(c), b.Entries), "body"))
}

func (a *Area) remove(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	var b api.DeleteGlossaryEntriesRequest
	if err := httpapi.Decode(c.Body, &b); err != nil {
		return err
	}
	return httpapi.NoContent(w, fault.Under(a.glossaries.Remove(r.Context(), found(c), b.Terms), "body"))
}

// defaultEntries is the contract's size of a page of entries.
const defaultEntries = 100

func (a *Area) entries(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	is, scope := found(c), c.Scope()
	scope.Filters["glossary"] = strconv.FormatInt(is.No, 10)
	position, err := c.Position(a.cursors, &scope)
	if err != nil {
		return err
	}
	after := ""
	if len(position) == 1 {
		after = position[0]
	}
	found, next, err := a.glossaries.Entries(r.Context(), is, after, c.LimitOr(defaultEntries))
	if err != nil {
		return err
	}
	out := wireEntries(found)
	if next != nil {
		out.Metadata.PageKey = opt.NonZero(a.cursors.Encode(scope, *next))
	}
	return httpapi.WriteJSON(w, http.StatusOK, out)
}
