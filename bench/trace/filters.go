package main

import (
	"time"

	"quarry/internal/trace"
)

type filter struct {
	name string
	list trace.List
}

// filters returns each filter alone, common and rare, and several at once. Rare things are in the oldest traces, where a search from
// the newest on comes to them last.
func filters() []filter {
	day := func(n int) time.Time { return end.Add(-time.Duration(n) * 24 * time.Hour) }
	return []filter{
		{"none", trace.List{}},
		{"agent_key, common", trace.List{Agent: "agent-0"}},
		{"agent_key, rare", trace.List{Agent: "agent-rare"}},
		{"session_key", trace.List{Session: "ase_5"}},
		{"status ok", trace.List{Failed: new(false)}},
		{"status error", trace.List{Failed: new(true)}},
		{"error_type, 1 %", trace.List{Class: trace.GenerationError}},
		{"error_type, rare", trace.List{Class: trace.ContextLimit}},
		{"error_type, none", trace.List{Class: trace.Internal}},
		{"operation, all", trace.List{Operation: trace.InvokeAgent}},
		{"operation, common", trace.List{Operation: trace.Chat}},
		{"operation, rare", trace.List{Operation: trace.Compaction}},
		{"operation, none", trace.List{Operation: trace.Guardrail}},
		{"tool_name, common", trace.List{Tool: "tool-0"}},
		{"tool_name, rare", trace.List{Tool: "tool-rare"}},
		{"tool_error_type, 2 %", trace.List{ToolClass: trace.ExecutionError}},
		{"tool_error_type, rare", trace.List{ToolClass: trace.DependencyFailed}},
		{"started_before", trace.List{StartedBefore: day(20)}},
		{"started_after", trace.List{StartedAfter: day(1)}},
		{"started, a window of an hour", trace.List{StartedAfter: day(10), StartedBefore: day(10).Add(time.Hour)}},
		{"min_duration_ms, common", trace.List{Shortest: new(int64(1000))}},
		{"min_duration_ms, rare", trace.List{Shortest: new(int64(3_600_000))}},
		{"max_duration_ms, common", trace.List{Longest: new(int64(60_000))}},
		{"max_duration_ms, rare", trace.List{Longest: new(int64(20))}},
		{"durations, a window of 0.1 %", trace.List{Shortest: new(int64(5000)), Longest: new(int64(5010))}},
		{"durations, a window of nothing", trace.List{Shortest: new(int64(3_000_000)), Longest: new(int64(3_000_001))}},
		{"an agent and its errors", trace.List{Agent: "agent-0", Failed: new(true)}},
		{"a tool that fails, within a week", trace.List{Tool: "tool-0", ToolClass: trace.ExecutionError, StartedAfter: day(7)}},
		{"an agent's slow turns", trace.List{Agent: "agent-1", Shortest: new(int64(60_000))}},
		{"two common things that exclude each other", trace.List{Tool: "tool-0", Operation: trace.ImageRead}},
		{"ok, with a tool that failed, of one agent", trace.List{Failed: new(false), ToolClass: trace.ExecutionError, Agent: "agent-3", Operation: trace.Thinking}},
		{"everything", trace.List{
			Agent: "agent-0", Failed: new(false), Operation: trace.Chat, Tool: "tool-0", ToolClass: trace.ExecutionError,
			StartedAfter: day(25), StartedBefore: day(1), Shortest: new(int64(500)), Longest: new(int64(600_000)),
		}},
		{"per-agent viewer of ten agents", trace.List{Reader: trace.Reader{Agents: keys(1, 11)}}},
		{"per-agent viewer of a rare agent, errors", trace.List{Reader: trace.Reader{Agents: []string{"agent-rare"}}, Failed: new(true)}},
	}
}
