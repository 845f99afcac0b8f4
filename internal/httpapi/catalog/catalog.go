// Package catalog holds the handlers that list what a request can name: rerankers, encoders and correctors. What they
// are is in packages rerank, embed and verify.
package catalog

import (
	"net/http"

	"quarry/internal/answer/verify/correct"
	"quarry/internal/api"
	"quarry/internal/corpus"
	"quarry/internal/embed"
	"quarry/internal/httpapi"
	"quarry/internal/page"
	"quarry/internal/query/rerank"
)

// Area is the list operations.
type Area struct {
	encoders *embed.Registry
	correct  *correct.Service
	cursors  *page.Cursors
}

// New returns the area; cursors sign the page keys.
func New(e *embed.Registry, v *correct.Service, c *page.Cursors) *Area { return &Area{e, v, c} }

// Handlers returns the handler of each operation.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"listRerankers": a.rerankers, "listEncoders": a.listEncoders, "listHallucinationCorrectors": a.correctors,
	}
}

func (a *Area) rerankers(w http.ResponseWriter, _ *http.Request, c *httpapi.Call) error {
	found, metadata, err := list(a, c, rerank.Listed(), func(x rerank.Listing) (string, string, string) { return x.ID, x.Name, x.Description })
	if err != nil {
		return err
	}
	out := make([]api.Reranker, len(found))
	for i, x := range found {
		enabled := true
		out[i] = api.Reranker{Id: x.ID, Name: x.Name, Description: &x.Description, Enabled: &enabled}
	}
	return httpapi.WriteJSON(w, http.StatusOK, api.ListRerankersResponse{Rerankers: &out, Metadata: metadata})
}

func (a *Area) listEncoders(w http.ResponseWriter, _ *http.Request, c *httpapi.Call) error {
	identify := func(e embed.Encoder) (string, string, string) {
		return corpus.EncoderID(e.Fingerprint()), e.Name(), describe(e)
	}
	found, metadata, err := list(a, c, a.encoders.List(), identify)
	if err != nil {
		return err
	}
	out := make([]api.Encoder, len(found))
	for i, e := range found {
		id, name, description := identify(e)
		kind, dimensions, first, enabled, images := "vectara", int32(e.Dim()), name == embed.DefaultName, true, false
		out[i] = api.Encoder{
			Id: id, Name: name, Description: &description, Type: &kind, OutputDimensions: &dimensions,
			Default: &first, Enabled: &enabled, ImageEncoding: &images,
		}
	}
	return httpapi.WriteJSON(w, http.StatusOK, api.ListEncodersResponse{Encoders: &out, Metadata: metadata})
}

func (a *Area) correctors(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	all, err := a.correct.Correctors(r.Context())
	if err != nil {
		return err
	}
	found, metadata, err := list(a, c, all, func(x correct.Corrector) (string, string, string) { return x.ID, x.Name, x.Description })
	if err != nil {
		return err
	}
	out := make([]api.HallucinationCorrector, len(found))
	for i, x := range found {
		kind := "vectara"
		out[i] = api.HallucinationCorrector{Id: x.ID, Name: x.Name, Type: &kind, Description: &x.Description, Enabled: &x.Enabled}
	}
	return httpapi.WriteJSON(w, http.StatusOK, api.ListHallucinationCorrectorsResponse{HallucinationCorrectors: &out, Metadata: metadata})
}

func describe(e embed.Encoder) string {
	if e.Name() == embed.DefaultName {
		return "The encoder inside the program (all-MiniLM-L6-v2, English first), also named " + embed.NeutralAlias + "."
	}
	return "An encoder from a folder of this installation."
}

// list returns the page of all, in its order, that the call asks for. identify returns id, name and description.
func list[T any](a *Area, c *httpapi.Call, all []T, identify func(T) (id, name, description string)) ([]T, *api.ListMetadata, error) {
	scope := c.Scope("filter")
	position, err := c.Position(a.cursors, &scope)
	if err != nil {
		return nil, nil, err
	}
	match, err := httpapi.Pattern(scope.Filters["filter"])
	if err != nil {
		return nil, nil, err
	}
	limit := c.Limit()
	metadata := &api.ListMetadata{}
	out := make([]T, 0, limit)
	seen := len(position) == 0
	for _, x := range all {
		_, name, description := identify(x)
		if !seen {
			seen = name == position[0]
			continue
		}
		if match != nil && !match.MatchString(name) && !match.MatchString(description) {
			continue
		}
		if len(out) == limit {
			_, last, _ := identify(out[limit-1])
			key := a.cursors.Encode(scope, last)
			metadata.PageKey = &key
			break
		}
		out = append(out, x)
	}
	return out, metadata, nil
}
