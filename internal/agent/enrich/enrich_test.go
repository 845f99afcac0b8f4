package enrich_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/enrich"
	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/configuration"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/fault"
	"quarry/internal/jsonvalue"
	"quarry/internal/store"
	"quarry/internal/store/storetest"
	"quarry/internal/store/toolconfigurations"
	"quarry/internal/store/tools"
	"quarry/internal/usage"
)

// house is a runner, and what its tools have heard.
type house struct {
	*enrich.Runner
	mu     sync.Mutex
	calls  []tool.Call // guarded by mu, like undone
	undone []string    // the configurations of the calls
	began  chan string // sessions whose call hangs
}

// nobody is an identity that may touch nothing of its own.
type nobody struct{}

// Acting implements enrich.Identities.
func (nobody) Acting(context.Context, int64) (permit.Identity, error) { return permit.Identity{}, nil }

// PresentSecrets implements enrich.Secrets.
func (nobody) PresentSecrets(context.Context, int64) (map[string]string, error) {
	return map[string]string{"own": "open-sesame-too"}, nil
}

func open(t *testing.T) *house {
	t.Helper()
	h := &house{began: make(chan string, 10)}
	of, err := schema.New(json.RawMessage(`{"type":"object","properties":{"a":{},"b":{}},"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	undo := func(_ context.Context, c tool.Call) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.undone = append(h.undone, c.Configuration)
		return nil
	}
	kind := func(run func(context.Context, tool.Call) (json.RawMessage, error)) tool.Type {
		return func(json.RawMessage) (*tool.Tool, error) {
			return &tool.Tool{Name: "t", Schema: of, Undo: undo, Run: func(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
				h.mu.Lock()
				h.calls = append(h.calls, c)
				h.mu.Unlock()
				return run(ctx, c)
			}}, nil
		}
	}
	kit := tool.Kit{Log: slog.New(slog.DiscardHandler), Types: map[string]tool.Type{
		"echo": kind(func(_ context.Context, c tool.Call) (json.RawMessage, error) { return c.Arguments, nil }),
		"fail": kind(func(context.Context, tool.Call) (json.RawMessage, error) {
			return nil, &tool.Failure{Class: tool.NotFound, Text: "there is no such thing as sesame-open-up"}
		}),
		"part": kind(func(context.Context, tool.Call) (json.RawMessage, error) {
			return nil, &tool.Partial{Output: json.RawMessage(`{"done": 1, "failed": 2}`), Class: tool.ExecutionError}
		}),
		"hang": kind(func(ctx context.Context, c tool.Call) (json.RawMessage, error) {
			h.began <- c.Session
			<-ctx.Done()
			return nil, ctx.Err()
		}),
	}}
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	known, err := catalog.New(tools.New(db), tool.Kit{})
	if err != nil {
		t.Fatal(err)
	}
	h.Runner = enrich.New(configuration.NewSets(toolconfigurations.New(db), known, kit), nobody{}, nobody{})
	return h
}

// opening returns a session of an agent with a tool of each type, by its name, and these rules.
func opening(rules string) enrich.Opening {
	entries := map[string]json.RawMessage{"pinned": json.RawMessage(`{"type": "echo", "argument_override": {"b": {"$ref": "session.caller.id"}}, "input_transform": ".args + {a: .session.caller.type}"}`)}
	for _, kind := range []string{"echo", "fail", "part", "hang"} {
		entries[kind] = json.RawMessage(fmt.Sprintf(`{"type": %q}`, kind))
	}
	return enrich.Opening{
		Rules: json.RawMessage(rules), Agent: configuration.Agent{No: 7, Revision: 1, Entries: entries},
		Of:      reference.Subject{Key: "a", Name: "Agent", Metadata: json.RawMessage(`{"tier": "gold"}`)},
		Session: reference.Subject{Key: "s", Name: "Session", Metadata: json.RawMessage(`{"given": 12345678901234567890, "kept": true}`)},
		Secrets: map[string]string{"token": "sesame-open-up"}, Caller: reference.Caller{Type: "user", ID: "usr_1"}, Sender: permit.Rights{Corpora: []string{"c"}},
		Payers: []usage.Account{{Scope: "agent/7"}},
	}
}

// TestRules proves what rules read and what becomes of what they find, one after the other, and that those whose conditions don't hold call
// nothing.
func TestRules(t *testing.T) {
	t.Parallel()
	const given = `{"given":12345678901234567890,"kept":true}`
	for _, c := range []struct{ name, rules, want string }{
		{"none", ``, given}, {"null", `null`, given}, {"an empty list", `[]`, given},
		{"laid over", `[{"tool_configuration": "echo", "input_transform": "{a: .session.metadata.given}", "output_transform": "{given: .a, more: {deep: [1]}, kept: null}"}]`,
			`{"given":12345678901234567890,"kept":null,"more":{"deep":[1]}}`},
		{"nothing to lay over", `[{"tool_configuration": "echo", "output_transform": "."}]`, given},
		{"one after the other", `[
			{"tool_configuration": "echo", "input_transform": "{a: 1}", "output_transform": "{first: .a}"},
			{"condition": "get('$.session.metadata.first') == 1 and get('$.tools.echo.outputs.latest.a') == 1", "tool_configuration": "echo",
				"input_transform": "{a: (.session.metadata.first + .tools.echo.outputs.latest.a)}", "output_transform": "{second: .a, both: $session.metadata.first, latest: $tools.echo.outputs.latest.a}"}
		]`, `{"both":1,"first":1,"given":12345678901234567890,"kept":true,"latest":2,"second":2}`},
		{"no condition holds", `[{"condition": "get('$.session.caller.type') == 'agent'", "tool_configuration": "fail", "output_transform": "."},
			{"condition": "get('$.session.caller.email')", "tool_configuration": "fail", "output_transform": "."}]`, given},
		{"the caller", `[{"tool_configuration": "pinned", "input_transform": "{a: \"x\"}", "output_transform": "{type: .a, id: .b, again: $session.caller, agent: $agent.metadata.tier, none: ($session.secrets // $agent.secrets), date: ($currentDate | length)}"}]`,
			`{"again":{"id":"usr_1","type":"user"},"agent":"gold","date":20,"given":12345678901234567890,"id":"usr_1","kept":true,"none":null,"type":"user"}`},
		{"secrets", `[{"tool_configuration": "echo", "input_transform": "{a: .session.secrets.token, b: .agent.secrets.own}", "output_transform": "{told: .a, own: .b}"}]`,
			`{"given":12345678901234567890,"kept":true,"own":"****","told":"****"}`},
	} {
		h := open(t)
		got, undo, err := h.Run(t.Context(), opening(c.rules))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d := cmp.Diff(c.want, string(jsonvalue.Encode(jsonvalue.Decode(got)))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		if len(h.undone) > 0 {
			t.Errorf("%s: %v is undone", c.name, h.undone)
		}
		for _, made := range h.calls {
			if made.Session != "s" || made.SessionNo != 0 || made.AgentNo != 7 || len(made.Payers) != 1 || made.Permit(permit.Need{Corpus: "c"}) != nil || made.Permit(permit.Need{Corpus: "d"}) == nil {
				t.Errorf("%s: called with %+v", c.name, made)
			}
		}
		undo() // the session was not made after all
		if len(h.undone) != len(h.calls) {
			t.Errorf("%s: of %d calls are undone %v", c.name, len(h.calls), h.undone)
		}
	}
}

// TestFailures proves that a rule that fails is named with its reason, and that what the rules before it have left is removed.
func TestFailures(t *testing.T) {
	t.Parallel()
	const good = `{"tool_configuration": "echo", "output_transform": "{}"}, `
	for _, c := range []struct{ name, rules, want string }{
		{"a tool, whose secrets stay hidden", `[` + good + `{"tool_configuration": "fail", "output_transform": "."}]`, "the rule enrichment[1], which calls the tool configuration 'fail', has failed: there is no such thing as ****"},
		{"in part", `[` + good + `{"tool_configuration": "part", "output_transform": "."}]`, `{"done":1,"failed":2}`},
		{"a tool that is gone", `[` + good + `{"tool_configuration": "gone", "output_transform": "."}]`, "no such tool any more"},
		{"a secret in a message", `[` + good + `{"tool_configuration": "echo", "input_transform": "error(.session.secrets.token)", "output_transform": "."}]`, "input_transform failed: error: ****"},
		{"a secret in a condition", `[` + good + `{"condition": "get('$.session.secrets.token') == null and 'a' < 1", "tool_configuration": "echo", "output_transform": "."}]`, "condition: "},
		{"no object", `[` + good + `{"tool_configuration": "echo", "output_transform": "[.]"}]`, "no object"},
		{"two results", `[` + good + `{"tool_configuration": "echo", "output_transform": "., ."}]`, "more than one result"},
		{"too large", `[` + good + `{"tool_configuration": "echo", "output_transform": "{a: (\"x\" * 65536)}"}]`, "more than the 65535"},
	} {
		h := open(t)
		_, undo, err := h.Run(t.Context(), opening(c.rules))
		f, ok := fault.As(err)
		if !ok || f.Kind != fault.KindUnprocessable || f.Code != "enrichment_failed" || !strings.Contains(f.Text, "enrichment[1]") || !strings.Contains(f.Text, c.want) || strings.Contains(f.Text, "sesame") {
			t.Errorf("%s: %v", c.name, err)
		}
		undo()
		if !slices.Contains(h.undone, "echo") || len(h.undone) != len(h.calls) {
			t.Errorf("%s: of %d calls are undone %v", c.name, len(h.calls), h.undone)
		}
	}
}

// TestNobody proves that a session that nobody opens has no caller: transforms read null, conditions that ask for one don't hold, and a
// reference fails.
func TestNobody(t *testing.T) {
	t.Parallel()
	h := open(t)
	o := opening(`[{"condition": "get('$.session.caller')", "tool_configuration": "fail", "output_transform": "."},
		{"condition": "get('$.session.caller.type') == null", "tool_configuration": "echo", "input_transform": "{a: .session.caller.id}", "output_transform": "{a, b: $session.caller}"}]`)
	o.Caller = reference.Caller{}
	got, _, err := h.Run(t.Context(), o)
	if err != nil || !strings.Contains(string(got), `"a":null,"b":null`) {
		t.Errorf("%v, %s", err, got)
	}
	o.Rules = json.RawMessage(`[{"tool_configuration": "pinned", "output_transform": "."}]`)
	if _, _, err := h.Run(t.Context(), o); !fault.Is(err, fault.KindUnprocessable) || !strings.Contains(err.Error(), "unresolved refs [session.caller.id]") {
		t.Error(err)
	}
}

// TestEnds proves that rules end when their time is over, which is a failure of the one that ran then, and when whoever asked gives up,
// which is none; and that both leave nothing.
func TestEnds(t *testing.T) {
	t.Parallel()
	const rules = `[{"tool_configuration": "echo", "output_transform": "{}"}, {"tool_configuration": "hang", "output_transform": "{}"}]`
	h := open(t)
	_, _, err := h.Within(500*time.Millisecond).Run(t.Context(), opening(rules))
	if !fault.Is(err, fault.KindUnprocessable) || !strings.Contains(err.Error(), "enrichment[1]") || !strings.Contains(err.Error(), "500ms in all") {
		t.Error(err)
	}
	if !slices.Equal(h.undone, []string{"hang", "echo"}) {
		t.Errorf("undone %v", h.undone)
	}

	h = open(t)
	gone := errors.New("the client is gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-h.began
		cancel(gone)
	}()
	if _, _, err := h.Run(ctx, opening(rules)); !errors.Is(err, gone) {
		t.Error(err)
	}
	if !slices.Equal(h.undone, []string{"hang", "echo"}) {
		t.Errorf("undone %v", h.undone)
	}
}

// TestUnfit proves that what is no list of rules is named at its place, when an agent is written and, for what is older than rules, when a
// session is to be made.
func TestUnfit(t *testing.T) {
	t.Parallel()
	h := open(t)
	for raw, want := range map[string]string{
		`"free"`: "enrichment", `{"a": 1}`: "enrichment", `[1]`: "enrichment[0]", `[null]`: "enrichment[0]", `[[]]`: "enrichment[0]",
		`[{}]`: "enrichment[0].output_transform enrichment[0].tool_configuration",
		`[{"tool_configuration": "echo", "output_transform": ".", "x": 1}]`:                          "enrichment[0].x",
		`[{"tool_configuration": 1, "output_transform": ["."]}]`:                                     "enrichment[0].output_transform enrichment[0].tool_configuration",
		`[{"tool_configuration": "echo", "output_transform": "(", "input_transform": "$session"}]`:   "enrichment[0].input_transform enrichment[0].output_transform",
		`[{"tool_configuration": "echo", "output_transform": "$args"}]`:                              "enrichment[0].output_transform",
		`[{"tool_configuration": "echo", "output_transform": "."}, {"output_transform": "."}]`:       "enrichment[1].tool_configuration",
		`[{"tool_configuration": "echo", "output_transform": ".", "condition": "= 1"}]`:              "enrichment[0].condition",
		`[` + strings.Repeat(`{"tool_configuration": "echo", "output_transform": "."},`, 20) + `{}]`: "enrichment enrichment[20].output_transform enrichment[20].tool_configuration",
		`[{"tool_configuration": "echo", "output_transform": "` + strings.Repeat(" ", 4096) + `."}]`: "enrichment[0].output_transform",
		`[{"tool_configuration": "none", "output_transform": "."}]`:                                  "enrichment[0].tool_configuration",
		`[{"tool_configuration": "asks", "output_transform": "."}]`:                                  "enrichment[0].tool_configuration",
		`[{"tool_configuration": "left", "output_transform": "."}]`:                                  "tool_configurations.left",
	} {
		bad := fault.Invalid()
		enrich.Check(json.RawMessage(raw), map[string]bool{"echo": false, "asks": true}, func(name string) string {
			if name == "left" {
				return "tool_configurations.left"
			}
			return ""
		}, bad)
		if got := strings.Join(bad.Paths(), " "); got != want {
			t.Errorf("%.80s is refused at %q, want %q", raw, got, want)
		}
		_, _, err := h.Run(t.Context(), opening(raw))
		if !fault.Is(err, fault.KindUnprocessable) || !strings.Contains(err.Error(), "enrichment") {
			t.Errorf("%.80s: a session: %v", raw, err)
		}
	}
	if got := enrich.Tools(json.RawMessage(`[{"tool_configuration": "a", "output_transform": "."}, {"tool_configuration": "b"}]`)); !slices.Equal(got, []string{"a", "b"}) {
		t.Error(got)
	}
}
