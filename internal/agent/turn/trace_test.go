package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent"
	"quarry/internal/agent/artifact"
	"quarry/internal/agent/permit"
	"quarry/internal/agent/session"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/turn"
	"quarry/internal/agent/turn/spans"
	"quarry/internal/agent/turn/spans/spanstest"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/llm/llmtest"
	"quarry/internal/opt"
	"quarry/internal/trace"
	"quarry/internal/usage"
)

// tree returns the last trace that has ended.
func (b *bench) tree(t *testing.T) *spanstest.Tree {
	t.Helper()
	all := spanstest.Read(t, b.spans)
	if len(all) == 0 {
		t.Fatal("there is no trace")
	}
	return all[len(all)-1]
}

// attributes returns those of a span as JSON, with the ids of events named by their types.
func attributes(t *testing.T, s *trace.Span, log []session.Event) string {
	t.Helper()
	var a any
	switch {
	case s.Invocation != nil:
		a = s.Invocation
	case s.Chat != nil:
		a = s.Chat
	case s.Call != nil:
		a = s.Call
	case s.Transition != nil:
		a = s.Transition
	case s.Image != nil:
		a = s.Image
	case s.Compaction != nil:
		a = s.Compaction
	}
	raw, err := json.Marshal(map[string]any{"event": s.Event, "step": s.Step, "attributes": a, "content": s.Content})
	if err != nil {
		t.Fatal(err)
	}
	out := string(raw)
	for _, e := range log {
		out = strings.ReplaceAll(out, string(e.ID), string(e.Type))
		if e.Summed != nil {
			out = strings.ReplaceAll(out, e.Summed.Key, "SUMMARY")
		}
		if e.Image != nil {
			out = strings.ReplaceAll(out, e.Image.Artifact, "IMAGE")
		}
	}
	return out
}

