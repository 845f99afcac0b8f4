package analytics

import (
	"time"

	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/trace"
)

// The values of status.
const (
	ok     = "ok"
	failed = "error"
)

func status(isFailed bool) string {
	if isFailed {
		return failed
	}
	return ok
}

// traceBody is AgentTrace.
type traceBody struct {
	ID       string    `json:"trace_id"`
	Agent    string    `json:"agent_key"`
	Session  string    `json:"session_key"`
	Started  time.Time `json:"started_at"`
	Duration int64     `json:"duration_ms"`
	Status   string    `json:"status"`
	Input    int64     `json:"input_tokens"`
	Output   int64     `json:"output_tokens"`
}

func wireTrace(t *trace.Trace) traceBody {
	return traceBody{t.ID, t.Agent.Key, t.Session.Key, t.Started, t.Duration.Milliseconds(), status(t.Failed), t.Input, t.Output}
}

// metadata is ListMetadata.
type metadata struct {
	PageKey *string `json:"page_key,omitempty"`
}

// listBody is ListAgentTracesResponse.
type listBody struct {
	Traces   []traceBody `json:"traces"`
	Metadata metadata    `json:"metadata"`
}

// spansBody is ListAgentTraceSpansResponse.
type spansBody struct {
	Spans    []spanBody `json:"spans"`
	Metadata metadata   `json:"metadata"`
}

// spanBody is AgentTraceSpan.
type spanBody struct {
	ID         string             `json:"span_id"`
	Parent     *string            `json:"parent_span_id"`
	Trace      string             `json:"trace_id"`
	Operation  trace.Operation    `json:"operation"`
	Started    time.Time          `json:"started_at"`
	Duration   int64              `json:"duration_ms"`
	Status     string             `json:"status"`
	Message    *string            `json:"error_message"`
	Class      trace.Class        `json:"error_type,omitempty"`
	ToolClass  trace.Class        `json:"tool_error_type,omitempty"`
	Step       *string            `json:"step_name"`
	Parental   bool               `json:"has_children"`
	Event      *id.Event          `json:"event_id,omitempty"`
	Attributes any                `json:"attributes,omitempty"`
	Content    opt.Field[content] `json:"content,omitzero"`
}

// wireSpan returns a span, with its texts if they are asked for: null where there are none.
func wireSpan(s *trace.Shown, withContent bool) spanBody {
	out := spanBody{
		ID: s.ID, Parent: opt.NonZero(s.Parent), Trace: s.Trace, Operation: s.Operation, Started: s.Started, Duration: s.Ended.Sub(s.Started).Milliseconds(),
		Status: status(s.Failed), Message: opt.NonZero(s.Message), Step: opt.NonZero(s.Step), Parental: s.Parental,
	}
	texts := false
	switch s.Operation {
	case trace.InvokeAgent:
		out.Attributes, texts = wireInvocation(s.Invocation), true
	case trace.Chat:
		out.Attributes = wireChat(s.Chat)
	case trace.ExecuteTool:
		out.Attributes, texts = wireCall(s.Call), true
	case trace.Thinking, trace.Guardrail:
		texts = true
	case trace.Output:
		out.Event, texts = &s.Event, true
	case trace.StepTransition:
		out.Event, out.Attributes = &s.Event, orNew(s.Transition)
	case trace.ImageRead:
		out.Event, out.Attributes = &s.Event, orNew(s.Image)
	case trace.Compaction:
		out.Event, out.Attributes = &s.Event, orNew(s.Compaction)
	}
	if out.Class = s.Class; s.Operation == trace.ExecuteTool {
		out.Class, out.ToolClass = "", s.Class
	}
	if texts && withContent {
		if out.Content = opt.Null[content](); s.Content != nil {
			out.Content = opt.Some(wireContent(s))
		}
	}
	return out
}

// orNew returns what p points to, or the zero value: no span is without its attributes.
func orNew[T any](p *T) T {
	if p == nil {
		p = new(T)
	}
	return *p
}

// invocation is InvokeAgentSpanAttributes.
type invocation struct {
	chat
	AgentName     string       `json:"agent_name,omitempty"`
	Description   string       `json:"agent_description,omitempty"`
	OutputType    string       `json:"output_type,omitempty"`
	InputEvent    id.Event     `json:"input_event_id,omitempty"`
	OutputEvent   id.Event     `json:"output_event_id,omitempty"`
	Files         []trace.File `json:"input_files"`
	ParentAgent   *string      `json:"parent_agent_id"`
	ParentSession *string      `json:"parent_session_id"`
	Depth         int          `json:"depth"`
}

func wireInvocation(from *trace.InvocationAttributes) invocation {
	a := orNew(from)
	return invocation{
		chat: wireChat(&a.ChatAttributes), AgentName: a.AgentName, Description: a.AgentDescription, OutputType: a.OutputType, InputEvent: a.InputEvent,
		OutputEvent: a.OutputEvent, Files: list(a.Files), ParentAgent: opt.NonZero(a.ParentAgent), ParentSession: opt.NonZero(a.ParentSession), Depth: a.Depth,
	}
}

// chat is ChatSpanAttributes, and those of InvokeAgentSpanAttributes that are the same.
type chat struct {
	Model       string   `json:"model,omitempty"`
	Input       int64    `json:"input_tokens"`
	Output      int64    `json:"output_tokens"`
	Cached      int64    `json:"cache_read_input_tokens"`
	Reasons     []string `json:"finish_reasons,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   *int64   `json:"max_tokens,omitempty"`
	Provider    string   `json:"provider_name,omitempty"`
	Response    string   `json:"response_id,omitempty"`
}

func wireChat(from *trace.ChatAttributes) chat {
	a := orNew(from)
	return chat{a.Model, a.InputTokens, a.OutputTokens, a.CachedTokens, a.FinishReasons, a.Temperature, a.MaxTokens, a.Provider, a.Response}
}

// call is ExecuteToolSpanAttributes.
type call struct {
	Tool        string   `json:"tool_name"`
	Key         string   `json:"tool_key"`
	ID          string   `json:"tool_call_id,omitempty"`
	Type        string   `json:"tool_type,omitempty"`
	InputEvent  id.Event `json:"tool_input_event_id,omitempty"`
	OutputEvent id.Event `json:"tool_output_event_id,omitempty"`
	Corpora     []string `json:"corpus_keys"`
}

func wireCall(from *trace.CallAttributes) call {
	a := orNew(from)
	return call{a.Tool, a.Key, a.CallID, a.Type, a.InputEvent, a.OutputEvent, list(a.Corpora)}
}

// list returns a list that is [] and not null without members.
func list[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// content is the texts of a span, those of its operation.
type content struct {
	Input        *string `json:"input_messages,omitempty"`
	Output       *string `json:"output_messages,omitempty"`
	Thinking     *string `json:"thinking,omitempty"`
	Instructions *string `json:"system_instructions,omitempty"`
	Arguments    *string `json:"tool_arguments,omitempty"`
	Result       *string `json:"tool_result,omitempty"`
	Text         *string `json:"output_text,omitempty"`
}

func wireContent(s *trace.Shown) content {
	c := s.Content
	switch s.Operation {
	case trace.InvokeAgent:
		return content{Input: &c.Input, Output: &c.Output, Thinking: &c.Thinking, Instructions: &c.Instructions}
	case trace.ExecuteTool:
		return content{Arguments: &c.Arguments, Result: &c.Result}
	case trace.Thinking:
		return content{Thinking: &c.Thinking}
	case trace.Output:
		return content{Text: &c.Text}
	}
	return content{}
}
