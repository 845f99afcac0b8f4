package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/fault"
	"quarry/internal/llm"
)

// filtered returns a configuration whose filter is a reference.
func filtered(path string) string {
	ref, _ := json.Marshal(path)
	return `{"type": "corpora_search", "query_configuration": {"search": {"corpora": [{"corpus_key": "c", "metadata_filter": {"$ref": ` + string(ref) + `}}]}}}`
}

// filterOf returns the filter that a search of bound tools runs with.
func filterOf(t *testing.T, b *tool.Bound, sc tool.Scene) string {
	t.Helper()
	p := b.Plan([]llm.ToolCall{{Name: "t", Arguments: json.RawMessage(`{"query": "x"}`)}}, nil, sc)
	out := b.Run(t.Context(), p[0], sc)
	var got struct {
		Request struct {
			Search struct {
				Corpora []struct {
					Filter string `json:"metadata_filter"`
				}
			}
		}
	}
	if err := json.Unmarshal(out.Output, &got); err != nil || out.Failed {
		t.Errorf("%s: %v", out.Output, err)
		return ""
	}
	return got.Request.Search.Corpora[0].Filter
}

// TestReferences proves what each root leads to and in which ways it is written.
func TestReferences(t *testing.T) {
	t.Parallel()
	sc := scene()
	sc.Session.Metadata = json.RawMessage(`{"a": "A", "o": {"b": ["x", {"c": "C"}], "a.b": "dotted", "0": "zero"}, "who": "a", "one": 1, "n": null, "e": "", "user-id": "hyphen", "ü": "umlaut"}`)
	sc.AgentSecrets = map[string]string{"a": "agent-secret-of-a", "hyphen": "agent-secret-of-hyphen"}
	sc.Outputs["t"] = reference.Latest{Output: json.RawMessage(`{"rows": [{"id": "r0"}, {"id": "r1"}]}`)}
	for _, c := range []struct{ path, want, refused string }{
		{path: "session.metadata.a", want: "A"}, {path: ".session.metadata.a", want: "A"}, {path: "$.session.metadata.a", want: "A"}, {path: "$session.metadata.a", want: "A"},
		{path: "session.metadata['a']", want: "A"}, {path: `session["metadata"]["a"]`, want: "A"},
		{path: "session.metadata.o.b[0]", want: "x"}, {path: "session.metadata.o.b[1].c", want: "C"}, {path: "session.metadata.o.b.0", want: "x"},
		{path: "session.metadata.o['a.b']", want: "dotted"}, {path: "session.metadata.o[0]", want: "zero"},
		{path: "session.metadata.user-id", want: "hyphen"}, {path: "session.metadata.ü", want: "umlaut"}, {path: "session.metadata.e", want: ""},
		{path: "session.key", want: "s1"}, {path: "session.name", want: "Talk"}, {path: "agent.key", want: "a1"}, {path: "agent.name", want: "Helper"},
		{path: "agent.metadata.region", want: "eu"}, {path: "currentDate", want: "2026-05-01T08:00:00Z"}, {path: "$.currentDate", want: "2026-05-01T08:00:00Z"},
		{path: "session.secrets.token", want: "****"}, {path: "agent.secrets.a", want: "****"}, {path: "agent.secrets[session.metadata.who]", want: "****"},
		{path: "agent.secrets[$session.metadata.who]", want: "****"}, {path: "$.agent.secrets[$.session.metadata.who]", want: "****"}, {path: "agent.secrets[session.metadata.user-id]", want: "****"},
		{path: "tools.t.outputs.latest.rows[1].id", want: "r1"}, {path: "session.metadata.o.b[session.metadata.one].c", want: "C"},
		{path: "session.metadata[session.metadata.who]", want: "A"}, {path: "session.metadata[$.session.metadata.who]", want: "A"}, {path: "session.metadata[$session.metadata[session.metadata.who]]", refused: "unresolved"},

		{path: "session.metadata.none", refused: "unresolved"}, {path: "session.metadata.n", refused: "unresolved"}, {path: "session.metadata.a.b", refused: "unresolved"},
		{path: "session.metadata.o.b[2]", refused: "unresolved"}, {path: "session.nothing", refused: "unresolved"},
		{path: "agent.secrets.x", refused: "unresolved"}, {path: "agent.secrets", refused: "an object"}, {path: "agent.secrets[session.metadata.none]", refused: "unresolved"}, {path: "agent.secrets.a.b", refused: "unresolved"},
		{path: "session.secrets.none", refused: "unresolved"}, {path: "session.metadata[session.metadata.none]", refused: "unresolved"},
		{path: "tools.t.outputs.latest.none", refused: "unresolved"},
		{path: "session.metadata.o", refused: "an object"}, {path: "session.metadata.one", refused: "a number"}, {path: "session.metadata.o.b", refused: "a list"}, {path: "session.secrets", refused: "an object"},
	} {
		b, _, err := compile(t, kit(t, nil), filtered(c.path)).Bind(sc, "")
		if c.refused != "" {
			want := fmt.Sprintf("Failed to resolve eager references: tool 't': unresolved refs [%s]", c.path)
			if c.refused != "unresolved" {
				want = fmt.Sprintf("Failed to resolve eager references: tool 't': %s is %s, but query_configuration.search.corpora[0].metadata_filter takes a text", c.path, c.refused)
			}
			if f, ok := fault.As(err); !ok || f.Kind != fault.KindUnprocessable || f.Text != want {
				t.Errorf("%s: %v", c.path, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
		} else if got := filterOf(t, b, sc); got != c.want {
			t.Errorf("%s is %q, want %q", c.path, got, c.want)
		}
	}
}

// TestNoPath proves which texts are no paths.
func TestNoPath(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"", "$", ".", "$.", "..session.key", "session", "agent", "tools", "tools.t", "tools.t.outputs", "tools.t.outputs.first.x", "currentDate.x", "Session.key", "user.x",
		"session.", "session..key", "session.key.", "session.me ta", "session.metadata[", "session.metadata[]", "session.metadata[0", "session.metadata['a]", "session.metadata[a]", "session.metadata[x.y]",
		"session.metadata]", "session.metadata[99999]", "session.metadata[-1]", "session.key ", "session.\nkey", "{{session.key}}", strings.Repeat("session.metadata[", 6) + "session.key" + strings.Repeat("]", 6),
		"session.metadata." + strings.Repeat("x", 1000), "tools[session.key].outputs.latest", "tools.t['outputs'][session.key]",
	} {
		if r, err := reference.Parse(path); err == nil {
			t.Errorf("%q is a path: %v", path, r)
		}
	}
}

// TestAllUnresolved proves that everything that is unresolved is named at once, each path once, as it was written.
func TestAllUnresolved(t *testing.T) {
	t.Parallel()
	s, err := tool.Compile(map[string]json.RawMessage{
		"b": json.RawMessage(`{"type": "corpora_search", "query_configuration": {"search": {"corpora": [
			{"corpus_key": {"$ref": "$.session.metadata.z"}, "metadata_filter": {"$ref": "session.metadata.y"}}, {"corpus_key": "c", "metadata_filter": {"$ref": "session.metadata.y"}}]}}}`),
		"a": json.RawMessage(filtered("session.metadata[session.metadata.none]")),
		"c": json.RawMessage(filtered("session.metadata.acl")),
	}, kit(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Bind(scene(), "")
	if err == nil || err.Error() != "Failed to resolve eager references: tool 'a': unresolved refs [session.metadata[session.metadata.none]]; tool 'b': unresolved refs [$.session.metadata.z, session.metadata.y]" {
		t.Error(err)
	}
}

// TestCaller proves that who opens a session is read in a reference of any kind while that is made, and makes the call fail in a turn, by
// whatever path it is reached, without keeping other tools from being bound; and that a turn that goes on is no other.
func TestCaller(t *testing.T) {
	t.Parallel()
	k := kit(t, func(_ context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
		return c.Arguments, nil
	})
	user := &reference.Caller{Type: "user", ID: "usr_1", Email: "a@b.example"}
	pinned := func(path string) string {
		return fmt.Sprintf(`{"type": "test", "argument_override": {"text": "x", "headers": {"Accept": {"$ref": %q}, "Authorization": "y"}}, "input_transform": "del(.args.query).args"}`, path)
	}
	for _, c := range []struct {
		configuration string
		caller        *reference.Caller
		want, failed  string
	}{
		{filtered("session.caller.id"), user, "usr_1", ""},
		{filtered("session['caller'].email"), user, "a@b.example", ""},
		{filtered("session.metadata[session.caller.type]"), user, "by the type", ""},
		{pinned("session.caller.type"), user, "user", ""},
		{filtered("session.caller.id"), nil, "", "[session.caller.id]; session.caller has a value only while a session is made"},
		{filtered("session[session.metadata.root].id"), nil, "", "[session[session.metadata.root].id]; session.caller has"},
		{filtered("session.metadata[session.caller.type]"), &reference.Caller{}, "", "[session.metadata[session.caller.type]]; session.caller has"},
		{pinned("$.session.caller"), nil, "", "[$.session.caller]; session.caller has"},
		{pinned("session.caller.email"), &reference.Caller{Type: "api_key", ID: "x"}, "", "unresolved refs [session.caller.email]"},
	} {
		sc := scene()
		sc.Session.Metadata, sc.Caller = json.RawMessage(`{"user": "by the type", "root": "caller"}`), c.caller
		s, err := tool.Compile(map[string]json.RawMessage{"t": json.RawMessage(c.configuration), "other": json.RawMessage(filtered("session.key"))}, k)
		if err != nil {
			t.Fatal(err)
		}
		_, kept, err := s.Bind(sc, "")
		if err != nil {
			t.Errorf("%s: %v", c.configuration, err)
			continue
		}
		b, _, err := s.Bind(sc, kept.Text)
		if err != nil {
			t.Fatal(err)
		}
		p := b.Plan([]llm.ToolCall{{Name: "t", Arguments: json.RawMessage(`{"query": "x"}`)}}, nil, sc)
		out := b.Run(t.Context(), p[0], sc)
		if out.Failed != (c.failed != "") || !strings.Contains(string(out.Output), c.want) || !strings.Contains(string(out.Output), c.failed) || out.Failed && out.Class != tool.InvalidConfiguration {
			t.Errorf("%s: %s %s", c.configuration, out.Class, out.Output)
		}
	}
}

// TestValuesOfATurn proves that a turn that goes on keeps the values that it began with, that what is kept is a secret if one is in it, that a secret stays masked where the session has another one by then, and that a turn without references keeps nothing.
func TestValuesOfATurn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, before, kept string
		secret             bool
	}{
		{"session.metadata.acl", "doc.team = 'x'", `{"t":{"query_configuration.search.corpora[0].metadata_filter":{"value":"doc.team = 'x'"}}}`, false},
		{"session.secrets.filter", "****", `{"t":{"query_configuration.search.corpora[0].metadata_filter":{"value":"doc.secret = 'tok'","secret":true}}}`, true},
		{"agent.secrets.crm", "****", `{"t":{"query_configuration.search.corpora[0].metadata_filter":{"value":"crm-key-1234567890","secret":true}}}`, true},
	} {
		s := compile(t, kit(t, nil), filtered(c.path))
		_, kept, err := s.Bind(scene(), "")
		if err != nil || kept.Text != c.kept || kept.Secret != c.secret {
			t.Errorf("%s: %v, kept %+v", c.path, err, kept)
		}
		later := scene()
		later.Session.Metadata = json.RawMessage(`{"acl": "later"}`)
		later.Secrets, later.AgentSecrets = map[string]string{"filter": "another"}, nil
		b, again, err := s.Bind(later, kept.Text)
		if err != nil || again.Text != kept.Text {
			t.Fatalf("%v, kept %+v", err, again)
		}
		if got := filterOf(t, b, later); got != c.before {
			t.Errorf("%s is %q", c.path, got)
		}
	}
	if _, kept, err := compile(t, kit(t, nil), searching("")).Bind(scene(), ""); kept != (tool.Kept{}) || err != nil {
		t.Error(kept, err)
	}
	for _, broken := range []string{"x", "sealed", `[]`} {
		if _, _, err := compile(t, kit(t, nil), filtered("session.key")).Bind(scene(), broken); err == nil {
			t.Errorf("%q is read", broken)
		}
	}
}

// TestOffer proves what the model sees: the tools that the step allows and that are not disabled, by name, each with its
// rendered description, or the tool's own, and with the arguments that are not pinned.
func TestOffer(t *testing.T) {
	t.Parallel()
	k := kit(t, nil)
	base := k.Types["test"]
	k.Types["off"] = func(raw json.RawMessage) (*tool.Tool, error) {
		made, err := base(raw)
		made.Disabled = true
		return made, err
	}
	configurations := map[string]json.RawMessage{
		"plain":    json.RawMessage(`{"type": "test"}`),
		"off":      json.RawMessage(`{"type": "off"}`),
		"template": json.RawMessage(`{"type": "test", "description_template": "{\"a\": $agent.name} $agent.metadata.region $!agent.key $session.key $session.metadata.list.size() $session.metadata.none ${currentDate}$!session.secrets.token"}`),
		"blank":    json.RawMessage(`{"type": "test", "description_template": "#if(false)x#end "}`),
		"headers":  json.RawMessage(`{"type": "test", "argument_override": {"headers": {"Accept": "x", "Authorization": "y"}, "text": "t"}}`),
		"leaf":     json.RawMessage(`{"type": "test", "argument_override": {"headers.Authorization": {"$ref": "session.secrets.token"}, "items[0]": "x"}}`),
	}
	s, err := tool.Compile(configurations, k)
	if err != nil {
		t.Fatal(err)
	}
	b := bind(t, s, scene())
	offered := b.Offer(nil)
	var names []string
	byName := map[string]llm.Tool{}
	for _, o := range offered {
		names = append(names, o.Name)
		byName[o.Name] = o
	}
	if !cmp.Equal(names, []string{"blank", "headers", "leaf", "plain", "template"}) {
		t.Errorf("offered: %v", names)
	}
	for name, want := range map[string]string{
		"plain": "Tests.", "blank": "Tests.", "template": `{"a": Helper} eu  s1 2 $session.metadata.none 2026-05-01T08:00:00Z`,
	} {
		if got := byName[name].Description; got != want {
			t.Errorf("%s is described as %q, want %q", name, got, want)
		}
	}
	schemaOf := func(name string) (out struct {
		Properties map[string]struct {
			Properties map[string]any
			Required   []string
		}
		Required []string
	}) {
		if err := json.Unmarshal(byName[name].Parameters, &out); err != nil {
			t.Error(err)
		}
		return out
	}
	if got := schemaOf("headers"); len(got.Properties) != 3 || got.Properties["headers"].Properties != nil || len(got.Required) != 0 {
		t.Errorf("headers pinned: %s", byName["headers"].Parameters)
	}
	leaf := schemaOf("leaf")
	if h := leaf.Properties["headers"]; len(leaf.Properties) != 5 || len(h.Properties) != 1 || h.Properties["Accept"] == nil || !cmp.Equal(h.Required, []string{"Accept"}) || !cmp.Equal(leaf.Required, []string{"text", "headers"}) {
		t.Errorf("one header pinned: %s", byName["leaf"].Parameters)
	}
	if got := b.Offer(&[]string{"plain", "off", "none"}); len(got) != 1 || got[0].Name != "plain" {
		t.Errorf("allowed: %v", got)
	}
	if got := b.Offer(&[]string{}); len(got) > 0 {
		t.Errorf("none allowed: %v", got)
	}
}

// TestDescriptionFails proves that a turn whose description can't be rendered is refused.
func TestDescriptionFails(t *testing.T) {
	t.Parallel()
	s := compile(t, kit(t, func(context.Context, tool.Call, tool.Activity) (json.RawMessage, error) { return nil, nil }),
		`{"type": "test", "description_template": "#foreach($i in [1..100])#foreach($j in [1..1000])x#end#end"}`)
	_, _, err := s.Bind(scene(), "")
	if f, ok := fault.As(err); !ok || f.Kind != fault.KindUnprocessable || !strings.Contains(f.Text, "tool 't'") {
		t.Error(err)
	}
}
