package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent"
	"quarry/internal/agent/reminder"
	"quarry/internal/agent/session"
	"quarry/internal/agent/skill"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/turn"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/llmtest"
	"quarry/internal/opt"
)

// heard is a model that keeps the requests to another one.
type heard struct {
	model
	mu  sync.Mutex
	all []llm.Request
}

func (h *heard) Stream(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	h.mu.Lock()
	h.all = append(h.all, r)
	h.mu.Unlock()
	return h.model(ctx, r, emit)
}

// last returns the last request, its messages a line each, and the names of its tools.
func (h *heard) last() (messages []string, tools string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.all[len(h.all)-1]
	for _, m := range r.Messages {
		line := string(m.Role) + ": " + m.Plain()
		for _, c := range m.Calls {
			line += " [" + c.Name + "]"
		}
		messages = append(messages, line)
	}
	for _, one := range r.Tools {
		tools += one.Name + " "
	}
	return messages, tools
}

// listen starts a bench whose model's requests are kept.
func listen(t *testing.T, m model, change func(*turn.Config, *agent.Agent)) (*bench, *heard) {
	t.Helper()
	h := &heard{model: m}
	return begin(t, h.Stream, change), h
}

// load is a call that loads a skill.
func load(name string) llm.ToolCall {
	return llm.ToolCall{ID: "s-" + name, Name: skill.Tool, Arguments: json.RawMessage(`{"skill_name":"` + name + `"}`)}
}

// calling is a reply of calls.
func calling(all ...llm.ToolCall) reply {
	return reply{Answer: llm.Answer{Reason: llm.Calls, Calls: all}}
}

// guided gives the agent two skills, and its only step some of them.
func guided(allowed *[]string) func(*turn.Config, *agent.Agent) {
	return func(c *turn.Config, a *agent.Agent) {
		probes(tool.Reads, echo)(c, a)
		a.Skills = map[string]skill.Skill{
			"refunds": {Description: "How refunds\ngo.", WhenToUse: "Money back.", Content: "Pay within a week."},
			"greet":   {Description: "How to greet.", Content: "Say hello."},
		}
		s := a.Steps[a.Entry]
		s.AllowedSkills = allowed
		a.Steps[a.Entry] = s
	}
}

// TestSkillsOffered proves what the model is told of skills: those of the step by name, description and use, never their
// content, with the tool and its choice of names; nothing where none is allowed.
func TestSkillsOffered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		allowed *[]string
		system  string
		enum    string
	}{
		"all":  {nil, "\n- greet: How to greet.\n- refunds: How refunds go. When to use: Money back.", `"enum":["greet","refunds"]`},
		"one":  {&[]string{"refunds"}, "\n- refunds: How refunds go. When to use: Money back.", `"enum":["refunds"]`},
		"none": {&[]string{}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, h := listen(t, replies(text("Fine.")), func(cfg *turn.Config, a *agent.Agent) {
				guided(c.allowed)(cfg, a)
				s := a.Steps[a.Entry]
				s.Instructions = []agent.Instruction{{Name: "i", Template: "Be brief. #foreach($t in $tools)$t.name#end", Enabled: true}}
				a.Steps[a.Entry] = s
			})
			if _, err := b.ask(t, b.input("go")); err != nil {
				t.Fatal(err)
			}
			messages, tools := h.last()
			head, listed, _ := strings.Cut(messages[0], "\n\n")
			if head != "system: Be brief. probe" || !strings.HasSuffix(listed, c.system) || (listed == "") != (c.system == "") {
				t.Errorf("the system prompt is %q", messages[0])
			}
			if strings.Contains(strings.Join(messages, "\n"), "Pay within") {
				t.Error("the content is in the prompt before it is loaded")
			}
			if (tools == "probe invoke_skill ") != (c.enum != "") {
				t.Errorf("offered are %q", tools)
			}
			if c.enum != "" && !strings.Contains(string(h.all[0].Tools[1].Parameters), c.enum) {
				t.Errorf("the tool takes %s", h.all[0].Tools[1].Parameters)
			}
		})
	}
}

// TestSkillsWithoutTools proves that models that call no tools, and the embedded one, are neither told of skills nor offered the tool.
func TestSkillsWithoutTools(t *testing.T) {
	t.Parallel()
	for name, can := range map[string]llm.Model{"no tools": {}, "embedded": {Embedded: true, Can: llm.Abilities{Tools: true}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &heard{model: replies(text("Fine."))}
			m := can
			m.Provider, m.Name, m.Can.Context = h, "m", 100_000
			b := begin(t, nil, func(c *turn.Config, a *agent.Agent) {
				guided(nil)(c, a)
				c.Models = llmtest.Only{Use: &m}
			})
			if _, err := b.ask(t, b.input("go")); err != nil {
				t.Fatal(err)
			}
			if messages, tools := h.last(); strings.Join(messages, "|") != "user: go" || strings.Contains(tools, skill.Tool) {
				t.Errorf("asked %q with %q", messages, tools)
			}
		})
	}
}

