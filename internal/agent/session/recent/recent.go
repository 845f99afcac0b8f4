// Package recent keeps the visible events of the sessions that this process worked on last in memory, for their next turns.
package recent

import (
	"container/list"
	"sync"

	"quarry/internal/agent/session"
)

// History is the visible events of a session, as far as they were known when a run ended.
type History struct {
	Session int64
	Events  []session.Event
	Edits   int64 // of the session when they were read
	bytes   int   // about how much memory they take
}

// most bounds the memory of what is kept, in bytes.
const most = 64 << 20

// Histories keeps those that were put last. Safe for concurrent use.
type Histories struct {
	mu    sync.Mutex
	of    map[int64]*list.Element // of *History; guarded by mu, like all below
	order list.List               // the one put last in front
	bytes int
}

// New returns histories without one.
func New() *Histories { return &Histories{of: map[int64]*list.Element{}} }

// Put keeps a history, and drops others that were put long ago.
func (k *Histories) Put(h *History) {
	for i := range h.Events {
		h.bytes += Size(&h.Events[i])
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(h.Session)
	k.of[h.Session] = k.order.PushFront(h)
	k.bytes += h.bytes
	for k.bytes > most {
		k.drop(k.order.Back().Value.(*History).Session)
	}
}

// Take returns the history of a session, which then belongs to the caller; nil for none.
func (k *Histories) Take(no int64) *History {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.drop(no)
}

// drop removes a history and returns it. The caller holds k.mu.
func (k *Histories) drop(no int64) *History {
	e := k.of[no]
	if e == nil {
		return nil
	}
	h := k.order.Remove(e).(*History)
	delete(k.of, no)
	k.bytes -= h.bytes
	return h
}

// Size is about how much memory an event takes.
func Size(e *session.Event) int {
	n := 300 + len(e.Text) + len(e.Content) + len(e.Arguments) + len(e.Output) + len(e.Overrides) + len(e.State)
	for _, p := range e.Parts {
		n += len(p.Text)
	}
	return n
}
