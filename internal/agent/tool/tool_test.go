package tool_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/agent/tool/search"
	"quarry/internal/fault"
	"quarry/internal/llm"
)

// record is a searcher that answers with the request.
type record struct{}

func (record) Check(json.RawMessage) error { return nil }

func (record) Search(_ context.Context, s search.Query) (json.RawMessage, error) {
	return json.Marshal(map[string]any{"request": s.Request, "agent": s.Agent, "session": s.Session})
}

// kit returns a kit with corpora_search, and the type "test" whose tools run as f does.
func kit(t *testing.T, f func(context.Context, tool.Call, tool.Activity) (json.RawMessage, error)) tool.Kit {
	t.Helper()
	searching, err := search.New(record{})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := schema.New(json.RawMessage(`{
		"type": "object",
		"properties": {
			"text": {"type": "string", "maxLength": 20},
			"n": {"type": "integer"},
			"headers": {"type": "object", "properties": {"Accept": {"type": "string"}, "Authorization": {"type": "string"}}, "required": ["Accept", "Authorization"]},
			"items": {"type": "array", "items": {"type": "string"}},
			"any": {}
		},
		"required": ["text", "headers"],
		"additionalProperties": false
	}`))
	if err != nil {
		t.Fatal(err)
	}
	return tool.Kit{
		Types: map[string]tool.Type{
			search.Name: searching,
			"test": func(json.RawMessage) (*tool.Tool, error) {
				return &tool.Tool{Name: "tester", Description: "Tests.", Schema: schema, Run: f}, nil
			},
		},
		Log: slog.New(slog.DiscardHandler),
	}
}

// everything is the identity of an agent that may touch all that its configurations name.
func everything(context.Context) (permit.Identity, error) {
	return permit.Identity{Rights: permit.Rights{All: true, EditAll: true, UseAll: true}}, nil
}

// scene returns what the tests refer to.
func scene() tool.Scene {
	return tool.Scene{Sender: permit.Rights{Corpora: []string{"private"}}, Identity: everything, Scene: reference.Scene{
		Agent:        reference.Subject{Key: "a1", Name: "Helper", Metadata: json.RawMessage(`{"region": "eu"}`)},
		Session:      reference.Subject{Key: "s1", Name: "Talk", Metadata: json.RawMessage(`{"acl": "doc.team = 'x'", "corpus": "private", "n": 12345678901234567890, "list": ["a", {"b": true}], "who": "region", "null": null}`)},
		Secrets:      map[string]string{"token": "tok-1234567890", "filter": "doc.secret = 'tok'", "quote": `a"b<c d/e`},
		AgentSecrets: map[string]string{"crm": "crm-key-1234567890", "region": "crm-key-1234567890 of the region"},
		Outputs: map[string]reference.Latest{
			"first":  {Output: json.RawMessage(`{"rows": [{"id": 7}]}`)},
			"broken": {Output: json.RawMessage(`{"error": "no"}`), Failed: true},
		},
		Now: time.Date(2026, 5, 1, 10, 0, 0, 5, time.FixedZone("", 7200)),
	}}
}

func latest(output string) reference.Latest {
	return reference.Latest{Output: json.RawMessage(output)}
}

// compile compiles one configuration named "t".
func compile(t *testing.T, k tool.Kit, configuration string) *tool.Set {
	t.Helper()
	s, err := tool.Compile(map[string]json.RawMessage{"t": json.RawMessage(configuration)}, k)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func bind(t *testing.T, s *tool.Set, scene tool.Scene) *tool.Bound {
	t.Helper()
	b, _, err := s.Bind(scene, "")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// call compiles, binds, plans and runs one call.
func call(t *testing.T, k tool.Kit, configuration, arguments string, sc tool.Scene) (tool.Planned, tool.Output) {
	t.Helper()
	b := bind(t, compile(t, k, configuration), sc)
	p := b.Plan([]llm.ToolCall{{ID: "call_1", Name: "t", Arguments: json.RawMessage(arguments)}}, nil, sc)
	return p[0], b.Run(t.Context(), p[0], sc)
}

// same fails unless got is the JSON value want.
func same(t *testing.T, what string, want string, got json.RawMessage) {
	t.Helper()
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got, &g); err != nil {
		t.Errorf("%s: %s: %v", what, got, err)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("%s (-want +got): %s", what, diff)
	}
}

// TestCorporaSearch proves that the model supplies the query alone, that the rest comes from the configuration with the
// references of the turn, and that history is off unless the configuration asks for it.
func TestCorporaSearch(t *testing.T) {
	t.Parallel()
	p, out := call(t, kit(t, nil), `{"type": "corpora_search", "query_configuration": {"search": {"limit": 5, "corpora": [
		{"corpus_key": "handbook", "metadata_filter": {"$ref": "session.metadata.acl"}}, {"corpus_key": {"$ref": "$.session.metadata.corpus"}, "semantics": "query"}
	]}, "generation": {}}}`, `{"query": "why?"}`, scene())
	same(t, "output", `{"agent": "a1", "session": "s1", "request": {"query": "why?", "generation": {}, "save_history": false, "search": {"limit": 5, "corpora": [
		{"corpus_key": "handbook", "metadata_filter": "doc.team = 'x'"}, {"corpus_key": "private", "semantics": "query"}
	]}}}`, out.Output)
	same(t, "input", `{"query": "why?"}`, p.Input)
	if out.Failed || string(out.Overrides) != "{}" || p.ToolName != "corpora_search" || p.Tool != "t" || p.Repeat != tool.Reads || len(p.Pinned) > 0 {
		t.Errorf("%+v, %+v", p, out)
	}
}

// TestUnresolvedAtTheStart proves that a turn whose eager references have no value is refused in the contract's words.
func TestUnresolvedAtTheStart(t *testing.T) {
	t.Parallel()
	s := compile(t, kit(t, nil), `{"type": "corpora_search", "query_configuration": {"search": {"corpora": [{"corpus_key": "c", "metadata_filter": {"$ref": "session.metadata.none"}}]}}}`)
	_, _, err := s.Bind(scene(), "")
	if f, ok := fault.As(err); !ok || f.Kind != fault.KindUnprocessable || f.Text != "Failed to resolve eager references: tool 't': unresolved refs [session.metadata.none]" {
		t.Error(err)
	}
}
