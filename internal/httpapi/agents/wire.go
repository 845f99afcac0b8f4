package agents

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"quarry/internal/agent"
	"quarry/internal/agent/reminder"
	"quarry/internal/agent/tool/credential"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/llm"
	"quarry/internal/opt"
	"quarry/internal/usage"
)

// agentBody is Agent. Its entry step stands in steps, too, so that what was read can be sent back.
type agentBody struct {
	Key         string                     `json:"key"`
	Name        string                     `json:"name"`
	Description string                     `json:"description,omitempty"`
	Tools       map[string]json.RawMessage `json:"tool_configurations"`
	Skills      map[string]skillBody       `json:"skills"`
	Model       modelBody                  `json:"model"`
	First       stepBody                   `json:"first_step"`
	FirstName   string                     `json:"first_step_name"`
	Steps       map[string]stepBody        `json:"steps"`
	Metadata    json.RawMessage            `json:"metadata"`
	Enabled     bool                       `json:"enabled"`
	Compaction  *compactionBody            `json:"compaction,omitempty"`
	Quota       quotaBody                  `json:"llm_quota,omitzero"`
	Offloading  json.RawMessage            `json:"tool_output_offloading,omitempty"`
	Guardrails  json.RawMessage            `json:"guardrails,omitempty"`
	Memory      json.RawMessage            `json:"memory,omitempty"`
	Enrichment  json.RawMessage            `json:"enrichment,omitempty"`
	Created     time.Time                  `json:"created_at"`
	Updated     time.Time                  `json:"updated_at"`
}

func wireAgent(a *agent.Agent) agentBody {
	out := agentBody{
		Key: a.Key, Name: a.Name, Description: a.Description, Tools: credential.Masked(a.Tools), Model: wireModel(&a.Model),
		First: wireStep(a.Steps[a.Entry]), FirstName: a.Entry, Steps: make(map[string]stepBody, len(a.Steps)), Skills: map[string]skillBody{},
		Metadata: a.Metadata, Enabled: a.Enabled, Compaction: wireCompaction(a.Compaction), Quota: wireQuota(a.Budget), Offloading: a.Offloading,
		Guardrails: a.Guardrails, Memory: a.Memory, Enrichment: a.Enrichment, Created: a.Created, Updated: a.Updated,
	}
	if out.Tools == nil {
		out.Tools = map[string]json.RawMessage{}
	}
	for name, s := range a.Skills {
		out.Skills[name] = skillBody(s)
	}
	out.First.Name = a.Entry
	for name, s := range a.Steps {
		out.Steps[name] = wireStep(s)
	}
	return out
}

// modelBody is AgentModel.
type modelBody struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	Retry      *retryBody      `json:"retry_configuration,omitempty"`
}

// retryBody is RetryConfiguration; the times are in milliseconds.
type retryBody struct {
	Enabled *bool    `json:"enabled,omitempty"`
	Max     *int     `json:"max_retries,omitempty"`
	First   *int64   `json:"initial_backoff_ms,omitempty"`
	Most    *int64   `json:"max_backoff_ms,omitempty"`
	Factor  *float64 `json:"backoff_factor,omitempty"`
}

func wireModel(m *agent.Model) modelBody {
	out := modelBody{Name: m.Name, Parameters: m.Parameters}
	if r := m.Retry; r != nil {
		first, most := r.First.Milliseconds(), r.Most.Milliseconds()
		out.Retry = &retryBody{&r.Enabled, &r.Max, &first, &most, &r.Factor}
	}
	return out
}

func (m *modelBody) model() agent.Model {
	out := agent.Model{Name: m.Name, Parameters: m.Parameters}
	if r := m.Retry; r != nil {
		d := agent.DefaultRetry
		out.Retry = &agent.Retry{Enabled: opt.Deref(r.Enabled, d.Enabled), Retry: llm.Retry{
			Max: opt.Deref(r.Max, d.Max), Factor: opt.Deref(r.Factor, d.Factor),
			First: duration(r.First, d.First), Most: duration(r.Most, d.Most),
		}}
	}
	return out
}

