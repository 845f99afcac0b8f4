// Package trace is the record of what agents have done: one trace for each turn, a tree of spans over all agents that took part in
// it. Spans are written in the transaction of the events that end them, so that the record has no gap behind a kill.
package trace

import (
	"time"

	"quarry/internal/id"
)

// Operation is what a span records, in the contract's words.
type Operation string

// The operations.
const (
	InvokeAgent    Operation = "invoke_agent"
	Chat           Operation = "chat"
	ExecuteTool    Operation = "execute_tool"
	Thinking       Operation = "thinking"
	Output         Operation = "output"
	Guardrail      Operation = "guardrail"
	StepTransition Operation = "step_transition"
	ImageRead      Operation = "image_read"
	Compaction     Operation = "compaction"
)

// Operations are all operations.
var Operations = []Operation{InvokeAgent, Chat, ExecuteTool, Thinking, Output, Guardrail, StepTransition, ImageRead, Compaction}

// Class is why a span has failed, in the contract's words: its error_type, for calls of tools its tool_error_type.
type Class string

// The classes of spans that are no calls of tools.
const (
	ContextLimit    Class = "context_limit_exceeded"
	TransitionLimit Class = "step_transition_limit_exceeded"
	ActionsLimit    Class = "actions_limit_reached"
	GenerationError Class = "llm_generation_error"
	StreamError     Class = "stream_error"
	Internal        Class = "internal"
)

// Classes are all classes of spans that are no calls of tools.
var Classes = []Class{ContextLimit, TransitionLimit, ActionsLimit, GenerationError, StreamError, Internal}

// The classes of calls of tools.
const (
	InvalidInput         Class = "invalid_input"
	NotFound             Class = "not_found"
	InvalidConfiguration Class = "invalid_configuration"
	Timeout              Class = "timeout"
	ExecutionError       Class = "execution_error"
	DependencyFailed     Class = "dependency_failed"
)

// ToolClasses are all classes of calls of tools.
var ToolClasses = []Class{InvalidInput, NotFound, InvalidConfiguration, Timeout, ExecutionError, DependencyFailed}

// Span is a piece of work that has ended. Which of the pointers is set follows from the operation; thinking and output have none.
type Span struct {
	Trace     string // 32 hex digits
	ID        string // 16 hex digits, unique within the trace
	Parent    string // the span that this one is a part of; "" of the entry, with which the trace ends
	Operation Operation
	Started   time.Time // microseconds, UTC, like Ended
	Ended     time.Time
	Failed    bool
	Message   string   // what went wrong; secrets masked
	Class     Class    // of a failed span
	Step      string   // that the turn was on; "" where that says nothing
	Event     id.Event // that the span has ended with, where its operation has one
	Agent     Subject
	Session   Subject

	Invocation *InvocationAttributes
	Chat       *ChatAttributes
	Call       *CallAttributes
	Transition *TransitionAttributes
	Image      *ImageAttributes
	Compaction *CompactionAttributes

	Content *Content // nil where nothing is kept
}

// Subject is the agent or the session that a span belongs to.
type Subject struct {
	No  int64 // the store's row number
	Key string
}

// The attributes of spans. The JSON names are those of the contract, which are those of the store.
type (
	// InvocationAttributes are of invoke_agent. Tokens are the sums of the turn's own chats, without those of the agents that it has called.
	InvocationAttributes struct {
		ChatAttributes
		AgentName        string   `json:"agent_name,omitempty"`
		AgentDescription string   `json:"agent_description,omitempty"`
		OutputType       string   `json:"output_type,omitempty"` // text or json
		InputEvent       id.Event `json:"input_event_id,omitempty"`
		OutputEvent      id.Event `json:"output_event_id,omitempty"`
		Files            []File   `json:"input_files,omitempty"`
		ParentAgent      string   `json:"parent_agent_id,omitempty"`   // key; "" at the entry
		ParentSession    string   `json:"parent_session_id,omitempty"` // likewise
		Depth            int      `json:"depth"`                       // 0 at the entry
	}
	// ChatAttributes are of chat: one call of a language model.
	ChatAttributes struct {
		Model         string   `json:"model,omitempty"`
		InputTokens   int64    `json:"input_tokens"`
		OutputTokens  int64    `json:"output_tokens"`
		CachedTokens  int64    `json:"cache_read_input_tokens"` // of InputTokens
		FinishReasons []string `json:"finish_reasons,omitempty"`
		Temperature   *float64 `json:"temperature,omitempty"`
		MaxTokens     *int64   `json:"max_tokens,omitempty"`
		Provider      string   `json:"provider_name,omitempty"`
		Response      string   `json:"response_id,omitempty"`
	}
	// CallAttributes are of execute_tool.
	CallAttributes struct {
		Tool        string   `json:"tool_name"` // of the tool itself
		Key         string   `json:"tool_key"`  // name of the configuration
		CallID      string   `json:"tool_call_id,omitempty"`
		Type        string   `json:"tool_type,omitempty"`
		InputEvent  id.Event `json:"tool_input_event_id,omitempty"`
		OutputEvent id.Event `json:"tool_output_event_id,omitempty"`
		Corpora     []string `json:"corpus_keys,omitempty"`
	}
	// TransitionAttributes are of step_transition.
	TransitionAttributes struct {
		From string `json:"from_step"`
		To   string `json:"to_step"`
	}
	// ImageAttributes are of image_read.
	ImageAttributes struct {
		Artifact string `json:"artifact_id"`
		Detail   string `json:"detail"`
	}
	// CompactionAttributes are of compaction.
	CompactionAttributes struct {
		Turns   int64  `json:"turns_compacted"`
		Events  int64  `json:"events_compacted"`
		Summary string `json:"summary_key,omitempty"`
	}
	// File is a file that came with an input.
	File struct {
		Name string `json:"name"`
		Size int64  `json:"size_bytes"`
	}
)

// Content is the texts of a span, with secrets masked. The JSON names are those of the contract, which are those of the store.
type Content struct {
	Input        string `json:"input_messages,omitempty"` // invoke_agent, like the next three; JSON
	Output       string `json:"output_messages,omitempty"`
	Thinking     string `json:"thinking,omitempty"` // of thinking, too
	Instructions string `json:"system_instructions,omitempty"`
	Arguments    string `json:"tool_arguments,omitempty"` // execute_tool, like the next one; JSON
	Result       string `json:"tool_result,omitempty"`
	Text         string `json:"output_text,omitempty"` // output
}

// MaxContent is how many bytes of texts a span keeps at most; longer ones are cut, and say so.
const MaxContent = 256 << 10

// Parent is where a turn that a call of a tool has led to joins the trace of the turn with the call. The JSON names are those of the store.
type Parent struct {
	Trace   string `json:"trace"`
	Span    string `json:"span"`    // of the call
	Agent   string `json:"agent"`   // key, like Session
	Session string `json:"session"` // of the call
	Depth   int    `json:"depth"`   // of the turn that is called, from 1
}

// Sink hears of spans once they are committed. It must not wait, and does not keep what it is given.
type Sink interface {
	Recorded(spans []Span)
}

// Sinks hear of the same spans, one after the other.
type Sinks []Sink

// Recorded implements Sink.
func (all Sinks) Recorded(spans []Span) {
	for _, s := range all {
		s.Recorded(spans)
	}
}

// Trace is a trace that has ended, as lists show it.
type Trace struct {
	No       int64 // the store's row number
	ID       string
	Agent    Subject // of the entry, like Session
	Session  Subject
	Started  time.Time
	Duration time.Duration
	Failed   bool  // the entry has
	Input    int64 // tokens of all chats, like Output
	Output   int64
}
