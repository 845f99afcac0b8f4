package configuration_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/configuration"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/opt"
	"quarry/internal/store"
	"quarry/internal/store/storetest"
	"quarry/internal/store/toolconfigurations"
	"quarry/internal/store/tools"
)

// kit has two types of tools that do the same, echo, whose member corpus names a corpus and whose argument a is returned.
func kit(t *testing.T) tool.Kit {
	t.Helper()
	of, err := schema.New(json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"auth":{"type":"object"}},"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	echo := func(raw json.RawMessage) (*tool.Tool, error) {
		var c struct {
			Corpus any `json:"corpus"`
		}
		if err := json.Unmarshal(raw, &c); err != nil {
			return nil, err
		}
		out := &tool.Tool{Name: "echo", Description: "d", Schema: of, Run: func(_ context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
			return json.Marshal(map[string]any{"arguments": c.Arguments, "eager": c.Eager})
		}}
		switch v := c.Corpus.(type) {
		case string:
			out.Needs = []permit.Need{{Corpus: v}}
		case map[string]any:
			ref, err := reference.Parse(fmt.Sprint(v["$ref"]))
			if err != nil {
				return nil, fault.InvalidField("corpus", "%s", err)
			}
			out.Eager = map[string]tool.Eager{"corpus": {Reference: ref}}
		}
		return out, nil
	}
	return tool.Kit{Types: map[string]tool.Type{"corpora_search": echo, "web_get": echo}}
}

// fixture is a service over rows, and the tools of agents over the same.
type fixture struct {
	*configuration.Service
	sets *configuration.Sets
}

func open(t *testing.T) fixture {
	t.Helper()
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	known, err := catalog.New(tools.New(db), tool.Kit{})
	if err != nil {
		t.Fatal(err)
	}
	rows := toolconfigurations.New(db).Sealing(storetest.Secrets(t, db))
	shape := func(entry json.RawMessage) (json.RawMessage, error) {
		if strings.Contains(string(entry), "misshapen") {
			return nil, fault.InvalidField("a.b", "is misshapen")
		}
		return entry, nil
	}
	return fixture{
		configuration.New(configuration.Config{Store: rows, Tools: known, Kit: kit(t), Shape: shape}), configuration.NewSets(rows, known, kit(t)),
	}
}

// reads may read these corpora.
func reads(corpora ...string) permit.Rights { return permit.Rights{Corpora: corpora} }

