package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent"
	"quarry/internal/agent/session"
	"quarry/internal/agent/session/answer"
	"quarry/internal/agent/session/feed"
	"quarry/internal/agent/skill"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/turn"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/opt"
)

// dialogs gives the agent the tool of a client "ask", beside "probe".
func dialogs(t *testing.T, configuration string, change func(*turn.Config, *agent.Agent)) func(*turn.Config, *agent.Agent) {
	t.Helper()
	var made *catalog.Tool
	return func(c *turn.Config, a *agent.Agent) {
		probes(tool.Reads, echo)(c, a)
		if made == nil {
			known, err := c.Tools.(*catalog.Service).Create(t.Context(), catalog.Change{
				Name: opt.Some("dialog"), Description: opt.Some("Asks."), Output: opt.Some(json.RawMessage(`{"type":"object","properties":{"ok":{"type":"boolean"}},"additionalProperties":false}`)),
			})
			if err != nil {
				t.Fatal(err)
			}
			made = &known
		}
		a.Tools["ask"] = json.RawMessage(`{"type":"client","tool_id":"` + string(made.ID) + `"` + configuration + `}`)
		if change != nil {
			change(c, a)
		}
	}
}

// pending returns the calls that the session waits for.
func (b *bench) pending(t *testing.T) []session.Pending {
	t.Helper()
	calls, err := b.Outstanding(t.Context(), b.no)
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

func yes(calls ...session.Pending) (out []answer.Given) {
	for _, c := range calls {
		out = append(out, answer.Given{Call: c.Event, Output: json.RawMessage(`{"ok":true}`)})
	}
	return out
}

// give answers calls and returns what is shown.
func (b *bench) give(t *testing.T, given ...answer.Given) ([]string, error) {
	t.Helper()
	sent, partly, err := b.Answer(t.Context(), turn.Outputs{Session: b.no, Given: given, Whole: true})
	if err != nil {
		return nil, err
	}
	if sent != nil {
		return told(t, sent)
	}
	var out []string
	for _, f := range partly {
		out = append(out, line(f))
	}
	return out, nil
}

const (
	asked    = `input_message: go|tool_input: ask{"n":1}|tool_input: probe{"n":1}|tool_input: ask{"n":1}|tool_output: probe{"n":1}`
	answered = `tool_output: ask{"ok":true}`
)

// TestParked proves the way of a turn through the client: the tools of the service run first, then the turn waits, over a restart,
// too; outputs are held to the schema, some of them park it again, the last one goes on with the same turn.
func TestParked(t *testing.T) {
	t.Parallel()
	m := replies(calls("ask", "probe", "ask"), text("done"))
	setting := dialogs(t, "", nil)
	b := begin(t, m, setting)
	got, err := b.ask(t, b.input("go"))
	if want := asked + "|pending 2"; err != nil || strings.Join(got, "|") != want {
		t.Fatalf("%v, %s, want %s", err, strings.Join(got, "|"), want)
	}
	b.idle(t)
	b.stop()
	if n := b.Working(); n > 0 {
		t.Errorf("%d sessions are worked on", n)
	}
	b.open(t, m, setting)
	calls := b.pending(t)
	if len(calls) != 2 || string(calls[0].Arguments) != `{"n":1}` || calls[0].Tool != "ask" || calls[0].ToolName != "dialog" {
		t.Fatalf("pending: %+v", calls)
	}
	for name, bad := range map[string][]answer.Given{
		"tool_outputs[0].event_id": {{Call: "aev_none", Output: json.RawMessage(`{}`)}},
		"tool_outputs[1].output":   {yes(calls[0])[0], {Call: calls[1].Event, Output: json.RawMessage(`{"ok":"perhaps"}`)}},
		"tool_outputs[1].event_id": {yes(calls[0])[0], yes(calls[0])[0]},
		"tool_outputs[0].error":    {{Call: calls[0].Event, Output: json.RawMessage(`1`), Failed: true}},
	} {
		_, err := b.give(t, bad...)
		if f, ok := fault.As(err); !ok || f.Fields[name] == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err = b.give(t, yes(calls[1])...); err != nil || strings.Join(got, "|") != answered+"|pending 1" {
		t.Errorf("%v, %s", err, got)
	}
	if _, err := b.give(t, yes(calls[1])...); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("answered twice: %v", err)
	}
	got, err = b.give(t, answer.Given{Call: calls[0].Event, Output: json.RawMessage(`"closed"`), Failed: true})
	if err != nil || strings.Join(got, "|") != `tool_output: ask{"error":"closed"}|agent_output: done` {
		t.Errorf("%v, %s", err, got)
	}
	if _, err := b.give(t, yes(calls[0])...); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("answered without a parked turn: %v", err)
	}
	b.turns(t, 1)
}

