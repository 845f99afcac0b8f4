package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/agent/tool/search"
	"quarry/internal/fault"
	"quarry/internal/llm"
)

// echo is a tool that answers with its arguments.
func echo(_ context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
	return json.Marshal(map[string]any{"got": c.Arguments})
}

// TestPipeline proves the way of a call step by step: pinned arguments win over those of the model, references are resolved in
// what is pinned alone, transforms see what the contract says, and what is stored has the model's part as its input.
func TestPipeline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, configuration, arguments string
		output, overrides              string
		pinned                         []string
	}{
		{
			name: "nothing configured", configuration: `{"type": "test"}`, arguments: `{"text": "hi", "headers": {"Accept": "a", "Authorization": "b"}}`,
			output: `{"got": {"text": "hi", "headers": {"Accept": "a", "Authorization": "b"}}}`, overrides: `{}`, pinned: []string{},
		},
		{
			name:          "a whole property, which the model can't add to",
			configuration: `{"type": "test", "argument_override": {"text": "pinned", "headers": {"Accept": "x", "Authorization": "y"}}}`,
			arguments:     `{"text": "mine", "headers": {"Cookie": "c"}, "n": 3}`,
			output:        `{"got": {"text": "pinned", "n": 3, "headers": {"Accept": "x", "Authorization": "y"}}}`,
			overrides:     `{"text": "pinned", "headers": {"Accept": "x", "Authorization": "y"}}`,
			pinned:        []string{"headers.Accept", "headers.Authorization", "text"},
		},
		{
			name:          "leaves, whose siblings are the model's",
			configuration: `{"type": "test", "argument_override": {"headers.Authorization": "y", "items[1]": "second", "any.a.b": {"c": [1, {"d": []}]}}}`,
			arguments:     `{"text": "t", "headers": {"Accept": "mine", "Authorization": "mine"}, "items": ["first", "mine", "third"], "any": "in the way"}`,
			output:        `{"got": {"text": "t", "headers": {"Accept": "mine", "Authorization": "y"}, "items": ["first", "second", "third"], "any": {"a": {"b": {"c": [1, {"d": []}]}}}}}`,
			overrides:     `{"headers.Authorization": "y", "items[1]": "second", "any.a.b": {"c": [1, {"d": []}]}}`,
			pinned:        []string{"any.a.b.c[0]", "any.a.b.c[1].d", "headers.Authorization", "items[1]"},
		},
		{
			name:          "references keep their types",
			configuration: `{"type": "test", "argument_override": {"text": {"$ref": "session.key"}, "n": {"$ref": "tools.t.outputs.latest.rows[0].id"}, "any": {"list": {"$ref": "session.metadata.list"}, "big": [{"$ref": "session.metadata.n"}], "$$ref": "literal", "deep": {"$$ref": {"$$ref": 1}}}}}`,
			arguments:     `{"headers": {"Accept": "a", "Authorization": "b"}}`,
			output:        `{"got": {"text": "s1", "n": 7, "headers": {"Accept": "a", "Authorization": "b"}, "any": {"list": ["a", {"b": true}], "big": [12345678901234567890], "$ref": "literal", "deep": {"$ref": {"$ref": 1}}}}}`,
			overrides:     `{"text": "s1", "n": 7, "any": {"list": ["a", {"b": true}], "big": [12345678901234567890], "$ref": "literal", "deep": {"$ref": {"$ref": 1}}}}`,
			pinned:        []string{"any.$ref", "any.big[0]", "any.deep.$ref.$ref", "any.list", "n", "text"},
		},
		{
			name:          "references of the model are none",
			configuration: `{"type": "test"}`, arguments: `{"text": "t", "headers": {"Accept": "a", "Authorization": "b"}, "any": {"$ref": "session.secrets.token"}}`,
			output: `{"got": {"text": "t", "headers": {"Accept": "a", "Authorization": "b"}, "any": {"$ref": "session.secrets.token"}}}`, overrides: `{}`, pinned: []string{},
		},
		{
			name: "what an input transform sees",
			configuration: `{"type": "test", "argument_override": {"text": "pinned"}, "input_transform":
				".args + {headers: {Accept: .agent.metadata.region, Authorization: .session.name}, n: .tools.t.outputs.latest.rows[0].id, any: {date: .currentDate, a: .agent.key, none: .session.caller.id, secret: (.session.secrets.token | length), failed: .tools.broken.outputs.latest.error}}"}`,
			arguments: `{"n": 1}`,
			output:    `{"got": {"text": "pinned", "n": 7, "headers": {"Accept": "eu", "Authorization": "Talk"}, "any": {"date": "2026-05-01T08:00:00Z", "a": "a1", "none": null, "secret": 14, "failed": "no"}}}`,
			overrides: `{"text": "pinned"}`, pinned: []string{"text"},
		},
		{
			name:          "an output transform to another object",
			configuration: `{"type": "test", "output_transform": "{only: .got.text}"}`, arguments: `{"text": "t", "headers": {"Accept": "a", "Authorization": "b"}}`,
			output: `{"only": "t"}`, overrides: `{}`, pinned: []string{},
		},
		{
			name:          "an output transform to something else",
			configuration: `{"type": "test", "output_transform": "[.got.text, 1.5, null]"}`, arguments: `{"text": "<t>", "headers": {"Accept": "a", "Authorization": "b"}}`,
			output: `{"content": ["<t>", 1.5, null]}`, overrides: `{}`, pinned: []string{},
		},
	} {
		sc := scene()
		sc.Outputs["t"] = sc.Outputs["first"]
		p, out := call(t, kit(t, echo), c.configuration, c.arguments, sc)
		if out.Failed || out.Class != "" {
			t.Errorf("%s: %s", c.name, out.Output)
			continue
		}
		same(t, c.name, c.output, out.Output)
		same(t, c.name+": overrides", c.overrides, out.Overrides)
		same(t, c.name+": input", c.arguments, p.Input)
		if !cmp.Equal(p.Pinned, c.pinned) {
			t.Errorf("%s: pinned %q", c.name, p.Pinned)
		}
		if strings.Contains(string(out.Output), `\u003c`) {
			t.Errorf("%s: %s", c.name, out.Output)
		}
	}
}

