package feed

import (
	"context"
	"io"
	"time"

	"quarry/internal/agent/session"
	"quarry/internal/fault"
	"quarry/internal/id"
)

const (
	// pollEvery is how often a reader looks for events where another process, or none, works on the session.
	pollEvery = 500 * time.Millisecond
	// pageSize bounds the events that a reader holds.
	pageSize = 16
)

// Shape is what a frame is.
type Shape int

// The shapes: an event as it is stored, a piece of the text in progress and its end, the same of thinking, a note.
const (
	Stored Shape = iota
	Text
	TextEnd
	Thought
	ThoughtEnd
	Noted
)

// Frame is what a reader is shown next.
type Frame struct {
	Shape Shape
	Event session.Event // Stored; of TextEnd the id
	Text  string        // Text and Thought
	At    time.Time     // of all but Stored
	Note  Note          // Noted
}

// Until is where a reader stops. The zero value has no end.
type Until struct {
	Input id.Event // at the end of the turn that takes this input
	Turn  int64    // at the end of this turn
	Now   bool     // at the end of what is stored
	Only  bool     // nothing but the turn of Input is shown, which is a compaction
	Own   bool     // the reader sent the input, and gets the failure of its turn if there is nothing to show
}

// Reader reads a session. It is for one goroutine, which calls Close.
type Reader struct {
	live  *Live
	rows  Rows
	whole bool
	acts  bool // it is told what calls do, although it reads whole events
	until Until

	ord   int64           // of the last event that was shown or passed over
	page  []session.Event // read and not shown
	ready []Frame         // made of an event and not shown
	seen  *mark
	at    time.Time
	here  bool     // a run of this process works on the session
	open  id.Event // of the piece in progress that was shown in part
	shown int      // bytes of it
	text  bool     // it is the text, not the thinking
	ended id.Event // of thinking that was shown to its end before it was stored

	awaits bool // the turn that it stops at had not ended when it began
	told   bool // it was told how the turn of another process has ended
}

// Attach returns a reader of a session that is told every note from now on. whole leaves out what only streams have: texts come
// as the events that hold them.
func (h *Hub) Attach(session int64, whole bool) *Reader {
	l := h.use(session)
	l.mu.Lock()
	defer l.mu.Unlock()
	return &Reader{live: l, rows: h.rows, whole: whole, seen: l.tail}
}

// Acts lets the reader be told what calls of tools do, although it reads whole events.
func (r *Reader) Acts() { r.acts = true }

// From sets where the reader begins: behind the event with this ord, and where it stops. The owner of an input is told the
// notes from now on.
func (r *Reader) From(ord int64, u Until) {
	r.ord, r.until, r.awaits = ord, u, u.Own || u.Input != ""
	if u.Own {
		r.live.mu.Lock()
		defer r.live.mu.Unlock()
		r.seen = r.live.tail
	}
}

// Close ends the reader.
func (r *Reader) Close() { r.live.leave() }

// state is what a reader sees of a session at one moment.
type state struct {
	here    bool
	last    int64
	reply   reply
	next    *mark
	changed chan struct{}
}

func (r *Reader) look() state {
	l := r.live
	l.mu.Lock()
	defer l.mu.Unlock()
	return state{l.here, l.last, l.reply, r.seen.next, l.changed}
}

// Next returns what comes next, and waits for it. It is io.EOF where the reader stops.
func (r *Reader) Next(ctx context.Context) (Frame, error) {
	for {
		f, changed, err := r.step(ctx)
		if changed == nil {
			return f, err
		}
		if err := r.wait(ctx, changed); err != nil {
			return Frame{}, err
		}
	}
}

// errStopping is the error of readers without an end when the process stops.
var errStopping = fault.Unavailable("stopping", "the service is stopping; read on with since, the id of the last event")