// turns fails unless all events are of these many turns.
func (b *bench) turns(t *testing.T, want int64) {
	t.Helper()
	found, _, err := b.rows.Events(t.Context(), session.Page{Session: b.no, Limit: 1000, Hidden: true})
	if err != nil || found[len(found)-1].Turn != want {
		t.Errorf("%v, the last event is of turn %d, want %d", err, found[len(found)-1].Turn, want)
	}
}

const over = `tool_output: ask{"error":"superseded by new input"}`

// TestSuperseded proves that an input answers the open calls and runs a turn of its own, that an interrupt answers them without
// one, and that inputs which wait when the turn parks do the same.
func TestSuperseded(t *testing.T) {
	t.Parallel()
	model := func() model { return replies(calls("ask", "probe", "ask"), text("done")) }
	t.Run("input", func(t *testing.T) {
		t.Parallel()
		b := begin(t, model(), dialogs(t, "", nil))
		if _, err := b.ask(t, b.input("go")); err != nil {
			t.Fatal(err)
		}
		got, err := b.ask(t, b.input("never mind"))
		if err != nil || strings.Join(got, "|") != "input_message: never mind|agent_output: done" {
			t.Errorf("%v, %s", err, got)
		}
		if log := strings.Join(b.log(t), "|"); log != asked+"|"+over+"|"+over+"|input_message: never mind|agent_output: done" {
			t.Error(log)
		}
		b.turns(t, 2)
	})
	t.Run("interrupt", func(t *testing.T) {
		t.Parallel()
		b := begin(t, model(), dialogs(t, "", nil))
		if _, err := b.ask(t, b.input("go")); err != nil {
			t.Fatal(err)
		}
		for _, want := range []bool{true, false} {
			if interrupted, err := b.Interrupt(t.Context(), b.no); (interrupted != "") != want || err != nil {
				t.Errorf("%v, %v", interrupted, err)
			}
		}
		if log := strings.Join(b.log(t), "|"); log != asked+"|"+over+"|"+over {
			t.Error(log)
		}
		if len(b.pending(t)) > 0 {
			t.Error("calls are pending")
		}
	})
	for _, steer := range []bool{false, true} {
		t.Run(fmt.Sprintf("queued, steer %v", steer), func(t *testing.T) {
			t.Parallel()
			reached, gate := make(chan struct{}), make(chan struct{})
			slowly := func(c *turn.Config, a *agent.Agent) {
				probes(tool.Reads, func(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
					close(reached)
					<-gate
					return c.Arguments, nil
				})(c, &agent.Agent{})
			}
			b := begin(t, model(), dialogs(t, "", slowly))
			sent, err := b.Send(t.Context(), b.input("go"))
			if err != nil {
				t.Fatal(err)
			}
			<-reached
			since, next := int64(0), b.input("wait")
			next.Since, next.Queue, next.Steer = &since, true, steer
			waiting, err := b.Send(t.Context(), next)
			if err != nil {
				t.Fatal(err)
			}
			close(gate)
			want := asked + "|" + over + "|" + over
			whole := want + "|input_message: wait|agent_output: done"
			if steer {
				want = whole
			}
			if got, err := told(t, sent); err != nil || strings.Join(got, "|") != want {
				t.Errorf("%v, %s", err, got)
			}
			if got, err := told(t, waiting); err != nil || strings.Join(got, "|") != whole {
				t.Errorf("%v, %s", err, got)
			}
		})
	}
}

