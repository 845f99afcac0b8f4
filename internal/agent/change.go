package agent

import (
	"encoding/json"
	"maps"
	"reflect"

	"quarry/internal/agent/reminder"
	"quarry/internal/agent/skill"
	"quarry/internal/agent/tool"
	"quarry/internal/fault"
	"quarry/internal/opt"
	"quarry/internal/usage"
)

// Change is what a client writes to an agent. In a change of an agent that exists, what is absent stays and null clears; for
// a new one, and one that is replaced, both mean the default.
type Change struct {
	Name        opt.Field[string]
	Description opt.Field[string]
	Model       opt.Field[Model]
	Tools       opt.Field[map[string]json.RawMessage] // by name; a given one replaces, nil removes
	Skills      opt.Field[map[string]*skill.Skill]    // likewise
	Steps       opt.Field[map[string]*StepChange]     // by name; nil removes; null removes all but the entry step
	First       *StepChange                           // of the entry step, in the contract's older form
	FirstName   opt.Field[string]                     // of the entry step
	Metadata    opt.Field[json.RawMessage]
	Enabled     opt.Field[bool]
	Compaction  opt.Field[Compaction]
	Budget      opt.Field[usage.Budget] // replaced as a whole
	Offloading  opt.Field[json.RawMessage]
	Guardrails  opt.Field[json.RawMessage]
	Memory      opt.Field[json.RawMessage]
	Enrichment  opt.Field[json.RawMessage]
}

// StepChange is a change of a step, or a new one.
type StepChange struct {
	Name          opt.Field[string] // of Change.First alone
	Instructions  opt.Field[[]Instruction]
	Output        opt.Field[Output]
	Next          opt.Field[[]Transition]
	AllowedTools  opt.Field[[]string]
	AllowedSkills opt.Field[[]string]
	Reminders     opt.Field[[]reminder.Reminder]
	Reentry       opt.Field[string]
}

// noMetadata is the metadata of what has none.
const noMetadata = `{}`

// define returns what c describes on its own, as for a new agent.
func (c *Change) define(bad *fault.Fault) Definition {
	d := Definition{Enabled: true, Metadata: json.RawMessage(noMetadata), Compaction: DefaultCompaction}
	c.settings(&d)
	d.Steps = map[string]Step{}
	for name, s := range c.Steps.Or(nil) {
		if s != nil {
			d.Steps[name] = s.apply(Step{})
		}
	}
	name, named := c.FirstName.Get()
	switch {
	case c.First != nil:
		d.Entry = c.First.Name.Or(FirstStep)
		c.first(&d, named, name, bad)
	case named:
		d.Entry = name
	case len(d.Steps) > 0:
		bad.Field("first_step_name", "is required with steps: the name of the step that a session begins with")
	default:
		d.Entry, d.Steps[FirstStep] = FirstStep, Step{}
	}
	return d
}

// first adds the step that was sent as first_step to those that a new agent has.
func (c *Change) first(d *Definition, named bool, name string, bad *fault.Fault) {
	step := c.First.apply(Step{})
	other, both := d.Steps[d.Entry]
	switch {
	case named && name != d.Entry:
		bad.Field("first_step_name", "must be the name of first_step, '%s', where both are given", d.Entry)
	case both && !named:
		bad.Field("first_step.name", "is the name of one of steps, too: '%s'; leave first_step out and send first_step_name", d.Entry)
	case both && !same(step, other):
		bad.Field("first_step", "differs from the step '%s' in steps; leave one of them out", d.Entry)
	}
	d.Steps[d.Entry] = step
}

// apply returns d with the change.
func (c *Change) apply(d Definition, bad *fault.Fault) Definition {
	d.Tools, d.Skills, d.Steps = maps.Clone(d.Tools), maps.Clone(d.Skills), maps.Clone(d.Steps)
	c.settings(&d)
	if c.Steps.IsNull() {
		d.Steps = map[string]Step{d.Entry: d.Steps[d.Entry]}
	}
	for name, s := range c.Steps.Or(nil) {
		if s == nil {
			delete(d.Steps, name)
			continue
		}
		d.Steps[name] = s.apply(d.Steps[name])
	}
	name, named := c.FirstName.Get()
	switch {
	case c.First != nil && named && c.First.Name.Or("") != name:
		bad.Field("first_step_name", "must be first_step.name where both are given")
	case c.First != nil:
		c.change(&d, named, bad)
	case named:
		d.Entry = name
	}
	return d
}

// change changes the entry step by what was sent as first_step. A name that another step has makes that one the entry step if
// first_step_name says so, too, and one that no step has is its new name.
func (c *Change) change(d *Definition, named bool, bad *fault.Fault) {
	name := c.First.Name.Or(d.Entry)
	if name != d.Entry {
		_, taken := d.Steps[name]
		switch {
		case !taken:
			d.rename(d.Entry, name)
		case !named:
			bad.Field("first_step.name", "is the name of another step; to begin with that one, send first_step_name")
			return
		}
		d.Entry = name
	}
	d.Steps[name] = c.First.apply(d.Steps[name])
}

