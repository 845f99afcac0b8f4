// Package toolserver plays tool servers for tests: one HTTP server of which each path is a tool server of its own, so that a
// registration whose address changes finds other tools. It speaks MCP over streamable HTTP, by hand.
package toolserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Secret is what /guarded asks for as a bearer token, and /echo repeats.
const Secret = "s3cret-of-the-tool-server" //nolint:gosec // for tests

// Start starts the servers:
//
//	/mcp      what /weather has
//	/weather  forecast, warn and chart with title, annotations and output schema
//	/moved    forecast with another description, and a new one; the others are gone
//	/none     no tools
//	/names    names that the catalogue can't have, and such that clash
//	/broken   a tool with a schema that doesn't compile, and one without
//	/echo     a tool that repeats the headers of the request that lists it
//	/guarded  echo, for who sends Secret
//	/many     1,001 tools
//	/large    a tool with a definition of more than 64 KiB
//	/html     a page of HTML
//	/out      out of order: 503
//	/hang     no answer
//
// With ?as=PREFIX the names of its tools begin so: names are given once in a catalogue, so that two registrations of one path
// would depend on which comes first.
func Start(t testing.TB) *httptest.Server {
	t.Helper()
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/hang" {
			serve(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // only then the end of the client is seen
		select {
		case <-r.Context().Done():
		case <-over:
		}
	}))
	t.Cleanup(func() {
		close(over)
		s.Close()
	})
	return s
}

// tool is a tool as MCP lists it.
type tool map[string]any

// object returns the schema of an object with these properties, each a text.
func object(names ...string) map[string]any {
	properties := map[string]any{}
	for _, n := range names {
		properties[n] = map[string]any{"type": "string"}
	}
	return map[string]any{"type": "object", "properties": properties}
}

func named(name, description string) tool {
	return tool{"name": name, "description": description, "inputSchema": object("text")}
}

// lists returns the tools of a path, false if it is no server.
func lists(r *http.Request) ([]tool, bool) {
	switch r.URL.Path {
	case "/weather", "/mcp":
		forecast := tool{
			"name": "forecast", "title": "Forecast", "description": "The weather of tomorrow.", "inputSchema": object("place"),
			"outputSchema": object("sky"), "annotations": map[string]any{"readOnlyHint": true, "openWorldHint": true},
		}
		warn := named("warn", "Sends a warning.")
		warn["annotations"] = map[string]any{"destructiveHint": true, "idempotentHint": false}
		return []tool{forecast, warn, named("chart", "")}, true
	case "/moved":
		return []tool{{"name": "forecast", "description": "The weather of next week.", "inputSchema": object("place", "days")}, named("tides", "High water.")}, true
	case "/none":
		return []tool{}, true
	case "/names":
		var out []tool
		for _, n := range []string{"forecast", "corpora_search", "a.b", "a/b", "天気", strings.Repeat("x", 60)} {
			out = append(out, named(n, "Named "+n))
		}
		return out, true
	case "/broken":
		return []tool{
			{"name": "bent", "description": "Bent.", "inputSchema": map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "nothing"}}}},
			{"name": "listed", "description": "A list.", "inputSchema": map[string]any{"type": "array"}}, named("straight", "Straight."),
		}, true
	case "/echo", "/guarded":
		return []tool{named("echo", fmt.Sprint("Was sent ", r.Header.Get("Authorization"), r.Header.Get("X-Token")))}, true
	case "/many":
		var out []tool
		for i := range 1_001 {
			out = append(out, named(fmt.Sprint("t", i), "One of many."))
		}
		return out, true
	case "/large":
		return []tool{named("large", strings.Repeat("x", 64<<10))}, true
	}
	return nil, false
}

// request is one of JSON-RPC.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Version   string          `json:"protocolVersion"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"params"`
}

func serve(w http.ResponseWriter, r *http.Request) {
	tools, known := lists(r)
	for _, one := range tools {
		one["name"] = r.URL.Query().Get("as") + one["name"].(string)
	}
	switch {
	case r.URL.Path == "/html":
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html><body>Welcome</body></html>"))
		return
	case r.URL.Path == "/out":
		http.Error(w, "out of order", http.StatusServiceUnavailable)
		return
	case !known:
		http.NotFound(w, r)
		return
	case r.URL.Path == "/guarded" && r.Header.Get("Authorization") != "Bearer "+Secret:
		http.Error(w, "wrong: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		return
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed) // it has nothing to tell by itself, and keeps no sessions
		return
	}
	var q request
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if len(q.ID) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": q.ID}
	switch q.Method {
	case "initialize":
		answer["result"] = map[string]any{
			"protocolVersion": q.Params.Version, "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "toolserver", "version": "1"},
		}
	case "ping":
		answer["result"] = map[string]any{}
	case "tools/list":
		answer["result"] = map[string]any{"tools": tools}
	case "tools/call":
		text := q.Params.Name + " was called with " + string(q.Params.Arguments)
		answer["result"] = map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "structuredContent": map[string]any{"sky": "clear"}}
	default:
		answer["error"] = map[string]any{"code": -32601, "message": "there is no method " + q.Method}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}
