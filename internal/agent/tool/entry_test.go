package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/agent/tool"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/llm"
)

const fitting = `{"text": "t", "headers": {"Accept": "a", "Authorization": "b"}}`

// timed returns a kit whose tool takes a time of its own and never ends by itself.
func timed(t *testing.T, own time.Duration) tool.Kit {
	t.Helper()
	k := kit(t, func(ctx context.Context, _ tool.Call, _ tool.Activity) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	plain := k.Types["test"]
	k.Types["test"] = func(configuration json.RawMessage) (*tool.Tool, error) {
		made, err := plain(configuration)
		made.Timeout = own
		return made, err
	}
	return k
}

// TestLimit proves how long a call takes at most: what the configuration says, else what the tool says, else a minute; and that
// a tool without a limit is ended by its context alone.
func TestLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, configuration string
		own, want           time.Duration
	}{
		{"neither", `{"type": "test"}`, 0, time.Minute},
		{"the tool", `{"type": "test"}`, 5 * time.Minute, 5 * time.Minute},
		{"the configuration, which says less", `{"type": "test", "max_execution_time_seconds": 2}`, 5 * time.Minute, 2 * time.Second},
		{"the configuration, which says more", `{"type": "test", "max_execution_time_seconds": 21600}`, 0, 6 * time.Hour},
		{"the configuration of a tool without a limit", `{"type": "test", "max_execution_time_seconds": 7}`, tool.NoLimit, 7 * time.Second},
		{"a tool without a limit", `{"type": "test"}`, tool.NoLimit, 48 * time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := bind(t, compile(t, timed(t, c.own), c.configuration), scene())
			p := b.Plan([]llm.ToolCall{{ID: "call_1", Name: "t", Arguments: json.RawMessage(fitting)}}, nil, scene())
			ctx, cancel := context.WithTimeout(t.Context(), 48*time.Hour)
			defer cancel()
			from := time.Now()
			out := b.Run(ctx, p[0], scene())
			if took := time.Since(from); took != c.want || out.Class != tool.Timeout {
				t.Errorf("%s: %s after %s, want %s", c.name, out.Output, took, c.want)
			}
		})
	}
	for _, seconds := range []string{"0", "-1", "21601"} {
		_, err := tool.Compile(map[string]json.RawMessage{"t": json.RawMessage(`{"type": "test", "max_execution_time_seconds": ` + seconds + `}`)}, kit(t, nil))
		if f, ok := fault.As(err); !ok || f.Fields["tool_configurations.t.max_execution_time_seconds"] == "" {
			t.Errorf("%s seconds: %v", seconds, err)
		}
	}
}

// TestPartial proves that a call can fail and have an output all the same, which is masked and bounded as any other.
func TestPartial(t *testing.T) {
	t.Parallel()
	returns := func(output string) tool.Kit {
		return kit(t, func(context.Context, tool.Call, tool.Activity) (json.RawMessage, error) {
			return nil, &tool.Partial{Output: json.RawMessage(output), Class: tool.NotFound}
		})
	}
	_, out := call(t, returns(`{"done": ["a"], "failed": ["tok-1234567890"]}`), `{"type": "test"}`, fitting, scene())
	same(t, "output", `{"done": ["a"], "failed": ["****"]}`, out.Output)
	if !out.Failed || out.Class != tool.NotFound || out.Overrides == nil {
		t.Errorf("%+v", out)
	}
	_, out = call(t, returns(`{"x": "`+strings.Repeat("x", tool.MaxOutput)+`"}`), `{"type": "test"}`, fitting, scene())
	if !out.Failed || out.Class != tool.ExecutionError || !strings.Contains(string(out.Output), "more than the 1 MiB") {
		t.Errorf("%.200s", out.Output)
	}
}