// TestSupersededWith proves that a call which waits for the client's has an output, too, when the client's is superseded: by an input, by
// an interrupt, and by one that waits when the turn parks, whether it steers the turn or not.
func TestSupersededWith(t *testing.T) {
	t.Parallel()
	const (
		open  = `input_message: go|tool_input: ask{"n":1}|tool_input: probe{"n":1}|tool_input: slow{"n":1}|tool_output: slow{"n":1}`
		ended = open + "|" + over + `|tool_output: probe{"error":"superseded by new input"}`
		wait  = "|input_message: wait|agent_output: done"
	)
	for _, how := range []string{"input", "interrupt", "queued", "steer"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			reached, gate := make(chan struct{}), make(chan struct{})
			b := begin(t, replies(calls("ask", "probe", "slow"), text("done")), dialogs(t, "", func(c *turn.Config, a *agent.Agent) {
				probes(tool.Reads, func(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
					close(reached)
					<-gate
					return c.Arguments, nil
				})(c, &agent.Agent{})
				a.Tools["probe"] = json.RawMessage(`{"type":"probe","argument_override":{"said":{"$ref":"tools.ask.outputs.latest.ok"}}}`)
				a.Tools["slow"] = json.RawMessage(`{"type":"probe"}`)
			}))
			sent, err := b.Send(t.Context(), b.input("go"))
			if err != nil {
				t.Fatal(err)
			}
			<-reached
			readers, next, want := []*turn.Sent{sent}, b.input("wait"), ended+wait
			if how == "queued" || how == "steer" {
				next.Since, next.Queue, next.Steer = new(int64), true, how == "steer"
				if sent, err = b.Send(t.Context(), next); err != nil {
					t.Fatal(err)
				}
				readers = append(readers, sent)
			}
			close(gate)
			for _, r := range readers {
				if _, err := told(t, r); err != nil {
					t.Fatal(err)
				}
			}
			switch how {
			case "input":
				_, err = b.ask(t, next)
			case "interrupt":
				_, err = b.Interrupt(t.Context(), b.no)
				want = ended
			}
			if log := strings.Join(b.log(t), "|"); err != nil || log != want {
				t.Errorf("%v, the log is %s, want %s", err, log, want)
			}
		})
	}
}

