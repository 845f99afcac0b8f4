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

// Dialer implements registry.Dialer and registry.Prober. It is safe for concurrent use.
type Dialer struct{ shared *provider.Shared }

// New makes the Dialer whose calls go out through client, which is to be one of package outbound.
func New(client *http.Client) *Dialer { return &Dialer{provider.NewShared(client)} }

// Open implements registry.Dialer.
func (d *Dialer) Open(c registry.Connection) (llm.Provider, error) {
	switch c.Type {
	case registry.OpenAI, registry.Responses:
		return openai.New(d.shared, c)
	case registry.Anthropic:
		return anthropic.New(d.shared, c, anthropic.Endpoints{})
	case registry.Vertex:
		return gemini.New(d.shared, c)
	}
	return nil, unknown(c.Type)
}

// Catalog implements registry.Prober.
func (d *Dialer) Catalog(ctx context.Context, c registry.Connection) (registry.Catalog, error) {
	switch c.Type {
	case registry.OpenAI, registry.Responses:
		return openai.Catalog(ctx, d.shared, c)
	case registry.Anthropic:
		return anthropic.Catalog(ctx, d.shared, c)
	case registry.Vertex:
		return gemini.Catalog(ctx, d.shared, c)
	}
	return registry.Catalog{}, unknown(c.Type)
}

func unknown(t registry.Type) error {
	return fault.InvalidField("body.type", "%q is no type of language models that this build can call", t)
}
