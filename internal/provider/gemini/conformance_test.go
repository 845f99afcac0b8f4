package gemini_test

import (
	"testing"

	"quarry/internal/llm"
	"quarry/internal/llm/llmtest"
	"quarry/internal/llm/registry"
	"quarry/internal/outbound"
	"quarry/internal/provider"
	"quarry/internal/provider/gemini"
	"quarry/internal/provider/google/googletest"
	"quarry/internal/provider/scripted"
)

type dialer struct {
	shared   *provider.Shared
	tokenURI string // "" leaves the credentials as they are
}

func (d dialer) Open(c registry.Connection) (llm.Provider, error) {
	if c.Auth != nil && c.Auth.Type == registry.ServiceAccount {
		c.Auth = &registry.Auth{Type: registry.ServiceAccount, KeyJSON: googletest.KeyJSON(d.tokenURI)}
	}
	return gemini.New(d.shared, c)
}

func dial(_ testing.TB, s *scripted.Server) registry.Dialer {
	return dialer{provider.NewShared(outbound.New(outbound.Config{AllowPrivate: true})), s.URL + "/oauth/token"}
}

// The adapter keeps the promises of llm.Provider, at AI Studio and on Vertex.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]llmtest.Adapter{
		"studio": {Path: "/v1beta", Auth: &registry.Auth{Type: registry.APIKey, APIKey: "AIza-a-key-of-ai-studio"}},
		"vertex": {Path: "/v1/projects/acme/locations/europe-west4", Auth: &registry.Auth{Type: registry.ServiceAccount}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a.Type, a.Dial, a.ParsedArguments = registry.Vertex, dial, true
			llmtest.Run(t, a)
		})
	}
}