// wait waits until something has changed or another process may have written something.
func (r *Reader) wait(ctx context.Context, changed <-chan struct{}) error {
	var stop, due <-chan struct{}
	if r.until == (Until{}) {
		stop = r.live.hub.stop
	}
	if !r.here {
		look, cancel := context.WithTimeout(context.Background(), pollEvery)
		defer cancel()
		due = look.Done()
	}
	select {
	case <-changed:
	case <-due:
	case <-stop:
		return errStopping
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// step returns the next frame, or the channel that is closed when there may be one.
func (r *Reader) step(ctx context.Context) (Frame, <-chan struct{}, error) {
	for {
		if len(r.ready) > 0 {
			f := r.ready[0]
			r.ready = r.ready[1:]
			if f.At.Before(r.at) {
				f.At = r.at // a piece may be shown before an event of an earlier instant
			}
			r.at = f.At
			return f, nil, nil
		}
		s := r.look()
		r.here = s.here
		if s.next != nil && (s.next.behind <= r.ord || len(r.page) > 0 && r.page[0].Ord > s.next.behind) {
			if err := r.note(s.next); err != nil {
				return Frame{}, nil, err
			}
			continue
		}
		if len(r.page) > 0 {
			if s.here && r.page[0].Ord > s.last { // a note may come before it
				return Frame{}, s.changed, nil
			}
			if r.until.Turn > 0 && r.page[0].Turn > r.until.Turn { // another process has begun the next turn
				if _, err := r.cause(ctx); err != nil {
					return Frame{}, nil, err
				}
				continue
			}
			r.event(r.page[0])
			r.page = r.page[1:]
			continue
		}
		if s.here && r.ord >= s.last {
			if r.until.Now {
				return Frame{}, nil, io.EOF
			}
			if r.piece(&s) {
				continue
			}
			return Frame{}, s.changed, nil
		}
		more, err := r.read(ctx, &s)
		switch {
		case err != nil:
			return Frame{}, nil, err
		case !more:
			return Frame{}, s.changed, nil
		}
	}
}

// note shows a note, or ends the reader at the end of its turn.
func (r *Reader) note(m *mark) error {
	r.seen = m
	n := m.note
	if n.Input != "" && n.Input == r.until.Input {
		r.until.Turn = n.Turn
	}
	switch {
	case r.until.Only && n.Input != r.until.Input:
	case r.whole && n.Kind == Failed && n.Input != "" && n.Input != r.until.Input: // a compaction that others asked for, with nothing to show
	case n.Kind == Activity:
		if !r.whole || r.acts {
			r.ready = append(r.ready, Frame{Shape: Noted, Note: n, At: n.At})
		}
	case n.Kind != Over:
		if n.Kind != Consumed && n.Kind != CompactionStarted || !r.whole {
			r.ready = append(r.ready, Frame{Shape: Noted, Note: n, At: n.At})
		}
	case n.Refused != nil && (r.until.Own || r.until.Turn == n.Turn): // its input is gone, and the next turn may have its number
		return n.Refused
	case n.Refused != nil && r.until == (Until{}):
		r.ready = append(r.ready, Frame{Shape: Noted, Note: Note{Kind: Failed, At: n.At, Err: n.Refused}, At: n.At})
	case r.until.Turn == 0 || n.Turn < r.until.Turn:
	default:
		return io.EOF
	}
	return nil
}

// read reads the next events, and reports whether the reader goes on without waiting.
func (r *Reader) read(ctx context.Context, s *state) (bool, error) {
	awaited := true
	if !s.here && s.next == nil {
		var err error
		if awaited, err = r.awaited(ctx); err != nil {
			return false, err
		}
		r.awaits = r.awaits || awaited
	}
	found, _, err := r.rows.Events(ctx, session.Page{Session: r.live.session, After: r.ord, Limit: pageSize, Hidden: true})
	if err != nil {
		return false, err
	}
	r.page = found
	switch {
	case len(found) > 0:
		return true, nil
	case s.here: // the rest was deleted
		r.ord = max(r.ord, s.last)
		return true, nil
	case s.next != nil:
		r.ord = max(r.ord, s.next.behind)
		return true, nil
	case r.open != "":
		return false, errMoved
	case r.until.Now:
		return false, io.EOF
	case !awaited:
		if s := r.look(); s.here || s.next != nil {
			return true, nil // a run of this process has begun, or ended, since r looked
		}
		return r.cause(ctx)
	}
	return false, nil
}

// cause shows why a turn of another process that the reader has waited for did not come to its end, once, if it did not, and then
// ends the reader. Nothing else of a turn is told across processes that is not in the log.
func (r *Reader) cause(ctx context.Context) (bool, error) {
	if !r.awaits || r.told || r.until.Turn == 0 || r.until.Only {
		return false, io.EOF
	}
	r.told = true
	standing, err := r.rows.Standing(ctx, r.live.session)
	if err != nil {
		return false, err
	}
	n, err := CauseOf(r.until.Turn, standing.Causes)
	if n != nil {
		r.ready = append(r.ready, Frame{Shape: Noted, Note: *n, At: n.At})
	}
	return true, err
}

// errMoved is the error of a reader that was shown the beginning of a reply that another process makes anew.
var errMoved = fault.Unavailable("moved", "the turn goes on in another process; read on with since, the id of the last event")

// awaited reports whether anything can come that the reader is to be shown, where another process writes it.
func (r *Reader) awaited(ctx context.Context) (bool, error) {
	no := r.live.session
	if r.until.Turn == 0 && r.until.Input != "" {
		return r.rows.Awaited(ctx, no, r.until.Input)
	}
	standing, err := r.rows.Standing(ctx, no)
	if r.until == (Until{}) && fault.Is(err, fault.KindNotFound) {
		return false, io.EOF // the session was deleted
	}
	if err != nil {
		return false, err
	}
	return r.until.Turn == 0 || standing.Run != nil && standing.Run.Turn <= r.until.Turn, nil
}

// event shows a stored event.
func (r *Reader) event(e session.Event) {
	r.ord = e.Ord
	if e.ID == r.until.Input {
		r.until.Turn = e.Turn
	}
	switch {
	case e.ID == r.ended:
		r.ended = ""
	case r.open != "" && e.ID == r.open:
		r.rest(&e)
	case r.until.Only && e.ID != r.until.Input:
	case e.Hidden != "" && !r.until.Only: // a later compaction may have hidden this one by now
	case e.Type == session.AgentOutput && !r.whole:
		r.ready = append(r.ready, Frame{Shape: Text, Text: e.Text, At: e.Created}, Frame{Shape: TextEnd, Event: e, At: e.Created})
	default:
		r.ready = append(r.ready, Frame{Shape: Stored, Event: e, At: e.Created})
	}
}

// rest shows what is left of the piece in progress, which e holds.
func (r *Reader) rest(e *session.Event) {
	piece, end := Thought, ThoughtEnd
	if r.text {
		piece, end = Text, TextEnd
	}
	if rest := e.Text[min(r.shown, len(e.Text)):]; rest != "" {
		r.ready = append(r.ready, Frame{Shape: piece, Text: rest, At: e.Created})
	}
	r.ready = append(r.ready, Frame{Shape: end, Event: *e, At: e.Created})
	r.open, r.shown = "", 0
}

// piece shows what the reply in progress has more than was shown, and reports whether it has.
func (r *Reader) piece(s *state) bool {
	if r.whole || r.until.Only {
		return false
	}
	if r.open != "" && r.open != s.reply.thinking.id && r.open != s.reply.text.id { // its event was deleted at once
		r.rest(&session.Event{ID: r.open})
		return true
	}
	t, x := &s.reply.thinking, &s.reply.text
	if len(t.text) > 0 && t.id != r.ended && r.open != x.id {
		return r.append(t, false)
	}
	return r.append(x, true)
}

// append shows what a part has more than was shown.
func (r *Reader) append(p *part, text bool) bool {
	if r.open != p.id {
		r.open, r.shown, r.text = "", 0, text
	}
	shape := Thought
	if text {
		shape = Text
	}
	if more := p.text[min(r.shown, len(p.text)):]; len(more) > 0 {
		if text && !r.live.show(p.id) {
			return false
		}
		r.open, r.shown = p.id, len(p.text)
		r.ready = append(r.ready, Frame{Shape: shape, Text: string(more), At: p.at})
		return true
	}
	if p.sealed && r.open == p.id && !text {
		r.ready = append(r.ready, Frame{Shape: ThoughtEnd, At: p.at})
		r.open, r.shown, r.ended = "", 0, p.id
		return true
	}
	return false
}

// show notes that a reader is shown the text in progress, and reports whether it still is.
func (l *Live) show(text id.Event) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reply.text.id != text {
		return false
	}
	l.reply.text.shown = true
	return true
}
