package turn_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent"
	"quarry/internal/agent/instruction"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/turn"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/opt"
)

// ear remembers the system prompts that a model is called with.
type ear struct {
	mu    sync.Mutex
	heard []string
}

// of returns a model that is heard.
func (e *ear) of(m model) model {
	return func(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		e.mu.Lock()
		told := "nothing"
		if first := r.Messages[0]; first.Role == llm.System {
			told = first.Plain()
		}
		e.heard = append(e.heard, told)
		e.mu.Unlock()
		return m(ctx, r, emit)
	}
}

// all returns what was heard since the last call.
func (e *ear) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := e.heard
	e.heard = nil
	return out
}

// keep keeps an instruction with a version for each text.
func (b *bench) keep(t *testing.T, texts ...string) instruction.Instruction {
	t.Helper()
	in, err := b.texts.Create(t.Context(), instruction.Change{Name: opt.Some("n"), Template: opt.Some(texts[0])})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts[1:] {
		b.amend(t, in, instruction.Change{Template: opt.Some(text)})
	}
	return in
}

func (b *bench) amend(t *testing.T, in instruction.Instruction, c instruction.Change) {
	t.Helper()
	if _, err := b.texts.Update(t.Context(), in, c); err != nil {
		t.Fatal(err)
	}
}

// referring is a step with references.
func referring(refs ...instruction.Reference) agent.Step {
	var s agent.Step
	for _, r := range refs {
		s.Instructions = append(s.Instructions, agent.Instruction{Ref: &r})
	}
	return s
}

// TestReferences proves what a model is told by references: the version that a step names, or the latest at each turn, also where it
// was disabled or an earlier one became it; and that an input is refused, and not stored, where a text is gone or can't be rendered.
func TestReferences(t *testing.T) {
	t.Parallel()
	var e ear
	b := begin(t, e.of(says("Yes.")), nil)
	tone, plan := b.keep(t, "One.", "Two."), b.keep(t, "Plan: $session.metadata.plan")
	b.agent.Steps["first_step"] = referring(instruction.Reference{ID: tone.ID, Version: 1}, instruction.Reference{ID: tone.ID}, instruction.Reference{ID: plan.ID})
	b.agent.Steps["never"] = referring(instruction.Reference{ID: "ins_none"})
	answered := 0
	for _, c := range []struct {
		what string
		do   func() error
		want string // what the model is told, or why the input is refused
		bad  bool
	}{
		{"at first", func() error { return nil }, "One.\n\nTwo.\n\nPlan: gold", false},
		{"a new version", func() error { b.amend(t, tone, instruction.Change{Template: opt.Some("Three.")}); return nil }, "One.\n\nThree.\n\nPlan: gold", false},
		{"disabled", func() error { b.amend(t, tone, instruction.Change{Enabled: opt.Some(false)}); return nil }, "One.\n\nThree.\n\nPlan: gold", false},
		{"an earlier one", func() error {
			return fault.Invalid().Gather(b.texts.DeleteVersion(t.Context(), tone, 4)).Gather(b.texts.DeleteVersion(t.Context(), tone, 3)).Err()
		}, "One.\n\nTwo.\n\nPlan: gold", false},
		{"no more text", func() error {
			b.amend(t, plan, instruction.Change{Template: opt.Some("#foreach ($i in [1..1000000])#foreach ($j in [1..1000000])x#end#end")})
			return nil
		}, `the instruction "n" of step "first_step" can't be rendered: `, true},
		{"text again", func() error { b.amend(t, plan, instruction.Change{Template: opt.Some("")}); return nil }, "One.\n\nTwo.\n\n", false},
		{"deleted", func() error { return b.texts.Delete(t.Context(), plan) }, "refers to the instruction " + string(plan.ID) + ", which was deleted; change the step", true},
		{"both deleted", func() error { return b.texts.Delete(t.Context(), tone) }, "refers to version 1 of the instruction " + string(tone.ID) + ", which was deleted", true},
		{"taken out", func() error { b.agent.Steps["first_step"] = agent.Step{}; return nil }, "nothing", false},
	} {
		if err := c.do(); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		_, err := b.ask(t, b.input(c.what))
		heard := strings.Join(e.all(), "|")
		switch {
		case c.bad && (!fault.Is(err, fault.KindUnprocessable) || !strings.Contains(err.Error(), c.want) || heard != ""):
			t.Errorf("%s: %v, heard %q", c.what, err, heard)
		case !c.bad && (err != nil || heard != c.want):
			t.Errorf("%s: %v, heard %q, want %q", c.what, err, heard, c.want)
		}
		if !c.bad {
			answered++
		}
		if log := b.log(t); len(log) != 2*answered {
			t.Errorf("%s: the log is %q", c.what, log)
		}
	}
}

