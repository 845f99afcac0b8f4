package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/internal/agent/skill"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/expr/userfn"
	"quarry/internal/fault"
	"quarry/internal/llm"
)

// The bounds of names, in characters.
const (
	maxName     = 50
	maxStepName = 255
)

// checker checks the outcome of a change, apart from its tools, see tool.Compile, and from what only others know, such as whether
// its model exists. Where the change itself is the reason, it is named in place of what it broke.
type checker struct {
	*Definition
	bad   *fault.Fault
	first bool            // the change has the entry step as first_step
	gone  map[string]bool // see Change.removals
}

// removed returns the field of the change that removes a step, a tool or a skill, "" if none does.
func (c *checker) removed(list, name string) string {
	if one := fault.Join(list, name); c.gone[one] {
		return one
	}
	if c.gone[list] {
		return list
	}
	return ""
}

// check adds what is wrong to the fault.
func (c *checker) check() {
	if strings.TrimSpace(c.Name) == "" {
		c.bad.Field("name", "must not be empty")
	}
	checkLength("name", c.Name, maxName, c.bad)
	if c.Model.Name == "" {
		c.bad.Field("model.name", "must not be empty; GET /v2/llms lists the names")
	}
	if !isObject(c.Metadata) {
		c.bad.Field("metadata", "must be an object")
	}
	if c.Budget != nil {
		c.Budget.Check("llm_quota", c.bad)
	}
	switch _, ok := c.Steps[c.Entry]; {
	case !ok && c.gone[fault.Join("steps", c.Entry)]:
		c.bad.Field(fault.Join("steps", c.Entry), "is the step that a session begins with and can't be removed; name another one by first_step_name")
	case !ok:
		c.bad.Field("first_step_name", "unknown step '%s'", c.Entry)
	}
	skill.Check(c.Skills, c.bad)
	if _, taken := c.Tools[skill.Tool]; taken {
		c.bad.Field(fault.Join(tool.Field, skill.Tool), "is the name of the tool that loads skills; choose another one")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Steps)) {
		c.step(name, c.Steps[name])
	}
}

// step checks a step.
func (c *checker) step(name string, s Step) {
	at := "steps." + name
	if c.first && name == c.Entry {
		at = "first_step"
	}
	if strings.TrimSpace(name) == "" {
		c.bad.Field(at, "must have a name")
	}
	checkLength(at, name, maxStepName, c.bad)
	for i, in := range s.Instructions {
		in.check(fmt.Sprintf("%s.instructions[%d]", at, i), c.bad)
	}
	s.Output.check(at+".output_parser.json_schema", c.bad)
	for i, t := range s.Next {
		next := fmt.Sprintf("%s.next_steps[%d]", at, i)
		c.leadsTo(next+".step_name", name, t.Step)
		if t.Condition == "" {
			continue
		}
		if _, err := userfn.ParseCondition(t.Condition); err != nil {
			c.bad.Field(next+".condition", "%s", err)
		}
	}
	if s.Reentry != "" {
		c.leadsTo(at+".reentry_step", name, s.Reentry)
	}
	for i := range s.Reminders {
		s.Reminders[i].Check(fmt.Sprintf("%s.reminders[%d]", at, i), c.bad)
	}
	allows(c, allowing{at, name, "allowed_tools", tool.Field, "tool"}, s.AllowedTools, c.Tools)
	allows(c, allowing{at, name, "allowed_skills", skill.Field, "skill"}, s.AllowedSkills, c.Skills)
}

// allowing is a member of a step that allows what a list of the agent has.
type allowing struct{ at, step, member, list, noun string }

// allows checks that there is what a step allows.
func allows[T any](c *checker, by allowing, names *[]string, there map[string]T) {
	if names == nil {
		return
	}
	for i, name := range *names {
		if _, ok := there[name]; ok {
			continue
		}
		if at := c.removed(by.list, name); at != "" {
			c.bad.Field(at, "can't be removed: the step '%s' allows it; change its %s, too", by.step, by.member)
			continue
		}
		c.bad.Field(fmt.Sprintf("%s.%s[%d]", by.at, by.member, i), "unknown %s '%s'", by.noun, name)
	}
}

// leadsTo checks that there is the step to which another one leads.
func (c *checker) leadsTo(at, from, to string) {
	if _, ok := c.Steps[to]; ok {
		return
	}
	if removed := c.removed("steps", to); removed != "" {
		c.bad.Field(removed, "can't be removed: the step '%s' leads to it; change that step, too", from)
		return
	}
	c.bad.Field(at, "unknown step '%s'", to)
}

// check checks an instruction.
func (in *Instruction) check(at string, bad *fault.Fault) {
	if in.Ref == nil { // what references name was checked when it was written
		in.Text().Check(at, bad)
	}
}

// check checks that there is such a schema, and holds a strict one to its rules. The contract names the schema as the field,
// whatever place in it is wrong.
func (o *Output) check(at string, bad *fault.Fault) {
	if o.Schema == nil {
		return
	}
	if _, err := schema.New(o.Schema.Schema); err != nil {
		bad.Field(at+".schema", "%s", err)
		return
	}
	if !o.Schema.Strict {
		return
	}
	if f, ok := fault.As(llm.CheckStrict(o.Schema.Schema, "pattern")); ok {
		reasons := make([]string, 0, len(f.Fields))
		for _, path := range f.Paths() {
			reasons = append(reasons, strings.TrimSpace(path+" "+f.Fields[path]))
		}
		bad.Field(at+".schema", "%s; or leave strict out", strings.Join(reasons, "; "))
	}
}

func checkLength(at, text string, most int, bad *fault.Fault) {
	if n := utf8.RuneCountInString(text); n > most {
		bad.Field(at, "must be at most %d characters long, it has %d", most, n)
	}
}

// isObject reports whether JSON is an object.
func isObject(raw json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }
