// Package dial picks the wire format of a connection: the one place that knows all adapters. Package app gives it to the
// registry of models; benchmarks and tests that need a model by its registration use it, too.
package dial

import (
	"context"
	"net/http"

	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/provider"
	"quarry/internal/provider/anthropic"
	"quarry/internal/provider/gemini"
	"quarry/internal/provider/openai"
)

// adapter speaks a wire format.
type adapter struct {
	open    func(*provider.Shared, registry.Connection) (llm.Provider, error)
	catalog func(context.Context, *provider.Shared, registry.Connection) (registry.Catalog, error)
}

// adapters has one for each wire format of the registry.
var adapters = map[registry.Type]adapter{
	registry.OpenAI:    {openai.New, openai.Catalog},
	registry.Responses: {openai.New, openai.Catalog},
	registry.Anthropic: {anthropic.New, anthropic.Catalog},
	registry.Vertex:    {gemini.New, gemini.Catalog},
}

// Dialer implements registry.Dialer and registry.Prober. It is safe for concurrent use.
type Dialer struct{ shared *provider.Shared }

// New returns a Dialer whose calls go out through client, which is to be one of package outbound.
func New(client *http.Client) *Dialer { return &Dialer{provider.NewShared(client)} }

// Open implements registry.Dialer.
func (d *Dialer) Open(c registry.Connection) (llm.Provider, error) {
	a, ok := adapters[c.Type]
	if !ok {
		return nil, unknown(c.Type)
	}
	return a.open(d.shared, c)
}

// Catalog implements registry.Prober.
func (d *Dialer) Catalog(ctx context.Context, c registry.Connection) (registry.Catalog, error) {
	a, ok := adapters[c.Type]
	if !ok {
		return registry.Catalog{}, unknown(c.Type)
	}
	return a.catalog(ctx, d.shared, c)
}

func unknown(t registry.Type) error {
	return fault.InvalidField("type", "%q is no type of language models that this build can call", t)
}
