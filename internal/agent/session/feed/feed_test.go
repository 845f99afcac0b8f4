package feed_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quarry/internal/agent/session"
	"quarry/internal/agent/session/feed"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rows is a log in memory.
type rows struct {
	mu     sync.Mutex
	events []session.Event
	run    *session.Run
	gone   bool
}

func (r *rows) Events(_ context.Context, p session.Page) (found []session.Event, more bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Ord > p.After {
			if len(found) == p.Limit {
				return found, true, nil
			}
			found = append(found, e)
		}
	}
	return found, false, nil
}

func (r *rows) Standing(context.Context, int64) (session.Standing, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return session.Standing{}, fault.NotFound("session_not_found", "", "gone")
	}
	return session.Standing{Last: int64(len(r.events)), Run: r.run}, nil
}

func (r *rows) Awaited(context.Context, int64, id.Event) (bool, error) { return r.run != nil, nil }

// add writes an event of a turn and returns its ord.
func (r *rows) add(turn int64, t session.Type, e id.Event, text string) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	ord := int64(len(r.events) + 1)
	r.events = append(r.events, session.Event{Ord: ord, ID: e, Turn: turn, Type: t, Body: session.Body{Text: text}})
	return ord
}

// play writes a turn of replies: each thinks, speaks and is stored.
func play(h *feed.Hub, r *rows, replies int, pause func()) {
	l := h.Begin(1, r.add(1, session.InputMessage, "aev_in", "go"))
	defer l.End()
	for n := range replies {
		thinking, text := id.NewEvent(), id.NewEvent()
		l.Open(thinking, text)
		thought, said := "", ""
		for i := range 20 {
			pause()
			if i < 5 {
				thought += fmt.Sprint(" t", n, i)
				l.Think(fmt.Sprint(" t", n, i))
			} else {
				said += fmt.Sprint(" w", n, i)
				l.Say(fmt.Sprint(" w", n, i))
			}
		}
		r.add(1, session.Thinking, thinking, thought)
		last := r.add(1, session.AgentOutput, text, said)
		pause()
		l.Stored(last)
		l.Note(feed.Note{Kind: feed.Consumed, Turn: 1})
	}
	l.Note(feed.Note{Kind: feed.Over, Turn: 1})
}

// read returns what a reader was shown, pieces joined, and fails where pieces and whole texts don't fit together.
func read(t *testing.T, from *feed.Reader, pause func()) string {
	t.Helper()
	var out strings.Builder
	piece, kind := "", feed.Stored
	for {
		pause()
		f, err := from.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		if err != nil {
			t.Errorf("next: %v", err)
			return out.String()
		}
		if piece != "" && f.Shape != kind && f.Shape != kind+1 {
			t.Errorf("%q is followed by the frame %d", piece, f.Shape)
		}
		switch f.Shape {
		case feed.Text, feed.Thought:
			piece, kind = piece+f.Text, f.Shape
		case feed.TextEnd:
			fmt.Fprintf(&out, "said:%s\n", piece)
			piece = ""
		case feed.ThoughtEnd:
			fmt.Fprintf(&out, "thought:%s\n", piece)
			piece = ""
		case feed.Stored:
			fmt.Fprintf(&out, "%s:%s\n", map[session.Type]string{session.InputMessage: "input", session.Thinking: "thought", session.AgentOutput: "said"}[f.Event.Type], f.Event.Text)
		case feed.Noted:
			if f.Note.Kind == feed.Consumed {
				fmt.Fprintln(&out, "consumed")
			}
		}
	}
}