// TestCalled proves what a tool is told of its call: its ids, the entry, whether a kill has cut it off, and somebody who hears
// what it tells.
func TestCalled(t *testing.T) {
	t.Parallel()
	var got tool.Call
	k := kit(t, func(_ context.Context, c tool.Call, tell tool.Activity) (json.RawMessage, error) {
		got = c
		tell(tool.Progress{Message: "half of it"})
		return json.RawMessage(`{}`), nil
	})
	sc := scene()
	b := bind(t, compile(t, k, `{"type": "test"}`), sc)
	p := b.Plan([]llm.ToolCall{{ID: "call_1", Name: "t", Arguments: json.RawMessage(fitting)}}, nil, sc)[0]
	p.Event, p.Again = id.NewEvent(), true
	var heard []string
	sc.Images, sc.Tell = true, func(p tool.Progress) { heard = append(heard, p.Message) }
	if out := b.Run(t.Context(), p, sc); out.Failed {
		t.Errorf("%s", out.Output)
	}
	if got.ID != "call_1" || got.Event != p.Event || got.Configuration != "t" || !got.Again || !got.Images || got.Agent != "a1" || got.Session != "s1" {
		t.Errorf("%+v", got)
	}
	if len(heard) != 1 || heard[0] != "half of it" {
		t.Error(heard)
	}
}

// TestFixed proves that a tool can have the references of its overrides resolved when the turn begins: they stay as they were
// then, whatever their types, but for outputs of tools; and what has no value refuses the turn.
func TestFixed(t *testing.T) {
	t.Parallel()
	k := kit(t, echo)
	plain := k.Types["test"]
	k.Types["test"] = func(configuration json.RawMessage) (*tool.Tool, error) {
		made, err := plain(configuration)
		made.Fixed = true
		return made, err
	}
	sc := scene()
	set := compile(t, k, `{"type": "test", "argument_override": {"n": {"$ref": "session.metadata.n"}, "any": [{"$ref": "session.metadata.list"}, {"$ref": "tools.t.outputs.latest.x"}], "headers.Authorization": {"$ref": "session.secrets.token"}}}`)
	b, kept, err := set.Bind(sc, "")
	if err != nil || !kept.Secret {
		t.Fatalf("%v, %+v", err, kept)
	}
	later := scene()
	later.Session.Metadata = json.RawMessage(`{"n": 1, "list": []}`)
	later.Outputs["t"] = latest(`{"x": "new"}`)
	want := `{"got": {"text": "t", "n": 12345678901234567890, "any": [["a", {"b": true}], "new"], "headers": {"Accept": "a", "Authorization": "****"}}}`
	again, _, err := set.Bind(later, kept.Text)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []*tool.Bound{b, again} {
		p := b.Plan([]llm.ToolCall{{ID: "call_1", Name: "t", Arguments: json.RawMessage(`{"text": "t", "headers": {"Accept": "a"}}`)}}, nil, later)
		same(t, "output", want, b.Run(t.Context(), p[0], later).Output)
	}
	sc.Session.Metadata = json.RawMessage(`{}`)
	if _, _, err := set.Bind(sc, ""); !fault.Is(err, fault.KindUnprocessable) || !strings.Contains(err.Error(), "tool 't': unresolved refs [session.metadata.list, session.metadata.n]") {
		t.Error(err)
	}
}

// TestWhy proves that whoever calls a disabled tool reads why it is.
func TestWhy(t *testing.T) {
	t.Parallel()
	k := kit(t, echo)
	plain := k.Types["test"]
	k.Types["test"] = func(configuration json.RawMessage) (*tool.Tool, error) {
		made, err := plain(configuration)
		made.Disabled, made.Why = true, "the setting web_search_key is missing"
		return made, err
	}
	if _, out := call(t, k, `{"type": "test"}`, fitting, scene()); out.Class != tool.InvalidConfiguration || !strings.Contains(string(out.Output), `is disabled: the setting web_search_key is missing; no tools`) {
		t.Errorf("%s", out.Output)
	}
}
