// Package spans is the trace of a turn while it runs: what its spans are made of, taken from what the turn does and from the events that
// it writes. Spans end with a commit, whose transaction writes them; docs/design/agent-turn.md has what follows after a kill.
package spans

import (
	"quarry/internal/agent"
	"quarry/internal/agent/session"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/mask"
	"quarry/internal/llm"
	"quarry/internal/trace"
)

// Recording is the trace of one turn, as the loop knows it. But for models and calls, which run beside it, it is for one goroutine.
type Recording interface {
	// Model returns m, whose calls are spans.
	Model(m *llm.Model) *llm.Model
	// Call returns a call of a tool that begins now.
	Call(p *tool.Planned) *trace.Call
	// Recall takes the events of the turn so far, oldest first, in place of those that it knows.
	Recall(events []session.Event)
	// Add lets a commit write the spans that end with it.
	Add(c *session.Commit)
	// Committed takes what the last commit that Add was called for has written.
	Committed(done *session.Committed)
}

// Turn is what spans say of a turn, as it stands. What is not known yet is zero.
type Turn struct {
	Agent        *agent.Agent
	Session      *session.Session
	Step         string
	Instructions string // of the step
	Tools        Tools  // nil while there are none
}

// Tools are those of a turn; tool.Bound is one.
type Tools interface {
	// Type returns the type of a configuration, "" where there is none of the name.
	Type(name string) string
	// Mask returns the mask of the turn's secrets, nil where there are none.
	Mask() *mask.Mask
}

// Recorder records turns. Nil records nothing.
type Recorder struct {
	Content bool       // texts are kept
	Sink    trace.Sink // hears of spans once they are committed; nil: nobody does
}

// Begin returns the recording of a turn as its run has it. lost is whether a process has worked on it before that is gone; now returns
// the turn whenever a span is made.
func (r *Recorder) Begin(run *session.Run, lost bool, now func() Turn) Recording {
	if r == nil {
		return None{}
	}
	return begin(r, run, lost, now)
}

// None is the recording of a turn without a trace.
type None struct{}

// Model returns m.
func (None) Model(m *llm.Model) *llm.Model { return m }

// Call returns nil.
func (None) Call(*tool.Planned) *trace.Call { return nil }

// Recall does nothing, like the next ones.
func (None) Recall([]session.Event) {}

// Add does nothing.
func (None) Add(*session.Commit) {}

// Committed does nothing.
func (None) Committed(*session.Committed) {}
