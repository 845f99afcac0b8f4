// Package agent defines agents: a model, tools, and steps of which each has instructions, a form of answer and transitions to
// other steps. It keeps their configurations, checks them when they are written and merges changes into them. Sessions with
// an agent are in agent/session, turns of a session in agent/turn, tools in agent/tool.
package agent

import (
	"encoding/json"
	"time"

	"quarry/internal/llm"
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

// Definition is the configuration of an agent. Members of type json.RawMessage are kept as they came.
type Definition struct {
	Name        string
	Description string
	Model       Model
	Tools       map[string]json.RawMessage // configurations in the contract's shape, by the name that the model sees
	Entry       string                     // the step that a session begins with, a key of Steps
	Steps       map[string]Step
	Metadata    json.RawMessage // a JSON object
	Enabled     bool
	Compaction  Compaction
	Offloading  json.RawMessage // tool_output_offloading; nil when it was not given, like the next ones
	Guardrails  json.RawMessage
	Memory      json.RawMessage
	Enrichment  json.RawMessage
}

// Model is which language model an agent uses and how.
type Model struct {
	Name       string
	Parameters json.RawMessage // passed to the provider; nil for none
	Retry      *Retry          // nil: calls that fail are not made again
}

// Retry is how calls of the model that failed are made again.
type Retry struct {
	Enabled bool
	llm.Retry
}

// Step is one step of an agent.
type Step struct {
	Instructions []Instruction
	Output       Output
	Next         []Transition // the first that holds is taken
	AllowedTools *[]string    // nil: every tool; empty: none
	Reentry      string       // where the next turn begins if this one ends here; "" stays on the step
}

// Instruction is a part of the system prompt, written inline.
type Instruction struct {
	Name        string
	Description string
	Template    string
	Plain       bool // the template is a text and has no references
	Metadata    json.RawMessage
	Enabled     bool // one that is disabled is left out
}

// Output is the form of a step's answer: text, or JSON of a schema.
type Output struct {
	Schema *llm.Format // nil: text
	// Nullable is whether strict was sent as null; reads return it as it was sent.
	Nullable bool
}

// Transition names the step that follows if its condition holds.
type Transition struct {
	Condition string // an expression of package userfn; "" always holds
	Step      string
}

// Compaction is when and how the history of a session is summarised. Sessions keep the one that their agent had when they
// were made.
type Compaction struct {
	Enabled         bool
	Threshold       int // percent of the model's context
	KeepInputs      int // turns that stay as they are
	Message         string
	ToolEventPolicy string
}
