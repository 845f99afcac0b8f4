package trace

import (
	"context"
	"time"

	"quarry/internal/page"
)

// Reader is who reads: everybody's traces, or those that were entered by one of the agents with these keys. A trace of an agent that
// is deleted is not one of a later agent with its key.
type Reader struct {
	All    bool
	Agents []string
}

// List selects traces that have ended, the newest start first. An empty condition holds for every trace; all others must hold.
type List struct {
	Limit  int
	After  *page.Position // of the last one shown, nil for the first page
	Reader Reader

	Agent         string // keys of the entry, like Session
	Session       string
	Failed        *bool
	Class         Class // of any span that is no call of a tool
	Operation     Operation
	Tool          string // name
	ToolClass     Class  // of any call of a tool
	StartedAfter  time.Time
	StartedBefore time.Time
	Shortest      *int64 // milliseconds, like Longest; both are in
	Longest       *int64
}

// Spans selects spans of a trace that has ended, the earliest start first.
type Spans struct {
	Trace  string
	Limit  int
	After  *page.Position // of the last one shown, nil for the first page
	Reader Reader

	Operation Operation // "" for all
	Parent    string    // children of this span alone; "" for all
	Own       bool      // those of the entry's turn alone, without the turns of agents that it called
	Content   bool      // with texts, as far as the reader may see those of the span's agent
}

// Shown is a span as it is read.
type Shown struct {
	Span
	Parental bool // it has children
}

// Place returns the place of a trace in lists.
func (t *Trace) Place() *page.Position { return placeOf(t.Started, t.No) }

// Place returns the place of a span in lists.
func (s *Span) Place() *page.Position { return page.At(s.Started, s.ID) }

// Records reads what is kept. A trace that the reader may not see, or whose entry has not ended, does not exist.
type Records interface {
	// List returns traces and whether more follow.
	List(ctx context.Context, l List) (found []Trace, more bool, err error)
	// Get returns a trace, otherwise NoTrace.
	Get(ctx context.Context, r Reader, id string) (Trace, error)
	// Spans returns spans and whether more follow, NoTrace without the trace. There are fewer than the limit where texts are long.
	Spans(ctx context.Context, s Spans) (found []Shown, more bool, err error)
	// Span returns a span of a trace, otherwise NoTrace or NoSpan.
	Span(ctx context.Context, r Reader, trace, span string, content bool) (Shown, error)
}

// Store keeps traces.
type Store interface {
	Records
	// Expire removes some of what began before a time, up to limit traces or spans, and returns how many.
	Expire(ctx context.Context, before time.Time, limit int) (removed int, err error)
}
