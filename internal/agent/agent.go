// Package agent defines agents: a model, tools, and steps of which each has instructions, a form of answer and transitions to
// other steps. It keeps their configurations, checks them when they are written and merges changes into them. Sessions with
// an agent are in agent/session, turns of a session in agent/turn, tools in agent/tool.
package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"quarry/internal/agent/instruction"
	"quarry/internal/agent/reminder"
	"quarry/internal/agent/skill"
	"quarry/internal/llm"
	"quarry/internal/opt"
	"quarry/internal/page"
	"quarry/internal/usage"
)

// Agent is an agent with its current configuration, or with an earlier one that a turn has begun with.
type Agent struct {
	No       int64 // the store's row number, which no later agent gets; never shown
	Key      string
	Revision int64 // raised by every change of the configuration, from 1
	Definition
	Created time.Time // microseconds, UTC, like Updated
	Updated time.Time
}

// Position returns the place of a in a list by age.
func (a *Agent) Position() *page.Position { return page.At(a.Created, a.Key) }

// Account returns whom the calls of language models are charged to that a causes. A later agent of the same key has another one.
func (a *Agent) Account() usage.Account {
	return usage.Account{Scope: fmt.Sprintf("agent/%d", a.No), Name: fmt.Sprintf("agent %q", a.Key), Budget: opt.Deref(a.Budget, usage.Budget{})}
}

// Definition is the configuration of an agent. Members of type json.RawMessage are kept as they came. The JSON names, here and
// in what it consists of, are those of the store.
type Definition struct {
	Name        string                     `json:"name"`
	Description string                     `json:"description,omitempty"`
	Model       Model                      `json:"model"`
	Tools       map[string]json.RawMessage `json:"tools,omitempty"` // configurations in the contract's shape, by the name that the model sees
	Skills      map[string]skill.Skill     `json:"skills,omitempty"`
	Entry       string                     `json:"entry"` // the step that a session begins with, a key of Steps
	Steps       map[string]Step            `json:"steps"`
	Metadata    json.RawMessage            `json:"metadata"` // a JSON object
	Enabled     bool                       `json:"enabled"`
	Compaction  Compaction                 `json:"compaction"`
	Budget      *usage.Budget              `json:"budget,omitempty"`     // llm_quota; nil: no limits
	Offloading  json.RawMessage            `json:"offloading,omitempty"` // tool_output_offloading; nil when it was not given, like the next ones
	Guardrails  json.RawMessage            `json:"guardrails,omitempty"`
	Memory      json.RawMessage            `json:"memory,omitempty"`
	Enrichment  json.RawMessage            `json:"enrichment,omitempty"` // rules of package enrich; agents that are older than it have any JSON
}

// Enriches reports whether there are rules that new sessions wait for.
func (d *Definition) Enriches() bool {
	raw := string(bytes.TrimSpace(d.Enrichment))
	return raw != "" && raw != "null" && raw != "[]"
}

// Model is which language model an agent uses and how.
type Model struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters,omitempty"` // passed to the provider; nil for none
	Retry      *Retry          `json:"retry,omitempty"`      // nil: calls that fail are not made again
}

// Retry is how calls of the model that failed are made again.
type Retry struct {
	Enabled bool `json:"enabled"`
	llm.Retry
}

// FirstStep is the name of a step that is described without one.
const FirstStep = "first_step"

// Step is one step of an agent.
type Step struct {
	Instructions  []Instruction       `json:"instructions,omitempty"`
	Output        Output              `json:"output"`
	Next          []Transition        `json:"next,omitempty"`           // the first that holds is taken
	AllowedTools  *[]string           `json:"allowed_tools"`            // nil: every tool; empty: none
	AllowedSkills *[]string           `json:"allowed_skills,omitempty"` // likewise
	Reminders     []reminder.Reminder `json:"reminders,omitempty"`
	Reentry       string              `json:"reentry,omitempty"` // where the next turn begins if this one ends here; "" stays on the step
}

// Instruction is a part of the system prompt: written here, or one that is kept for several agents.
type Instruction struct {
	Ref         *instruction.Reference `json:"ref,omitempty"` // with it, the other members are empty
	Name        string                 `json:"name"`
	Description string                 `json:"description,omitempty"`
	Template    string                 `json:"template"`
	Plain       bool                   `json:"plain,omitempty"` // the template is a text and has no references
	Metadata    json.RawMessage        `json:"metadata,omitempty"`
	Enabled     bool                   `json:"enabled"` // one that is disabled is left out
}

// Output is the form of a step's answer: text, or JSON of a schema.
type Output struct {
	Schema *llm.Format `json:"schema,omitempty"` // nil: text
	// Nullable is whether strict was sent as null; reads return it as it was sent.
	Nullable bool `json:"nullable,omitempty"`
}

// Transition names the step that follows if its condition holds.
type Transition struct {
	Condition string `json:"condition,omitempty"` // an expression of package userfn; "" always holds
	Step      string `json:"step"`
}

// Compaction is when and how the history of a session is summarised. Sessions keep the one that their agent had when they
// were made.
type Compaction struct {
	Enabled         bool   `json:"enabled"`
	Threshold       int    `json:"threshold"`   // percent of the model's context
	KeepInputs      int    `json:"keep_inputs"` // turns that stay as they are
	Message         string `json:"message,omitempty"`
	ToolEventPolicy string `json:"tool_event_policy"`
}

// The defaults of the contract.
var (
	DefaultRetry      = Retry{Enabled: true, Retry: llm.DefaultRetry}
	DefaultCompaction = Compaction{Enabled: true, Threshold: 80, KeepInputs: 1, ToolEventPolicy: "include_outputs"}
)
