package tool_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/search"
	"quarry/internal/fault"
)

// picky is a searcher that refuses what a test gives it.
type picky struct {
	record
	err error
}

func (p picky) Check(json.RawMessage) error { return p.err }

// searching returns a configuration of corpora_search with further members.
func searching(more string) string {
	return `{"type": "corpora_search", "query_configuration": {"search": {"corpora": [{"corpus_key": "c"}]}}` + more + `}`
}

// TestConfigurations proves that what is wrong with configurations is refused under its field, and what is right is taken.
func TestConfigurations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ configuration, field, reason string }{
		{searching(``), "", ""},
		{searching(`, "argument_override": null, "input_transform": null, "description_template": null, "output_transform": ""`), "", ""},
		{searching(`, "enabled": false, "name": "x", "anything": 1`), "", ""},
		{`"x"`, "", "can't be read"},
		{`{}`, "type", "not built yet"},
		{`{"type": "web_search"}`, "type", `is "web_search", which is part of the contract and not built yet; built: corpora_search, test`},
		{`{"type": "reference", "tool_configuration_key": "x"}`, "type", "not built yet"},
		// overrides
		{searching(`, "argument_override": {"query": "always this"}`), "", ""},
		{searching(`, "argument_override": {"query": {"$ref": "session.metadata.q"}}`), "", ""},
		{searching(`, "argument_override": []`), "argument_override", "must be an object"},
		{searching(`, "argument_override": {"metadata_filter": "doc.x = 1"}`), "argument_override.metadata_filter", "no argument of the tool; it takes query"},
		{searching(`, "argument_override": {"query.x": "1"}`), "argument_override.query.x", "no argument"},
		{searching(`, "argument_override": {"query[0]": "1"}`), "argument_override.query[0]", "no list"},
		{searching(`, "argument_override": {"query..x": "1"}`), "argument_override.query..x", "a name is missing"},
		{searching(`, "argument_override": {"query": 5}`), "argument_override.query", "got number, want string"},
		{searching(`, "input_transform": ".args | .query |= tostring", "argument_override": {"query": 5}`), "", ""},
		{searching(`, "argument_override": {"query": "` + strings.Repeat("x", 5001) + `"}`), "argument_override.query", "maxLength"},
		{searching(`, "argument_override": {"query": {"$ref": "session.metadata."}}`), "argument_override.query", "a name is missing"},
		{searching(`, "argument_override": {"query": {"$ref": "user.name"}}`), "argument_override.query", `it begins with "user", not with agent, session, tools, currentDate`},
		{searching(`, "argument_override": {"query": {"$ref": "session.key", "x": 1}}`), "argument_override.query", `further members`},
		{searching(`, "argument_override": {"query": {"$ref": 7}}`), "argument_override.query", `"$ref" that is no text`},
		{searching(`, "argument_override": {"query": {"$ref": "tools.other.outputs.latest.x"}}`), "argument_override", `"other", which is no tool`},
		{searching(`, "argument_override": {"query": {"$ref": "tools.t.outputs.latest.x"}}`), "", ""},
		{searching(`, "argument_override": {"query": {"$ref": "tools.t.outputs"}}`), "argument_override.query", `tools.NAME.outputs.latest`},
		{`{"type": "test", "argument_override": {"headers.X-Api-Key": "a", "items[0]": "b", "any": {"deep": [{"$ref": "agent.secrets"}, {"$ref": "session.caller.id"}]}, "any.x[3].y": 1}}`, "", ""},
		{`{"type": "test", "argument_override": {"any": ` + strings.Repeat(`[`, 60) + strings.Repeat(`]`, 60) + `}}`, "argument_override.any" + strings.Repeat("[0]", 51), "levels deep"},
		{`{"type": "test", "argument_override": {"items[100000]": 1}}`, "argument_override.items[100000]", "beyond 1000"},
		{`{"type": "test", "argument_override": {"items.x": 1}}`, "argument_override.items.x", "no argument"},
		// transforms and templates
		{searching(`, "input_transform": ".args + {query: .session.metadata.q}", "output_transform": ".search_results | map(.text)"`), "", ""},
		{searching(`, "input_transform": ".args |"`), "input_transform", "is no jq program"},
		{searching(`, "input_transform": "nothing(1)"`), "input_transform", "function not defined: nothing/1"},
		{searching(`, "output_transform": "input"`), "output_transform", "is no jq program"},
		{searching(`, "output_transform": "import \"x\" as x; ."`), "output_transform", "is no jq program"},
		{searching(`, "output_transform": ".` + strings.Repeat(" ", 4096) + `"`), "output_transform", "4097 characters"},
		{searching(`, "input_transform": ".` + strings.Repeat(" ", 4095) + `"`), "", ""},
		{searching(`, "description_template": "Searches for $agent.name {\"a\": 1}"`), "", ""},
		{searching(`, "description_template": "#if ("`), "description_template", "line 1"},
		// corpora_search
		{`{"type": "corpora_search"}`, "query_configuration", "required"},
		{`{"type": "corpora_search", "query_configuration": {"search": {"corpora": []}}}`, "query_configuration.search.corpora", "at least one"},
		{`{"type": "corpora_search", "query_configuration": {"search": {"corpora": [{"corpus_key": "a"}, {}]}}}`, "query_configuration.search.corpora[1].corpus_key", "required"},
		{`{"type": "corpora_search", "query_configuration": {"search": {"corpora": ["a"]}}}`, "query_configuration.search.corpora[0]", "must be an object"},
		{`{"type": "corpora_search", "query_configuration": {"search": {"corpora": [{"corpus_key": 5}]}}}`, "query_configuration.search.corpora[0].corpus_key", "a text or a reference"},
		{`{"type": "corpora_search", "query_configuration": {"search": {"corpora": [{"corpus_key": "a", "metadata_filter": {"ref": "x"}}]}}}`, "query_configuration.search.corpora[0].metadata_filter", "a text or a reference"},
		{`{"type": "corpora_search", "query_configuration": {"search": {"corpora": [{"corpus_key": "a", "metadata_filter": {"$ref": "session"}}]}}}`, "query_configuration.search.corpora[0].metadata_filter", "alone names no value"},
		{`{"type": "corpora_search", "query_configuration": {"search": {"corpora": [{"corpus_key": "a", "metadata_filter": {"$ref": "tools.none.outputs.latest.f"}}]}}}`, "query_configuration.search.corpora[0].metadata_filter", "no tool"},
	} {
		_, err := tool.Compile(map[string]json.RawMessage{"t": json.RawMessage(c.configuration)}, kit(t, nil))
		if c.reason == "" {
			if err != nil {
				t.Errorf("%s: %v", c.configuration, err)
			}
			continue
		}
		field := fault.Join("tool_configurations.t", c.field)
		if f, ok := fault.As(err); !ok || f.Kind != fault.KindInvalid || len(f.Fields) != 1 || !strings.Contains(f.Fields[field], c.reason) {
			t.Errorf("%.200s: %v, want %q of %s", c.configuration, err, c.reason, field)
		}
	}
}