// TestReaders proves that readers that are early or late, fast or slow, read whole events or pieces, are shown the same texts
// in the same order, and that a piece that has begun goes on with nothing between.
func TestReaders(t *testing.T) {
	t.Parallel()
	r := &rows{run: &session.Run{Turn: 1}}
	h := feed.New(r)
	var readers sync.WaitGroup
	shown := make([]string, 40)
	dice := func(seed uint64) func() {
		source := rand.New(rand.NewPCG(seed, 1))
		return func() {
			for range source.IntN(200) {
				_ = fmt.Sprint(source.IntN(10))
			}
		}
	}
	steps, tick := dice(0), 0
	start := func(i int) {
		from := h.Attach(1, i%4 == 3)
		from.From(0, feed.Until{Turn: 1})
		readers.Go(func() {
			defer from.Close()
			shown[i] = read(t, from, dice(uint64(i)))
		})
	}
	for i := range 20 {
		start(i)
	}
	play(h, r, 30, func() {
		steps()
		if tick++; tick%30 == 0 && 20+tick/30 <= 40 {
			start(19 + tick/30)
		}
	})
	r.mu.Lock()
	r.run = nil
	r.mu.Unlock()
	for i := 20 + tick/30; i < 40; i++ {
		start(i)
	}
	readers.Wait()
	texts := func(s string) string { return strings.ReplaceAll(s, "consumed\n", "") }
	for i, s := range shown {
		if texts(s) != texts(shown[0]) {
			t.Errorf("reader %d was shown\n%s\nnot\n%s", i, s, shown[0])
		}
	}
	if want := 1 + 30*2; strings.Count(texts(shown[0]), "\n") != want {
		t.Errorf("%d lines, want %d", strings.Count(texts(shown[0]), "\n"), want)
	}
	if strings.Count(shown[0], "consumed") != 30 || strings.Contains(shown[3], "consumed") {
		t.Errorf("usage is shown %d times, to one who reads whole events %d times", strings.Count(shown[0], "consumed"), strings.Count(shown[3], "consumed"))
	}
	if h.Sessions() != 0 {
		t.Errorf("%d sessions are kept", h.Sessions())
	}
}

// TestSealed proves that thinking ends before the text begins, and that what was stored before a reader came is one piece.
func TestSealed(t *testing.T) {
	t.Parallel()
	r := &rows{run: &session.Run{Turn: 1}}
	h := feed.New(r)
	early := h.Attach(1, false)
	defer early.Close()
	early.From(1, feed.Until{Turn: 1})
	l := h.Begin(1, r.add(1, session.InputMessage, "aev_in", "go"))
	l.Open("aev_t", "aev_x")
	next := func(want feed.Shape, text string) {
		t.Helper()
		f, err := early.Next(t.Context())
		if err != nil || f.Shape != want || f.Text != text {
			t.Fatalf("%v, frame %d with %q, want %d with %q", err, f.Shape, f.Text, want, text)
		}
	}
	l.Think("h")
	next(feed.Thought, "h")
	l.Think("m")
	l.Say("It is")
	next(feed.Thought, "m")
	next(feed.ThoughtEnd, "")
	next(feed.Text, "It is")
	r.add(1, session.Thinking, "aev_t", "hm")
	l.Stored(r.add(1, session.AgentOutput, "aev_x", "It is fine."))
	next(feed.Text, " fine.")
	next(feed.TextEnd, "")
	l.Note(feed.Note{Kind: feed.Over, Turn: 1})
	l.End()
	if _, err := early.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("the end is %v", err)
	}
	late := h.Attach(1, false)
	defer late.Close()
	late.From(0, feed.Until{Now: true})
	if got := read(t, late, func() {}); got != "input:go\nthought:hm\nsaid:It is fine.\n" {
		t.Errorf("late: %s", got)
	}
}

// TestForeign proves that whoever waits for an answer isn't told of the failure of a compaction that somebody else asked for, and
// that whoever asked for it, and streams, are.
func TestForeign(t *testing.T) {
	t.Parallel()
	r := &rows{run: &session.Run{Turn: 1}}
	h := feed.New(r)
	for _, tc := range []struct {
		whole bool
		until feed.Until
		told  bool
	}{{true, feed.Until{Turn: 2}, false}, {true, feed.Until{Input: "aev_sum", Only: true}, true}, {false, feed.Until{Turn: 2}, true}} {
		from := h.Attach(1, tc.whole)
		from.From(0, tc.until)
		l := h.Begin(1, 0)
		l.Note(feed.Note{Kind: feed.Failed, Turn: 1, Input: "aev_sum"}, feed.Note{Kind: feed.Over, Turn: 1, Input: "aev_sum"}, feed.Note{Kind: feed.Over, Turn: 2})
		f, err := from.Next(t.Context())
		if told := err == nil && f.Note.Kind == feed.Failed; told != tc.told || !told && !errors.Is(err, io.EOF) {
			t.Errorf("%+v, whole %t: %+v, %v", tc.until, tc.whole, f, err)
		}
		l.End()
		from.Close()
	}
}

