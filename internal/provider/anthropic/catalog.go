package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/provider"
)

// Catalog asks an address for its models; see registry.Prober. Bedrock and Vertex list none where they serve them.
func Catalog(ctx context.Context, s *provider.Shared, c registry.Connection) (registry.Catalog, error) {
	address, err := Endpoints{}.address(c)
	if err != nil {
		return registry.Catalog{}, err
	}
	client, err := dial(s, c, address)
	if err != nil {
		return registry.Catalog{}, err
	}
	base, ok := strings.CutSuffix(address, "/messages")
	if hostOf(c.Auth) != direct || !ok {
		return registry.Catalog{}, client.Failed(llm.Broken, "it has no list of its models")
	}
	resp, err := client.Do(ctx, provider.Call{URL: base + "/models?limit=1000", Header: http.Header{"Anthropic-Version": {version[direct]}}})
	if err != nil {
		return registry.Catalog{}, err
	}
	defer resp.Close()
	var listed struct {
		Data []json.RawMessage `json:"data"`
	}
	if err := resp.JSON(&listed); err != nil {
		return registry.Catalog{}, err
	}
	out := registry.Catalog{URI: address}
	for _, raw := range listed.Data {
		var m struct {
			Type  string `json:"type"`
			ID    string `json:"id"`
			Input int    `json:"max_input_tokens"`
		}
		// OpenAI's list has the same form but for the type of its entries.
		if json.Unmarshal(raw, &m) != nil || m.Type != "model" || m.ID == "" {
			return registry.Catalog{}, resp.BadEvent(errors.New("an entry of the list is no model of this format"))
		}
		offer := registry.Offer{Model: m.ID}
		if m.Input >= llm.MinContext {
			offer.Capabilities.ContextLimit = &m.Input
		}
		out.Offers = append(out.Offers, offer)
	}
	if len(out.Offers) == 0 {
		return registry.Catalog{}, resp.BadEvent(errors.New("the list has no models"))
	}
	return out, nil
}
