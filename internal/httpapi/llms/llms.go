// Package llms is the HTTP handlers of registered language models; wire.go is the only place where their wire types meet
// package llm. The rules themselves are there. Package app makes the Area.
package llms

import (
	"context"
	"encoding/json"
	"net/http"

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/llm/registry"
	"quarry/internal/opt"
	"quarry/internal/page"
)

// Area answers the operations of language models.
type Area struct {
	models  *registry.Service
	cursors *page.Cursors
}

// New returns the area; cursors sign its page keys.
func New(models *registry.Service, cursors *page.Cursors) *Area { return &Area{models, cursors} }

// Handlers implements httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"createLLM": a.create, "listLLMs": a.list, "getLLM": a.get, "updateLLM": a.update, "deleteLLM": a.delete,
		"discoverLLMs": a.discover, "getLLMUsage": a.usage,
	}
}

func (a *Area) create(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	cmd, err := createCommand(c.Body)
	if err != nil {
		return err
	}
	made, err := a.models.Create(r.Context(), cmd)
	if err != nil {
		return fault.Under(err, "body")
	}
	c.Named = map[string]string{"llm_id": string(made.ID)}
	return answer(w, http.StatusCreated, made)
}

// answer writes a model.
func answer(w http.ResponseWriter, status int, l registry.LLM) error {
	out, err := wireLLM(l)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, status, out)
}

func (a *Area) get(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	found, err := a.models.Get(r.Context(), c.Path["llm_id"])
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, found)
}

func (a *Area) usage(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	used, err := a.models.Used(r.Context(), c.Path["llm_id"])
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireUsage(used))
}

func (a *Area) update(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	body, typed, err := a.checked(r.Context(), c)
	if err != nil {
		return err
	}
	p, err := patchCommand(body)
	if err != nil {
		return err
	}
	if !typed {
		p.Type = opt.Field[registry.Type]{}
	}
	changed, err := a.models.Update(r.Context(), c.Path["llm_id"], p)
	if err != nil {
		return fault.Under(err, "body")
	}
	return answer(w, http.StatusOK, changed)
}

// checked returns the body of a change, and whether it names the type. The chain checks a body that does; one that does not can
// only be checked here, where the type is known.
func (a *Area) checked(ctx context.Context, c *httpapi.Call) (body json.RawMessage, typed bool, err error) {
	if len(c.Body) == 0 {
		return nil, false, nil
	}
	var members map[string]json.RawMessage
	if err := httpapi.Decode(c.Body, &members); err != nil {
		return nil, false, err
	}
	if t, ok := members["type"]; ok && string(t) != "null" {
		return c.Body, true, nil
	}
	found, err := a.models.Get(ctx, c.Path["llm_id"])
	if err != nil || found.Platform { // which can't be changed, whatever the body says
		return c.Body, false, err
	}
	if members["type"], err = json.Marshal(found.Type); err != nil {
		return nil, false, err
	}
	if body, err = json.Marshal(members); err != nil {
		return nil, false, err
	}
	body, err = httpapi.CheckAs(body, "body", "UpdateLLMRequest")
	return body, false, err
}

func (a *Area) delete(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	if err := a.models.Delete(r.Context(), c.Path["llm_id"]); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *Area) list(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope, q := c.Scope("filter"), registry.List{Limit: c.Limit()}
	var err error
	if q.After, err = c.After(a.cursors, &scope); err != nil {
		return err
	}
	if q.Match, err = httpapi.Pattern(scope.Filters["filter"]); err != nil {
		return err
	}
	found, next, err := a.models.List(r.Context(), q)
	if err != nil {
		return err
	}
	out := make([]api.LLM, len(found))
	for i, l := range found {
		if out[i], err = wireLLM(l); err != nil {
			return err
		}
	}
	metadata := &api.ListMetadata{PageKey: a.cursors.Next(scope, next)}
	return httpapi.WriteJSON(w, http.StatusOK, api.ListLLMsResponse{Llms: &out, Metadata: metadata})
}

func (a *Area) discover(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	cmd, err := discoverCommand(c.Body)
	if err != nil {
		return err
	}
	found, err := a.models.Discover(r.Context(), cmd)
	if err != nil {
		return fault.Under(err, "body")
	}
	out := api.DiscoverLLMsResponse{Candidates: make([]api.LLMCandidate, len(found))}
	for i, f := range found {
		out.Candidates[i] = wireCandidate(f)
	}
	return httpapi.WriteJSON(w, http.StatusOK, out)
}
