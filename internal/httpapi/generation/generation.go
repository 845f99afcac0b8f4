// Package generation is the HTTP handlers of generation presets; wire.go is the only place where their wire types meet
// package generate. The rules themselves are there. Package app makes the Area.
package generation

import (
	"net/http"

	"quarry/internal/answer/generate"
	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/page"
)

// Area answers the operations of generation presets.
type Area struct {
	presets *generate.Presets
	cursors *page.Cursors
}

// New returns the area; cursors sign its page keys.
func New(presets *generate.Presets, cursors *page.Cursors) *Area { return &Area{presets, cursors} }

// Handlers implements httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"listGenerationPresets": a.list, "createGenerationPreset": a.create, "replaceGenerationPreset": a.replace, "deleteGenerationPreset": a.delete,
	}
}

func (a *Area) create(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	p, err := preset(c.Body)
	if err != nil {
		return err
	}
	made, err := a.presets.Create(r.Context(), p)
	if err != nil {
		return fault.Under(err, "body")
	}
	c.Named = map[string]string{"generation_preset_id": string(made.ID)}
	return httpapi.WriteJSON(w, http.StatusCreated, wirePreset(made))
}

func (a *Area) replace(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	p, err := preset(c.Body)
	if err != nil {
		return err
	}
	p.ID = named(c)
	made, err := a.presets.Replace(r.Context(), p)
	if err != nil {
		return fault.Under(err, "body")
	}
	return httpapi.WriteJSON(w, http.StatusOK, wirePreset(made))
}

func (a *Area) delete(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	if err := a.presets.Delete(r.Context(), named(c)); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func named(c *httpapi.Call) id.Preset { return id.Preset(c.Path["generation_preset_id"]) }

func (a *Area) list(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope := c.Scope("filter", "llm_name")
	after, err := c.After(a.cursors, &scope)
	if err != nil {
		return err
	}
	l := generate.PresetList{Limit: c.Limit(), After: after, LLM: scope.Filters["llm_name"]}
	if l.Match, err = httpapi.Pattern(scope.Filters["filter"]); err != nil {
		return err
	}
	found, next, err := a.presets.List(r.Context(), l)
	if err != nil {
		return err
	}
	out := make([]api.GenerationPreset, len(found))
	for i, p := range found {
		out[i] = wirePreset(p)
	}
	metadata := &api.ListMetadata{PageKey: a.cursors.Next(scope, next)}
	return httpapi.WriteJSON(w, http.StatusOK, api.ListGenerationPresetsResponse{GenerationPresets: &out, Metadata: metadata})
}