// TestReferencesOfATurn proves that a turn has one state of what its steps refer to, whatever is changed while it runs.
func TestReferencesOfATurn(t *testing.T) {
	t.Parallel()
	var e ear
	var b *bench
	var tone instruction.Instruction
	b = begin(t, e.of(func(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
		if r.Messages[0].Plain() == "Old." {
			b.amend(t, tone, instruction.Change{Template: opt.Some("New.")})
		}
		return says("Yes.")(ctx, r, emit)
	}), nil)
	tone = b.keep(t, "Old.")
	first := referring(instruction.Reference{ID: tone.ID})
	first.Next, first.Reentry = []agent.Transition{{Step: "second"}}, "first_step"
	b.agent.Steps = map[string]agent.Step{"first_step": first, "second": referring(instruction.Reference{ID: tone.ID})}
	if _, err := b.ask(t, b.input("go")); err != nil {
		t.Fatal(err)
	}
	if got := e.all(); !slices.Equal(got, []string{"Old.", "Old."}) {
		t.Errorf("heard %q", got)
	}
}

// TestKilledWithReferences proves that a turn of an agent that refers to instructions ends with the same log behind whichever commit
// it is killed, that the process that takes it over tells the model the same, and that one whose instruction was deleted meanwhile
// fails, keeps what was stored, and lets the session go on once the agent is mended.
func TestKilledWithReferences(t *testing.T) {
	t.Parallel()
	probe := probes(tool.Reads, echo)
	refer := func(t *testing.T, b *bench) instruction.Instruction {
		pinned, latest := b.keep(t, "One.", "Two."), b.keep(t, "Three.")
		b.agent.Steps["first_step"] = referring(instruction.Reference{ID: pinned.ID, Version: 1}, instruction.Reference{ID: latest.ID})
		return pinned
	}
	whole := begin(t, rounds(2), probe)
	refer(t, whole)
	if _, err := whole.ask(t, whole.input("go")); err != nil {
		t.Fatal(err)
	}
	want := steady(whole.log(t))
	for n := 1; n <= 6; n++ { // three replies and three outputs
		for _, deleted := range []bool{false, true} {
			if deleted && n == 6 { // the turn has ended
				continue
			}
			t.Run(fmt.Sprintf("%d, deleted %v", n, deleted), func(t *testing.T) {
				t.Parallel()
				var e ear
				m := e.of(rounds(2))
				killed := &cut{left: n, after: true, dead: make(chan struct{})}
				b := begin(t, m, func(c *turn.Config, a *agent.Agent) {
					probe(c, a)
					killed.Log, c.Log = c.Log, killed
				})
				pinned := refer(t, b)
				s, err := b.Send(t.Context(), b.input("go"))
				if err != nil {
					t.Fatal(err)
				}
				<-killed.dead
				s.Close()
				b.stop()
				before, heard := b.log(t), e.all()
				if deleted {
					if err := b.texts.Delete(t.Context(), pinned); err != nil {
						t.Fatal(err)
					}
				}
				b.open(t, m, probe)
				b.idle(t)
				log, after := b.log(t), e.all()
				for _, told := range append(heard, after...) {
					if told != "One.\n\nThree." {
						t.Errorf("the model was told %q", told)
					}
				}
				if !deleted {
					if diff := cmp.Diff(want, steady(log)); diff != "" {
						t.Errorf("log (-unkilled +killed): %s", diff)
					}
					return
				}
				if len(after) > 0 || !slices.Equal(log[:len(before)], before) {
					t.Errorf("killed with %q, left %q", before, log)
				}
				b.agent.Steps["first_step"] = agent.Step{}
				if got, err := b.ask(t, b.input("again")); err != nil || got[len(got)-1] != "agent_output: round 2 of 2" {
					t.Errorf("after the agent was mended: %q, %v", got, err)
				}
			})
		}
	}
}
