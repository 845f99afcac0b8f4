package gemini

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/provider"
)

// Catalog asks an address for its models; see registry.Prober. Vertex lists what Google publishes, whether or not the region
// serves it.
func Catalog(ctx context.Context, s *provider.Shared, c registry.Connection) (registry.Catalog, error) {
	client, key, err := dial(s, c)
	if err != nil {
		return registry.Catalog{}, err
	}
	c.Model = "any"
	to, err := address(c, key)
	if err != nil {
		return registry.Catalog{}, err
	}
	base := strings.TrimSuffix(to, "/models/any:streamGenerateContent?alt=sse")
	list := base
	if u, err := url.Parse(base); err == nil && strings.HasSuffix(base, "/publishers/google") {
		list = u.Scheme + "://" + u.Host + "/v1beta1/publishers/google"
	}
	resp, err := client.Do(ctx, provider.Call{URL: list + "/models?pageSize=1000"})
	if err != nil {
		return registry.Catalog{}, err
	}
	defer resp.Close()
	var listed struct {
		Models    []entry `json:"models"`
		Published []entry `json:"publisherModels"`
	}
	if err := resp.JSON(&listed); err != nil {
		return registry.Catalog{}, err
	}
	out := registry.Catalog{URI: base}
	for _, e := range append(listed.Models, listed.Published...) {
		if offer, ok := e.offer(); ok {
			out.Offers = append(out.Offers, offer)
		}
	}
	if len(out.Offers) == 0 {
		return registry.Catalog{}, resp.BadEvent(errors.New("the list has no models of this format"))
	}
	return out, nil
}

// entry is a model in a list, of AI Studio or of Vertex.
type entry struct {
	Name    string   `json:"name"` // models/… or publishers/google/models/…
	Input   int      `json:"inputTokenLimit"`
	Methods []string `json:"supportedGenerationMethods"`
}

// offer returns the offer of a model; false if it does not generate text: models for vectors, and what Vertex lists besides
// Gemini.
func (e entry) offer() (registry.Offer, bool) {
	_, name, ok := strings.Cut("/"+e.Name, "/models/")
	if !ok || name == "" || e.Methods != nil && !slices.Contains(e.Methods, "generateContent") || e.Methods == nil && !strings.HasPrefix(name, "gemini") {
		return registry.Offer{}, false
	}
	out := registry.Offer{Model: name}
	if e.Input >= llm.MinContext {
		out.Capabilities.ContextLimit = &e.Input
	}
	return out, true
}
