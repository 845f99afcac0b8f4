package turn

import (
	"container/list"
	"context"
	"sync"

	"quarry/internal/agent/session"
)

// history is the visible events of a session, as far as they were known when a run ended.
type history struct {
	session int64
	events  []session.Event
	edits   int64 // of the session when they were read
	bytes   int   // about how much memory they take
}

// maxHistories bounds the memory of the histories that are kept for the next turns of their sessions, in bytes.
const maxHistories = 64 << 20

// histories keeps those of sessions that this process worked on last. Safe for concurrent use.
type histories struct {
	mu    sync.Mutex
	of    map[int64]*list.Element // of *history; guarded by mu, like all below
	order list.List               // the one used last in front
	bytes int
}

// put keeps a history, and drops others that were not used for longest.
func (k *histories) put(t *history) {
	for i := range t.events {
		t.bytes += size(&t.events[i])
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(t.session)
	k.of[t.session] = k.order.PushFront(t)
	k.bytes += t.bytes
	for k.bytes > maxHistories {
		k.drop(k.order.Back().Value.(*history).session)
	}
}

// take returns the history of a session, which then belongs to the caller; nil for none.
func (k *histories) take(no int64) *history {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.drop(no)
}

// drop removes a history and returns it. The caller holds k.mu.
func (k *histories) drop(no int64) *history {
	e := k.of[no]
	if e == nil {
		return nil
	}
	t := k.order.Remove(e).(*history)
	delete(k.of, no)
	k.bytes -= t.bytes
	return t
}

// size is about how much memory an event takes.
func size(e *session.Event) int {
	n := 300 + len(e.Text) + len(e.Content) + len(e.Arguments) + len(e.Output) + len(e.Overrides) + len(e.State)
	for _, p := range e.Parts {
		n += len(p.Text)
	}
	return n
}

// readSize is how many events are read at once.
const readSize = 500

// read reads the visible events of the session: those behind what is kept of an earlier turn, unless events were hidden,
// shown or deleted since.
func (t *turn) read(ctx context.Context) error {
	standing, err := t.engine.Log.Standing(ctx, t.run.Session)
	if err != nil {
		return err
	}
	events, after := []session.Event{}, int64(0)
	if kept := t.engine.kept.take(t.run.Session); kept != nil && kept.edits == standing.Edits && len(kept.events) > 0 {
		events, after = kept.events, kept.events[len(kept.events)-1].Ord
	}
	for more := true; more; {
		var page []session.Event
		page, more, err = t.engine.Sessions.Events(ctx, session.Page{Session: t.run.Session, After: after, Limit: readSize})
		if err != nil {
			return err
		}
		if events = append(events, page...); len(page) > 0 {
			after = page[len(page)-1].Ord
		}
	}
	t.events, t.edits = events, standing.Edits
	return nil
}

// remember keeps the history for the next run.
func (w *work) remember() {
	if len(w.events) > 0 {
		w.engine.kept.put(&history{session: w.run.Session, events: w.events, edits: w.edits})
	}
}
