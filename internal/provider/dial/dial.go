// Package dial picks the wire format of a connection: the one place that knows all adapters. Package app gives it to the
// registry of models; benchmarks and tests that need a model by its registration use it, too.
package dial

import (
	"context"
	"net/http"

	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/provider"
	"quarry/internal/provider/anthropic"
	"quarry/internal/provider/gemini"
	"quarry/internal/provider/openai"
)

// Dialer implements llm.Dialer and llm.Prober. It is safe for concurrent use.
type Dialer struct{ shared *provider.Shared }

// New makes the Dialer whose calls go out through client, which is to be one of package outbound.
func New(client *http.Client) *Dialer { return &Dialer{provider.NewShared(client)} }

// Open implements llm.Dialer.
func (d *Dialer) Open(c llm.Connection) (llm.Provider, error) {
	switch c.Type {
	case llm.OpenAI, llm.Responses:
		return openai.New(d.shared, c)
	case llm.Anthropic:
		return anthropic.New(d.shared, c, anthropic.Endpoints{})
	case llm.Vertex:
		return gemini.New(d.shared, c)
	}
	return nil, unknown(c.Type)
}

// Catalog implements llm.Prober.
func (d *Dialer) Catalog(ctx context.Context, c llm.Connection) (llm.Catalog, error) {
	switch c.Type {
	case llm.OpenAI, llm.Responses:
		return openai.Catalog(ctx, d.shared, c)
	case llm.Anthropic:
		return anthropic.Catalog(ctx, d.shared, c)
	case llm.Vertex:
		return gemini.Catalog(ctx, d.shared, c)
	}
	return llm.Catalog{}, unknown(c.Type)
}

func unknown(t llm.Type) error {
	return fault.InvalidField("body.type", "%q is no type of language models that this build can call", t)
}