// TestFailures proves that everything that goes wrong is one output that is an error, with its reason and class, and that the
// values of pinned arguments are with it only if the tool was started.
func TestFailures(t *testing.T) {
	t.Parallel()
	good := `{"text": "t", "headers": {"Accept": "a", "Authorization": "b"}}`
	plain := `{"type": "test"}`
	returns := func(text string, err error) func(context.Context, tool.Call, tool.Activity) (json.RawMessage, error) {
		return func(context.Context, tool.Call, tool.Activity) (json.RawMessage, error) {
			return json.RawMessage(text), err
		}
	}
	for _, c := range []struct {
		name, configuration, arguments string
		run                            func(context.Context, tool.Call, tool.Activity) (json.RawMessage, error)
		class                          tool.Class
		reason                         string
		started                        bool
	}{
		{"no object", plain, `[1]`, nil, tool.InvalidInput, "no JSON object: [1]", false},
		{"no JSON", plain, `{"text": "cut`, nil, tool.InvalidInput, `no JSON object: {"text": "cut`, false},
		{"two objects", plain, `{} {}`, nil, tool.InvalidInput, "no JSON object", false},
		{"nothing", plain, ``, nil, tool.InvalidInput, "missing properties 'text', 'headers'", false},
		{"wrong type", plain, `{"text": 5, "headers": {"Accept": "a", "Authorization": "b"}}`, nil, tool.InvalidInput, "text: got number, want string", false},
		{"unknown argument", plain, `{"text": "t", "headers": {"Accept": "a", "Authorization": "b"}, "more": 1}`, nil, tool.InvalidInput, "additional properties 'more' not allowed", false},
		{"a pinned value of the wrong type", `{"type": "test", "argument_override": {"n": {"$ref": "session.key"}}}`, good, nil, tool.InvalidInput, "n: got string, want integer", false},
		{"unresolved", `{"type": "test", "argument_override": {"any": [{"$ref": "session.caller.id"}, {"$ref": "session.metadata.none"}, {"$ref": "session.caller.id"}]}}`, good, nil, tool.InvalidConfiguration, "unresolved refs [session.caller.id, session.metadata.none]", false},
		{"null", `{"type": "test", "argument_override": {"any": {"$ref": "session.metadata.null"}}}`, good, nil, tool.InvalidConfiguration, "unresolved refs [session.metadata.null]", false},
		{"never ran", `{"type": "test", "argument_override": {"any": {"$ref": "tools.t.outputs.latest"}}}`, good, nil, tool.DependencyFailed, "unresolved refs [tools.t.outputs.latest]", false},
		{"transform to no object", `{"type": "test", "input_transform": "[.args]"}`, good, nil, tool.InvalidConfiguration, "input_transform has a result that is no object", false},
		{"transform to nothing", `{"type": "test", "input_transform": "empty"}`, good, nil, tool.InvalidConfiguration, "input_transform failed: it has no result", false},
		{"transform to several", `{"type": "test", "input_transform": ".args, .args"}`, good, nil, tool.InvalidConfiguration, "more than one result", false},
		{"transform that fails", `{"type": "test", "input_transform": ".args.text + 1"}`, good, nil, tool.InvalidConfiguration, "input_transform failed: cannot add", false},
		{"transform that gives up", `{"type": "test", "input_transform": "error(\"not today\")"}`, good, nil, tool.InvalidConfiguration, "not today", false},
		{"transform that halts", `{"type": "test", "input_transform": "halt_error"}`, good, nil, tool.InvalidConfiguration, "input_transform failed", false},
		{"transform to too much", `{"type": "test", "input_transform": "{text: (\"x\" * 20000000)}"}`, good, nil, tool.InvalidConfiguration, "more than 16 MiB", false},
		{"transform to a tree that repeats itself", `{"type": "test", "input_transform": "reduce range(60) as $i (0; {a: ., b: .})"}`, good, nil, tool.InvalidConfiguration, "more than 16 MiB", false},
		{"transform to a deep tree", `{"type": "test", "input_transform": "reduce range(5000) as $i (0; {a: .})"}`, good, nil, tool.InvalidConfiguration, "1000 levels", false},
		{"transform that reads the environment", `{"type": "test", "input_transform": ".args | .text = (env | tostring)"}`, good, echo, "", `"text":"{}"`, true},
		{"output transform that fails", `{"type": "test", "output_transform": ".got | keys | .[0] | tonumber"}`, good, echo, tool.InvalidConfiguration, "output_transform failed: tonumber", true},
		{"failure", plain, good, returns("", &tool.Failure{Class: tool.NotFound, Text: "there is no such thing"}), tool.NotFound, "there is no such thing", true},
		{"fault", plain, good, returns("", fault.NotFound("corpus_not_found", "c", "corpus %q is not there", "c")), tool.NotFound, `corpus "c" is not there`, true},
		{"bad field", plain, good, returns("", fault.InvalidField("query", "must not be blank")), tool.InvalidInput, "query: must not be blank", true},
		{"other service", plain, good, returns("", fault.Unavailable("x", "later")), tool.ExecutionError, "later", true},
		{"own error", plain, good, returns("", errors.New("disk on fire at /secret/path")), tool.ExecutionError, "the log of the service has the reason", true},
		{"no JSON back", plain, good, returns("<html>", nil), tool.ExecutionError, "no JSON", true},
		{"panic", plain, good, func(context.Context, tool.Call, tool.Activity) (json.RawMessage, error) { panic("boom") }, tool.ExecutionError, "an error in this program", true},
		{"50 MB", plain, good, returns(`{"x": "`+strings.Repeat("x", 50<<20)+`"}`, nil), tool.ExecutionError, "more than the 1 MiB that are kept", true},
		{"50 MB and a transform", `{"type": "test", "output_transform": "{}"}`, good, returns(`{"x": "`+strings.Repeat("x", 50<<20)+`"}`, nil), tool.ExecutionError, "more than the 16 MiB", true},
		{"2 MB behind a transform", `{"type": "test", "output_transform": "."}`, good, returns(`{"x": "`+strings.Repeat("x", 2<<20)+`"}`, nil), tool.ExecutionError, "more than the 1 MiB", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run := c.run
			if run == nil {
				run = func(context.Context, tool.Call, tool.Activity) (json.RawMessage, error) {
					t.Error("it ran")
					return nil, nil
				}
			}
			p, out := call(t, kit(t, run), c.configuration, c.arguments, scene())
			if out.Failed != (c.class != "") || out.Class != c.class || !strings.Contains(string(out.Output), strings.Trim(mustJSON(c.reason), `"`)) && !strings.Contains(string(out.Output), c.reason) {
				t.Errorf("failed %v, class %q: %.300s", out.Failed, out.Class, out.Output)
			}
			if (out.Overrides != nil) != c.started {
				t.Errorf("overrides: %s", out.Overrides)
			}
			var input, failed map[string]any
			if json.Unmarshal(p.Input, &input) != nil {
				t.Errorf("input: %s", p.Input)
			}
			if err := json.Unmarshal(out.Output, &failed); err != nil || out.Failed && (len(failed) != 1 || failed["error"] == "") {
				t.Errorf("output: %.300s", out.Output)
			}
		})
	}
}