// TestNames proves which names tools can have, and that several tools are refused together.
func TestNames(t *testing.T) {
	t.Parallel()
	good := json.RawMessage(searching(``))
	_, err := tool.Compile(map[string]json.RawMessage{
		"a": good, "A-9_z": good, strings.Repeat("x", 64): good, strings.Repeat("y", 65): good, "": good, "a b": good, "a.b": good, "ü": good, "bad": json.RawMessage(`{"type": "x"}`),
	}, kit(t, nil))
	f, ok := fault.As(err)
	if !ok || !cmp.Equal(f.Paths(), []string{
		"tool_configurations", "tool_configurations.a b", "tool_configurations.a.b", "tool_configurations.bad.type", "tool_configurations." + strings.Repeat("y", 65), "tool_configurations.ü",
	}) {
		t.Error(err)
	}
}

// TestSearchIsChecked proves that the configuration of a search is held to what queries are held to, under its field, without
// its references, and that a failure to check is no success.
func TestSearchIsChecked(t *testing.T) {
	t.Parallel()
	k := kit(t, nil)
	for _, c := range []struct {
		err   error
		field string
	}{
		{fault.InvalidField("search.limit", "is too much"), "tool_configurations.t.query_configuration.search.limit"},
		{errors.New("what?"), "tool_configurations.t"},
	} {
		made, err := search.New(picky{err: c.err})
		if err != nil {
			t.Fatal(err)
		}
		k.Types[search.Name] = made
		_, err = tool.Compile(map[string]json.RawMessage{"t": json.RawMessage(searching(``))}, k)
		if f, ok := fault.As(err); !ok || f.Fields[c.field] == "" {
			t.Error(err)
		}
	}
}

// TestNeeds proves which corpora configurations name: all literal ones of those asked for, once, and none by a reference.
func TestNeeds(t *testing.T) {
	t.Parallel()
	s, err := tool.Compile(map[string]json.RawMessage{
		"one": json.RawMessage(`{"type": "corpora_search", "query_configuration": {"search": {"corpora": [{"corpus_key": "b"}, {"corpus_key": {"$ref": "session.metadata.c"}}]}}}`),
		"two": json.RawMessage(`{"type": "corpora_search", "query_configuration": {"search": {"corpora": [{"corpus_key": "b"}, {"corpus_key": "a"}]}}}`),
	}, kit(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Needs([]string{"one", "two", "three"}); !cmp.Equal(got, []permit.Need{{Corpus: "a"}, {Corpus: "b"}}) {
		t.Error(got)
	}
	if got := s.Needs([]string{"one"}); !cmp.Equal(got, []permit.Need{{Corpus: "b"}}) {
		t.Error(got)
	}
}