func duration(millis *int64, otherwise time.Duration) time.Duration {
	if millis == nil {
		return otherwise
	}
	return time.Duration(*millis) * time.Millisecond
}

// stepBody is AgentStep, and FirstAgentStep with a name.
type stepBody struct {
	Name          string            `json:"name,omitempty"`
	Type          string            `json:"type"`
	Instructions  []instructionBody `json:"instructions"`
	Output        parserBody        `json:"output_parser"`
	Reminders     []reminderBody    `json:"reminders"`
	Next          []transitionBody  `json:"next_steps"`
	AllowedTools  *[]string         `json:"allowed_tools,omitempty"`
	AllowedSkills *[]string         `json:"allowed_skills,omitempty"`
	Reentry       string            `json:"reentry_step,omitempty"`
}

func wireStep(s agent.Step) stepBody {
	out := stepBody{
		Type: "conversational", Instructions: make([]instructionBody, len(s.Instructions)), Output: wireOutput(s.Output),
		Reminders: make([]reminderBody, len(s.Reminders)), Next: make([]transitionBody, len(s.Next)),
		AllowedTools: s.AllowedTools, AllowedSkills: s.AllowedSkills, Reentry: s.Reentry,
	}
	for i, r := range s.Reminders {
		out.Reminders[i] = wireReminder(r)
	}
	for i, in := range s.Instructions {
		out.Instructions[i] = wireInstruction(in)
	}
	for i, t := range s.Next {
		out.Next[i] = transitionBody{t.Condition, t.Step}
	}
	return out
}

// skillBody is AgentSkill.
type skillBody struct {
	Description string `json:"description"`
	WhenToUse   string `json:"when_to_use,omitempty"`
	Content     string `json:"content"`
}

// reminderBody is TemplatedReminder and GlossaryExpansionReminder.
type reminderBody struct {
	Type         string          `json:"type"`
	TemplateType string          `json:"template_type,omitempty"`
	Template     *string         `json:"template,omitempty"`
	Hooks        []reminder.Hook `json:"hooks,omitempty"`
	Every        *int            `json:"fire_every,omitempty"`
	Skip         *int            `json:"skip_first,omitempty"`
	Glossary     string          `json:"glossary_key,omitempty"`
}

// expanding is the type of reminders that name a glossary.
const expanding = "glossary_expansion"

func wireReminder(r reminder.Reminder) reminderBody {
	if r.Glossary != "" {
		return reminderBody{Type: expanding, Glossary: r.Glossary}
	}
	out := reminderBody{Type: "templated", TemplateType: velocity, Template: &r.Template, Hooks: r.Hooks, Every: &r.Every, Skip: &r.Skip}
	if r.Plain {
		out.TemplateType = plain
	}
	return out
}

// reminder maps a reminder of a request.
func (b *reminderBody) reminder() reminder.Reminder {
	if b.Type == expanding {
		return reminder.Reminder{Glossary: b.Glossary}
	}
	return reminder.Reminder{
		Template: opt.Deref(b.Template, ""), Plain: b.TemplateType == plain, Hooks: b.Hooks, Every: opt.Deref(b.Every, 1), Skip: opt.Deref(b.Skip, 0),
	}
}

// transitionBody is NextStep.
type transitionBody struct {
	Condition string `json:"condition,omitempty"`
	Step      string `json:"step_name"`
}

// instructionBody is InlineInstruction and ReferenceInstruction.
type instructionBody struct {
	Type         string          `json:"type"`
	Name         string          `json:"name,omitempty"`
	Description  string          `json:"description,omitempty"`
	TemplateType string          `json:"template_type,omitempty"`
	Template     *string         `json:"template,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`
	Enabled      *bool           `json:"enabled,omitempty"`
	ID           string          `json:"id,omitempty"` // this and the version are of references
	Version      int64           `json:"version,omitempty"`
}

// The kinds of templates.
const (
	velocity = "velocity"
	plain    = "text"
)

