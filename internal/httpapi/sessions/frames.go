package sessions

import (
	"quarry/internal/agent/session/feed"
	"quarry/internal/httpapi/refusal"
	"quarry/internal/secret/redact"

	"quarry/internal/fault"
)

// The frames that are no events of the log.
type (
	// textFrame is StreamingAgentOutput, StreamingThinking and their ends.
	textFrame struct {
		Type    string  `json:"type"`
		Content *string `json:"content,omitempty"`
		EventID string  `json:"event_id,omitempty"`
		Created instant `json:"created_at"`
	}
	// usageFrame is ContextConsumedEvent.
	usageFrame struct {
		Type    string     `json:"type"`
		Usage   *usageBody `json:"session_context_usage"`
		Created instant    `json:"created_at"`
	}
	// noteFrame is CompactionStartedEvent, ContextLimitExceededEvent, StepTransitionLimitExceededEvent and SessionInterruptedEvent.
	noteFrame struct {
		Type       string  `json:"type"`
		ID         string  `json:"id"`
		SessionKey string  `json:"session_key"`
		SessionID  string  `json:"session_id"`
		Created    instant `json:"created_at"`
		Context    *int64  `json:"context_limit,omitempty"`
		Actual     *int64  `json:"actual_tokens,omitempty"`
		Transition *int64  `json:"transition_limit,omitempty"`
		Message    string  `json:"message,omitempty"`
	}
	// pendingFrame is ClientToolPendingEvent.
	pendingFrame struct {
		Type       string        `json:"type"`
		ID         string        `json:"id"`
		SessionKey string        `json:"session_key"`
		SessionID  string        `json:"session_id"`
		Created    instant       `json:"created_at"`
		Calls      []pendingBody `json:"pending_calls"`
	}
	// activityFrame is ToolActivityEvent.
	activityFrame struct {
		Type          string     `json:"type"`
		CallID        string     `json:"tool_call_id"`
		Configuration string     `json:"tool_configuration_name"`
		Tool          string     `json:"tool_name"`
		Created       instant    `json:"created_at"`
		Activity      string     `json:"activity_type"`
		Message       *string    `json:"message,omitempty"`     // generic
		Event         *eventBody `json:"agent_event,omitempty"` // sub_agent
	}
	errorFrame struct {
		Type     string   `json:"type"`
		Messages []string `json:"messages"`
	}
	endFrame struct {
		Type string `json:"type"`
	}
)

var end = endFrame{"end"}

// wireFrame maps what a reader is shown to what clients see.
func wireFrame(key string, f *feed.Frame) any {
	at := instant(f.At)
	switch f.Shape {
	case feed.Stored:
		return wireEvent(key, &f.Event)
	case feed.Text:
		return textFrame{Type: "streaming_agent_output", Content: &f.Text, Created: at}
	case feed.TextEnd:
		return textFrame{Type: "streaming_agent_output_end", EventID: string(f.Event.ID), Created: at}
	case feed.Thought:
		return textFrame{Type: "streaming_thinking", Content: &f.Text, Created: at}
	case feed.ThoughtEnd:
		return textFrame{Type: "streaming_thinking_end", Created: at}
	}
	n := &f.Note
	out := noteFrame{ID: string(n.ID), SessionKey: key, SessionID: key, Created: at, Message: n.Text}
	switch n.Kind {
	case feed.Consumed:
		return usageFrame{"context_consumed", wireUsage(n.Usage), at}
	case feed.Activity:
		return wireActivity(n, at)
	case feed.CompactionStarted:
		out.Type = "compaction_started"
	case feed.Pending:
		return pendingFrame{"client_tool_pending", string(n.ID), key, key, at, wirePending(n.Calls)}
	case feed.ContextLimit:
		out.Type, out.Context, out.Actual = "context_limit_exceeded", &n.Limit, &n.Actual
	case feed.TransitionLimit:
		out.Type, out.Transition = "step_transition_limit_exceeded", &n.Limit
	default:
		out.Type = "session_interrupted"
	}
	return out
}

// wireActivity maps what a call of a tool does.
func wireActivity(n *feed.Note, at instant) activityFrame {
	a := n.Acted
	out := activityFrame{Type: "tool_activity", CallID: a.CallID, Configuration: a.Tool, Tool: a.ToolName, Created: at, Activity: "generic"}
	if a.Event == nil {
		out.Message = &n.Text
		return out
	}
	inner := wireEvent(a.Event.Session, &a.Event.Event)
	out.Activity, out.Event = "sub_agent", &inner
	return out
}

// errorOf is the entry of an answer whose turn has failed behind its first events. What is no outcome of the contract is for the log.
func errorOf(err error) errorFrame {
	f, ok := fault.As(err)
	if !ok {
		f = &fault.Fault{Text: "the turn failed inside the service; the log has the cause"}
	}
	return errorFrame{"error", []string{redact.Text(refusal.Message(f))}}
}
