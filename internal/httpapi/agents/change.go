package agents

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"quarry/internal/agent"
	"quarry/internal/agent/instruction"
	"quarry/internal/agent/reminder"
	"quarry/internal/agent/skill"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/usage"
)

// changeBody is CreateAgentRequest and UpdateAgentRequest.
type changeBody struct {
	Key         string                                `json:"key"`
	Name        opt.Field[string]                     `json:"name"`
	Description opt.Field[string]                     `json:"description"`
	Tools       opt.Field[map[string]json.RawMessage] `json:"tool_configurations"`
	Skills      opt.Field[map[string]*skillBody]      `json:"skills"`
	Model       opt.Field[modelBody]                  `json:"model"`
	First       *stepChangeBody                       `json:"first_step"`
	FirstName   opt.Field[string]                     `json:"first_step_name"`
	Steps       opt.Field[map[string]*stepChangeBody] `json:"steps"`
	Metadata    opt.Field[json.RawMessage]            `json:"metadata"`
	Enabled     opt.Field[bool]                       `json:"enabled"`
	Compaction  opt.Field[compactionBody]             `json:"compaction"`
	Offloading  opt.Field[json.RawMessage]            `json:"tool_output_offloading"`
	Guardrails  opt.Field[json.RawMessage]            `json:"guardrails"`
	Memory      opt.Field[json.RawMessage]            `json:"memory"`
	Enrichment  opt.Field[json.RawMessage]            `json:"enrichment"`
	Quota       opt.Field[quotaBody]                  `json:"llm_quota"`
}

// stepChangeBody is the steps of requests.
type stepChangeBody struct {
	Name          opt.Field[string]            `json:"name"`
	Instructions  opt.Field[[]instructionBody] `json:"instructions"`
	Output        opt.Field[parserBody]        `json:"output_parser"`
	Reminders     opt.Field[[]reminderBody]    `json:"reminders"`
	Next          opt.Field[[]transitionBody]  `json:"next_steps"`
	AllowedTools  opt.Field[[]string]          `json:"allowed_tools"`
	AllowedSkills opt.Field[[]string]          `json:"allowed_skills"`
	Reentry       opt.Field[string]            `json:"reentry_step"`
}

// parse decodes a checked body.
func parse(raw json.RawMessage) (key string, c agent.Change, err error) {
	var b changeBody
	if err := httpapi.Decode(raw, &b); err != nil {
		return "", c, err
	}
	bad := fault.Invalid()
	c = b.change(bad)
	return b.Key, c, bad.Err()
}

// change maps a body to the command. What the command cannot say is added to bad.
func (b *changeBody) change(bad *fault.Fault) agent.Change {
	c := agent.Change{
		Name: b.Name, Description: b.Description, Model: converted(b.Model, (*modelBody).model), FirstName: b.FirstName,
		Metadata: b.Metadata, Enabled: b.Enabled, Compaction: converted(b.Compaction, (*compactionBody).compaction), Offloading: b.Offloading,
		Budget:     converted(b.Quota, func(q *quotaBody) usage.Budget { return q.budget("body.llm_quota", bad) }),
		Guardrails: b.Guardrails, Memory: b.Memory, Enrichment: b.Enrichment, Tools: b.Tools,
		Skills: converted(b.Skills, func(all *map[string]*skillBody) map[string]*skill.Skill {
			out := make(map[string]*skill.Skill, len(*all))
			for name, s := range *all {
				out[name] = (*skill.Skill)(s)
			}
			return out
		}),
	}
	for name, t := range b.Tools.Or(nil) {
		if string(t) == "null" {
			b.Tools.Or(nil)[name] = nil
		}
	}
	if b.First != nil {
		c.First = b.First.change("body.first_step", b.First.Name.Or(b.FirstName.Or(agent.FirstStep)), bad)
	}
	if b.Steps.IsNull() {
		c.Steps = opt.Null[map[string]*agent.StepChange]()
	}
	if all, ok := b.Steps.Get(); ok {
		steps := make(map[string]*agent.StepChange, len(all))
		for _, name := range slices.Sorted(maps.Keys(all)) {
			steps[name] = all[name].change("body.steps."+name, name, bad)
		}
		c.Steps = opt.Some(steps)
	}
	return c
}

// change maps a step to the command, nil to nil.
func (b *stepChangeBody) change(at, name string, bad *fault.Fault) *agent.StepChange {
	if b == nil {
		return nil
	}
	c := &agent.StepChange{
		Name: b.Name, Output: converted(b.Output, (*parserBody).output), AllowedTools: b.AllowedTools, AllowedSkills: b.AllowedSkills, Reentry: b.Reentry,
		Reminders: converted(b.Reminders, func(all *[]reminderBody) []reminder.Reminder {
			out := make([]reminder.Reminder, len(*all))
			for i := range *all {
				out[i] = (*all)[i].reminder()
			}
			return out
		}),
		Next: converted(b.Next, func(all *[]transitionBody) []agent.Transition {
			out := make([]agent.Transition, len(*all))
			for i, t := range *all {
				out[i] = agent.Transition{Condition: t.Condition, Step: t.Step}
			}
			return out
		}),
		Instructions: converted(b.Instructions, func(all *[]instructionBody) []agent.Instruction {
			out := make([]agent.Instruction, len(*all))
			for i, in := range *all {
				if in.Type != referring {
					out[i] = in.instruction(name)
					continue
				}
				if in.ID == "" && in.Name == "" {
					bad.Field(fmt.Sprintf("%s.instructions[%d].id", at, i), "is required: the id of an instruction, or its name as name")
				}
				out[i].Ref = in.reference()
			}
			return out
		}),
	}
	return c
}

// reference maps a reference. Its name counts where it has no id.
func (in *instructionBody) reference() *instruction.Reference {
	if in.ID != "" {
		return &instruction.Reference{ID: id.Instruction(in.ID), Version: in.Version}
	}
	return &instruction.Reference{Name: in.Name, Version: in.Version}
}

// instruction maps an instruction; without a name it has that of its step.
func (in *instructionBody) instruction(step string) agent.Instruction {
	for utf8.RuneCountInString(step) > instruction.MaxName {
		_, size := utf8.DecodeLastRuneInString(step)
		step = step[:len(step)-size]
	}
	out := agent.Instruction{
		Name: in.Name, Description: in.Description, Template: opt.Deref(in.Template, ""), Plain: in.TemplateType == plain,
		Metadata: in.Metadata, Enabled: opt.Deref(in.Enabled, true),
	}
	if out.Name == "" {
		out.Name = step
	}
	return out
}

// converted returns a field with its value converted.
func converted[A, B any](f opt.Field[A], convert func(*A) B) opt.Field[B] {
	if f.IsNull() {
		return opt.Null[B]()
	}
	if v, ok := f.Get(); ok {
		return opt.Some(convert(&v))
	}
	return opt.Field[B]{}
}