// TestGreedyTransform proves that a program which takes too much memory ends, and that its message names this limit. It runs alone:
// memory counts for the whole process, and beside others the limit of time may come first.
func TestGreedyTransform(t *testing.T) {
	program := `{"type": "test", "input_transform": "{text: (reduce range(40) as $i (\"x\"; . + .))}"}`
	_, out := call(t, kit(t, echo), program, `{}`, scene())
	if out.Class != tool.InvalidConfiguration || out.Overrides != nil || !strings.Contains(string(out.Output), "input_transform needs more than 256 MiB of memory") {
		t.Errorf("class %q: %.300s", out.Class, out.Output)
	}
}

func mustJSON(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// TestHanging proves that a tool that hears of nothing is left behind at its limit, and at once when its turn is interrupted.
func TestHanging(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	started := make(chan struct{}, 2)
	k := kit(t, func(context.Context, tool.Call, tool.Activity) (json.RawMessage, error) {
		started <- struct{}{}
		<-release
		return nil, nil
	})
	base := k.Types["test"]
	k.Types["brief"] = func(raw json.RawMessage) (*tool.Tool, error) {
		made, err := base(raw)
		made.Timeout = time.Millisecond
		return made, err
	}
	arguments := `{"text": "t", "headers": {"Accept": "a", "Authorization": "b"}}`
	if _, out := call(t, k, `{"type": "brief"}`, arguments, scene()); out.Class != tool.Timeout || string(out.Output) != `{"error":"the tool took too long and was stopped"}` {
		t.Errorf("%+v", out)
	}
	<-started
	b := bind(t, compile(t, k, `{"type": "test"}`), scene())
	p := b.Plan([]llm.ToolCall{{Name: "t", Arguments: json.RawMessage(arguments)}}, nil, scene())
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		<-started
		interrupt()
	}()
	if out := b.Run(ctx, p[0], scene()); !out.Failed || string(out.Output) != `{"error":"the call was interrupted"}` {
		t.Errorf("%+v", out)
	}
}