// TestInstants proves that the instants of what a reader is shown never go back, also where it is shown a piece only after the
// event that holds it was made, and where a note is older than what was shown before it.
func TestInstants(t *testing.T) {
	t.Parallel()
	r := &rows{run: &session.Run{Turn: 1}}
	h := feed.New(r)
	from := h.Attach(1, false)
	defer from.Close()
	from.From(1, feed.Until{Turn: 1})
	l := h.Begin(1, r.add(1, session.InputMessage, "aev_in", "go"))
	old := clock.Now()
	var last time.Time
	next := func() {
		t.Helper()
		f, err := from.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		at := f.At
		if f.Shape == feed.Stored {
			at = f.Event.Created
		}
		if at.Before(last) {
			t.Errorf("the frame %d is of %v, behind one of %v", f.Shape, at, last)
		}
		last = at
	}
	l.Open("aev_t", "aev_x")
	l.Think("hm")
	l.Say("It is")
	made := clock.Now()
	time.Sleep(time.Millisecond) // readers are late
	for range 3 {
		next()
	}
	for _, e := range []id.Event{"aev_t", "aev_x", "aev_call"} {
		r.add(1, map[id.Event]session.Type{"aev_t": session.Thinking, "aev_x": session.AgentOutput, "aev_call": session.ToolInput}[e], e, "It is")
	}
	r.mu.Lock()
	for i := range r.events {
		r.events[i].Created = made
	}
	r.mu.Unlock()
	l.Stored(4)
	l.Note(feed.Note{Kind: feed.Consumed, Turn: 1, At: old}, feed.Note{Kind: feed.Over, Turn: 1})
	for range 3 {
		next()
	}
	l.End()
	if _, err := from.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("the end is %v", err)
	}
}

// TestRetract proves that a text that nobody was shown is taken back, and one that somebody was shown is not.
func TestRetract(t *testing.T) {
	t.Parallel()
	for _, reads := range []bool{false, true} {
		r := &rows{run: &session.Run{Turn: 1}}
		h := feed.New(r)
		from := h.Attach(1, false)
		from.From(1, feed.Until{Turn: 1})
		l := h.Begin(1, r.add(1, session.InputMessage, "aev_in", "go"))
		l.Open("aev_t", "aev_x")
		l.Say("Hm")
		if reads {
			if f, err := from.Next(t.Context()); err != nil || f.Text != "Hm" {
				t.Fatalf("%v, %q", err, f.Text)
			}
		}
		if l.Retract() == reads {
			t.Errorf("shown %v, and the text is taken back: %v", reads, !reads)
		}
		l.End()
		from.Close()
	}
}

// TestDeleted proves that whoever follows a session is at the end when it is deleted.
func TestDeleted(t *testing.T) {
	t.Parallel()
	r := &rows{}
	h := feed.New(r)
	from := h.Attach(1, false)
	defer from.Close()
	from.From(0, feed.Until{})
	r.gone = true
	if _, err := from.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("the end is %v", err)
	}
}

// late is rows whose run begins, fails and ends in this process after a reader has looked for it.
type late struct {
	*rows
	begins func()
}

func (l late) Standing(ctx context.Context, no int64) (session.Standing, error) {
	l.begins()
	return l.rows.Standing(ctx, no)
}

// TestLate proves that the sender of an input is told why its turn was refused, however soon that was.
func TestLate(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	l := late{rows: &rows{}}
	h := feed.New(&l)
	l.begins = func() {
		live := h.Begin(1, 1)
		live.Note(feed.Note{Kind: feed.Over, Turn: 1, Refused: refused})
		live.End()
	}
	from := h.Attach(1, true)
	defer from.Close()
	from.From(0, feed.Until{Turn: 1, Own: true})
	if _, err := from.Next(t.Context()); !errors.Is(err, refused) {
		t.Errorf("the end is %v", err)
	}
}