func (b *bench) stores(t *testing.T) []session.Event {
	t.Helper()
	all, _, err := b.rows.Events(t.Context(), session.Page{Session: b.no, Limit: 1000, Hidden: true})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTraceAttributes proves what the spans of each kind say: attributes, events, steps and texts.
func TestTraceAttributes(t *testing.T) {
	t.Parallel()
	call := calls("probe")
	call.Reasoning, call.Text, call.Usage, call.ID = "hm", "Let me see.", llm.Usage{Input: 10, Cached: 4, Output: 5}, "resp-1"
	last := text(`{"to":"me"}`)
	last.Usage = llm.Usage{Input: 20, Output: 7}
	run := func(ctx context.Context, c tool.Call, tell tool.Activity) (json.RawMessage, error) {
		if err := c.Permit(permit.Need{Corpus: "handbook"}); err != nil {
			return nil, err
		}
		if _, err := shows(ctx, c, tell); err != nil {
			return nil, err
		}
		at := trace.Now()
		c.Trace.Inside(trace.Span{Started: at, Ended: at, Call: &trace.CallAttributes{Tool: "inner", Key: "inner"}, Content: &trace.Content{Arguments: "{}"}})
		return c.Arguments, nil
	}
	b := prepare(t)
	files := b.shelve(t, t.TempDir())
	b.open(t, replies(call, text("A."), last), func(c *turn.Config, a *agent.Agent) {
		probes(tool.Reads, run)(c, a)
		c.Files = files.Service
		c.Models.(llmtest.Only).Use.Wire = "openai"
		c.Models.(llmtest.Only).Use.Can.Images = true
		a.Name, a.Description = "Desk", "Helps."
		a.Model.Parameters = json.RawMessage(`{"temperature":0.5,"max_completion_tokens":100,"top_p":1}`)
		second := agent.Step{Instructions: []agent.Instruction{{Name: "i", Template: "Be brief.", Enabled: true}}}
		shaped(&second)
		a.Steps = map[string]agent.Step{"first_step": {Next: []agent.Transition{{Step: "second"}}}, "second": second}
	})
	in := b.input("go")
	in.Caller = session.Caller{Rights: permit.Rights{All: true}}
	a, err := files.Put(t.Context(), artifact.New{Filename: "a.txt"}, strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	in.Files, in.Upload = []artifact.Artifact{a}, id.NewEvent()
	if _, err := b.ask(t, in); err != nil {
		t.Fatal(err)
	}
	files.Release(t.Context(), a)
	tree, log := b.tree(t), b.stores(t)
	got := []string{}
	for _, n := range append([]*spanstest.Node{tree.Root}, tree.Root.Children...) {
		got = append(got, string(n.Operation)+" "+attributes(t, &n.Span, log))
		for _, c := range n.Children {
			if n != tree.Root {
				got = append(got, "  "+string(c.Operation)+" "+attributes(t, &c.Span, log))
			}
		}
	}
	want := []string{
		`invoke_agent {"attributes":{"model":"m","input_tokens":30,"output_tokens":12,"cache_read_input_tokens":4,"temperature":0.5,"max_tokens":100,"provider_name":"openai","agent_name":"Desk","agent_description":"Helps.","output_type":"json","input_event_id":"input_message","output_event_id":"structured_output","input_files":[{"name":"a.txt","size_bytes":5}],"depth":0},"content":{"input_messages":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"go\"}]}]","output_messages":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"Let me see.\"}]},{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"A.\"}]},{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"{\\\"to\\\":\\\"me\\\"}\"}]}]","thinking":"hm","system_instructions":"Be brief."},"event":"","step":""}`,
		`chat {"attributes":{"model":"m","input_tokens":10,"output_tokens":5,"cache_read_input_tokens":4,"finish_reasons":["tool_calls"],"temperature":0.5,"max_tokens":100,"provider_name":"openai","response_id":"resp-1"},"content":null,"event":"","step":"first_step"}`,
		`thinking {"attributes":null,"content":{"thinking":"hm"},"event":"thinking","step":"first_step"}`,
		`output {"attributes":null,"content":{"output_text":"Let me see."},"event":"agent_output","step":"first_step"}`,
		`execute_tool {"attributes":{"tool_name":"probe","tool_key":"probe","tool_call_id":"c0","tool_type":"probe","tool_input_event_id":"tool_input","tool_output_event_id":"tool_output","corpus_keys":["handbook"]},"content":{"tool_arguments":"{\"n\":1}","tool_result":"{\"n\":1}"},"event":"","step":"first_step"}`,
		`  execute_tool {"attributes":{"tool_name":"inner","tool_key":"inner"},"content":{"tool_arguments":"{}"},"event":"","step":"first_step"}`,
		`image_read {"attributes":{"artifact_id":"IMAGE","detail":"high"},"content":null,"event":"image_read","step":"first_step"}`,
		`chat {"attributes":{"model":"m","input_tokens":0,"output_tokens":0,"cache_read_input_tokens":0,"finish_reasons":["stop"],"temperature":0.5,"max_tokens":100,"provider_name":"openai"},"content":null,"event":"","step":"first_step"}`,
		`output {"attributes":null,"content":{"output_text":"A."},"event":"agent_output","step":"first_step"}`,
		`step_transition {"attributes":{"from_step":"first_step","to_step":"second"},"content":null,"event":"step_transition","step":"first_step"}`,
		`chat {"attributes":{"model":"m","input_tokens":20,"output_tokens":7,"cache_read_input_tokens":0,"finish_reasons":["stop"],"temperature":0.5,"max_tokens":100,"provider_name":"openai"},"content":null,"event":"","step":"second"}`,
		`output {"attributes":null,"content":{"output_text":"{\"to\":\"me\"}"},"event":"structured_output","step":"second"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got): %s", diff)
	}
}

// TestTraceFailures proves how traces of turns end that fail, in the contract's classes, and that a call of a tool that fails fails
// no turn.
func TestTraceFailures(t *testing.T) {
	t.Parallel()
	broken := reply{Answer: llm.Answer{Text: "Half of"}, err: &llm.Error{Failure: llm.Broken, Begun: true}}
	schema := func(_ *turn.Config, a *agent.Agent) {
		first := a.Steps["first_step"]
		shaped(&first)
		a.Steps["first_step"] = first
	}
	over := fault.Limited("llm_quota_exhausted", "used up").Because(&usage.Refused{})
	for name, c := range map[string]struct {
		model  model
		change func(*turn.Config, *agent.Agent)
		want   string
	}{
		"timeout": {replies(reply{err: &llm.Error{Failure: llm.TimedOut}}), nil, "invoke_agent (llm_generation_error: the language model did not answer in time)|  chat (llm_generation_error: the language model did not answer in time)"},
		"quota":   {replies(reply{err: over}), nil, "invoke_agent (llm_generation_error: used up)|  chat (llm_generation_error: used up)"},
		"our own": {replies(reply{err: errors.New("disk")}), nil, "invoke_agent (internal: the turn has failed; the log of the service has the reason)|  chat (internal: the turn has failed; the log of the service has the reason)"},
		"broken":  {replies(broken), nil, "invoke_agent (stream_error: the language model failed)|  chat (stream_error: the language model failed)"},
		"no JSON": {replies(text("Berlin")), schema, "invoke_agent (llm_generation_error: "},
		"template": {replies(text("x")), func(_ *turn.Config, a *agent.Agent) {
			a.Steps["first_step"] = agent.Step{Instructions: []agent.Instruction{{Name: "i", Template: "#if(", Enabled: true}}}
		}, "invoke_agent (internal: "},
		"context": {says("x"), func(c *turn.Config, _ *agent.Agent) {
			c.Models = llmtest.Only{Use: &llm.Model{Provider: says("x"), Name: "m", Can: llm.Abilities{Context: 10}}}
		}, "invoke_agent (context_limit_exceeded: The session has about "},
		"calls": {replies(calls("probe")), func(c *turn.Config, a *agent.Agent) {
			probes(tool.Never, echo)(c, a)
			c.MaxCalls = 1
		}, "invoke_agent (actions_limit_reached: the turn has called the language model 1 times, the setting max_model_calls of this service, without an answer)|  chat|  execute_tool probe"},
		"transitions": {replies(text("again")), func(c *turn.Config, a *agent.Agent) {
			c.MaxTransitions = 1
			a.Steps = map[string]agent.Step{"first_step": {Next: []agent.Transition{{Step: "first_step"}}}}
		}, "invoke_agent (step_transition_limit_exceeded: "},
		"tools": {replies(calls("none", "probe", "off"), text("done")), func(c *turn.Config, a *agent.Agent) {
			probes(tool.Never, func(context.Context, tool.Call, tool.Activity) (json.RawMessage, error) {
				return nil, &tool.Failure{Class: tool.Timeout, Text: "late"}
			})(c, a)
			a.Tools["off"] = a.Tools["probe"]
			first := a.Steps["first_step"]
			first.AllowedTools = &[]string{"probe"}
			a.Steps["first_step"] = first
		}, "invoke_agent|  chat|  execute_tool "},
		"arguments": {replies(reply{Answer: llm.Answer{Calls: []llm.ToolCall{{ID: "c", Name: "probe", Arguments: json.RawMessage(`[1]`)}}}}, text("done")), probes(tool.Never, echo),
			"invoke_agent|  chat|  execute_tool probe (invalid_input: the arguments are no JSON object: [1])|  chat|  output"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := begin(t, c.model, c.change)
			_, _ = b.ask(t, b.input("go"))
			got := strings.Join(b.tree(t).Lines(), "|")
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if name == "tools" {
				for _, one := range []string{`execute_tool none (not_found: there is no tool "none"`, "execute_tool probe (timeout: late)", `execute_tool off (invalid_configuration: the tool "off" is not allowed`} {
					if !strings.Contains(got, one) {
						t.Errorf("got %s, want %s in it", got, one)
					}
				}
			}
		})
	}
}

// TestTraceParked proves that the trace of a turn that waits for the client ends well, and that what follows on the outputs is a trace of
// its own, which begins with them. The first names the model of its last call like any other, though it ends with a commit behind it.
func TestTraceParked(t *testing.T) {
	t.Parallel()
	b := begin(t, replies(calls("ask", "probe", "ask"), text("done")), func(c *turn.Config, a *agent.Agent) {
		dialogs(t, "", nil)(c, a)
		c.Models.(llmtest.Only).Use.Wire = "openai"
		a.Model.Parameters = json.RawMessage(`{"temperature":0.5,"max_tokens":100}`)
	})
	if _, err := b.ask(t, b.input("go")); err != nil {
		t.Fatal(err)
	}
	waiting := b.pending(t)
	first := b.tree(t)
	if root, last := first.Root.Invocation, first.Root.Children[0].Chat; root.Provider != "openai" || *root.MaxTokens != 100 || *root.Temperature != 0.5 || root.Model != last.Model {
		t.Errorf("parked: %+v, want what the call of the model has: %+v", root, last)
	}
	if diff := cmp.Diff([]string{"invoke_agent", "chat", "execute_tool ask", "execute_tool ask", "execute_tool probe"}, first.Settled()); diff != "" {
		t.Errorf("parked (-want +got): %s", diff)
	}
	for _, c := range waiting {
		if _, err := b.give(t, yes(c)...); err != nil {
			t.Fatal(err)
		}
	}
	b.idle(t)
	second, log := b.tree(t), b.stores(t)
	if diff := cmp.Diff([]string{"invoke_agent", "chat", "execute_tool ask", "execute_tool ask", "output"}, second.Settled()); diff != "" || second.ID == first.ID {
		t.Errorf("it goes on in %s after %s (-want +got): %s", second.ID, first.ID, diff)
	}
	a := second.Root.Invocation
	if a.InputEvent != log[5].ID || log[5].Type != session.ToolOutput || !strings.Contains(second.Root.Content.Input, `"response":{"ok":true}`) || strings.Contains(second.Root.Content.Input, "go") || first.Failed || second.Failed {
		t.Errorf("it begins with %+v, %+v", a, second.Root.Content)
	}
}

// TestTraceInterrupted proves that a turn that somebody has interrupted has not failed, what its calls come to, and that of steered turns
// there is one trace with all inputs.
func TestTraceInterrupted(t *testing.T) {
	t.Parallel()
	m, begun := slow("One moment.", nil)
	b := begin(t, m, nil)
	sent, err := b.Send(t.Context(), b.input("go"))
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	if _, err := b.Interrupt(t.Context(), b.no); err != nil {
		t.Fatal(err)
	}
	sent.Close()
	b.idle(t)
	tree := b.tree(t)
	if got := strings.Join(tree.Lines(), "|"); got != "invoke_agent|  chat|  output" || tree.Root.Children[0].Chat.FinishReasons[0] != "interrupted" {
		t.Errorf("got %s", got)
	}

	running := make(chan struct{})
	b = begin(t, replies(calls("probe"), text("done")), probes(tool.Never, func(ctx context.Context, _ tool.Call, _ tool.Activity) (json.RawMessage, error) {
		close(running)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}))
	if sent, err = b.Send(t.Context(), b.input("go")); err != nil {
		t.Fatal(err)
	}
	<-running
	if _, err := b.Interrupt(t.Context(), b.no); err != nil {
		t.Fatal(err)
	}
	sent.Close()
	if got := strings.Join(b.tree(t).Lines(), "|"); got != "invoke_agent|  chat|  execute_tool probe (execution_error: interrupted)" {
		t.Errorf("got %s", got)
	}

	gate := make(chan struct{})
	m, begun = slow("Fine.", gate)
	b = begin(t, m, nil)
	if sent, err = b.Send(t.Context(), b.input("go")); err != nil {
		t.Fatal(err)
	}
	<-begun
	steer, since := b.input("left"), int64(0)
	steer.Since, steer.Queue, steer.Steer = &since, true, true
	steers, err := b.Send(t.Context(), steer)
	if err != nil {
		t.Fatal(err)
	}
	close(gate)
	sent.Close()
	if _, err := told(t, steers); err != nil {
		t.Fatal(err)
	}
	all := spanstest.Read(t, b.spans)
	if got := strings.Join(all[0].Lines(), "|"); len(all) != 1 || got != "invoke_agent|  chat|  output|  chat|  output" || strings.Count(all[0].Root.Content.Input, "user") != 2 {
		t.Errorf("%d traces, %s, %+v", len(all), got, all[0].Root.Content)
	}
}

// TestTraceRestarted proves what the trace of a turn says that was killed: a call that is made again and one that is not, and a call
// of the model.
func TestTraceRestarted(t *testing.T) {
	t.Parallel()
	b := restarted(t, replies(calls("probe"), text("done")), probes(tool.Never, echo))
	if got := strings.Join(b.tree(t).Lines(), "|"); got != "invoke_agent|  chat|  execute_tool probe (execution_error: interrupted by restart)|  chat|  output" {
		t.Errorf("not made again: %s", got)
	}
	b = restarted(t, replies(calls("probe"), text("done")), probes(tool.Reads, echo))
	tree := b.tree(t)
	if got := strings.Join(tree.Lines(), "|"); got != "invoke_agent|  chat|  execute_tool probe (execution_error: interrupted by restart)|  execute_tool probe|  chat|  output" {
		t.Errorf("made again: %s", got)
	}
	first, again := tree.Root.Children[1], tree.Root.Children[2]
	if first.ID == again.ID || first.Call.InputEvent != again.Call.InputEvent || first.Call.OutputEvent != "" || again.Call.OutputEvent == "" {
		t.Errorf("made again: %+v, %+v", first.Call, again.Call)
	}
	killed := &cut{left: 1, dead: make(chan struct{})}
	b = begin(t, says("fine"), func(c *turn.Config, _ *agent.Agent) { killed.Log, c.Log = c.Log, killed })
	sent, err := b.Send(t.Context(), b.input("go"))
	if err != nil {
		t.Fatal(err)
	}
	<-killed.dead
	sent.Close()
	b.open(t, says("fine"), nil)
	b.idle(t)
	if got := strings.Join(b.tree(t).Lines(), "|"); got != "invoke_agent|  chat (internal: interrupted by restart)|  chat|  output" {
		t.Errorf("a call of the model: %s", got)
	}
}

// TestTraceContent proves that secrets are masked in what is kept, that large texts are cut and say so, and that nothing is kept where
// the settings say so; and that what is written is heard of.
func TestTraceContent(t *testing.T) {
	t.Parallel()
	for _, kept := range []bool{true, false} {
		h := &hears{}
		long := strings.Repeat("é", trace.MaxContent)
		b := begin(t, replies(text("The token is tok-1234567890. "+long)), func(c *turn.Config, a *agent.Agent) {
			probes(tool.Reads, echo)(c, a)
			c.Trace = &spans.Recorder{Content: kept, Sink: h}
		})
		if err := b.change(t, session.Change{Secrets: map[string]opt.Field[string]{"token": opt.Some("tok-1234567890")}}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.ask(t, b.input("go")); err != nil {
			t.Fatal(err)
		}
		tree := b.tree(t)
		raw, _ := json.Marshal(tree.Root.Children)
		whole, _ := json.Marshal(tree.Root.Content)
		all := string(raw) + string(whole)
		if strings.Contains(all, "tok-1234") || strings.Contains(all, "The token is ****") != kept || strings.Contains(all, "bytes are left out") != kept || len(all) > 2*trace.MaxContent+10_000 {
			t.Errorf("kept %v: %d bytes, %.300s", kept, len(all), all)
		}
		if len(h.all) != len(tree.Nodes) {
			t.Errorf("heard of %d spans of %d", len(h.all), len(tree.Nodes))
		}
	}
}

// hears is a sink that keeps what it hears.
type hears struct {
	mu  sync.Mutex
	all []trace.Span
}

func (h *hears) Recorded(spans []trace.Span) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, spans...)
}

// TestTraceOfCompactions proves that a compaction within a turn is a span with the calls of the model that have written the summary,
// and that one on request is a trace of its own.
func TestTraceOfCompactions(t *testing.T) {
	t.Parallel()
	b := begin(t, filling(rounds(0)), nil)
	for range 2 {
		if _, err := b.ask(t, b.input("go")); err != nil {
			t.Fatal(err)
		}
	}
	tree := b.tree(t)
	if got := strings.Join(tree.Lines(), "|"); got != "invoke_agent|  compaction|    chat|  chat|  output" {
		t.Errorf("within a turn: %s", got)
	}
	if got, want := attributes(t, &tree.Root.Children[0].Span, b.stores(t)), `{"attributes":{"turns_compacted":1,"events_compacted":2,"summary_key":"SUMMARY"},"content":null,"event":"compaction","step":"first_step"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	b = begin(t, says("Fine."), nil)
	if _, err := b.ask(t, b.compaction("")); err == nil {
		t.Error("nothing is summed up")
	}
	if got := strings.Join(b.tree(t).Lines(), "|"); !strings.HasPrefix(got, "invoke_agent (internal: there is nothing to sum up") {
		t.Errorf("refused: %s", got)
	}
	for range 2 {
		if _, err := b.ask(t, b.input("go")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.ask(t, b.compaction("")); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(b.tree(t).Lines(), "|"); got != "invoke_agent|  compaction|    chat" {
		t.Errorf("on request: %s", got)
	}
}
