package trace

import (
	"slices"
	"sync"
	"time"
)

// Call is a call of a tool while it runs, as the tool knows it. Nil notes nothing. It is safe for concurrent use, also by a tool that
// was left behind.
type Call struct {
	parent  Parent
	started time.Time

	mu      sync.Mutex
	ended   time.Time // guarded by mu, like the next two
	corpora []string
	inner   []Span
}

// Begin returns a call that begins now. Turns that it leads to join the trace at p.
func Begin(p Parent) *Call { return &Call{parent: p, started: Now()} }

// Parent returns where a turn that the call leads to joins the trace, nil for nowhere.
func (c *Call) Parent() *Parent {
	if c == nil {
		return nil
	}
	p := c.parent
	return &p
}

// Touch notes a corpus that the call may touch.
func (c *Call) Touch(corpus string) {
	if c == nil || corpus == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended.IsZero() && !slices.Contains(c.corpora, corpus) {
		c.corpora = append(c.corpora, corpus)
	}
}

// Inside notes a call of another tool that the call has made: times, failure, attributes and content, with secrets masked. The rest
// follows from where it is.
func (c *Call) Inside(one Span) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended.IsZero() {
		c.inner = append(c.inner, one)
	}
}

// End notes that the call has ended, once.
func (c *Call) End() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended.IsZero() {
		c.ended = Now()
	}
}

// Times returns when the call has begun and ended, the latter zero if it has not.
func (c *Call) Times() (started, ended time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started, c.ended
}

// Corpora returns the corpora that the call was to touch, in order.
func (c *Call) Corpora() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(slices.Values(c.corpora))
}

// Inner returns the calls of other tools that the call has made, with their places in the trace.
func (c *Call) Inner() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := slices.Clone(c.inner)
	for i := range out {
		out[i].Trace, out[i].Parent, out[i].Operation = c.parent.Trace, c.parent.Span, ExecuteTool
		out[i].ID = SpanOf(c.parent.Trace, "inside", c.parent.Span, i)
	}
	return out
}
