package compat

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"quarry/internal/provider/scripted"
	"quarry/internal/testkit"
	"quarry/test/guide"
)

// mcpClients are the official clients of the Model Context Protocol: what installs each, its program in testdata/mcp, next to
// which is what it has to print, and the ways to negotiate a version that it has.
var mcpClients = []struct {
	name, program string
	needs, modes  []string
	install       func(t *testing.T, dir string) (interpreter string)
}{
	{"python", "client.py", []string{"python3"}, []string{"auto", "legacy"}, packages("mcp/python.txt")},
	{"javascript", "client.mjs", []string{"npm", "node"}, []string{"legacy"}, modules("mcp")},
}

// TestMCP proves that the official clients of the Model Context Protocol use Quarry's tools over HTTP and by starting quarry mcp serve: the list of
// tools, each tool with what it returns, progress, errors, a conversation that goes on, a cancellation that interrupts the agent, a wrong key.
func TestMCP(t *testing.T) {
	t.Parallel()
	for _, c := range mcpClients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			guide.Needs(t, c.needs...)
			dir := t.TempDir()
			interpreter := c.install(t, dir)
			copied(t, dir, "mcp/"+c.program)
			for _, form := range []string{"http", "stdio"} {
				for _, mode := range c.modes {
					t.Run(form+" "+mode, func(t *testing.T) {
						t.Parallel()
						service := weather(t)
						got := run(t, dir, []string{
							"BASE=" + service.URL, "KEY=" + service.Key, "FORM=" + form, "MODE=" + mode, "QUARRY=" + testkit.Binary(t),
						}, interpreter, c.program)
						want, err := os.ReadFile(inTestdata(t, "mcp/"+c.program+".out"))
						if err != nil {
							t.Fatal(err)
						}
						if got != string(want) {
							t.Errorf("the client prints\n%swant\n%s", got, want)
						}
						ended(t, service)
					})
				}
			}
		})
	}
}

// weather starts a service with a corpus and two agents that search it: helper answers, stuck never ends its answer.
func weather(t *testing.T) *testkit.Process {
	t.Helper()
	service, provider := testkit.StartBinary(t, t.TempDir()), scripted.Start(t)
	client := service.Client()
	client.Must(t, 201, "POST", "/v2/corpora", map[string]any{"key": "weather"})
	client.Must(t, 201, "POST", "/v2/corpora/weather/documents", map[string]any{
		"type": "core", "id": "oslo", "metadata": map[string]any{"title": "Oslo today"}, "document_parts": []any{map[string]any{"text": "It is four degrees warm in Oslo."}},
	})
	for _, name := range []string{"helper", "stuck"} {
		client.Must(t, 201, "POST", "/v2/llms", map[string]any{
			"type": "openai-compatible", "name": name, "model": name, "uri": provider.URL + "/v1/chat/completions", "capabilities": map[string]any{"tool_calling": true},
		})
		client.Must(t, 201, "POST", "/v2/agents", map[string]any{
			"key": name, "name": name, "model": map[string]any{"name": name}, "first_step": map[string]any{"name": "answer"},
			"tool_configurations": map[string]any{"search": map[string]any{
				"type": "corpora_search", "query_configuration": map[string]any{"search": map[string]any{"corpora": []any{map[string]any{"corpus_key": "weather"}}}},
			}},
		})
	}
	looks := scripted.Reply{Calls: []scripted.Call{{Name: "search", Pieces: []string{`{"query":"Oslo"}`}}}}
	provider.Respond("helper", scripted.Rounds(looks, scripted.Reply{Text: "Four degrees."}))
	provider.Respond("stuck", scripted.Rounds(looks, scripted.Reply{Pieces: []string{"one ", "two"}, Between: scripted.NewGate()}))
	return service
}

// ended waits until no turn of stuck runs; the test does not end if one does.
func ended(t *testing.T, service *testkit.Process) {
	t.Helper()
	for {
		if sessions := fmt.Sprint(service.Client().Must(t, 200, "GET", "/v2/agents/stuck/sessions", nil)); !strings.Contains(sessions, "running") {
			return
		}
	}
}