// TestSkillLoaded proves what a load by the model leaves in the log, alone and among other calls, and what the model reads of
// it: a short result, then the content as a message of the user behind all results. Names that are unknown or not allowed, and
// arguments that are none, are errors of the call.
func TestSkillLoaded(t *testing.T) {
	t.Parallel()
	probe := llm.ToolCall{ID: "p", Name: "probe", Arguments: json.RawMessage(`{"n":1}`)}
	broken := llm.ToolCall{ID: "b", Name: skill.Tool, Arguments: json.RawMessage(`["refunds"]`)}
	const closed = `tool: The skill "refunds" is loaded; a message behind the results has its content.`
	for name, c := range map[string]struct {
		calls   []llm.ToolCall
		allowed *[]string
		log     []string
		reads   []string
	}{
		"alone": {[]llm.ToolCall{load("refunds")}, nil,
			[]string{`tool_input: invoke_skill{"skill_name":"refunds"}`, "skill_load: Pay within a week."},
			[]string{"assistant:  [invoke_skill]", closed, "user: Pay within a week."}},
		"among others": {[]llm.ToolCall{load("refunds"), probe}, nil,
			[]string{`tool_input: invoke_skill{"skill_name":"refunds"}`, `tool_input: probe{"n":1}`, "skill_load: Pay within a week.", `tool_output: probe{"n":1}`},
			[]string{"assistant:  [invoke_skill] [probe]", closed, `tool: {"n":1}`, "user: Pay within a week."}},
		"unknown": {[]llm.ToolCall{load("returns")}, nil,
			[]string{`tool_input: invoke_skill{"skill_name":"returns"}`, `tool_output: invoke_skill{"error":"there is no skill \"returns\" here; there are: greet, refunds"}`},
			[]string{"assistant:  [invoke_skill]", `tool: {"error":"there is no skill \"returns\" here; there are: greet, refunds"}`}},
		"not allowed": {[]llm.ToolCall{load("refunds")}, &[]string{},
			[]string{`tool_input: invoke_skill{"skill_name":"refunds"}`, `tool_output: invoke_skill{"error":"there is no skill \"refunds\" here; no skills can be loaded in this step"}`},
			[]string{"assistant:  [invoke_skill]", `tool: {"error":"there is no skill \"refunds\" here; no skills can be loaded in this step"}`}},
		"no arguments": {[]llm.ToolCall{broken}, nil,
			[]string{`tool_input: invoke_skill{}`, `tool_output: invoke_skill{"error":"the arguments must be an object with the name of a skill as skill_name; there are: greet, refunds"}`},
			[]string{"assistant:  [invoke_skill]", `tool: {"error":"the arguments must be an object with the name of a skill as skill_name; there are: greet, refunds"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, h := listen(t, replies(calling(c.calls...), text("Done.")), guided(c.allowed))
			got, err := b.ask(t, b.input("go"))
			if err != nil {
				t.Fatal(err)
			}
			want := append(append([]string{"input_message: go"}, c.log...), "agent_output: Done.")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("events (-want +got): %s", diff)
			}
			messages, _ := h.last()
			if messages[0][:7] == "system:" {
				messages = messages[1:]
			}
			if diff := cmp.Diff(append([]string{"user: go"}, c.reads...), messages); diff != "" {
				t.Errorf("the model reads (-want +got): %s", diff)
			}
		})
	}
}

// TestSkillHalves proves that hiding or deleting a load takes its call from what the model reads, and the other way round.
func TestSkillHalves(t *testing.T) {
	t.Parallel()
	for _, half := range []session.Type{session.ToolInput, session.SkillLoad} {
		b, h := listen(t, replies(calling(load("greet")), text("Done.")), guided(nil))
		if _, err := b.ask(t, b.input("go")); err != nil {
			t.Fatal(err)
		}
		found, _, err := b.rows.Events(t.Context(), session.Page{Session: b.no, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found {
			if e.Type == half {
				if _, err := b.rows.Hide(t.Context(), b.no, e.ID, session.Manual); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := b.ask(t, b.input("and now")); err != nil {
			t.Fatal(err)
		}
		if messages, _ := h.last(); strings.Join(messages[1:], "|") != "user: go|assistant: Done.|user: and now" {
			t.Errorf("without the %s the model reads %q", half, messages)
		}
	}
}

// TestSkillKilled proves that a kill before or after the commit that holds a call and the skill it loads leaves neither without
// the other, and that the turn ends with the log of one that was never killed.
func TestSkillKilled(t *testing.T) {
	t.Parallel()
	m := model(func(_ context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		if last := r.Messages[len(r.Messages)-1]; last.Plain() != "go" {
			return llm.Answer{Text: "Done.", Reason: llm.Stop}, emit(llm.Event{Text: "Done."})
		}
		return llm.Answer{Reason: llm.Calls, Calls: []llm.ToolCall{load("greet"), {ID: "p", Name: "probe", Arguments: json.RawMessage(`{}`)}, load("none")}}, nil
	})
	want := []string{
		"input_message: go", `tool_input: invoke_skill{"skill_name":"greet"}`, `tool_input: probe{}`, `tool_input: invoke_skill{"skill_name":"none"}`,
		"skill_load: Say hello.", `tool_output: invoke_skill{"error":"there is no skill \"none\" here; there are: greet, refunds"}`, `tool_output: probe{}`, "agent_output: Done.",
	}
	for n := 1; n <= 3; n++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d after %v", n, after), func(t *testing.T) {
				t.Parallel()
				killed := &cut{left: n, after: after, dead: make(chan struct{})}
				b := begin(t, m, func(c *turn.Config, a *agent.Agent) {
					guided(nil)(c, a)
					killed.Log, c.Log = c.Log, killed
				})
				s, err := b.Send(t.Context(), b.input("go"))
				if err != nil {
					t.Fatal(err)
				}
				<-killed.dead
				s.Close()
				log := strings.Join(b.log(t), "|")
				if strings.Contains(log, "tool_input: invoke") != strings.Contains(log, "skill_load") {
					t.Errorf("the kill has left %s", log)
				}
				b.open(t, m, guided(nil))
				b.idle(t)
				if diff := cmp.Diff(want, b.log(t)); diff != "" {
					t.Errorf("log (-unkilled +killed): %s", diff)
				}
			})
		}
	}
}

// TestReminders proves beside which events the model reads reminders, in which words, and that neither log nor readers have them:
// the firing rule for each hook, text and templates, the values of the beginning of the session.
func TestReminders(t *testing.T) {
	t.Parallel()
	b, h := listen(t, replies(calls("probe"), calls("probe"), text("one"), text("two"), text("three")), func(c *turn.Config, a *agent.Agent) {
		probes(tool.Reads, echo)(c, a)
		s := a.Steps[a.Entry]
		s.Reminders = []reminder.Reminder{
			{Template: "Plan: $session.metadata.plan.", Hooks: []reminder.Hook{reminder.Input}, Every: 2},
			{Template: "Cite $x.", Plain: true, Hooks: []reminder.Hook{reminder.Output, reminder.Input}, Every: 1, Skip: 1},
		}
		a.Steps[a.Entry] = s
	})
	for _, text := range []string{"a", "b", "c"} {
		got, err := b.ask(t, b.input(text))
		if err != nil || strings.Contains(strings.Join(got, "|"), "Plan") {
			t.Fatalf("%v, %q", err, got)
		}
		if err := b.change(t, session.Change{Metadata: opt.Some(json.RawMessage(`{"plan":"silver"}`))}); err != nil { // from now on; what was rendered stays
			t.Fatal(err)
		}
	}
	want := []string{
		"user: a\n\nPlan: gold.", "assistant:  [probe]", `tool: {"n":1}`, "assistant:  [probe]", "tool: {\"n\":1}\n\nCite $x.", "assistant: one",
		"user: b\n\nCite $x.", "assistant: two", "user: c\n\nPlan: gold.\n\nCite $x.",
	}
	messages, _ := h.last()
	if diff := cmp.Diff(want, messages); diff != "" {
		t.Errorf("the model reads (-want +got): %s", diff)
	}
	if log := strings.Join(b.log(t), "|"); strings.Contains(log, "Plan") || strings.Contains(log, "Cite") {
		t.Errorf("the log is %s", log)
	}
	b.agent.Steps[b.agent.Entry].Reminders[0].Template = "Now: $session.metadata.plan." // one that the session does not have yet
	if _, err := b.ask(t, b.input("d")); err != nil {
		t.Fatal(err)
	}
	if messages, _ = h.last(); messages[0] != "user: a\n\nNow: silver." {
		t.Errorf("the model reads %q", messages)
	}
}

// change changes the session.
func (b *bench) change(t *testing.T, c session.Change) error {
	_, err := b.rows.Update(t.Context(), b.no, c, clock.Now())
	return err
}

// TestReminderFails proves that a reminder that can't be rendered refuses the input, which leaves nothing.
func TestReminderFails(t *testing.T) {
	t.Parallel()
	b := begin(t, says("x"), func(_ *turn.Config, a *agent.Agent) {
		a.Steps["later"] = agent.Step{Reminders: []reminder.Reminder{{
			Template: "#foreach($a in [1..2000])#foreach($b in [1..2000])x#end#end", Hooks: []reminder.Hook{reminder.Input}, Every: 1,
		}}}
	})
	got, err := b.ask(t, b.input("go"))
	if !fault.Is(err, fault.KindUnprocessable) || !strings.Contains(err.Error(), `the reminder 1 of step "later"`) {
		t.Errorf("%v, %q", err, got)
	}
	if log := b.log(t); len(log) > 0 {
		t.Errorf("the log is %q", log)
	}
}
