package anthropic_test

import (
	"testing"

	"quarry/internal/llm"
	"quarry/internal/llm/llmtest"
	"quarry/internal/llm/registry"
	"quarry/internal/outbound"
	"quarry/internal/provider"
	"quarry/internal/provider/anthropic"
	"quarry/internal/provider/scripted"
)

type dialer struct {
	shared *provider.Shared
	at     anthropic.Endpoints
}

func (d dialer) Open(c registry.Connection) (llm.Provider, error) {
	return d.at.Open(d.shared, c)
}

func dial(_ testing.TB, s *scripted.Server) registry.Dialer {
	return dialer{provider.NewShared(outbound.New(outbound.Config{AllowPrivate: true})), anthropic.Endpoints{Bedrock: s.URL, Vertex: s.URL}}
}

// The adapter keeps the promises of llm.Provider at every host.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, auth := range map[string]*registry.Auth{
		"direct":              nil,
		"bedrock key":         {Type: registry.BedrockAPIKey, APIKey: "bedrock-api-key-0123456789", Region: "eu-central-1"},
		"bedrock signed":      {Type: registry.BedrockStaticIAM, AWSAccessKeyID: "AKIDEXAMPLE", AWSSecretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", Region: "us-east-1"},
		"vertex access token": {Type: registry.VertexAccessToken, AccessToken: "ya29.a-token-of-vertex", Project: "acme", Region: "global"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			llmtest.Run(t, llmtest.Adapter{Type: registry.Anthropic, Path: "/v1/messages", Auth: auth, Dial: dial})
		})
	}
}
