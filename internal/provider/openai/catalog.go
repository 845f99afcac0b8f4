package openai

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/provider"
)

// Catalog lists the models of an address in the way that all servers of these formats share. The address may be the root of a
// server, the base of its interface or an endpoint; see registry.Prober.
func Catalog(ctx context.Context, s *provider.Shared, c registry.Connection) (registry.Catalog, error) {
	u, err := provider.ParseURI(c.URI)
	if err != nil {
		return registry.Catalog{}, err
	}
	client, err := provider.NewClient(s, c, nil)
	if err != nil {
		return registry.Catalog{}, err
	}
	var failed error
	for _, root := range roots(u) {
		offers, err := list(ctx, client, root)
		if err != nil {
			if failed == nil {
				failed = err
			}
			if ctx.Err() != nil {
				break
			}
			continue
		}
		endpoint := chatPath
		if c.Type == registry.Responses {
			endpoint = responsesPath
		}
		return registry.Catalog{URI: withPath(root, root.Path+endpoint).String(), Offers: offers}, nil
	}
	return registry.Catalog{}, failed
}

// endpoints matches the ends of addresses below the base of an interface.
var endpoints = regexp.MustCompile(`/(chat/completions|responses|completions|embeddings|models)/?$`)

// roots returns the bases that an address may mean, the likeliest first.
func roots(u *url.URL) []*url.URL {
	path := strings.TrimRight(u.Path, "/")
	if endpoints.MatchString(path) {
		path = deployment.ReplaceAllString(endpoints.ReplaceAllString(path, ""), "/openai")
		return []*url.URL{withPath(u, path)}
	}
	if base.MatchString(path) && path != "" {
		return []*url.URL{withPath(u, path)}
	}
	return []*url.URL{withPath(u, path+"/v1"), withPath(u, path)}
}

// entry is a model in a list of OpenAI, vLLM, llama.cpp, LM Studio, OpenRouter and others.
type entry struct {
	ID          string `json:"id"`
	MaxModelLen int    `json:"max_model_len"`
	Context     int    `json:"context_length"`
	MaxContext  int    `json:"max_context_length"`
	Window      int    `json:"context_window"`
	Meta        struct {
		Size    int `json:"n_ctx"`
		Trained int `json:"n_ctx_train"`
	} `json:"meta"`
	Architecture struct {
		Inputs []string `json:"input_modalities"`
	} `json:"architecture"`
	Parameters []string `json:"supported_parameters"`
}

// maxOffers is how many models of an address are looked at.
const maxOffers = 1000

func list(ctx context.Context, client *provider.Client, root *url.URL) ([]registry.Offer, error) {
	resp, err := client.Do(ctx, provider.Call{URL: withPath(root, root.Path+"/models").String()})
	if err != nil {
		return nil, err
	}
	defer resp.Close()
	data, err := resp.All()
	if err != nil {
		return nil, err
	}
	var listed struct {
		Data   *[]entry `json:"data"`
		Models *[]entry `json:"models"`
	}
	if err := json.Unmarshal(data, &listed); err != nil {
		var plain []entry // Together's list stands alone
		if json.Unmarshal(data, &plain) != nil {
			return nil, resp.BadBody(data, err)
		}
		listed.Data = &plain
	}
	if listed.Data == nil {
		listed.Data = listed.Models
	}
	if listed.Data == nil {
		return nil, resp.BadBody(data, nil)
	}
	entries := *listed.Data
	var offers []registry.Offer
	for _, e := range entries[:min(len(entries), maxOffers)] {
		if e.ID != "" && !otherKind.MatchString(e.ID) {
			offers = append(offers, registry.Offer{Model: e.ID, Capabilities: e.capabilities()})
		}
	}
	return offers, nil
}

// otherKind matches the names of models in these lists that are not language models.
var otherKind = regexp.MustCompile(`(?i)embed|whisper|tts|dall-e|moderation|rerank|transcribe|realtime|(^|[-/])(sora|image|audio|davinci|babbage)([-.]|$)|-image-|^bge-|stable-diffusion`)

func (e *entry) capabilities() (out registry.Capabilities) {
	for _, n := range []int{e.MaxModelLen, e.Context, e.MaxContext, e.Window, e.Meta.Size, e.Meta.Trained} {
		if n >= llm.MinContext {
			out.ContextLimit = &n
			break
		}
	}
	if len(e.Architecture.Inputs) > 0 {
		yes := slices.Contains(e.Architecture.Inputs, "image")
		out.ImageSupport = &yes
	}
	if len(e.Parameters) > 0 {
		tools, formats := slices.Contains(e.Parameters, "tools"), slices.Contains(e.Parameters, "structured_outputs")
		out.ToolCalling, out.StructuredOutputs = &tools, &formats
	}
	return out
}
