package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quarry/internal/agent"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/turn"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/llmtest"
	"quarry/internal/usage"
)

// replies is a model that gives one reply after the other. A reply is an answer and what the call fails with.
type reply struct {
	llm.Answer
	err error
}

func replies(all ...reply) model {
	var n atomic.Int32
	return func(_ context.Context, _ llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		r := all[min(int(n.Add(1)), len(all))-1]
		if r.Reasoning != "" {
			if err := emit(llm.Event{Reasoning: r.Reasoning}); err != nil {
				return r.Answer, err
			}
		}
		if r.Text != "" {
			if err := emit(llm.Event{Text: r.Text}); err != nil {
				return r.Answer, err
			}
		}
		return r.Answer, r.err
	}
}

func text(s string) reply { return reply{Answer: llm.Answer{Text: s, Reason: llm.Stop}} }

func calls(names ...string) reply {
	r := reply{Answer: llm.Answer{Reason: llm.Calls}}
	for i, n := range names {
		r.Calls = append(r.Calls, llm.ToolCall{ID: fmt.Sprint("c", i), Name: n, Arguments: json.RawMessage(`{"n":1}`)})
	}
	return r
}

// shaped gives a step a schema.
func shaped(s *agent.Step) {
	s.Output.Schema = &llm.Format{Type: "json_schema", Name: "pick", Schema: json.RawMessage(`{"type":"object","properties":{"to":{"type":"string"}},"required":["to"]}`)}
}

// TestSteps proves where a turn goes from step to step, and what it leaves in the log: texts and JSON, transitions by
// condition, the step that the next turn begins at, the cap of transitions.
func TestSteps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model  model
		change func(*turn.Config, *agent.Agent)
		want   string
		step   string
	}{
		"condition": {replies(text(`{"to":"b"}`), text("done")), func(_ *turn.Config, a *agent.Agent) {
			first := agent.Step{Next: []agent.Transition{{Condition: "get('$.output.to') == 'a'", Step: "a"}, {Condition: "get('$.output.to') == 'b'", Step: "b"}, {Step: "a"}}}
			shaped(&first)
			a.Steps = map[string]agent.Step{"first_step": first, "a": {}, "b": {Reentry: "first_step"}}
		}, `input_message: go|structured_output: {"to":"b"}|step_transition: first_step > b|agent_output: done`, "first_step"},
		"none holds": {replies(text(`{"to":"c"}`)), func(_ *turn.Config, a *agent.Agent) {
			first := agent.Step{Next: []agent.Transition{{Condition: "get('$.output.to') == 'a'", Step: "a"}}}
			shaped(&first)
			a.Steps = map[string]agent.Step{"first_step": first, "a": {}}
		}, `input_message: go|structured_output: {"to":"c"}`, "first_step"},
		"text and metadata": {replies(text("yes"), text("done")), func(_ *turn.Config, a *agent.Agent) {
			a.Steps = map[string]agent.Step{"first_step": {Next: []agent.Transition{{Condition: "get('$.output.text') == 'yes' and get('$.session.metadata.plan') == 'gold'", Step: "b"}}}, "b": {}}
		}, `input_message: go|agent_output: yes|step_transition: first_step > b|agent_output: done`, "b"},
		"cap": {replies(text("again")), func(c *turn.Config, a *agent.Agent) {
			c.MaxTransitions = 2
			a.Steps = map[string]agent.Step{"first_step": {Next: []agent.Transition{{Step: "first_step"}}}}
		}, `input_message: go|agent_output: again|step_transition: first_step > first_step|agent_output: again|step_transition: first_step > first_step|agent_output: again|transition limit`, "first_step"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := begin(t, c.model, c.change)
			got, err := b.ask(t, b.input("go"))
			if err != nil || strings.Join(got, "|") != c.want {
				t.Errorf("%v, %s", err, strings.Join(got, "|"))
			}
			if s, err := b.rows.Load(t.Context(), b.no); err != nil || s.Step != c.step {
				t.Errorf("%v, the session is on step %q", err, s.Step)
			}
		})
	}
}