// TestEndlessTransform proves that a program that never ends ends with its call.
func TestEndlessTransform(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	b := bind(t, compile(t, kit(t, echo), `{"type": "test", "input_transform": "[repeat(0) | select(. > 0)] | .[0]"}`), scene())
	p := b.Plan([]llm.ToolCall{{Name: "t", Arguments: json.RawMessage(`{}`)}}, nil, scene())
	if out := b.Run(ctx, p[0], scene()); out.Class != tool.Timeout {
		t.Errorf("%+v", out)
	}
}

// TestMasking proves that no value of a secret is in what is stored of a call, wherever it has got to, that the tool has it in
// clear, and that the log has not.
func TestMasking(t *testing.T) {
	t.Parallel()
	sc := scene()
	secret := sc.Secrets["token"]
	for _, c := range []struct {
		name, configuration, arguments string
		run                            func(context.Context, tool.Call, tool.Activity) (json.RawMessage, error)
		want                           string
	}{
		{"pinned", `{"type": "test", "argument_override": {"headers.Authorization": {"$ref": "session.secrets.token"}}}`, `{"text": "t", "headers": {"Accept": "a"}}`, echo,
			`{"got": {"text": "t", "headers": {"Accept": "a", "Authorization": "****"}}}`},
		{"all of them", `{"type": "test", "argument_override": {"any": {"$ref": "session.secrets"}}}`, `{"text": "t", "headers": {"Accept": "a", "Authorization": "b"}}`, echo,
			`{"got": {"text": "t", "headers": {"Accept": "a", "Authorization": "b"}, "any": {"token": "****", "filter": "****", "quote": "****"}}}`},
		{"in a text", `{"type": "test", "input_transform": ".args | .any = \"Bearer \\(.session.secrets.token)\""}`, `{"text": "t", "headers": {"Accept": "a", "Authorization": "b"}}`,
			func(context.Context, tool.Call, tool.Activity) (json.RawMessage, error) {
				return json.RawMessage(`{"said": "Bearer ` + secret + ` was used", "` + secret + `": ["` + secret + `"], "json": "{\"q\": \"a\\\"b<c d/e\"}"}`), nil
			},
			`{"said": "Bearer **** was used", "****": ["****"], "json": "{\"q\": \"****\"}"}`},
		{"in a failure", `{"type": "test"}`, `{"text": "t", "headers": {"Accept": "a", "Authorization": "b"}}`,
			func(context.Context, tool.Call, tool.Activity) (json.RawMessage, error) {
				return nil, &tool.Failure{Class: tool.ExecutionError, Text: "GET https://x/?key=" + secret + " failed"}
			}, `{"error": "GET https://x/?key=**** failed"}`},
		{"in the message of a transform", `{"type": "test", "output_transform": "\"0123456789 tok-1234567890\" | tonumber"}`, `{"text": "t", "headers": {"Accept": "a", "Authorization": "b"}}`, echo, ""},
		{"known to the model", `{"type": "test"}`, `{"text": "` + secret + `", "headers": {"Accept": "a", "Authorization": "b"}}`, echo,
			`{"got": {"text": "****", "headers": {"Accept": "a", "Authorization": "b"}}}`},
	} {
		k := kit(t, func(ctx context.Context, call tool.Call, _ tool.Activity) (json.RawMessage, error) {
			if c.name == "pinned" && !strings.Contains(string(call.Arguments), secret) {
				t.Errorf("%s: the tool got %s", c.name, call.Arguments)
			}
			return c.run(ctx, call, func(tool.Progress) {})
		})
		p, out := call(t, k, c.configuration, c.arguments, sc)
		if c.want != "" {
			same(t, c.name, c.want, out.Output)
		}
		if all := string(p.Input) + string(out.Output) + string(out.Overrides); strings.Contains(all, secret) || strings.Contains(all, "tok-12") {
			t.Errorf("%s: %s", c.name, all)
		}
	}
	var log strings.Builder
	k := kit(t, func(context.Context, tool.Call, tool.Activity) (json.RawMessage, error) {
		return nil, fmt.Errorf("dial %s", secret)
	})
	k.Log = slog.New(slog.NewTextHandler(&log, nil))
	call(t, k, `{"type": "test", "argument_override": {"any": {"$ref": "session.secrets.token"}}}`, `{"text": "t", "headers": {"Accept": "a", "Authorization": "b"}}`, sc)
	if !strings.Contains(log.String(), "dial ****") || strings.Contains(log.String(), secret) {
		t.Errorf("log: %s", log.String())
	}
}