// TestDelivery proves what the client is sent and what is stored: overrides with secrets in clear for the client alone, masked
// in events, outputs of the client too; references of one reply to an output of the client wait for it.
func TestDelivery(t *testing.T) {
	t.Parallel()
	m := replies(calls("ask", "probe"), text("done"))
	b := begin(t, m, dialogs(t, `,"argument_override":{"key":{"$ref":"session.secrets.pin"},"from":{"$ref":"session.metadata.plan"}}`, func(_ *turn.Config, a *agent.Agent) {
		a.Tools["probe"] = json.RawMessage(`{"type":"probe","argument_override":{"said":{"$ref":"tools.ask.outputs.latest.ok"}}}`)
	}))
	if _, err := b.rows.Update(t.Context(), b.no, session.Change{Secrets: map[string]opt.Field[string]{"pin": opt.Some("tell-nobody")}}, b.agent.Created); err != nil {
		t.Fatal(err)
	}
	got, err := b.ask(t, b.input("go"))
	if err != nil || strings.Join(got, "|") != `input_message: go|tool_input: ask{"n":1}|tool_input: probe{"n":1}|pending 1` {
		t.Fatalf("%v, %s", err, got)
	}
	calls := b.pending(t)
	if want := `{"from":"gold","key":"tell-nobody","n":1}`; len(calls) != 1 || string(calls[0].Arguments) != want {
		t.Fatalf("pending %s, want %s", calls[0].Arguments, want)
	}
	if _, err := b.rows.Update(t.Context(), b.no, session.Change{Secrets: map[string]opt.Field[string]{"pin": opt.Some("a-new-one")}}, b.agent.Created); err != nil {
		t.Fatal(err)
	}
	got, err = b.give(t, answer.Given{Call: calls[0].Event, Output: json.RawMessage(`"said tell-nobody"`), Failed: true})
	want := `tool_output: ask{"error":"said ****"}|tool_output: probe{"error":"a tool that this call depends on has failed or was not called: unresolved refs [tools.ask.outputs.latest.ok]"}|agent_output: done`
	if err != nil || strings.Join(got, "|") != want {
		t.Errorf("%v, %s", err, strings.Join(got, "|"))
	}
	found, _, err := b.rows.Events(t.Context(), session.Page{Session: b.no, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		if e.Type == session.ToolOutput && e.Tool == "ask" && string(e.Overrides) != `{"from":"gold","key":"****"}` {
			t.Errorf("overrides %s", e.Overrides)
		}
	}
}

// TestRefusedByItself proves that calls which can't be handed to the client are outputs that the model reads.
func TestRefusedByItself(t *testing.T) {
	t.Parallel()
	b := begin(t, replies(calls("ask"), text("done")), dialogs(t, `,"argument_override":{"key":{"$ref":"session.secrets.none"}}`, nil))
	got, err := b.ask(t, b.input("go"))
	if want := `input_message: go|tool_input: ask{"n":1}|tool_output: ask{"error":"unresolved refs [session.secrets.none]"}|agent_output: done`; err != nil || strings.Join(got, "|") != want {
		t.Errorf("%v, %s", err, got)
	}
}

// TestAnswersAtOnce proves that of answers, inputs and interrupts at once one has each call, and the log is one of those that
// they would leave one after the other.
func TestAnswersAtOnce(t *testing.T) {
	t.Parallel()
	for range 10 {
		b := begin(t, replies(calls("ask", "probe", "ask"), text("done")), dialogs(t, "", nil))
		if _, err := b.ask(t, b.input("go")); err != nil {
			t.Fatal(err)
		}
		calls := b.pending(t)
		var group sync.WaitGroup
		for range 3 {
			for i := range calls {
				group.Go(func() {
					if _, err := b.give(t, yes(calls[i])...); err != nil && !fault.Is(err, fault.KindInvalid) {
						t.Error(err)
					}
				})
			}
		}
		group.Go(func() {
			if _, err := b.ask(t, b.input("more")); err != nil && !fault.Is(err, fault.KindConflict) {
				t.Error(err)
			}
		})
		group.Go(func() {
			if _, err := b.Interrupt(t.Context(), b.no); err != nil {
				t.Error(err)
			}
		})
		group.Wait()
		b.idle(t)
		outputs := 0
		for _, l := range b.log(t) {
			if strings.HasPrefix(l, "tool_output: ask") {
				outputs++
			}
		}
		if outputs != 2 || len(b.pending(t)) != 0 {
			t.Errorf("%d outputs for two calls: %q", outputs, b.log(t))
		}
	}
}

// TestKilledParked proves that a turn with calls of the client which is killed before or after any of its commits, while it is
// parked too, ends with the log of one that was never killed.
func TestKilledParked(t *testing.T) {
	t.Parallel()
	m := func(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		if slices.ContainsFunc(r.Messages, func(m llm.Message) bool { return m.Role == llm.Result }) {
			return says("done")(ctx, r, emit)
		}
		return calls("ask", "probe", "ask").Answer, nil
	}
	finish := func(t *testing.T, b *bench) []string {
		t.Helper()
		for _, c := range b.pending(t) {
			if _, err := b.give(t, yes(c)...); err != nil {
				t.Fatal(err)
			}
		}
		b.idle(t)
		return steady(b.log(t))
	}
	whole := begin(t, model(m), dialogs(t, "", nil))
	if _, err := whole.ask(t, whole.input("go")); err != nil {
		t.Fatal(err)
	}
	want := finish(t, whole)
	for n := 1; n <= 4; n++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d after %v", n, after), func(t *testing.T) {
				t.Parallel()
				killed := &cut{left: n, after: after, dead: make(chan struct{})}
				setting := dialogs(t, "", nil)
				b := begin(t, model(m), func(c *turn.Config, a *agent.Agent) {
					setting(c, a)
					killed.Log = c.Log
					c.Log = killed
				})
				sent, err := b.Send(t.Context(), b.input("go"))
				if err != nil {
					t.Fatal(err)
				}
				if n <= 3 { // the reply, the output of probe, the park
					<-killed.dead
				}
				sent.Close()
				if n == 4 { // the end, behind the answers
					for len(b.pending(t)) == 0 {
						b.idle(t)
					}
					for _, c := range b.pending(t) {
						s, _, err := b.Answer(t.Context(), turn.Outputs{Session: b.no, Given: yes(c)})
						if err != nil {
							t.Fatal(err)
						}
						if s != nil {
							s.Close()
						}
					}
					<-killed.dead
				}
				b.open(t, model(m), setting)
				b.idle(t)
				if diff := cmp.Diff(want, finish(t, b)); diff != "" {
					t.Errorf("log (-unkilled +killed): %s", diff)
				}
			})
		}
	}
}