func members(t *testing.T, raw string) map[string]json.RawMessage {
	t.Helper()
	var out map[string]json.RawMessage
	if err := json.Unmarshal([]byte(raw), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (f fixture) create(t *testing.T, key, entry string) configuration.Configuration {
	t.Helper()
	made, err := f.Create(t.Context(), permit.Rights{All: true}, key, configuration.Change{Name: opt.Some("n"), Entry: members(t, entry)})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (f fixture) update(t *testing.T, c configuration.Configuration, change configuration.Change) configuration.Configuration {
	t.Helper()
	changed, err := f.Update(t.Context(), permit.Rights{All: true}, c, change)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// TestKeys proves which key a configuration gets that is made without one.
func TestKeys(t *testing.T) {
	t.Parallel()
	f := open(t)
	for name, pattern := range map[string]string{"Help Desk": `^tcf_help_desk_[0-9a-f]{4}$`, "日本語": `^tcf_tool_[0-9a-f]{4}$`, strings.Repeat("Ab", 25): `^tcf_[ab]{41}_[0-9a-f]{4}$`} {
		made, err := f.Create(t.Context(), permit.Rights{}, "", configuration.Change{Name: opt.Some(name), Entry: members(t, `{"type":"corpora_search"}`)})
		if err != nil || !regexp.MustCompile(pattern).MatchString(made.Key) || len(made.Key) > 50 {
			t.Errorf("%s: %v, key %s", name, err, made.Key)
		}
	}
}

// TestRefused proves what is refused when a configuration is written, by which field, and that everything that is wrong is told at once.
func TestRefused(t *testing.T) {
	t.Parallel()
	f := open(t)
	c := f.create(t, "c", `{"type":"corpora_search","corpus":"mine"}`)
	for name, c := range map[string]struct {
		key, entry string
		fields     []string
	}{
		"key":       {"a b", `{"type":"corpora_search"}`, []string{"key"}},
		"client":    {"", `{"type":"client","tool_id":"tol_x"}`, []string{"type"}},
		"reference": {"", `{"type":"reference","tool_configuration_key":"c"}`, []string{"type"}},
		"not built": {"", `{"type":"lambda","tool_id":"tol_x"}`, []string{"type"}},
		"shape":     {"", `{"type":"corpora_search","misshapen":1}`, []string{"a.b"}},
		"several":   {"", `{"type":"corpora_search","argument_override":{"c":1},"output_transform":"("}`, []string{"argument_override.c", "output_transform"}},
		"offload":   {"", `{"type":"corpora_search","tool_output_offloading":{"min_threshold_bytes":9000,"max_threshold_bytes":8000}}`, []string{"tool_output_offloading.max_threshold_bytes"}},
		"time":      {"", `{"type":"corpora_search","max_execution_time_seconds":21601}`, []string{"max_execution_time_seconds"}},
		"size":      {"", `{"type":"corpora_search","argument_override":{"a":"` + strings.Repeat("x", 64<<10) + `"}}`, []string{""}},
	} {
		_, err := f.Create(t.Context(), permit.Rights{All: true}, c.key, configuration.Change{Name: opt.Some("n"), Entry: members(t, c.entry)})
		wrong, _ := fault.As(err)
		if wrong == nil || wrong.Kind != fault.KindInvalid || !slices.Equal(slices.Sorted(maps.Keys(wrong.Fields)), c.fields) {
			t.Errorf("%s: %v, want the fields %q", name, err, c.fields)
		}
	}
	if _, err := f.Update(t.Context(), permit.Rights{All: true}, c, configuration.Change{Entry: members(t, `{"type":"web_get"}`)}); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("another type: %v", err)
	}
	// outputs of tools that only an agent has are not asked for here
	f.create(t, "reads", `{"type":"corpora_search","argument_override":{"a":{"$ref":"tools.other.outputs.latest.x"}}}`)
}

// TestWriter proves that what a configuration names counts by who writes it, as long as the change is about the entry.
func TestWriter(t *testing.T) {
	t.Parallel()
	f := open(t)
	entry := configuration.Change{Name: opt.Some("n"), Entry: members(t, `{"type":"corpora_search","corpus":"mine"}`)}
	if _, err := f.Create(t.Context(), reads("other"), "c", entry); !fault.Is(err, fault.KindForbidden) {
		t.Errorf("created by who may not read the corpus: %v", err)
	}
	c, err := f.Create(t.Context(), reads("mine"), "c", entry)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Update(t.Context(), reads(), c, configuration.Change{Description: opt.Some("d"), Enabled: opt.Some(false)}); err != nil {
		t.Errorf("described by somebody else: %v", err)
	}
	for _, changed := range []string{`{"corpus":"other"}`, `{"description_template":"t"}`} {
		if _, err := f.Update(t.Context(), reads("another"), c, configuration.Change{Entry: members(t, changed)}); !fault.Is(err, fault.KindForbidden) {
			t.Errorf("%s by who may not read the corpus: %v", changed, err)
		}
	}
	set, err := f.sets.Check(t.Context(), members(t, `{"x":{"type":"reference","tool_configuration_key":"c"}}`))
	if err != nil || !slices.Equal(set.Needs([]string{"x"}), []permit.Need{{Corpus: "mine"}}) {
		t.Errorf("%v: who writes an agent that refers to it is not asked for what it names", err)
	}
}

// TestMerge proves that what is absent stays, null clears and objects are replaced; and that of changes at once none is lost.
func TestMerge(t *testing.T) {
	t.Parallel()
	f := open(t)
	c := f.create(t, "c", `{"type":"corpora_search","argument_override":{"a":"1"},"output_transform":".","more":null}`)
	if diff := cmp.Diff(`{"argument_override":{"a":"1"},"output_transform":".","type":"corpora_search"}`, string(c.Entry)); diff != "" || string(c.Metadata) != "{}" || !c.Enabled {
		t.Errorf("%s, %+v", diff, c)
	}
	same := f.update(t, c, configuration.Change{Entry: members(t, `{"type":"corpora_search","output_transform":"."}`)})
	if diff := cmp.Diff(c, same); diff != "" {
		t.Errorf("a change of nothing: %s", diff)
	}
	c = f.update(t, c, configuration.Change{Enabled: opt.Some(false), Description: opt.Some("d"), Metadata: opt.Some(json.RawMessage(`{"a":1}`))})
	c = f.update(t, c, configuration.Change{Entry: members(t, `{"argument_override":{"b":"2"},"output_transform":null}`)})
	if diff := cmp.Diff(`{"argument_override":{"b":"2"},"type":"corpora_search"}`, string(c.Entry)); diff != "" || c.Enabled || c.Description != "d" || c.Version != 3 {
		t.Errorf("%s, %+v", diff, c)
	}
	c = f.update(t, c, configuration.Change{Enabled: opt.Null[bool](), Description: opt.Null[string](), Metadata: opt.Null[json.RawMessage]()})
	if !c.Enabled || c.Description != "" || string(c.Metadata) != "{}" || c.Name != "n" {
		t.Errorf("cleared: %+v", c)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			name := fmt.Sprintf("m%d", i)
			if _, err := f.Update(t.Context(), permit.Rights{}, c, configuration.Change{Entry: map[string]json.RawMessage{name: json.RawMessage(`1`)}}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got, err := f.Get(t.Context(), "c"); err != nil || strings.Count(string(got.Entry), `"m`) != 8 {
		t.Errorf("%v, %s", err, got.Entry)
	}
}

// bound is the tools of a turn, with what to keep with it.
func (f fixture) bind(t *testing.T, entries, before string) (*tool.Bound, tool.Kept) {
	t.Helper()
	b, text, err := f.sets.Bind(t.Context(), configuration.Agent{No: 1, Revision: 1, Entries: members(t, entries)}, scene(), before)
	if err != nil {
		t.Fatal(err)
	}
	return b, text
}

func scene() tool.Scene {
	return tool.Scene{Scene: reference.Scene{
		Agent: reference.Subject{Name: "Ann", Metadata: json.RawMessage(`{}`)}, Session: reference.Subject{Metadata: json.RawMessage(`{"one":"c1","two":"c2"}`)},
		Outputs: map[string]reference.Latest{}, Now: time.Unix(0, 0),
	}}
}

// call returns the output of a call of x.
func call(t *testing.T, b *tool.Bound) string {
	t.Helper()
	out := b.Run(t.Context(), b.Plan([]llm.ToolCall{{ID: "1", Name: "x", Arguments: json.RawMessage(`{"a":"model"}`)}}, nil, scene())[0], scene())
	return string(out.Output)
}

const refers = `{"x":{"type":"reference","tool_configuration_key":"c"}}`

// TestTurn proves that a turn begins with a configuration as it is, and that one in progress keeps what it began with: its transforms,
// its overrides and its references with their values, whatever the configuration has become, also where it is gone.
func TestTurn(t *testing.T) {
	t.Parallel()
	f := open(t)
	c := f.create(t, "c", `{"type":"corpora_search","corpus":{"$ref":"session.metadata.one"},"argument_override":{"b":"first"}}`)
	first := `{"arguments":{"a":"model","b":"first"},"eager":{"corpus":"c1"}}`
	b, kept := f.bind(t, refers, "")
	if got := call(t, b); got != first {
		t.Errorf("got %s, want %s", got, first)
	}
	c = f.update(t, c, configuration.Change{Entry: members(t, `{"corpus":{"$ref":"session.metadata.two"},"argument_override":{"b":"second"},"output_transform":".eager"}`)})
	going := func(what string) {
		t.Helper()
		on, again := f.bind(t, refers, kept.Text)
		if got := call(t, on); got != first || again.Text != kept.Text {
			t.Errorf("%s: got %s, want %s; kept %s, want %s", what, got, first, again.Text, kept.Text)
		}
	}
	going("changed")
	next, _ := f.bind(t, refers, "")
	if got, want := call(t, next), `{"corpus":"c2"}`; got != want {
		t.Errorf("the next turn: got %s, want %s", got, want)
	}
	c = f.update(t, c, configuration.Change{Enabled: opt.Some(false)})
	going("disabled")
	if next, _ = f.bind(t, refers, ""); len(next.Offer(nil)) > 0 || !strings.Contains(call(t, next), "configuration c is disabled") {
		t.Errorf("the next turn is offered %v, and a call is %s", next.Offer(nil), call(t, next))
	}
	if err := f.Delete(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	going("gone")
	if next, _ = f.bind(t, refers, ""); len(next.Offer(nil)) > 0 || !strings.Contains(call(t, next), "configuration c is gone") {
		t.Errorf("the next turn is offered %v, and a call is %s", next.Offer(nil), call(t, next))
	}
	if other := f.create(t, "c", `{"type":"corpora_search","argument_override":{"b":"other"}}`); other.Version != 1 {
		t.Errorf("version %d", other.Version)
	}
	going("another one of the key")
	if next, _ = f.bind(t, refers, ""); !strings.Contains(call(t, next), "other") {
		t.Errorf("the next turn: %s", call(t, next))
	}
}

// TestCredentialsKept proves that a turn in progress keeps the credentials that it began with, and that what it keeps is a secret.
func TestCredentialsKept(t *testing.T) {
	t.Parallel()
	f := open(t)
	c := f.create(t, "c", `{"type":"web_get","corpus":{"$ref":"session.metadata.one"},"argument_override":{"auth":{"type":"bearer","token":"hidden"}}}`)
	b, kept := f.bind(t, refers, "")
	first := call(t, b)
	if !strings.Contains(first, "hidden") || !strings.Contains(first, "c1") {
		t.Fatalf("the tool is called with %s", first)
	}
	f.update(t, c, configuration.Change{Entry: members(t, `{"argument_override":{"auth":{"type":"bearer","token":"later"}}}`)})
	on, again := f.bind(t, refers, kept.Text)
	if got := call(t, on); got != first || again.Text != kept.Text || !kept.Secret {
		t.Errorf("got %s, want %s; kept %+v, want %+v", got, first, again, kept)
	}
}

// TestNothingKept proves that a turn of an agent without references keeps what it kept before there were any.
func TestNothingKept(t *testing.T) {
	t.Parallel()
	if _, kept := open(t).bind(t, `{"x":{"type":"corpora_search"}}`, ""); kept != (tool.Kept{}) {
		t.Errorf("kept %+v", kept)
	}
	_, kept := open(t).bind(t, `{"configurations":{"type":"corpora_search","corpus":{"$ref":"session.metadata.one"}}}`, "")
	if want := `{"configurations":{"corpus":{"value":"c1"}}}`; kept != (tool.Kept{Text: want}) {
		t.Errorf("kept %+v, want %s", kept, want)
	}
}

// TestReference proves what stands on a reference and wins: description, transforms and limits, each for itself, and of offloading each
// member; nothing else of it counts.
func TestReference(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.create(t, "c", `{"type":"corpora_search","argument_override":{"b":"stored"},"description_template":"stored","input_transform":".args","output_transform":"{stored: .arguments}"}`)
	for entry, want := range map[string]string{
		`{"type":"reference","tool_configuration_key":"c"}`: `stored {"stored":{"a":"model","b":"stored"}}`,
		`{"type":"reference","tool_configuration_key":"c","output_transform":".arguments","argument_override":{"b":"own"},"enabled":false,"name":"x"}`: `stored {"a":"model","b":"stored"}`,
		`{"type":"reference","tool_configuration_key":"c","input_transform":"{a: .args.b}","description_template":"For $agent.name"}`:                  `For Ann {"stored":{"a":"stored"}}`,
		`{"type":"reference","tool_configuration_key":"c","output_transform":null,"input_transform":null,"description_template":null}`:                 `stored {"stored":{"a":"model","b":"stored"}}`,
	} {
		b, _, err := f.sets.Bind(t.Context(), configuration.Agent{No: 1, Revision: int64(len(entry)), Entries: map[string]json.RawMessage{"x": json.RawMessage(entry)}}, scene(), "")
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Offer(nil)[0].Description + " " + call(t, b); got != want {
			t.Errorf("%s: got %s, want %s", entry, got, want)
		}
	}
	f.create(t, "o", `{"type":"corpora_search","tool_output_offloading":{"min_threshold_bytes":2000,"max_threshold_bytes":4000}}`)
	for own, fine := range map[string]bool{`{"max_threshold_bytes":3000}`: true, `{"max_threshold_bytes":1500}`: false, `{"max_threshold_bytes":1500,"min_threshold_bytes":1200}`: true} {
		_, err := f.sets.Check(t.Context(), map[string]json.RawMessage{"x": json.RawMessage(`{"type":"reference","tool_configuration_key":"o","tool_output_offloading":` + own + `}`)})
		if (err == nil) != fine {
			t.Errorf("%s over 2000 and 4000: %v", own, err)
		}
	}
}

// TestBlame proves which field of an agent is named for what is wrong with a configuration that it refers to.
func TestBlame(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.create(t, "c", `{"type":"corpora_search","argument_override":{"a":{"$ref":"tools.other.outputs.latest.x"}}}`)
	for name, c := range map[string]struct{ entries, field, contains string }{
		"no such key":      {`{"x":{"type":"reference","tool_configuration_key":"none"}}`, "tool_configurations.x.tool_configuration_key", `"none"`},
		"no key":           {`{"x":{"type":"reference"}}`, "tool_configurations.x.tool_configuration_key", "GET /v2/tool_configurations"},
		"of the reference": {`{"other":{"type":"corpora_search"},"x":{"type":"reference","tool_configuration_key":"c","output_transform":"("}}`, "tool_configurations.x.output_transform", ""},
		"of what it names": {refers, "tool_configurations.x.tool_configuration_key", `c, of which argument_override refers to the output of "other"`},
		"of another entry": {`{"other":{"type":"corpora_search","input_transform":"("},"x":{"type":"reference","tool_configuration_key":"c"}}`, "tool_configurations.other.input_transform", ""},
	} {
		_, err := f.sets.Check(t.Context(), members(t, c.entries))
		wrong, _ := fault.As(err)
		if wrong == nil || len(wrong.Fields) != 1 || !strings.Contains(wrong.Fields[c.field], c.contains) || wrong.Fields[c.field] == "" {
			t.Errorf("%s: %v, want the field %s", name, err, c.field)
		}
	}
}