// TestShortSecrets proves that a secret of a few letters is masked where it is a whole value, and doesn't blot out other words.
func TestShortSecrets(t *testing.T) {
	t.Parallel()
	sc := scene()
	sc.Secrets = map[string]string{"pin": "abc"}
	_, out := call(t, kit(t, echo), `{"type": "test", "argument_override": {"any": {"$ref": "session.secrets.pin"}}}`, `{"text": "abcdef", "headers": {"Accept": "a", "Authorization": "b"}}`, sc)
	same(t, "output", `{"got": {"text": "abcdef", "headers": {"Accept": "a", "Authorization": "b"}, "any": "****"}}`, out.Output)
	same(t, "overrides", `{"any": "****"}`, out.Overrides)
}

// TestPlan proves that calls of tools that are not there, not allowed or disabled are planned as errors, with the names of the
// tools that there are, and that the order of a reply stays.
func TestPlan(t *testing.T) {
	t.Parallel()
	k := kit(t, echo)
	base := k.Types["test"]
	k.Types["off"] = func(raw json.RawMessage) (*tool.Tool, error) {
		made, err := base(raw)
		made.Disabled = true
		return made, err
	}
	s, err := tool.Compile(map[string]json.RawMessage{
		"a": json.RawMessage(`{"type": "test", "argument_override": {"n": 1}}`), "search": json.RawMessage(searching("")), "off": json.RawMessage(`{"type": "off"}`),
	}, k)
	if err != nil {
		t.Fatal(err)
	}
	b := bind(t, s, scene())
	long := strings.Repeat("ü", 500)
	calls := []llm.ToolCall{
		{ID: "1", Name: "none", Arguments: json.RawMessage(`{"q": 1}`)}, {ID: "2", Name: "a", Arguments: json.RawMessage(`{}`)}, {ID: "3", Name: "search", Arguments: json.RawMessage(`{"query": "x"}`)},
		{ID: "4", Name: "off"}, {ID: "5", Name: long, Arguments: json.RawMessage(`nonsense`)},
	}
	want := []struct{ name, tool, reason string }{
		{"none", "none", `there is no tool "none"; there are: search`}, {"a", "tester", `the tool "a" is not allowed in this step; there are: search`}, {"search", "corpora_search", ""},
		{"off", "tester", `the tool "off" is disabled`}, {long[:256], long[:256], "there is no tool"},
	}
	for i, p := range b.Plan(calls, &[]string{"search", "off"}, scene()) {
		w := want[i]
		out := b.Run(t.Context(), p, scene())
		var said struct{ Error string }
		if err := json.Unmarshal(out.Output, &said); err != nil {
			t.Error(err)
		}
		if p.CallID != calls[i].ID || p.Tool != w.name || p.ToolName != w.tool || out.Failed != (w.reason != "") || !strings.Contains(said.Error, w.reason) || p.Pinned == nil {
			t.Errorf("%+v: %s", p, out.Output)
		}
		if out.Failed && out.Overrides != nil {
			t.Errorf("overrides of %s: %s", p.Tool, out.Overrides)
		}
	}
	if p := b.Plan(calls[:1], &[]string{}, scene()); !strings.Contains(string(b.Run(t.Context(), p[0], scene()).Output), "no tools can be called here") {
		t.Error("without any tool")
	}
	if p := b.Plan(calls[:3], nil, scene()); string(p[0].Input) != `{"q":1}` || p[1].Repeat != tool.Never || p[2].Repeat != tool.Reads || !cmp.Equal(p[1].Pinned, []string{"n"}) {
		t.Errorf("%+v", p)
	}
}

