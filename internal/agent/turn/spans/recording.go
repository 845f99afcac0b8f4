package spans

import (
	"slices"
	"sync"
	"time"

	"quarry/internal/agent/session"
	"quarry/internal/agent/tool"
	"quarry/internal/id"
	"quarry/internal/trace"
)

// recording is the trace of a turn that is kept.
type recording struct {
	*Recorder
	run    session.Run
	now    func() Turn
	id     string // of the trace
	root   string // the span of the turn
	parent *trace.Parent
	began  time.Time

	thread, next trace.Thread // as it is stored, and as the next commit stores it
	lost         bool         // a process has left something behind, of which nothing is written yet
	story        story
	calls        map[id.Event]*trace.Call // that this process has begun

	mu    sync.Mutex
	chats []chat // that have ended since the last commit; guarded by mu
	sent  int    // of these, with the next commit
}

// begin returns the recording of a run. The ids of trace and turn follow from the run, so that every process has the same.
func begin(r *Recorder, run *session.Run, lost bool, now func() Turn) *recording {
	out := &recording{Recorder: r, run: *run, now: now, thread: run.Trace, lost: lost, began: run.Began, calls: map[id.Event]*trace.Call{}}
	if out.thread.Began.IsZero() {
		out.parent = run.Caller.Trace
	} else {
		out.began = out.thread.Began
	}
	of := []any{"turn", run.Session, run.First, out.began.UnixMicro()}
	if out.id = trace.IDOf(out.began, of...); out.parent != nil {
		out.id = out.parent.Trace
	}
	out.root = trace.SpanOf(out.id, of...)
	return out
}

// callSpan returns the id of the span of a call as this process makes it, or an earlier one has.
func (r *recording) callSpan(call id.Event) string {
	return trace.SpanOf(r.id, "call", r.root, call, r.thread.Attempt)
}

// Call returns a call of a tool that begins now.
func (r *recording) Call(p *tool.Planned) *trace.Call {
	t := r.now()
	parent := trace.Parent{Trace: r.id, Span: r.callSpan(p.Event), Depth: 1}
	if r.parent != nil {
		parent.Depth = r.parent.Depth + 1
	}
	if t.Agent != nil && t.Session != nil {
		parent.Agent, parent.Session = t.Agent.Key, t.Session.Key
	}
	c := trace.Begin(parent)
	r.calls[p.Event] = c
	return c
}

// Recall takes the events of the turn so far.
func (r *recording) Recall(events []session.Event) {
	r.story = newStory(r.thread.Answered)
	for i := range events {
		r.story.add(&events[i])
	}
}

// Add lets a commit write the spans that end with it.
func (r *recording) Add(c *session.Commit) {
	at := trace.Now()
	r.mu.Lock()
	chats := slices.Clone(r.chats)
	r.sent = len(chats)
	r.mu.Unlock()
	r.next = r.thread
	r.next.Last, r.next.Told = at, len(r.thread.Answered) > 0
	if slices.ContainsFunc(c.Events, func(e session.Event) bool { return e.Type == session.ToolInput }) {
		r.next.Called = at
	}
	for i := range chats {
		a := &chats[i].attributes
		r.next.Input, r.next.Output, r.next.Cached = r.next.Input+a.InputTokens, r.next.Output+a.OutputTokens, r.next.Cached+a.CachedTokens
	}
	if n := len(chats); n > 0 {
		last := &chats[n-1].attributes
		r.next.Asked = &trace.ChatAttributes{Model: last.Model, Provider: last.Provider, Temperature: last.Temperature, MaxTokens: last.MaxTokens}
	}
	if r.lost {
		r.next.Attempt++
	}
	c.Trace = &r.next
	if c.Park != nil {
		c.Park.Trace = trace.Thread{Answered: make([]id.Event, len(c.Park.Calls))}
		for i, p := range c.Park.Calls {
			c.Park.Trace.Answered[i] = p.Event
		}
	}
	turn := r.now()
	c.Record = func(done *session.Committed) []trace.Span {
		w := &writing{recording: r, turn: turn, at: at, end: c.End, done: done, chats: chats, story: r.story.clone()}
		if turn.Tools != nil {
			w.mask = turn.Tools.Mask()
		}
		return w.spans()
	}
}

// Committed takes what the last commit has written.
func (r *recording) Committed(done *session.Committed) {
	r.mu.Lock()
	r.chats = slices.Delete(r.chats, 0, r.sent)
	r.sent = 0
	r.mu.Unlock()
	r.thread, r.lost = r.next, false
	for i := range done.Events {
		r.story.add(&done.Events[i])
		if done.Events[i].Type == session.ToolOutput {
			delete(r.calls, r.story.last)
		}
	}
	if done.Next == nil {
		for i := range done.Inputs {
			r.story.add(&done.Inputs[i])
		}
	}
	if r.Sink != nil && len(done.Spans) > 0 {
		r.Sink.Recorded(done.Spans)
	}
}
