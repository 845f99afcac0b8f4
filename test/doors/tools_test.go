package doors

import (
	"encoding/json"
	"strings"
	"testing"

	"quarry/internal/app/apptest"
	"quarry/internal/config"
	"quarry/internal/provider/scripted"
)

// use lets an agent with all tools that call out make a call, and returns what the session has of it.
func (s *service) use(t *testing.T, name string, arguments map[string]any) string {
	t.Helper()
	if !s.agent {
		s.agent = true
		model := scripted.Start(t)
		for _, c := range []struct {
			path string
			body map[string]any
		}{
			{"/v2/llms", map[string]any{"type": "openai-compatible", "name": "told", "model": "told", "uri": model.URL + "/v1/chat/completions"}},
			{"/v2/agents", map[string]any{"key": "a", "name": "A", "model": map[string]any{"name": "told"}, "tool_configurations": map[string]any{
				"get":      map[string]any{"type": "web_get"},
				"insecure": map[string]any{"type": "web_get", "argument_override": map[string]any{"ssl_verify": false}},
				"find":     map[string]any{"type": "web_search"},
			}}},
			{"/v2/agents/a/sessions", map[string]any{"key": "s"}},
		} {
			if said := s.ask(t, "POST", c.path, c.body); !strings.HasPrefix(said, "201 ") {
				t.Fatalf("%s: %s", c.path, said)
			}
		}
	}
	calls, err := json.Marshal([]any{map[string]any{"calls": []any{map[string]any{"name": name, "arguments": arguments}}}, map[string]any{"text": "Done."}})
	if err != nil {
		t.Fatal(err)
	}
	return s.ask(t, "POST", "/v2/agents/a/sessions/s/events", map[string]any{"messages": []any{map[string]any{"type": "text", "content": string(calls)}}})
}

func callWebGet(t *testing.T, s *service, address string) string {
	return s.use(t, "get", map[string]any{"url": address})
}

func callInsecureWebGet(t *testing.T, s *service, address string) string {
	return s.use(t, "insecure", map[string]any{"url": address})
}

func callWebGetTokens(t *testing.T, s *service, address string) string {
	return s.use(t, "get", map[string]any{"url": s.target.URL + "/other", "auth": map[string]any{
		"type": "oauth_client_credentials", "client_id": s.name(), "client_secret": "hush", "token_endpoint": address,
	}})
}

// TestSearch proves that searches reach the address that the settings name, private or not, and neither a forbidden one nor what
// it redirects to.
func TestSearch(t *testing.T) {
	t.Parallel()
	inside := newTarget(t, "/")
	g := newTarget(t, inside.URL)
	for address, says := range map[string]string{
		g.URL: "status 418", g.URL + "/meta": "never called", g.URL + "/inside": "private address", "http://169.254.169.254/": "never called",
		"http://metadata.google.internal/": "never called", "http://[fe80::1]/": "never called",
	} {
		a, key := apptest.Start(t, func(c *config.Config) { c.WebSearchURL, c.WebSearchKey = address, "tvly-hidden" })
		s := &service{target: g, handle: a.Handler(), key: key}
		if said := s.use(t, "find", map[string]any{"query": "stones"}); !strings.Contains(said, says) || strings.Contains(said, "tvly-hidden") {
			t.Errorf("%s: %s, want %q", address, said, says)
		}
	}
	if inside.reached() != 0 {
		t.Error("the inside was reached")
	}
}