// TestOrder proves which calls of a reply wait for which: for those whose outputs they read, however they stand in the reply,
// and never for one another in a circle.
func TestOrder(t *testing.T) {
	t.Parallel()
	reads := func(names ...string) json.RawMessage {
		var refs []string
		for _, n := range names {
			refs = append(refs, `{"$ref": "tools.`+n+`.outputs.latest"}`)
		}
		return json.RawMessage(`{"type": "test", "argument_override": {"any": [` + strings.Join(refs, ",") + `]}}`)
	}
	s, err := tool.Compile(map[string]json.RawMessage{
		"free": reads(), "one": reads("free"), "two": reads("one", "free"), "self": reads("self"), "x": reads("y"), "y": reads("z"), "z": reads("x"),
		"inner": json.RawMessage(`{"type": "test", "argument_override": {"any": {"$ref": "session.metadata[tools.free.outputs.latest.key]"}}}`),
	}, kit(t, echo))
	if err != nil {
		t.Fatal(err)
	}
	b := bind(t, s, scene())
	for reply, want := range map[string]string{
		"free one two":   "[] [0] [0 1]",
		"two one free":   "[1 2] [2] []",
		"one one":        "[] []",
		"free free one":  "[] [] [0 1]",
		"inner free":     "[1] []",
		"self self":      "[] [0]",
		"x y z":          "[] [] [0]",
		"z y x":          "[] [0] [1]",
		"x y":            "[1] []",
		"none one free":  "[] [2] []",
		"two free other": "[1] [] []",
	} {
		var calls []llm.ToolCall
		for _, name := range strings.Fields(reply) {
			calls = append(calls, llm.ToolCall{Name: name, Arguments: json.RawMessage(`{}`)})
		}
		var got []string
		for _, p := range b.Plan(calls, nil, scene()) {
			got = append(got, fmt.Sprint(p.After))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", reply, strings.Join(got, " "), want)
		}
	}
	sc := scene()
	sc.Outputs["free"] = reference.Latest{Output: json.RawMessage(`{"v": 1}`)}
	p := b.Plan([]llm.ToolCall{{Name: "one", Arguments: json.RawMessage(`{"text": "t", "headers": {"Accept": "a", "Authorization": "b"}}`)}}, nil, sc)
	if out := b.Run(t.Context(), p[0], sc); out.Failed || !strings.Contains(string(out.Output), `"any":[{"v":1}]`) {
		t.Errorf("%s", out.Output)
	}
	sc.Outputs["free"] = reference.Latest{Output: json.RawMessage(`{"error": "no"}`), Failed: true}
	if out := b.Run(t.Context(), p[0], sc); out.Class != tool.DependencyFailed {
		t.Errorf("%+v", out)
	}
}

