// Package generation is the HTTP handlers of generation presets; wire.go is the only place where their wire types meet
// package generate. The rules themselves are there. Package app makes the Area.
package generation

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/generate"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/page"
)

// Area answers the operations of generation presets.
type Area struct {
	presets *generate.Presets
	cursors *page.Cursors
}

// New gives the area; cursors sign its page keys.
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
		return err
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
		return err
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

// defaultLimit is the contract's for lists of presets.
const defaultLimit = 10

func (a *Area) list(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope := page.Scope{Operation: c.Op.ID, Filters: map[string]string{}}
	for _, name := range []string{"filter", "llm_name"} {
		if v := c.Query.Get(name); v != "" {
			scope.Filters[name] = v
		}
	}
	at, err := a.cursors.Decode(&scope, c.Query.Get("page_key"))
	if err != nil {
		return err
	}
	l := generate.PresetList{Limit: defaultLimit, LLM: scope.Filters["llm_name"]}
	if at != nil {
		if l.After, err = position(at); err != nil {
			return err
		}
	}
	if v := c.Query.Get("limit"); v != "" {
		l.Limit, _ = strconv.Atoi(v) // the chain has checked it
	}
	if v := scope.Filters["filter"]; v != "" {
		if l.Match, err = regexp.Compile(v); err != nil {
			return fault.InvalidField("query.filter", "is not a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
	found, next, err := a.presets.List(r.Context(), l)
	if err != nil {
		return err
	}
	out := make([]api.GenerationPreset, len(found))
	for i, p := range found {
		out[i] = wirePreset(p)
	}
	metadata := &api.ListMetadata{}
	if next != nil {
		key := a.cursors.Encode(scope, strconv.FormatInt(next.Created, 10), string(next.ID))
		metadata.PageKey = &key
	}
	return httpapi.WriteJSON(w, http.StatusOK, api.ListGenerationPresetsResponse{GenerationPresets: &out, Metadata: metadata})
}

func position(parts []string) (*generate.PresetPosition, error) {
	bad := fault.InvalidField("query.page_key", "is not a token of this list; start again without page_key")
	if len(parts) != 2 {
		return nil, bad
	}
	created, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return nil, bad
	}
	return &generate.PresetPosition{Created: created, ID: id.Preset(parts[1])}, nil
}
