package registry_test

import (
	"testing"

	"quarry/internal/llm"
	"quarry/internal/llm/registry"
)

// TestInfer proves what is taken of models by name, however providers and gateways spell it, and by type where the name
// says nothing.
func TestInfer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of      registry.Type
		model   string
		context int
		can     string // images, tools, structured, alternation
	}{
		{registry.OpenAI, "gpt-4o-mini-2024-07-18", 128_000, "its"}, {registry.OpenAI, "openai/gpt-4o", 128_000, "its"},
		{registry.OpenAI, "gpt-4", 8_192, "t"}, {registry.OpenAI, "gpt-4.1-nano", 1_047_576, "its"}, {registry.OpenAI, "gpt-3.5-turbo", 16_385, "t"},
		{registry.OpenAI, "o1-mini", 128_000, ""}, {registry.Responses, "o3", 200_000, "its"}, {registry.Responses, "o4-mini", 200_000, "its"},
		{registry.OpenAI, "gpt-oss:20b", 131_072, "ts"}, {registry.OpenAI, "proto1-model", 8_192, "t"},
		{registry.Anthropic, "claude-3-5-sonnet-20241022", 200_000, "its"}, {registry.Anthropic, "us.anthropic.claude-sonnet-4-20250514-v1:0", 200_000, "its"},
		{registry.Anthropic, "anthropic.claude-v2:1", 100_000, ""}, {registry.OpenAI, "anthropic/claude-3-haiku", 200_000, "its"},
		{registry.Vertex, "gemini-2.0-flash", 1_048_576, "its"}, {registry.Vertex, "models/gemini-1.5-pro-002", 1_048_576, "its"}, {registry.Vertex, "gemini-pro", 32_760, "t"},
		{registry.OpenAI, "meta-llama/Llama-3.1-8B-Instruct", 131_072, "ts"}, {registry.OpenAI, "llama3.2:3b", 131_072, "ts"}, {registry.OpenAI, "llama3", 8_192, "s"},
		{registry.OpenAI, "Llama-2-7b-chat", 4_096, "a"}, {registry.OpenAI, "mistralai/Mistral-7B-Instruct-v0.3", 32_768, "ta"},
		{registry.OpenAI, "Qwen/Qwen2.5-VL-7B", 32_768, "its"}, {registry.OpenAI, "qwen2.5:7b", 32_768, "ts"}, {registry.OpenAI, "gemma-2-9b-it", 8_192, "a"},
		{registry.OpenAI, "microsoft/Phi-3-mini-128k-instruct", 131_072, "a"}, {registry.OpenAI, "phi3", 4_096, "a"},
		{registry.OpenAI, "deepseek-chat", 65_536, "ts"}, {registry.OpenAI, "custom-2k", 4_096, "t"},
		{registry.OpenAI, "my-model", 8_192, "t"}, {registry.Responses, "my-model", 128_000, "its"}, {registry.Vertex, "my-model", 32_760, "its"},
		{registry.Anthropic, "my-model", 200_000, "its"}, {registry.OpenAI, "", 8_192, "t"},
	} {
		got := registry.Infer(c.of, c.model)
		said := ""
		for _, a := range []struct {
			sign string
			has  bool
		}{{"i", got.Images}, {"t", got.Tools}, {"s", got.Structured}, {"a", got.Alternation}} {
			if a.has {
				said += a.sign
			}
		}
		if got.Context != c.context || said != c.can {
			t.Errorf("%s %q: context %d and %q, want %d and %q", c.of, c.model, got.Context, said, c.context, c.can)
		}
	}
}

// TestStatedAbilities proves that what is stated holds, also against the name, and nothing else changes.
func TestStatedAbilities(t *testing.T) {
	t.Parallel()
	yes, no, n := true, false, 5_000
	inferred := registry.Infer(registry.OpenAI, "gpt-4o")
	if got := (registry.Capabilities{}).Over(inferred); got != inferred {
		t.Errorf("nothing stated: %+v", got)
	}
	got := registry.Capabilities{ToolCalling: &no, RequiresRoleAlternation: &yes, ContextLimit: &n}.Over(inferred)
	if want := (llm.Abilities{Images: true, Structured: true, Alternation: true, Context: 5_000}); got != want {
		t.Errorf("stated: %+v, want %+v", got, want)
	}
}
