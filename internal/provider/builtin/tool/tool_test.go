package tool_test

import (
	"encoding/json"
	"testing"

	"quarry/internal/llm"
	"quarry/internal/provider/builtin/tool"
)

var (
	search = llm.Tool{Name: "search_documents", Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer","minimum":3}},"required":["query","limit"]}`)}
	remove = llm.Tool{Name: "delete_query", Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}}}`)}
	clock  = llm.Tool{Name: "now", Description: "Tells the time."}
	pinned = llm.Tool{Name: "handbook", Description: "Searches the documents of the knowledge base.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}
)

// TestChoose proves which tool is called for each choice.
func TestChoose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		tools  []llm.Tool
		choice llm.Choice
		search bool
		want   string // "" for none
	}{
		{"one that searches", []llm.Tool{clock, remove, search}, llm.Choice{}, true, "search_documents"},
		{"none that searches", []llm.Tool{clock, remove}, llm.Choice{Mode: "auto"}, true, ""},
		{"a search without arguments", []llm.Tool{clock, pinned}, llm.Choice{}, true, "handbook"},
		{"rather the one that takes the question", []llm.Tool{pinned, search}, llm.Choice{}, true, "search_documents"},
		{"nothing to search for", []llm.Tool{search}, llm.Choice{}, false, ""},
		{"forbidden", []llm.Tool{search}, llm.Choice{Mode: "none"}, true, ""},
		{"required", []llm.Tool{clock, remove}, llm.Choice{Mode: "required"}, false, "now"},
		{"required, with one that searches", []llm.Tool{clock, search}, llm.Choice{Mode: "required"}, false, "search_documents"},
		{"named", []llm.Tool{search, clock}, llm.Choice{Mode: "tool", Name: "now"}, false, "now"},
		{"named and unknown", []llm.Tool{search}, llm.Choice{Mode: "tool", Name: "later"}, false, ""},
	} {
		got, ok := tool.Choose(c.tools, c.choice, c.search)
		if got.Name != c.want || ok != (c.want != "") {
			t.Errorf("%s: got %q, %v, want %q", c.name, got.Name, ok, c.want)
		}
	}
}

// TestArguments proves that the question goes to the parameter that takes it, and that what else is required is valid.
func TestArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema, want string }{
		{"a query and a number", string(search.Parameters), `{"limit":3,"query":"Why?"}`},
		{"an optional query", string(remove.Parameters), `{"query":"Why?"}`},
		{"a list of queries", `{"properties":{"queries":{"type":"array","items":{"type":"string"}}},"required":["queries"]}`, `{"queries":["Why?"]}`},
		{"another name", `{"properties":{"about":{"type":"string"}},"required":["about"]}`, `{"about":"Why?"}`},
		{"no schema", ``, `{}`},
		{"no arguments", string(pinned.Parameters), `{}`},
	} {
		if got := string(tool.Arguments(llm.Tool{Name: "t", Parameters: json.RawMessage(c.schema)}, "Why?")); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
