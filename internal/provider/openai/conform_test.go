package openai_test

import (
	"testing"

	"quarry/internal/llm"
	"quarry/internal/llm/llmtest"
	"quarry/internal/llm/registry"
	"quarry/internal/outbound"
	"quarry/internal/provider"
	"quarry/internal/provider/openai"
	"quarry/internal/provider/scripted"
)

// dialer opens connections through the client of the scripted server.
type dialer struct{ shared *provider.Shared }

func (d dialer) Open(c registry.Connection) (llm.Provider, error) { return openai.New(d.shared, c) }

func dial(t testing.TB, _ *scripted.Server) registry.Dialer {
	client := outbound.New(outbound.Config{AllowPrivate: true})
	t.Cleanup(client.CloseIdleConnections)
	return dialer{provider.NewShared(client)}
}

// TestChat holds chat completions to what llm.Provider promises.
func TestChat(t *testing.T) {
	t.Parallel()
	llmtest.Run(t, llmtest.Adapter{Type: registry.OpenAI, Path: "/v1/chat/completions", Dial: dial})
}

// TestResponses holds responses to what llm.Provider promises.
func TestResponses(t *testing.T) {
	t.Parallel()
	llmtest.Run(t, llmtest.Adapter{Type: registry.Responses, Path: "/v1/responses", Dial: dial})
}