// TestFailures proves how a turn fails: with which status where nothing was shown, and then with nothing stored; with an error
// behind what is stored otherwise. The messages for an answer that is no JSON, cut off, refused or empty differ.
func TestFailures(t *testing.T) {
	t.Parallel()
	schema := func(_ *turn.Config, a *agent.Agent) {
		first := a.Steps["first_step"]
		shaped(&first)
		a.Steps["first_step"] = first
	}
	limited := fault.Limited("llm_quota_exhausted", "used up").Because(&usage.Refused{After: 7 * time.Second})
	for name, c := range map[string]struct {
		model  model
		change func(*turn.Config, *agent.Agent)
		kind   fault.Kind
		says   string // of the refusal, or the last line of the answer
		log    string
	}{
		"timeout":     {replies(reply{err: &llm.Error{Failure: llm.TimedOut}}), nil, fault.KindTimeout, "in time", ""},
		"unreachable": {replies(reply{err: &llm.Error{Failure: llm.Unreachable}}), nil, fault.KindUnavailable, "reached", ""},
		"limited":     {replies(reply{err: &llm.Error{Failure: llm.Limited}}), nil, fault.KindLimited, "", ""},
		"quota":       {replies(reply{err: limited}), nil, fault.KindLimited, "used up", ""},
		"rejected":    {replies(reply{err: &llm.Error{Failure: llm.Rejected}}), nil, fault.KindUpstream, "rejected", ""},
		"our own":     {replies(reply{err: errors.New("disk")}), nil, fault.KindInternal, "disk", ""},
		"no JSON":     {replies(text("Berlin")), schema, fault.KindUpstream, "not the JSON", ""},
		"wrong JSON":  {replies(text(`{"from":1}`)), schema, fault.KindUpstream, "not the JSON", ""},
		"cut off":     {replies(reply{Answer: llm.Answer{Text: `{"to":`, Reason: llm.Length}}), schema, fault.KindUpstream, `cut off before its JSON was complete: the language model stopped with "length"`, ""},
		"refused":     {replies(reply{Answer: llm.Answer{Refusal: "no", Reason: llm.Refused}}), schema, fault.KindUpstream, "refused to answer in step \"first_step\": no", ""},
		"empty":       {replies(reply{Answer: llm.Answer{Text: " \n", Reason: llm.Stop}}), nil, fault.KindUpstream, "empty answer", ""},
		"bad template": {replies(text("x")), func(_ *turn.Config, a *agent.Agent) {
			a.Steps["first_step"] = agent.Step{Instructions: []agent.Instruction{{Name: "i", Template: "#if(", Enabled: true}}}
		}, fault.KindUnprocessable, "instruction \"i\"", ""},
		"behind a tool": {replies(calls("probe"), reply{err: &llm.Error{Failure: llm.TimedOut}}), probes(tool.Never, echo), 0,
			"error: the language model did not answer in time", `input_message: go|tool_input: probe{"n":1}|tool_output: probe{"n":1}`},
		"too long": {says("x"), func(c *turn.Config, _ *agent.Agent) {
			c.Models = llmtest.Only{Use: &llm.Model{Provider: says("x"), Name: "m", Can: llm.Abilities{Context: 10}}}
		}, 0, "context limit", "input_message: go"},
		"too many calls": {replies(calls("probe")), func(c *turn.Config, a *agent.Agent) {
			probes(tool.Never, echo)(c, a)
			c.MaxCalls = 1
		}, 0, "max_model_calls", `input_message: go|tool_input: probe{"n":1}|tool_output: probe{"n":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := begin(t, c.model, c.change)
			got, err := b.ask(t, b.input("go"))
			said := ""
			if err != nil {
				said = err.Error()
			} else if len(got) > 0 {
				said = got[len(got)-1]
			}
			f, expected := fault.As(err)
			if c.log == "" && (err == nil || expected && f.Kind != c.kind || !expected && c.kind != fault.KindInternal) || !strings.Contains(said, c.says) {
				t.Errorf("%v, %q", err, got)
			}
			if c.kind == fault.KindLimited && (f == nil || f.RetryAfter < time.Second) {
				t.Errorf("no Retry-After: %v", f)
			}
			if log := strings.Join(b.log(t), "|"); log != c.log {
				t.Errorf("the log is %s", log)
			}
			if s, err := b.rows.Load(t.Context(), b.no); err != nil || s.Running {
				t.Errorf("%v, running %v", err, s.Running)
			}
		})
	}
}

// TestAgain proves that an input whose turn has failed with nothing behind it runs again under the same external_id, without a
// second input_message, and that one which was answered does not.
func TestAgain(t *testing.T) {
	t.Parallel()
	b := begin(t, replies(reply{err: &llm.Error{Failure: llm.TimedOut}}, text("fine")), nil)
	in := b.input("go")
	in.Parts[0].ExternalID = "x"
	sent, err := b.Send(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	sent.Close() // nobody waits for a status, so the input stays
	b.idle(t)
	if log := strings.Join(b.log(t), "|"); log != "input_message: go" && log != "" {
		t.Fatalf("the log is %s", log)
	}
	again := b.input("go")
	again.Parts[0].ExternalID = "x"
	if got, err := b.ask(t, again); err != nil || strings.Join(got, "|") != "input_message: go|agent_output: fine" {
		t.Errorf("%v, %q", err, got)
	}
	third := b.input("go")
	third.Parts[0].ExternalID = "x"
	if got, err := b.ask(t, third); err != nil || len(got) > 0 {
		t.Errorf("%v, %q", err, got)
	}
}

// TestParallel proves that at most eight calls of a reply run at once, that all do, and that outputs stand behind all calls.
func TestParallel(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	full := make(chan struct{})
	run := func(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if n == 8 {
			close(full)
		}
		select {
		case <-full:
		case <-ctx.Done():
		}
		return c.Arguments, nil
	}
	b := begin(t, replies(calls(slices.Repeat([]string{"probe"}, 9)...), text("done")), probes(tool.Never, run))
	got, err := b.ask(t, b.input("go"))
	if err != nil || len(got) != 20 || got[19] != "agent_output: done" || most.Load() != 8 {
		t.Errorf("%v, %d at once, %q", err, most.Load(), got)
	}
	for i, line := range got[1:19] {
		if strings.HasPrefix(line, "tool_input") != (i < 9) {
			t.Errorf("event %d is %s", i+1, line)
		}
	}
}

// slow is a model that waits, after its first words, for a gate or the end of the call.
func slow(words string, gate <-chan struct{}) (model, <-chan struct{}) {
	begun := make(chan struct{}, 100)
	return func(ctx context.Context, _ llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		if err := emit(llm.Event{Text: words}); err != nil {
			return llm.Answer{}, err
		}
		begun <- struct{}{}
		select {
		case <-gate:
		case <-ctx.Done():
			return llm.Answer{}, context.Cause(ctx)
		}
		return llm.Answer{Text: words, Reason: llm.Stop}, nil
	}, begun
}

// TestInterrupt proves that an interrupt keeps what was said, tells every reader and leaves the queue as it is.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	m, begun := slow("One moment.", gate)
	b := begin(t, m, nil)
	if which, err := b.Interrupt(t.Context(), b.no); which != "" || err != nil {
		t.Errorf("idle: %v, %v", which, err)
	}
	in := b.input("go")
	in.Whole = false
	sent, err := b.Send(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	waiting := b.queue(t, "next")
	if which, err := b.Interrupt(t.Context(), b.no); which == "" || err != nil {
		t.Errorf("%v, %v", which, err)
	}
	if got, err := told(t, sent); err != nil || strings.Join(got, "|") != "input_message: go|text: One moment.|text ends|interrupted" {
		t.Errorf("%v, %q", err, got)
	}
	<-begun
	close(gate)
	got, err := told(t, waiting)
	if err != nil || strings.Join(got, "|") != "input_message: go|agent_output: One moment.|interrupted|input_message: next|agent_output: One moment." {
		t.Errorf("%v, %q", err, got)
	}
}

// TestInterruptedThinking proves that what a model had thought when it was interrupted before its first word is kept, as whoever read
// along was shown it, also where its answer is not shown before it is whole, and that the session goes on.
func TestInterruptedThinking(t *testing.T) {
	t.Parallel()
	for _, hidden := range []bool{false, true} {
		begun := make(chan struct{})
		m := model(func(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
			if strings.Contains(fmt.Sprint(r.Messages), "again") {
				return replies(text(`{"to":"me"}`))(ctx, r, emit)
			}
			if err := emit(llm.Event{Reasoning: "hm"}); err != nil {
				return llm.Answer{}, err
			}
			if hidden {
				if err := emit(llm.Event{Text: `{"to":`}); err != nil {
					return llm.Answer{}, err
				}
			}
			close(begun)
			<-ctx.Done()
			return llm.Answer{}, context.Cause(ctx)
		})
		b := begin(t, m, func(_ *turn.Config, a *agent.Agent) {
			if hidden {
				first := a.Steps["first_step"]
				shaped(&first)
				a.Steps["first_step"] = first
			}
		})
		in := b.input("go")
		in.Whole = false
		sent, err := b.Send(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		<-begun
		if which, err := b.Interrupt(t.Context(), b.no); which == "" || err != nil {
			t.Errorf("%v, %v", which, err)
		}
		if got, err := told(t, sent); err != nil || !strings.HasSuffix(strings.Join(got, "|"), "hm|interrupted") && !strings.HasSuffix(strings.Join(got, "|"), "thought: hm|thought ends|interrupted") {
			t.Errorf("%v, %q", err, got)
		}
		if log := strings.Join(b.log(t), "|"); log != "input_message: go|thinking: hm" {
			t.Errorf("the log is %q", log)
		}
		if got, err := b.ask(t, b.input("again")); err != nil || !strings.HasSuffix(got[len(got)-1], `{"to":"me"}`) {
			t.Errorf("%v, %q", err, got)
		}
	}
}

// TestInterruptedTool proves that calls in progress get an error output.
func TestInterruptedTool(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	run := func(ctx context.Context, _ tool.Call, _ tool.Activity) (json.RawMessage, error) {
		close(begun)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	b := begin(t, replies(calls("probe"), text("done")), probes(tool.Never, run))
	sent, err := b.Send(t.Context(), b.input("go"))
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	if which, err := b.Interrupt(t.Context(), b.no); which == "" || err != nil {
		t.Errorf("%v, %v", which, err)
	}
	want := `input_message: go|tool_input: probe{"n":1}|tool_output: probe{"error":"interrupted"}|interrupted`
	if got, err := told(t, sent); err != nil || strings.Join(got, "|") != want {
		t.Errorf("%v, %q", err, got)
	}
}

// TestSteer proves that an input that steers goes on in the turn, behind the outputs of the calls in progress or in place of
// its end.
func TestSteer(t *testing.T) {
	t.Parallel()
	begun, gate := make(chan struct{}), make(chan struct{})
	run := func(_ context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
		close(begun)
		<-gate
		return c.Arguments, nil
	}
	b := begin(t, replies(calls("probe"), text("done")), probes(tool.Never, run))
	sent, err := b.Send(t.Context(), b.input("go"))
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	since := int64(1)
	steer := b.input("left")
	steer.Since, steer.Queue, steer.Steer = &since, true, true
	steers, err := b.Send(t.Context(), steer)
	if err != nil {
		t.Fatal(err)
	}
	close(gate)
	want := `tool_input: probe{"n":1}|tool_output: probe{"n":1}|input_message: left|agent_output: done`
	for who, s := range map[string]*turn.Sent{"input_message: go|": sent, "": steers} {
		if got, err := told(t, s); err != nil || strings.Join(got, "|") != who+want {
			t.Errorf("%v, %q", err, got)
		}
	}
}

// restarted returns the bench of a turn whose process was killed when the calls of the first reply were stored, and that another
// one has ended.
func restarted(t *testing.T, m model, change func(*turn.Config, *agent.Agent)) *bench {
	t.Helper()
	killed := &cut{left: 1, after: true, dead: make(chan struct{})}
	b := begin(t, m, func(c *turn.Config, a *agent.Agent) {
		change(c, a)
		killed.Log, c.Log = c.Log, killed
	})
	sent, err := b.Send(t.Context(), b.input("go"))
	if err != nil {
		t.Fatal(err)
	}
	<-killed.dead
	sent.Close()
	b.open(t, m, change)
	b.idle(t)
	return b
}

// TestRestarted proves what becomes of a call that a kill has cut off and that may not be made again, and of a turn that was taken
// over three times and came no further.
func TestRestarted(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	count := func(_ context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
		ran.Add(1)
		return c.Arguments, nil
	}
	probe := probes(tool.Never, count)
	b := restarted(t, replies(calls("probe"), text("done")), probe)
	want := `input_message: go|tool_input: probe{"n":1}|tool_output: probe{"error":"interrupted by restart"}|agent_output: done`
	if got := strings.Join(b.log(t), "|"); got != want || ran.Load() > 0 {
		t.Errorf("ran %d times, the log is %s", ran.Load(), got)
	}
}

// TestRestartedInOrder proves that calls which are made again after a kill keep their order: one that reads the output of another
// still waits for it.
func TestRestartedInOrder(t *testing.T) {
	t.Parallel()
	probe := probes(tool.Reads, echo)
	ordered := func(c *turn.Config, a *agent.Agent) {
		probe(c, a)
		a.Tools = map[string]json.RawMessage{
			"first":  json.RawMessage(`{"type":"probe","argument_override":{"said":"yes"}}`),
			"second": json.RawMessage(`{"type":"probe","argument_override":{"heard":{"$ref":"tools.first.outputs.latest.said"}}}`),
		}
	}
	b := restarted(t, replies(calls("second", "first"), text("done")), ordered)
	got := strings.Join(b.log(t), "|")
	for _, want := range []string{`tool_output: first{"n":1,"said":"yes"}|tool_output: second{"heard":"yes","n":1}`, "agent_output: done"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
}

// TestDropAgent proves that the turns of a deleted agent end at once, and those of others go on.
func TestDropAgent(t *testing.T) {
	t.Parallel()
	asked, ended := make(chan struct{}), make(chan struct{})
	b := begin(t, func(ctx context.Context, _ llm.Request, _ func(llm.Event) error) (llm.Answer, error) {
		close(asked)
		<-ctx.Done()
		close(ended)
		return llm.Answer{}, ctx.Err()
	}, nil)
	sent, err := b.Send(t.Context(), b.input("go"))
	if err != nil {
		t.Fatal(err)
	}
	defer sent.Close()
	<-asked
	b.DropAgent(b.agent.No + 1)
	select {
	case <-ended:
		t.Fatal("the turn of another agent has ended")
	default:
	}
	b.DropAgent(b.agent.No)
	<-ended
}
