package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"quarry/internal/agent/instruction"
	"quarry/internal/fault"
	"quarry/internal/id"
)

// Instructions finds what references to instructions name; instruction.Service is one.
type Instructions interface {
	Refer(ctx context.Context, refs []instruction.Reference) (instruction.Found, error)
}

// Text returns an instruction that is written inline.
func (in *Instruction) Text() *instruction.Text {
	return &instruction.Text{
		Name: in.Name, Description: in.Description, Template: in.Template, Plain: in.Plain, Metadata: in.Metadata, Enabled: in.Enabled,
	}
}

// References returns the references of all steps, each once.
func (d *Definition) References() []instruction.Reference {
	seen := map[instruction.Reference]bool{}
	var out []instruction.Reference
	for _, name := range slices.Sorted(maps.Keys(d.Steps)) {
		for _, in := range d.Steps[name].Instructions {
			if in.Ref != nil && !seen[*in.Ref] {
				seen[*in.Ref] = true
				out = append(out, *in.Ref)
			}
		}
	}
	return out
}

// reference is a reference in a change, and its place there.
type reference struct {
	*instruction.Reference
	at string
}

// references returns the references in a change.
func (c *Change) references() (out []reference) {
	add := func(at string, s *StepChange) {
		if s == nil {
			return
		}
		for i, in := range s.Instructions.Or(nil) {
			if in.Ref != nil {
				out = append(out, reference{in.Ref, fmt.Sprintf("%s.instructions[%d]", at, i)})
			}
		}
	}
	add("first_step", c.First)
	steps := c.Steps.Or(nil)
	for _, name := range slices.Sorted(maps.Keys(steps)) {
		add("steps."+name, steps[name])
	}
	return out
}

// refer puts ids into the references of a change that have a name, and adds to bad what is wrong with any: what is not there, and
// instructions that are disabled and not in was. Glossaries that reminders name are looked for, too.
func (s *Service) refer(ctx context.Context, c *Change, was *Definition, bad *fault.Fault) error {
	if err := s.vocabulary(ctx, c, bad); err != nil {
		return err
	}
	refs := c.references()
	if len(refs) == 0 {
		return nil
	}
	asked := make([]instruction.Reference, len(refs))
	for i, r := range refs {
		asked[i] = *r.Reference
	}
	found, err := s.instructions.Refer(ctx, asked)
	if err != nil {
		return err
	}
	has := map[id.Instruction]bool{}
	for _, r := range was.References() {
		has[r.ID] = true
	}
	for _, r := range refs {
		sent := r.at + ".id" // the member that names the instruction
		if r.ID == "" {
			sent = r.at + ".name"
			if !r.named(found.Named(r.Name), bad) {
				continue
			}
		}
		latest, there := found.Of(instruction.Reference{ID: r.ID})
		switch _, version := found.Of(*r.Reference); {
		case !there:
			bad.Field(sent, "there is no instruction %s; GET /v2/instructions lists those that there are", r.ID)
		case !version:
			bad.Field(r.at+".version", "the instruction %s has no version %d; its latest is %d", r.ID, r.Version, latest.Version)
		case !latest.Enabled && !has[r.ID]:
			bad.Field(sent, "the instruction %s is disabled and can't be attached; enable it first", r.ID)
		}
	}
	return nil
}

// gone returns err or, where it says that a version of an instruction is gone which was there when refer looked, what refer finds now.
func (s *Service) gone(ctx context.Context, c *Change, was *Definition, err error) error {
	if !errors.Is(err, instruction.ErrGone) {
		return err
	}
	bad := fault.Invalid()
	if err := s.refer(ctx, c, was, bad); err != nil {
		return err
	}
	return cmp.Or(bad.Err(), err)
}

// named sets the id of a reference by name, and reports whether one instruction alone has the name.
func (r reference) named(ids []id.Instruction, bad *fault.Fault) bool {
	switch len(ids) {
	case 0:
		bad.Field(r.at+".name", "there is no instruction of the name %q; GET /v2/instructions lists those that there are", r.Name)
		return false
	case 1:
		r.ID, r.Name = ids[0], ""
		return true
	}
	bad.Field(r.at+".name", "%d instructions have the name %q: %v; send the id of one of them", len(ids), r.Name, ids)
	return false
}