// referring is the type of instructions that stand elsewhere.
const referring = "reference"

func wireInstruction(in agent.Instruction) instructionBody {
	if in.Ref != nil {
		return instructionBody{Type: referring, ID: string(in.Ref.ID), Version: in.Ref.Version}
	}
	out := instructionBody{
		Type: "inline", Name: in.Name, Description: in.Description, TemplateType: velocity, Template: &in.Template,
		Metadata: in.Metadata, Enabled: &in.Enabled,
	}
	if in.Plain {
		out.TemplateType = plain
	}
	return out
}

// parserBody is AgentOutputParser.
type parserBody struct {
	Type   string      `json:"type"`
	Schema *schemaBody `json:"json_schema,omitempty"`
}

// schemaBody is JsonSchemaSpec.
type schemaBody struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Strict      opt.Field[bool] `json:"strict,omitzero"`
	Schema      json.RawMessage `json:"schema"`
}

func wireOutput(o agent.Output) parserBody {
	if o.Schema == nil {
		return parserBody{Type: "default"}
	}
	f := o.Schema
	out := &schemaBody{Name: f.Name, Description: f.Description, Strict: opt.Some(f.Strict), Schema: f.Schema}
	if o.Nullable {
		out.Strict = opt.Null[bool]()
	}
	return parserBody{Type: "structured", Schema: out}
}

func (p *parserBody) output() agent.Output {
	s := p.Schema
	if p.Type != "structured" || s == nil {
		return agent.Output{}
	}
	return agent.Output{
		Schema:   &llm.Format{Type: "json_schema", Name: s.Name, Description: s.Description, Schema: s.Schema, Strict: s.Strict.Or(false)},
		Nullable: s.Strict.IsNull(),
	}
}

// compactionBody is CompactionConfig.
type compactionBody struct {
	Enabled         *bool   `json:"enabled,omitempty"`
	Threshold       *int    `json:"threshold_percent,omitempty"`
	KeepInputs      *int    `json:"keep_recent_inputs,omitempty"`
	Message         *string `json:"compaction_message,omitempty"`
	ToolEventPolicy *string `json:"tool_event_policy,omitempty"`
}

func wireCompaction(c agent.Compaction) *compactionBody {
	return &compactionBody{&c.Enabled, &c.Threshold, &c.KeepInputs, opt.NonZero(c.Message), &c.ToolEventPolicy}
}

func (c *compactionBody) compaction() agent.Compaction {
	d := agent.DefaultCompaction
	return agent.Compaction{
		Enabled: opt.Deref(c.Enabled, d.Enabled), Threshold: opt.Deref(c.Threshold, d.Threshold), KeepInputs: opt.Deref(c.KeepInputs, d.KeepInputs),
		Message: opt.Deref(c.Message, ""), ToolEventPolicy: opt.Deref(c.ToolEventPolicy, d.ToolEventPolicy),
	}
}

// quotaBody is AgentLLMQuota: limits by their names; one that is null or left out is none.
type quotaBody map[string]json.Number

func wireQuota(b *usage.Budget) quotaBody {
	if b == nil {
		return nil
	}
	out := quotaBody{}
	for name, limit := range b.Limits() {
		if *limit > 0 {
			out[name] = json.Number(strconv.FormatInt(*limit, 10))
		}
	}
	return out
}

// budget maps limits to the command. at is where they stand.
func (q *quotaBody) budget(at string, bad *fault.Fault) usage.Budget {
	var b usage.Budget
	for name, limit := range b.Limits() {
		text := (*q)[name]
		if text == "" {
			continue
		}
		n, ok := httpapi.Integer(text)
		if !ok {
			bad.Field(fault.Join(at, name), "must be an integer of at most %d", math.MaxInt64)
		}
		*limit = n
	}
	return b
}

// listBody is ListAgentsResponse.
type listBody struct {
	Agents   []agentBody `json:"agents"`
	Metadata struct {
		PageKey *string `json:"page_key,omitempty"`
	} `json:"metadata"`
}
