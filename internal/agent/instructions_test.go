package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"quarry/internal/agent"
	"quarry/internal/agent/instruction"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
)

// told is an agent whose first step has references.
func told(refs ...instruction.Reference) agent.Change {
	c := named("n")
	c.First = &agent.StepChange{Instructions: opt.Some(list(refs...))}
	return c
}

func list(refs ...instruction.Reference) []agent.Instruction {
	out := make([]agent.Instruction, len(refs))
	for i, r := range refs {
		out[i].Ref = &r
	}
	return out
}

// instruct keeps an instruction of a name, in n versions.
func instruct(t *testing.T, s *instruction.Service, name string, n int) instruction.Instruction {
	t.Helper()
	in, err := s.Create(t.Context(), instruction.Change{Name: opt.Some(name), Template: opt.Some("Be brief.")})
	for ; err == nil && in.Version < int64(n); in, err = s.Update(t.Context(), in, instruction.Change{}) {
	}
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// wrong returns the fields that a refusal names, each with its reason.
func wrong(err error) (out []string) {
	f, _ := fault.As(err)
	if f != nil {
		for _, path := range f.Paths() {
			out = append(out, path+" "+f.Fields[path])
		}
	}
	return out
}

// TestRefer proves what references of an agent are refused for, by the field and in its words, and that names are kept as ids.
func TestRefer(t *testing.T) {
	t.Parallel()
	s, _, texts := openWith(t, nil)
	in, one, twin := instruct(t, texts, "tone", 2), instruct(t, texts, "twin", 1), instruct(t, texts, "twin", 1)
	off := instruct(t, texts, "off", 1)
	if _, err := texts.Update(t.Context(), off, instruction.Change{Enabled: opt.Some(false)}); err != nil {
		t.Fatal(err)
	}
	twins := []string{string(one.ID), string(twin.ID)}
	for what, c := range map[string]struct {
		ref  instruction.Reference
		want []string // in the reason, behind the field; none: it is taken
	}{
		"the latest":           {instruction.Reference{ID: in.ID}, nil},
		"a version":            {instruction.Reference{ID: in.ID, Version: 1}, nil},
		"a name":               {instruction.Reference{Name: "tone"}, nil},
		"a version of a name":  {instruction.Reference{Name: "tone", Version: 2}, nil},
		"unknown":              {instruction.Reference{ID: "ins_none"}, []string{".id there is no instruction ins_none"}},
		"an unknown name":      {instruction.Reference{Name: "Tone"}, []string{`.name there is no instruction of the name "Tone"`}},
		"two of a name":        {instruction.Reference{Name: "twin"}, append(twins, `.name 2 instructions have the name "twin"`)},
		"no such version":      {instruction.Reference{ID: in.ID, Version: 3}, []string{".version the instruction " + string(in.ID) + " has no version 3; its latest is 2"}},
		"nor of a name":        {instruction.Reference{Name: "tone", Version: 3}, []string{".version "}},
		"disabled":             {instruction.Reference{ID: off.ID}, []string{".id the instruction " + string(off.ID) + " is disabled"}},
		"disabled since":       {instruction.Reference{ID: off.ID, Version: 1}, []string{".id "}},
		"disabled, and a name": {instruction.Reference{Name: "off"}, []string{".name the instruction " + string(off.ID) + " is disabled"}},
	} {
		made, err := s.Create(t.Context(), anyone, "", told(instruction.Reference{ID: in.ID}, c.ref))
		if c.want == nil {
			if err != nil || *made.Steps[agent.FirstStep].Instructions[1].Ref != (instruction.Reference{ID: in.ID, Version: c.ref.Version}) {
				t.Errorf("%s: %v, %+v", what, err, made.Steps)
			}
			continue
		}
		got := wrong(err)
		for _, part := range c.want {
			if len(got) != 1 || !strings.HasPrefix(got[0], "first_step.instructions[1].") || !strings.Contains(got[0], part) {
				t.Errorf("%s: %q, want %q", what, got, part)
			}
		}
	}
	both := agent.Change{Steps: opt.Some(map[string]*agent.StepChange{
		"b": {Instructions: opt.Some(list(instruction.Reference{ID: "ins_b"}))}, "c": {Instructions: opt.Some(list(instruction.Reference{Name: "c"}))},
	})}
	_, err := s.Update(t.Context(), anyone, create(t, s, "a", named("n")), both)
	if got := wrong(err); len(got) != 2 || !strings.HasPrefix(got[0], "steps.b.instructions[0].id") || !strings.HasPrefix(got[1], "steps.c.instructions[0].name") {
		t.Errorf("two steps: %q", got)
	}
}

// TestDisabledInstruction proves that an instruction which was disabled stays where it is attached, whatever else is changed and also
// where the step is sent again, and can't be attached anew.
func TestDisabledInstruction(t *testing.T) {
	t.Parallel()
	s, _, texts := openWith(t, nil)
	in := instruct(t, texts, "tone", 1)
	has, other := create(t, s, "has", told(instruction.Reference{ID: in.ID})), create(t, s, "other", named("n"))
	if _, err := texts.Update(t.Context(), in, instruction.Change{Enabled: opt.Some(false)}); err != nil {
		t.Fatal(err)
	}
	again := agent.Change{Steps: opt.Some(map[string]*agent.StepChange{"second": {Instructions: opt.Some(list(instruction.Reference{ID: in.ID, Version: 2}))}})}
	for what, write := range map[string]func(agent.Agent) error{
		"changed": func(a agent.Agent) error { _, err := s.Update(t.Context(), anyone, a, again); return err },
		"replaced": func(a agent.Agent) error {
			_, err := s.Replace(t.Context(), anyone, a, told(instruction.Reference{Name: "tone"}))
			return err
		},
	} {
		if err := write(has); err != nil {
			t.Errorf("%s where it is attached: %v", what, err)
		}
		if got := wrong(write(other)); len(got) != 1 || !strings.Contains(got[0], "is disabled") {
			t.Errorf("%s where it is not: %q", what, got)
		}
	}
	if _, err := s.Update(t.Context(), anyone, has, agent.Change{Description: opt.Some("d")}); err != nil {
		t.Error(err)
	}
}

// vanishing is instructions of which a version is deleted behind the first look at them.
type vanishing struct {
	*instruction.Service
	gone func()
}

func (v *vanishing) Refer(ctx context.Context, refs []instruction.Reference) (instruction.Found, error) {
	found, err := v.Service.Refer(ctx, refs)
	if v.gone != nil {
		v.gone()
		v.gone = nil
	}
	return found, err
}

// TestVersionDeletedMeanwhile proves that an agent which is to name a version that is deleted between the check and the write is
// refused by the field, however it is written, and that nothing of it is stored.
func TestVersionDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	for what, write := range map[string]func(*agent.Service, agent.Agent, agent.Change) error{
		"create": func(s *agent.Service, _ agent.Agent, c agent.Change) error {
			_, err := s.Create(t.Context(), anyone, "new", c)
			return err
		},
		"unnamed": func(s *agent.Service, _ agent.Agent, c agent.Change) error {
			_, err := s.Create(t.Context(), anyone, "", c)
			return err
		},
		"change": func(s *agent.Service, a agent.Agent, c agent.Change) error {
			_, err := s.Update(t.Context(), anyone, a, c)
			return err
		},
		"replace": func(s *agent.Service, a agent.Agent, c agent.Change) error {
			_, err := s.Replace(t.Context(), anyone, a, c)
			return err
		},
	} {
		var v vanishing
		s, rows, texts := openWith(t, &v)
		in := instruct(t, texts, "tone", 2)
		a := create(t, s, "a", named("n"))
		v.gone = func() {
			if err := texts.DeleteVersion(t.Context(), in, 1); err != nil {
				t.Error(err)
			}
		}
		err := write(s, a, told(instruction.Reference{Name: "tone", Version: 1}))
		if got := wrong(err); !fault.Is(err, fault.KindInvalid) || len(got) != 1 ||
			got[0] != "first_step.instructions[0].version the instruction "+string(in.ID)+" has no version 1; its latest is 2" {
			t.Errorf("%s: %v", what, err)
		}
		all, _, err := rows.List(t.Context(), agent.List{All: true, Limit: 5})
		if err != nil || len(all) != 1 || all[0].Revision != 1 {
			t.Errorf("%s: stored %+v (%v)", what, all, err)
		}
	}
}

// TestReferences proves that the references of an agent are those of all steps, each once.
func TestReferences(t *testing.T) {
	t.Parallel()
	a, b := instruction.Reference{ID: "a"}, instruction.Reference{ID: "a", Version: 2}
	d := agent.Definition{Steps: map[string]agent.Step{
		"x": {Instructions: append(list(a, b), agent.Instruction{Template: "inline"})}, "y": {Instructions: list(b, a, instruction.Reference{ID: id.Instruction("c")})},
	}}
	if got := d.References(); !slices.Equal(got, []instruction.Reference{a, b, {ID: "c"}}) {
		t.Errorf("%+v", got)
	}
}