// TestLatePark proves that whoever reads a parked session without having seen the note is told of the calls at the end: the
// sender of an input that was there before, and readers whose turn's writes seemed to fail.
func TestLatePark(t *testing.T) {
	t.Parallel()
	b := begin(t, replies(calls("ask"), text("done")), dialogs(t, "", func(c *turn.Config, _ *agent.Agent) {
		c.Log = &flaky{Log: c.Log, after: true, failed: map[string]bool{}}
	}))
	in := b.input("go")
	in.Parts[0].ExternalID = "1"
	want := `input_message: go|tool_input: ask{"n":1}|pending 1`
	got, err := b.ask(t, in)
	if err != nil || strings.Join(got, "|") != want {
		t.Errorf("%v, %s", err, got)
	}
	since := int64(0)
	in.Event, in.Since = id.NewEvent(), &since
	if got, err = b.ask(t, in); err != nil || strings.Join(got, "|") != want {
		t.Errorf("%v, %s", err, got)
	}
	follower := b.Follow(b.no, 0)
	defer follower.Close()
	if f, err := follower.Next(t.Context()); err != nil || f.Shape != feed.Stored {
		t.Errorf("%v, %v", err, f)
	}
	if errors.Is(err, io.EOF) {
		t.Error("a follower has an end")
	}
}

// TestParkedBesideSkill proves that a reply which loads a skill beside a call of the client waits for that call by its own event.
func TestParkedBesideSkill(t *testing.T) {
	t.Parallel()
	b := begin(t, replies(reply{Answer: llm.Answer{Reason: llm.Calls, Calls: []llm.ToolCall{
		{ID: "a", Name: skill.Tool, Arguments: json.RawMessage(`{"skill_name":"polite"}`)}, {ID: "b", Name: "ask", Arguments: json.RawMessage(`{"n":1}`)},
	}}}, text("done")), dialogs(t, "", func(_ *turn.Config, a *agent.Agent) {
		a.Skills = map[string]skill.Skill{"polite": {Description: "d", Content: "Be polite."}}
	}))
	if _, err := b.ask(t, b.input("go")); err != nil {
		t.Fatal(err)
	}
	calls := b.pending(t)
	if len(calls) != 1 || calls[0].Event == "" {
		t.Fatalf("pending: %+v", calls)
	}
	got, err := b.give(t, yes(calls...)...)
	if want := answered + "|agent_output: done"; err != nil || strings.Join(got, "|") != want {
		t.Errorf("%v, %s", err, got)
	}
}
