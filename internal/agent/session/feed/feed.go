// Package feed serves those who read a session while it is written: what is stored, then what comes, each piece once and in
// order, however slow the reader is.
package feed

import (
	"context"
	"sync"
	"time"

	"quarry/internal/agent/session"
	"quarry/internal/clock"
	"quarry/internal/id"
)

// Rows is what readers read of the store.
type Rows interface {
	// Events, Standing and Awaited are those of session.Store and session.Log.
	Events(ctx context.Context, p session.Page) (found []session.Event, more bool, err error)
	Standing(ctx context.Context, session int64) (session.Standing, error)
	Awaited(ctx context.Context, session int64, input id.Event) (bool, error)
}

// Hub knows the sessions that are worked on or read in this process. Safe for concurrent use.
type Hub struct {
	rows Rows
	stop chan struct{} // closed by Stop

	mu   sync.Mutex
	open map[int64]*Live // guarded by mu
}

// New returns a hub.
func New(rows Rows) *Hub { return &Hub{rows: rows, stop: make(chan struct{}), open: map[int64]*Live{}} }

// Stop ends the readers that would read on without an end. It is called once.
func (h *Hub) Stop() { close(h.stop) }

// Sessions returns how many sessions are worked on or read.
func (h *Hub) Sessions() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.open)
}

// Live is what goes on in a session and is not stored: the reply in progress, and notes that are never stored. It holds
// nothing for readers: each of them knows where it stands.
type Live struct {
	hub     *Hub
	session int64
	users   int // readers, and the run; guarded by hub.mu

	mu      sync.Mutex
	here    bool          // a run of this process works on the session; guarded by mu, like all below
	last    int64         // ord of the last event that the run has stored
	reply   reply         // in progress
	tail    *mark         // the newest note; readers hold the one that they were shown last
	changed chan struct{} // closed at the next change
}

// reply is what the model has said so far of one reply.
type reply struct{ thinking, text part }

// part is a piece of a reply with the id that its event will have.
type part struct {
	id     id.Event
	text   []byte    // only appended to, so that slices of it stay as they are
	at     time.Time // of the last piece, which is before the instant of the event that will hold it
	sealed bool      // nothing is appended any more
	shown  bool      // a reader was shown some of it
}

func (p *part) add(s string) { p.text, p.at = append(p.text, s...), clock.Now() }

// mark is a note in its place behind an event.
type mark struct {
	next   *mark
	behind int64 // ord of the event
	note   Note
}

// use returns what goes on in a session, for one more user.
func (h *Hub) use(session int64) *Live {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.open[session]
	if l == nil {
		l = &Live{hub: h, session: session, tail: &mark{}, changed: make(chan struct{})}
		h.open[session] = l
	}
	l.users++
	return l
}

func (l *Live) leave() {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(l.hub.open, l.session)
	}
}

// change lets f change l and wakes the readers.
func (l *Live) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	close(l.changed)
	l.changed = make(chan struct{})
}

// Begin is called when a run of this process begins to work on a session whose last event is known. The run calls End.
func (h *Hub) Begin(session, last int64) *Live {
	l := h.use(session)
	l.change(func() { l.here, l.last = true, last })
	return l
}

// End is called when no run of this process works on the session any more.
func (l *Live) End() {
	l.change(func() { l.here, l.reply = false, reply{} })
	l.leave()
}

// Open begins a reply. thinking and text are the ids that its events will have.
func (l *Live) Open(thinking, text id.Event) {
	l.change(func() { l.reply = reply{part{id: thinking}, part{id: text}} })
}

// Think appends to what the model thinks before it speaks.
func (l *Live) Think(s string) {
	l.change(func() { l.reply.thinking.add(s) })
}

// Say appends to the text, before which the thinking ends.
func (l *Live) Say(s string) {
	l.change(func() {
		l.reply.thinking.sealed = true
		l.reply.text.add(s)
	})
}

// Retract takes the text in progress back if no reader was shown any of it, and reports whether it did.
func (l *Live) Retract() (done bool) {
	l.change(func() {
		if done = !l.reply.text.shown; done {
			l.reply = reply{}
		}
	})
	return done
}

// Stored is called when events up to last are stored, and with them the reply if it was in progress.
func (l *Live) Stored(last int64) {
	l.change(func() { l.last, l.reply = max(l.last, last), reply{} })
}

// Note adds notes behind the last event.
func (l *Live) Note(notes ...Note) {
	l.change(func() {
		for _, n := range notes {
			m := &mark{behind: l.last, note: n}
			l.tail.next = m
			l.tail = m
		}
	})
}

// Kind is what a note says.
type Kind int

// The notes. Over ends a turn and is not shown; Consumed, CompactionStarted and Activity are shown in streams alone. The store keeps the
// numbers of some, see Cause.
const (
	Consumed Kind = iota
	CompactionStarted
	ContextLimit
	TransitionLimit
	Interrupted
	Pending
	Failed
	Over
	Activity
)

// Acted is what a call of a tool does while it runs.
type Acted struct {
	CallID   string
	Tool     string // the name that the model sees
	ToolName string
	Event    *Inner // of a session with another agent; nil: the note has a message
}

// Inner is an event with the key of its session.
type Inner struct {
	session.Event
	Session string
}

// Note is something that is told to readers and never stored.
type Note struct {
	Kind    Kind
	ID      id.Event // of those that look like events
	At      time.Time
	Usage   *session.Usage    // Consumed
	Limit   int64             // ContextLimit and TransitionLimit
	Actual  int64             // ContextLimit: tokens
	Text    string            // ContextLimit, TransitionLimit, and Activity that is a message
	Err     error             // Failed
	Calls   []session.Pending // Pending: the calls that the client has to make
	Acted   *Acted            // Activity
	Turn    int64             // that it belongs to
	Input   id.Event          // that the turn answers, of a compaction: the event that it will write
	Refused error             // Over: why the turn failed with nothing to show; whoever sent its input gets the error and no events
}