// refuses is a searcher that refuses every query.
type refuses struct {
	record
	err error
}

func (r refuses) Search(context.Context, search.Query) (json.RawMessage, error) { return nil, r.err }

// TestSearchIsRefused proves what the model reads of a search that is refused: whether its query or the configuration is wrong.
func TestSearchIsRefused(t *testing.T) {
	t.Parallel()
	filter := fault.InvalidSentence("search.corpora[0].metadata_filter", "Unrecognized references: doc.none")
	for _, c := range []struct {
		err    error
		class  tool.Class
		output string
	}{
		{filter, tool.InvalidConfiguration, "the search is not configured well: query_configuration.search.corpora[0].metadata_filter: Unrecognized references: doc.none"},
		{fault.InvalidField("query", "must not be blank"), tool.InvalidInput, "query: must not be blank"},
		{fault.NotFound("corpus_not_found", "c", "there is no corpus c"), tool.NotFound, "there is no corpus c"},
	} {
		k := kit(t, nil)
		made, err := search.New(refuses{err: c.err})
		if err != nil {
			t.Fatal(err)
		}
		k.Types[search.Name] = made
		_, out := call(t, k, searching(""), `{"query": "x"}`, scene())
		same(t, "output", mustJSON(map[string]string{"error": c.output}), out.Output)
		if out.Class != c.class || out.Overrides == nil {
			t.Errorf("%+v", out)
		}
	}
}

// TestCorpusByReference proves that a corpus that a reference named is searched only if whoever sent the input may, while one
// that the configuration names is.
func TestCorpusByReference(t *testing.T) {
	t.Parallel()
	both := `{"type": "corpora_search", "query_configuration": {"search": {"corpora": [{"corpus_key": "handbook"}, {"corpus_key": {"$ref": "session.metadata.corpus"}}]}}}`
	sc := scene()
	if _, out := call(t, kit(t, nil), both, `{"query": "x"}`, sc); out.Failed {
		t.Errorf("%s", out.Output)
	}
	for _, sender := range []permit.Rights{{}, {EditAll: true, UseAll: true, Corpora: []string{"handbook"}}} {
		sc.Sender = sender
		if _, out := call(t, kit(t, nil), both, `{"query": "x"}`, sc); out.Class != tool.NotFound || !strings.Contains(string(out.Output), "may read") {
			t.Errorf("%s", out.Output)
		}
		if _, out := call(t, kit(t, nil), searching(""), `{"query": "x"}`, sc); out.Failed {
			t.Errorf("%s", out.Output)
		}
	}
}