// rename changes the name of a step, also where others lead to it.
func (d *Definition) rename(from, to string) {
	d.Steps[to] = d.Steps[from]
	delete(d.Steps, from)
	for name, s := range d.Steps {
		if s.Reentry == from {
			s.Reentry = to
		}
		next := make([]Transition, len(s.Next))
		for i, t := range s.Next {
			if next[i] = t; t.Step == from {
				next[i].Step = to
			}
		}
		if len(next) > 0 {
			s.Next = next
		}
		d.Steps[name] = s
	}
}

// removals returns the members of c that remove something of was: steps.NAME, tool_configurations.NAME and skills.NAME, or these
// members themselves for all.
func (c *Change) removals(was *Definition) map[string]bool {
	out := map[string]bool{
		"steps": c.Steps.IsNull() && len(was.Steps) > 0, tool.Field: c.Tools.IsNull() && len(was.Tools) > 0,
		skill.Field: c.Skills.IsNull() && len(was.Skills) > 0,
	}
	for name, s := range c.Steps.Or(nil) {
		_, there := was.Steps[name]
		out[fault.Join("steps", name)] = s == nil && there
	}
	for name, t := range c.Tools.Or(nil) {
		_, there := was.Tools[name]
		out[fault.Join(tool.Field, name)] = t == nil && there
	}
	for name, s := range c.Skills.Or(nil) {
		_, there := was.Skills[name]
		out[fault.Join(skill.Field, name)] = s == nil && there
	}
	return out
}

// settings sets what is not about steps.
func (c *Change) settings(d *Definition) {
	d.Name = set(c.Name, d.Name, d.Name)
	d.Description = set(c.Description, d.Description, "")
	d.Model = set(c.Model, d.Model, d.Model)
	d.Metadata = set(c.Metadata, d.Metadata, json.RawMessage(noMetadata))
	d.Enabled = set(c.Enabled, d.Enabled, true)
	d.Compaction = set(c.Compaction, d.Compaction, DefaultCompaction)
	if b, ok := c.Budget.Get(); ok {
		d.Budget = &b
	} else if c.Budget.IsNull() {
		d.Budget = nil
	}
	d.Offloading = set(c.Offloading, d.Offloading, nil)
	d.Guardrails = set(c.Guardrails, d.Guardrails, nil)
	d.Memory = set(c.Memory, d.Memory, nil)
	d.Enrichment = set(c.Enrichment, d.Enrichment, nil)
	tools := map[string]*json.RawMessage{}
	for name, t := range c.Tools.Or(nil) {
		if tools[name] = nil; t != nil {
			tools[name] = &t
		}
	}
	d.Tools = merged(d.Tools, c.Tools.IsNull(), tools)
	d.Skills = merged(d.Skills, c.Skills.IsNull(), c.Skills.Or(nil))
}

// merged returns a map with what is given put into it and what is nil taken out; nil for an empty one.
func merged[T any](was map[string]T, cleared bool, given map[string]*T) map[string]T {
	if was == nil || cleared {
		was = map[string]T{}
	}
	for name, v := range given {
		if v == nil {
			delete(was, name)
			continue
		}
		was[name] = *v
	}
	if len(was) == 0 {
		return nil
	}
	return was
}

// apply returns s with the change.
func (c *StepChange) apply(s Step) Step {
	s.Instructions = list(set(c.Instructions, s.Instructions, nil))
	s.Output = set(c.Output, s.Output, Output{})
	s.Next = list(set(c.Next, s.Next, nil))
	s.Reentry = set(c.Reentry, s.Reentry, "")
	s.AllowedTools, s.AllowedSkills = allowed(c.AllowedTools, s.AllowedTools), allowed(c.AllowedSkills, s.AllowedSkills)
	s.Reminders = list(set(c.Reminders, s.Reminders, nil))
	return s
}

// allowed returns the names that a field allows, was if it is absent and nil, for all, if it is null.
func allowed(f opt.Field[[]string], was *[]string) *[]string {
	names, ok := f.Get()
	switch {
	case ok:
		return &names
	case f.IsNull():
		return nil
	}
	return was
}

// set returns the value of a field, was if it is absent and null if it is null.
func set[T any](f opt.Field[T], was, null T) T {
	switch {
	case f.IsAbsent():
		return was
	case f.IsNull():
		return null
	}
	return f.Or(null)
}

// list returns nil for an empty list.
func list[T any](all []T) []T {
	if len(all) == 0 {
		return nil
	}
	return all
}

// same reports whether two steps are the same, however the JSON in them is written.
func same(a, b Step) bool {
	plain := func(s Step) (v any) {
		raw, err := json.Marshal(s)
		if err != nil || json.Unmarshal(raw, &v) != nil {
			return s
		}
		return v
	}
	return reflect.DeepEqual(plain(a), plain(b))
}
